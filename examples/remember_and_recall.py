"""The subconscious alone, in ten lines: no key, no server, no model."""

import asyncio

from simuverse import open_subconscious


async def main() -> None:
    async with open_subconscious("Jade", store="sqlite:jade.db") as mind:
        await mind.remember("I left the red ball by the fountain.", said_by="James")
        recalled = await mind.recollect("Where is James's ball?")
        print(recalled.as_xml())
        for flashback in recalled:
            print(flashback.memory.summary, flashback.score.parts)


asyncio.run(main())

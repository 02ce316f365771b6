"""A run on its own thread and loop: lives on with every page closed, and is only looked at and commanded from outside.

Simulation code runs on that loop alone. Readers get the latest :class:`Snapshot`, a frozen value replaced as a whole;
commands are carried out on the loop between two awaits and answered at once, also while a tick is being lived.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self, cast

from simuverse.agents.trace import TurnTrace
from simuverse.dashboard.events import KEPT, Banner, Event, Kind, Note, notes_of, troubles_of
from simuverse.dashboard.snapshot import Snapshot, Transport, write
from simuverse.errors import SimuverseError
from simuverse.memory.backlog import NO_BACKLOG
from simuverse.memory.clock import local
from simuverse.world.simulation import Parts, Simulation

_log = logging.getLogger(__name__)

ANSWER_WITHIN = 5.0
"""Seconds that a command waits for the loop: longer than anything of ours may hold it, shorter than people wait."""
WATCHED_EVERY = 0.2
"""Seconds between two looks at the agents' phases while a tick is lived."""
OUTAGE = 5
"""Model calls in a row without a reply, after which going on would only repeat them: the run pauses."""
SLOWEST, FASTEST = 0.1, 100.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """To a command.

    Args:
        seq: of the first snapshot that shows what became of it.
        message: a sentence for people.
    """

    ok: bool
    seq: int
    message: str


class Session:
    """Drives one simulation.

    Args:
        open_simulation: gives the world, ready to step, and closes it (its store, its journal) on the way out.
        pause: seconds between two ticks at speed 1, 0 or more.
        running: whether ticks follow each other from the start.
    """

    def __init__(
        self,
        open_simulation: Callable[[], contextlib.AbstractAsyncContextManager[Simulation]],
        *,
        pause: float = 1.0,
        running: bool = True,
    ) -> None:
        if pause < 0:
            raise ValueError(f"a pause of {pause} seconds; it must be 0 or more")
        self._open = open_simulation
        self._pause = pause
        self._running = running
        self._stopped = False
        self._stepping = False
        self._owed = 0
        self._speed = 1.0
        self._unanswered = 0
        self._delivered = 0
        self._snapshot = Snapshot()
        self._turns: Mapping[str, TurnTrace] = MappingProxyType({})
        self._events: deque[Event] = deque(maxlen=KEPT)
        self._banners: tuple[Banner, ...] = ()
        self._fault: BaseException | None = None
        self._opened: concurrent.futures.Future[Simulation] = concurrent.futures.Future()
        self._ended: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._thread = threading.Thread(target=self._run, name="simulation", daemon=True)
        self._loop: asyncio.AbstractEventLoop
        self._main: asyncio.Task[None]
        self._changed: asyncio.Event

    def start(self) -> None:
        """Opens the world and waits until it is there.

        Raises:
            Exception: whatever opening it raised, a :class:`SimuverseError` if the cause lies outside.
        """
        self._thread.start()
        if self._opened.exception() is not None:
            self._stopped = True
            self._thread.join()
        self._opened.result()

    def stop(self) -> None:
        """Ends the run and closes the world; a tick that is being lived is given up. A second call does nothing.

        Raises:
            Exception: what the session ended with, closing the world included.
        """
        if self._stopped or not self._opened.done():
            return
        self._stopped = True
        with contextlib.suppress(RuntimeError):  # the loop is closed where the session ended by itself
            self._loop.call_soon_threadsafe(self._main.cancel)
        self._thread.join()
        self._ended.result()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def parts(self) -> Parts:
        """What the run really runs on."""
        return self._opened.result(timeout=0).parts

    @property
    def title(self) -> str:
        """Of the scenario."""
        return self._opened.result(timeout=0).scenario.title

    @property
    def fault(self) -> BaseException | None:
        """What of ours went wrong and stopped the run."""
        return self._fault

    @property
    def ended(self) -> bool:
        """Whether the world is closed, by :meth:`stop` or by a fault of the session itself."""
        return self._ended.done()

    def snapshot(self) -> Snapshot:
        return self._snapshot

    def since(self, seq: int) -> bytes | None:
        """The state as JSON with the events after ``seq``; None if that is where the run still stands."""
        snapshot = self._snapshot
        return None if seq == snapshot.seq else snapshot.as_json(since=seq)

    def play(self) -> Answer:
        return self._command(lambda _: self._drive(running=True, message="Running."))

    def pause(self) -> Answer:
        """No tick is begun any more; one that is being lived is finished."""
        return self._command(lambda _: self._drive(running=False, message="Paused."))

    def step(self) -> Answer:
        """One tick, then paused: the one that is being lived, if the run was going on."""

        def do(_: Simulation) -> tuple[bool, str]:
            under_way = self._running and self._stepping
            return self._drive(running=False, owed=0 if under_way else 1, message="One tick.")

        return self._command(do)

    def set_speed(self, speed: float) -> Answer:
        """Raises:
        ValueError: ``speed`` isn't from 0.1 to 100.
        """
        if not SLOWEST <= speed <= FASTEST:
            raise ValueError(f"speed {speed:g} is outside {SLOWEST:g} to {FASTEST:g}")

        def do(_: Simulation) -> tuple[bool, str]:
            self._speed = speed
            self._changed.set()
            return True, f"Speed {speed:g}×."

        return self._command(do)

    def set_strength(self, name: str, strength: float) -> Answer:
        """Raises:
        UnknownAgent, ValueError: no such agent; outside 0 to 1.
        """

        def do(simulation: Simulation) -> tuple[bool, str]:
            simulation.set_strength(name, strength)
            return True, f"{name}'s strength is now {strength:.2f}."

        return self._command(do, agent=name)

    def place(self, name: str, x: float, y: float) -> Answer:
        """Moves a person or a loose thing, or the world says why not.

        Raises:
            ValueError: not a position.
        """
        if not (math.isfinite(x) and math.isfinite(y)):
            raise ValueError(f"({x}, {y}) is no position")

        def do(simulation: Simulation) -> tuple[bool, str]:
            outcome = simulation.place(name, x, y)
            return outcome.ok, outcome.sentence

        return self._command(do, agent=name)

    def _command(self, do: Callable[[Simulation], tuple[bool, str]], *, agent: str | None = None) -> Answer:
        """Has ``do`` carried out on the loop, logged and shown."""

        async def on_loop() -> Answer:
            if self._fault is not None:
                return Answer(ok=False, seq=self._snapshot.seq, message="The run has stopped after a fault.")
            ok, message = do(self._opened.result())
            self._publish(Note(kind=Kind.OPERATOR if ok else Kind.REFUSED, text=message, agent=agent))
            return Answer(ok=ok, seq=self._snapshot.seq, message=message)

        if self._ended.done() or not self._opened.done():
            return Answer(ok=False, seq=self._snapshot.seq, message="The run isn't open.")
        answer = asyncio.run_coroutine_threadsafe(on_loop(), self._loop)
        try:
            return answer.result(ANSWER_WITHIN)
        except (TimeoutError, concurrent.futures.CancelledError):
            answer.cancel()
            return Answer(ok=False, seq=self._snapshot.seq, message="The run is busy or closing. Nothing was changed.")

    def _drive(self, *, running: bool, message: str, owed: int = 0) -> tuple[bool, str]:
        self._running = running
        self._owed = self._owed + owed if owed else 0
        self._banners = tuple(banner for banner in self._banners if banner.kind != "outage")
        self._unanswered = 0
        self._changed.set()
        return True, message

    def _run(self) -> None:
        asyncio.run(self._watch_over())

    async def _watch_over(self) -> None:
        """Runs the whole session as a task, so that however it ends is handed to whoever waits."""
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._main = asyncio.create_task(self._live())
        await asyncio.wait({self._main})
        error = None if self._main.cancelled() else self._main.exception()
        if error is None:
            self._ended.set_result(None)
            return
        self._ended.set_exception(error)
        if self._opened.done():
            _log.error("the session ended", exc_info=error)
        else:
            self._opened.set_exception(error)

    async def _live(self) -> None:
        async with self._open() as simulation:
            self._show(simulation)
            self._opened.set_result(simulation)
            if simulation.outbox is not None:
                simulation.outbox.listener = lambda: self._went_out(simulation)
            while True:
                await self._due()
                await self._tick(simulation)

    async def _due(self) -> None:
        """Waits for the next tick's time: after the pause while running, at a command otherwise."""
        rested = self._loop.time()
        while True:
            self._changed.clear()
            if self._fault is None and self._owed:
                self._owed -= 1
                return
            left = None
            if self._fault is None and self._running:
                left = rested + self._pause / self._speed - self._loop.time()
                if left <= 0:
                    await asyncio.sleep(0)
                    return
            waiting = asyncio.create_task(self._changed.wait())
            await asyncio.wait({waiting}, timeout=left)
            waiting.cancel()

    async def _tick(self, simulation: Simulation) -> None:
        self._stepping = True
        self._show(simulation)
        step = asyncio.create_task(simulation.step())
        try:
            phases = None
            while not step.done():
                await asyncio.wait({step}, timeout=WATCHED_EVERY)
                if phases != (phases := [agent.phase for agent in simulation.agents.values()]):
                    self._show(simulation)
        finally:
            step.cancel()
            await asyncio.wait({step})
        self._stepping = False
        error = step.exception()
        if error is None:
            self._lived(step.result())
        else:
            self._failed(error)

    def _lived(self, traces: Sequence[TurnTrace]) -> None:
        before = self._turns
        self._turns = MappingProxyType({**self._turns, **{trace.agent: trace for trace in traces}})
        troubles = dict.fromkeys(problem for trace in traces for problem in troubles_of(trace))
        self._banners = tuple(Banner(kind="problem", text=text) for text in troubles)
        for call in (call for trace in traces for call in trace.calls):
            self._unanswered = self._unanswered + 1 if call.reply is None else 0
        if self._unanswered >= OUTAGE and self._running:
            self._running = False
            text = f"Paused: {self._unanswered} model calls in a row had no reply. Play tries again."
            self._banners = (Banner(kind="outage", text=text), *self._banners)
        self._publish(*(note for trace in traces for note in notes_of(trace, before=before.get(trace.agent))))

    def _failed(self, error: BaseException) -> None:
        """What a tick raised: something outside, or a limit, pauses the run; anything else is ours and stops it."""
        self._running, self._owed = False, 0
        causes = _causes(error)
        ours = next((cause for cause in causes if not isinstance(cause, SimuverseError)), None)
        if ours is None:
            text = f"Paused: {'; '.join(dict.fromkeys(str(cause) for cause in causes))}"
            banner, kind = Banner(kind="outage", text=text), Kind.PROBLEM
        else:
            _log.error("a tick failed", exc_info=error)
            self._fault = ours
            text = f"Stopped by a fault of the program: {type(ours).__name__}: {ours}"
            banner, kind = Banner(kind="fault", text=text), Kind.FAULT
        self._banners = (banner,)
        self._publish(Note(kind=kind, text=banner.text))

    def _went_out(self, simulation: Simulation) -> None:
        """Memories that had waited for the store: told once all of them are in it."""
        backlog = NO_BACKLOG if simulation.outbox is None else simulation.outbox.backlog
        if backlog.waiting:
            self._show(simulation)
            return
        count, self._delivered = backlog.delivered - self._delivered, backlog.delivered
        which = "A memory that had waited is" if count == 1 else f"{count} memories that had waited are"
        self._publish(Note(kind=Kind.DELIVERED, text=f"{which} in the store."))

    def _publish(self, *notes: Note) -> None:
        simulation = self._opened.result()
        now = local(simulation.time, simulation.zone)
        for note in notes:
            self._events.append(Event.of(note, seq=self._snapshot.seq + 1, tick=simulation.tick, time=now))
        self._show(simulation)

    def _show(self, simulation: Simulation) -> None:
        waiting = "" if simulation.outbox is None else simulation.outbox.backlog.sentence
        banners = self._banners if not waiting else (*self._banners, Banner(kind="problem", text=waiting))
        self._snapshot = write(
            simulation,
            seq=self._snapshot.seq + 1,
            now=time.monotonic(),
            transport=Transport(running=self._running, stepping=self._stepping, speed=self._speed),
            banners=banners,
            events=tuple(self._events),
            turns=self._turns,
        )


def _causes(error: BaseException) -> list[BaseException]:
    """The errors that a group, or a group of groups, is about."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    group = cast("BaseExceptionGroup[BaseException]", error)
    return [cause for inner in group.exceptions for cause in _causes(inner)]

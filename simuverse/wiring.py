"""Settings in, running things out: puts the parts together, opens them and closes them again."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, tzinfo
from pathlib import Path

from simuverse import __version__
from simuverse.agents.agent import Agent
from simuverse.agents.backends.rehearsal import Rehearsal
from simuverse.agents.chat import ChatModel
from simuverse.agents.conscious import ConsciousAgent
from simuverse.agents.dialogue import Dialogue
from simuverse.agents.subconscious import SubconsciousAgent
from simuverse.agents.turn import Persona
from simuverse.agents.unwritten import UnwrittenLog
from simuverse.config import Settings, load, placed
from simuverse.errors import RunFolderError, SettingsError, UsageError
from simuverse.memory.audit import AuditLog
from simuverse.memory.backlog import Backlog
from simuverse.memory.clock import Clock, ManualClock, SystemClock, time_zone, zone_name
from simuverse.memory.embedding import Embedder
from simuverse.memory.ledger import Ledger
from simuverse.memory.outbox import Outbox, backlog_of
from simuverse.memory.recall import RecallSettings
from simuverse.memory.records import MemoryFilter
from simuverse.memory.scoring import preset
from simuverse.memory.store import MemoryCollection, MemoryStore
from simuverse.parts import IN_MEMORY, described, is_on_server, open_embedder, open_model, open_store, store_path
from simuverse.sources import NO_STORE, chosen_owner, file_beside, memories, names_behind, record_of_changes, zone_of
from simuverse.world import scenario as scenarios
from simuverse.world.claims import beside_server, claimed
from simuverse.world.journal import MEMORY, OUTBOX, Journal, RunInfo
from simuverse.world.scenario import Scenario
from simuverse.world.simulation import Parts, Simulation, run_id
from simuverse.world.talk_outbox import held_outbox

REFLEX = "reflex"
CHAT_STORE = "sqlite:chat.db"


# --- minds ----------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def open_subconscious(
    name: str,
    *,
    store: str | MemoryStore | None = None,
    model: str | ChatModel | None = None,
    embedder: str | Embedder | None = None,
    persona: Persona | None = None,
    clock: Clock | None = None,
    recall: RecallSettings | None = None,
    beside: Path | None = None,
    audit: AuditLog | None = None,
    outbox: Path | Outbox | None = None,
    settings: Settings | None = None,
) -> AsyncGenerator[SubconsciousAgent, None]:
    """The subconscious alone, for any agent, game or chat.

    Args:
        name: whose memory it is; any text.
        store: as a user types it, or one that is open already and stays so; by default that of the settings, else
            memories end with the process.
        model: writes queries and memories, one call each, and judges what comes to mind where the setting ``judge``
            is on; None works by rule, without any call.
        embedder: by default that of the settings, ``wordllama``.
        beside: the file beside which stands what isn't in the store, such as exchanges that couldn't be written down;
            by default the store's own file, where it is named here; without one such things end with the process.
        audit: the record of what is changed in memories that are there; by default that of the store, where it is named
            here, else one beside ``beside``.
        outbox: the file where memories wait that the store doesn't take, until it does, also across processes; this
            mind's alone; or one that is open already. None: what the store doesn't take isn't remembered.
        settings: by default from the environment.

    Raises:
        UsageError, StoreError, EmbedderError: what was asked for can't be had.
    """
    settings = settings or load()
    recall = recall or _recall(settings, _zone(settings))
    async with AsyncExitStack() as stack:
        if embedder is None or isinstance(embedder, str):
            embedder = await open_embedder(embedder or settings.embedder, settings)
            stack.push_async_callback(embedder.aclose)
        if store is None or isinstance(store, str):
            named = store or settings.store or IN_MEMORY
            store = await open_store(named, embedder, settings)
            stack.push_async_callback(store.aclose)
            beside = beside or (None if is_on_server(named) else store_path(named))
            audit = audit or record_of_changes(named, store, embedder)
        if isinstance(model, str):
            model = await open_model(model, settings)
            stack.push_async_callback(model.aclose)
        collection: MemoryCollection = await store.collection(name)
        if isinstance(outbox, Path):
            outbox = await stack.enter_async_context(Outbox.open(outbox, store=store, embedder=embedder))
        if outbox is not None:
            collection = outbox.collection(collection)
        yield SubconsciousAgent(
            collection=collection,
            embedder=embedder,
            clock=clock or SystemClock(),
            model=model,
            persona=persona,
            settings=recall,
            unwritten=UnwrittenLog(beside),
            audit=audit or AuditLog.beside(beside),
            ledger=Ledger(beside),
            capacity=settings.capacity,
            judge=settings.judge,
        )


@asynccontextmanager
async def open_mind(source: str, owner: str | None, settings: Settings) -> AsyncGenerator[SubconsciousAgent, None]:
    """The mind of one owner in a run folder or store, working by rule, to look into and add to.

    Args:
        owner: may be None where the store holds one only.

    Raises:
        UnknownAgent: no such owner, or several and none named.
    """
    async with memories(source, settings) as (store, embedder):
        owner = chosen_owner(owner, await store.owners(), source)
        async with open_subconscious(
            owner,
            store=store,
            embedder=embedder,
            beside=file_beside(source),
            audit=record_of_changes(names_behind(source, settings)[0], store, embedder),
            recall=_recall(settings, zone_of(source, settings)),
            settings=settings,
        ) as mind:
            yield mind


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenedDialogue:
    dialogue: Dialogue
    parts: Parts
    collection: MemoryCollection

    @property
    def backlog(self) -> Backlog:
        """What waits for a store on a server."""
        return backlog_of(self.collection)


@asynccontextmanager
async def open_dialogue(name: str, *, partner: str, settings: Settings) -> AsyncGenerator[OpenedDialogue, None]:
    """A talk with one agent that remembers; its store is ``sqlite:chat.db`` unless the settings say otherwise.

    What a store on a server doesn't take waits in the current folder, for the next talk there with the same agent.

    Raises:
        UsageError: both have the same name, or such a talk is under way.
    """
    if not name.strip():
        raise UsageError("who is to be talked with has no name. Give one: simuverse chat Ada")
    if name == partner:
        raise UsageError(f"two who are called {name} can't be told apart by what they said. Give --me another name")
    second = subconscious_name(settings)
    persona = Persona(name=name, description=f"I am {name}. I like to listen, and I remember what I am told.")
    async with AsyncExitStack() as stack:
        model = await open_model(settings.model, settings)
        stack.push_async_callback(model.aclose)
        embedder = await open_embedder(settings.embedder, settings)
        stack.push_async_callback(embedder.aclose)
        named = settings.store or CHAT_STORE
        store = await open_store(named, embedder, settings)
        stack.push_async_callback(store.aclose)
        clock = SystemClock()
        outbox: Outbox | None = None
        if is_on_server(named):
            path = stack.enter_context(held_outbox(name, named))
            outbox = await stack.enter_async_context(Outbox.open(path, store=store, embedder=embedder, locked=True))
        mind = await stack.enter_async_context(
            open_subconscious(
                name,
                outbox=outbox,
                store=store,
                model=None if second == REFLEX else model if second == settings.model else second,
                embedder=embedder,
                persona=persona,
                clock=clock,
                beside=file_beside(named),
                audit=record_of_changes(named, store, embedder),
                settings=settings,
            )
        )
        agent = Agent(ConsciousAgent(persona, model), mind)
        yield OpenedDialogue(
            dialogue=Dialogue(agent, partner=partner, clock=clock),
            parts=Parts(
                store=store.description,
                embedder=described(embedder),
                model=model.name,
                subconscious=second,
            ),
            collection=mind.collection,
        )


def _zone(settings: Settings) -> tzinfo:
    with placed(settings, "zone"):
        return time_zone(settings.zone)


def _recall(settings: Settings, zone: tzinfo) -> RecallSettings:
    with placed(settings, "preset"):
        return RecallSettings(preset=preset(settings.preset), zone=zone)


def subconscious_name(settings: Settings) -> str:
    """What the second minds really are: ``off``, ``reflex`` or a model.

    Raises:
        SettingsError: they are to judge, and work by rule.
    """
    if not settings.memory:
        return "off"
    name = settings.subconscious_model or (REFLEX if settings.model == Rehearsal.name else settings.model)
    if settings.judge and name == REFLEX:
        with placed(settings, "judge"):
            raise SettingsError(
                "judge is on, and the second minds work by rule. Set subconscious_model to the model that is to judge, "
                "or leave judge off"
            )
    return name


# --- worlds ---------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def open_simulation(settings: Settings, *, folder: Path | None = None) -> AsyncGenerator[Simulation, None]:
    """A world ready to step, with everything it runs on.

    Args:
        folder: of the run; None keeps no record, and memories in memory unless the settings name a store.
    """
    with placed(settings, "scenario"):
        scenario = scenarios.load(settings.scenario)
    zone = _zone(settings) if settings.zone else scenario.start.tzinfo or UTC
    recall = _recall(settings, zone)
    second = subconscious_name(settings)
    async with AsyncExitStack() as stack:
        model = await open_model(settings.model, settings)
        stack.push_async_callback(model.aclose)
        second_model: ChatModel | None = None
        if second == settings.model:
            second_model = model
        elif second not in ("off", REFLEX):
            second_model = await open_model(second, settings)
            stack.push_async_callback(second_model.aclose)
        embedder = await open_embedder(settings.embedder, settings)
        stack.push_async_callback(embedder.aclose)
        if folder is not None:
            _check_unused(folder)
        store: MemoryStore | None = None
        store_name = settings.store or (f"sqlite:{MEMORY}" if folder is not None else IN_MEMORY)
        collections: dict[str, MemoryCollection] = {}
        if settings.memory:
            if folder is not None and settings.store is None:
                _make(folder)
                store = await open_store(f"sqlite:{folder / MEMORY}", embedder)
            else:
                store = await open_store(store_name, embedder, settings)
            stack.push_async_callback(store.aclose)
            collections = {persona.name: await store.collection(persona.name) for persona in scenario.personas}
        beside = folder / MEMORY if folder is not None else file_beside(store_name)
        unwritten, ledger = UnwrittenLog(beside), Ledger(beside)
        audit: AuditLog | None = None
        if store is not None:
            named = f"sqlite:{folder / MEMORY}" if folder is not None and settings.store is None else store_name
            audit = record_of_changes(named, store, embedder)
        ever = MemoryFilter(include_superseded=True, include_forgotten=True)
        there = sum([await one.count(filter=ever) for one in collections.values()])
        run = stack.enter_context(_own_run_id(scenario, settings, there))
        journal: Journal | None = None
        if folder is not None:
            journal = stack.enter_context(
                Journal(
                    folder,
                    RunInfo(
                        version=__version__,
                        id=run,
                        scenario=settings.scenario,
                        seed=settings.seed,
                        model=settings.model,
                        subconscious=second,
                        embedder=settings.embedder,
                        store=store_name if settings.memory else NO_STORE,
                        memory=settings.memory,
                        agents=tuple(persona.name for persona in scenario.personas),
                        started=SystemClock().now().isoformat(timespec="seconds"),
                        zone=zone_name(zone),
                    ),
                )
            )
        outbox: Outbox | None = None
        if folder is not None and store is not None and store_name != IN_MEMORY:
            outbox = await stack.enter_async_context(
                Outbox.open(folder / OUTBOX, store=store, embedder=embedder, locked=True)
            )
            collections = {name: outbox.collection(collection) for name, collection in collections.items()}
        clock = ManualClock(scenario.start)
        simulation = Simulation(
            scenario=scenario,
            agents={
                persona.name: _agent(
                    persona,
                    model,
                    collections.get(persona.name),
                    embedder=embedder,
                    clock=clock,
                    second_model=second_model,
                    recall=recall,
                    unwritten=unwritten,
                    audit=audit,
                    ledger=ledger,
                    capacity=settings.capacity,
                    judge=settings.judge,
                )
                for persona in scenario.personas
            },
            clock=clock,
            parts=Parts(
                store="none: memory is off" if store is None else store.description,
                embedder=described(embedder),
                model=model.name,
                subconscious=second,
            ),
            run=run,
            seed=settings.seed,
            concurrency=settings.concurrency,
            journal=journal,
            outbox=outbox,
            zone=zone,
        )
        await simulation.begin()
        yield simulation


@contextmanager
def _own_run_id(scenario: Scenario, settings: Settings, memories: int) -> Generator[str]:
    """An id that no other run has; on a store that is named another one may be under way."""
    named = settings.store if settings.memory else None
    shared = None if named is None else beside_server(named) if is_on_server(named) else store_path(named)
    if shared is None:
        yield run_id(scenario, settings.seed, memories)
        return
    with claimed(
        lambda others: run_id(scenario, settings.seed, memories, beside=others), beside=shared.resolve()
    ) as claim:
        yield claim


def next_folder(scenario: str, seed: int, *, parent: Path = Path("runs")) -> Path:
    """A run folder that isn't there yet: ``runs/grid-7``, ``runs/grid-7-2``..."""
    name = f"{Path(scenario).stem}-{seed}"
    number = 1
    while (folder := parent / (name if number == 1 else f"{name}-{number}")).exists():
        number += 1
    return folder


def _agent(
    persona: Persona,
    model: ChatModel,
    collection: MemoryCollection | None,
    *,
    embedder: Embedder,
    clock: Clock,
    second_model: ChatModel | None,
    recall: RecallSettings,
    unwritten: UnwrittenLog,
    audit: AuditLog | None,
    ledger: Ledger,
    capacity: int,
    judge: bool,
) -> Agent:
    mind: SubconsciousAgent | None = None
    if collection is not None:
        mind = SubconsciousAgent(
            collection=collection,
            embedder=embedder,
            clock=clock,
            model=second_model,
            persona=persona,
            settings=recall,
            unwritten=unwritten,
            audit=audit,
            ledger=ledger,
            capacity=capacity,
            judge=judge,
        )
    return Agent(ConsciousAgent(persona, model), mind, zone=recall.zone)


def _check_unused(folder: Path) -> None:
    """Raises:
    RunFolderError: the folder holds something, which a run must not mix with.
    """
    if folder.exists() and not folder.is_dir():
        raise RunFolderError(f"{folder} is a file. Choose another folder with --out")
    try:
        taken = folder.exists() and any(folder.iterdir())
    except OSError as error:
        raise RunFolderError(f"{folder} can't be read: {error.strerror}. Choose another folder with --out") from error
    if taken:
        raise RunFolderError(f"{folder} isn't empty. Choose another folder with --out, or delete it")


def _make(folder: Path) -> None:
    """Raises:
    RunFolderError: it can't be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunFolderError(f"{folder} can't be made: {error.strerror}. Choose another folder with --out") from error

"""Simu-Verse: a subconscious for LLM agents.

``open_subconscious`` is the way in for an agent, game or chat of one's own; ``simuverse --help`` for the rest. Names
are loaded when they are first used, so that the import costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from simuverse.errors import BadVector as BadVector
from simuverse.errors import CheckFailed as CheckFailed
from simuverse.errors import EmbedderError as EmbedderError
from simuverse.errors import EmbedderRefused as EmbedderRefused
from simuverse.errors import EmbedderUnavailable as EmbedderUnavailable
from simuverse.errors import LimitReached as LimitReached
from simuverse.errors import MalformedReply as MalformedReply
from simuverse.errors import MissingExtra as MissingExtra
from simuverse.errors import MissingKey as MissingKey
from simuverse.errors import ModelError as ModelError
from simuverse.errors import ModelNotFound as ModelNotFound
from simuverse.errors import ModelRateLimited as ModelRateLimited
from simuverse.errors import ModelRefused as ModelRefused
from simuverse.errors import ModelReplyUnusable as ModelReplyUnusable
from simuverse.errors import ModelUnavailable as ModelUnavailable
from simuverse.errors import OutsideError as OutsideError
from simuverse.errors import RunFolderError as RunFolderError
from simuverse.errors import ScenarioError as ScenarioError
from simuverse.errors import SettingsError as SettingsError
from simuverse.errors import SimuverseError as SimuverseError
from simuverse.errors import StoreCorrupt as StoreCorrupt
from simuverse.errors import StoreError as StoreError
from simuverse.errors import StoreMismatch as StoreMismatch
from simuverse.errors import StoreRefused as StoreRefused
from simuverse.errors import StoreUnavailable as StoreUnavailable
from simuverse.errors import UnknownAgent as UnknownAgent
from simuverse.errors import UsageError as UsageError

if TYPE_CHECKING:
    __version__: str

    from simuverse.agents.agent import Agent as Agent
    from simuverse.agents.chat import ChatModel as ChatModel
    from simuverse.agents.conscious import ConsciousAgent as ConsciousAgent
    from simuverse.agents.subconscious import SubconsciousAgent as SubconsciousAgent
    from simuverse.agents.trace import Recollection as Recollection
    from simuverse.agents.trace import Remembered as Remembered
    from simuverse.agents.trace import TurnTrace as TurnTrace
    from simuverse.agents.turn import Observation as Observation
    from simuverse.agents.turn import Persona as Persona
    from simuverse.agents.turn import Tool as Tool
    from simuverse.agents.turn import ToolCall as ToolCall
    from simuverse.memory.audit import AuditLog as AuditLog
    from simuverse.memory.clock import Clock as Clock
    from simuverse.memory.clock import ManualClock as ManualClock
    from simuverse.memory.editing import MemoryEditor as MemoryEditor
    from simuverse.memory.embedding import Embedder as Embedder
    from simuverse.memory.recall import RecallSettings as RecallSettings
    from simuverse.memory.records import Flashback as Flashback
    from simuverse.memory.records import Memory as Memory
    from simuverse.memory.records import MemoryQuery as MemoryQuery
    from simuverse.memory.records import Score as Score
    from simuverse.memory.scoring import Preset as Preset
    from simuverse.memory.store import MemoryStore as MemoryStore
    from simuverse.wiring import open_subconscious as open_subconscious

_HOMES = {
    "Agent": "agents.agent",
    "AuditLog": "memory.audit",
    "ChatModel": "agents.chat",
    "Clock": "memory.clock",
    "ConsciousAgent": "agents.conscious",
    "Embedder": "memory.embedding",
    "Flashback": "memory.records",
    "ManualClock": "memory.clock",
    "Memory": "memory.records",
    "MemoryEditor": "memory.editing",
    "MemoryQuery": "memory.records",
    "MemoryStore": "memory.store",
    "Observation": "agents.turn",
    "Persona": "agents.turn",
    "Preset": "memory.scoring",
    "RecallSettings": "memory.recall",
    "Recollection": "agents.trace",
    "Remembered": "agents.trace",
    "Score": "memory.records",
    "SubconsciousAgent": "agents.subconscious",
    "Tool": "agents.turn",
    "ToolCall": "agents.turn",
    "TurnTrace": "agents.trace",
    "open_subconscious": "wiring",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        # It takes a good part of the standard library to know.
        from importlib.metadata import version

        return version("simu-verse")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'simuverse' has no attribute {name!r}")
    return getattr(import_module(f"simuverse.{home}"), name)

"""Every error that Simu-Verse raises on purpose.

An error's place in the tree says whose fault it is, and so who gets to hear of it::

    SimuverseError
    ├── UsageError                  the caller: wrong settings, arguments or files
    │   ├── SettingsError           a setting that can't be read or makes no sense
    │   ├── MissingExtra            an optional package isn't installed
    │   ├── MissingKey              the provider in use needs a key that isn't set
    │   ├── ScenarioError           a scenario file that is broken
    │   ├── UnknownAgent            no agent of that name
    │   └── RunFolderError          not a run folder, in use, newer, unreadable or full
    ├── OutsideError                something outside: costs an agent that half of its turn
    │   ├── StoreError
    │   │   ├── StoreUnavailable    no answer, too late, disk full
    │   │   ├── StoreRefused        it answers and says no (key, rights, read-only)
    │   │   ├── StoreMismatch       made by another embedder, format or program
    │   │   └── StoreCorrupt        it can't be read as what it claims to be
    │   ├── EmbedderError
    │   │   ├── EmbedderUnavailable no answer, or too late
    │   │   ├── EmbedderRefused     key or model refused
    │   │   └── BadVector           zeros, NaN or a wrong size
    │   └── ModelError
    │       ├── ModelUnavailable    closed port, time-out, cut connection, 5xx
    │       ├── ModelRateLimited    429, with ``retry_after`` where the provider says it
    │       ├── ModelRefused        key or rights refused
    │       ├── ModelNotFound       no model of that name there
    │       └── ModelReplyUnusable  empty, refused by the model's own rules, or not its protocol
    ├── MalformedReply              the model's text isn't the XML that was asked for: goes back to the model
    ├── LimitReached                a limit the user set: the run pauses
    └── CheckFailed                 a check that was asked for didn't hold

Each class carries the exit code that the command line ends with. What isn't in this tree is a fault of ours.
"""

from __future__ import annotations

from typing import ClassVar


class SimuverseError(Exception):
    """Base of all: one or two sentences that say what, why, and what to do."""

    exit_code: ClassVar[int] = 1


class UsageError(SimuverseError):
    exit_code = 2


class SettingsError(UsageError):
    pass


class MissingExtra(UsageError):
    """An optional dependency is missing; the message holds the ``pip install`` line."""


class MissingKey(UsageError):
    pass


class ScenarioError(UsageError):
    pass


class UnknownAgent(UsageError):
    pass


class RunFolderError(UsageError):
    pass


class OutsideError(SimuverseError):
    exit_code = 4


class StoreError(OutsideError):
    pass


class StoreUnavailable(StoreError):
    pass


class StoreRefused(StoreError):
    pass


class StoreMismatch(StoreError):
    pass


class StoreCorrupt(StoreError):
    pass


class EmbedderError(OutsideError):
    pass


class EmbedderUnavailable(EmbedderError):
    pass


class EmbedderRefused(EmbedderError):
    pass


class BadVector(EmbedderError):
    pass


class ModelError(OutsideError):
    """Of a language model.

    ``attempts``: how many calls were made before giving up, 1 or more. ``retry_after``: seconds the provider asked to
    wait, None where it didn't say; a 503 may ask for it as well as a 429.
    """

    attempts: int = 1
    retry_after: float | None = None


class ModelUnavailable(ModelError):
    pass


class ModelRateLimited(ModelError):
    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelRefused(ModelError):
    pass


class ModelNotFound(ModelError):
    pass


class ModelReplyUnusable(ModelError):
    pass


class MalformedReply(SimuverseError):
    """A model's text that isn't the XML asked for. The message says where and can be quoted back to the model."""


class LimitReached(SimuverseError):
    exit_code = 3


class CheckFailed(SimuverseError):
    exit_code = 5

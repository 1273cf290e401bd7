"""Every exception that evaluator raises on purpose, and the exit code that each one means.

    EvaluatorError                      1  internal error
    ├── UsageError                      2  the command line or a file the user wrote is wrong
    │   ├── ManifestError               2  all problems of a manifest, collected
    │   ├── OutputError                 2  the output folder cannot be used
    │   └── LedgerError                 2  a judge's ledger is not as it was written
    ├── MediaError                      3  one media file cannot be used as asked
    ├── ExpertError                     3  a model ran and its output cannot be used
    ├── NetworkError                    3  a network cannot be opened, or not run on what it was given
    ├── AnswerError                     3  a judge answered, and its answer cannot become a number
    └── PrerequisiteError               4  something that the machine must provide is missing
        ├── ModelMissing                4  no weight file for a capability
        ├── ModelCorrupt                4  a weight file is not the one that the lock names
        ├── EngineError                 4  a network cannot be built or run on this device
        └── JudgeUnusableError          4  the judge cannot be reached or started, or failed its self-check

`NotApplicable` is not an error: a metric or an expert raises it to say that the question has no answer for this clip.
The runner turns it into a `skipped` record.

Messages are complete sentences for the person who can fix the cause: which file, what was expected, what to do.
This module knows nothing about files, models or metrics.
"""

from __future__ import annotations

from collections.abc import Sequence

EXIT_OK = 0
EXIT_INTERNAL = 1
EXIT_USAGE = 2
EXIT_FAILED_CASES = 3
EXIT_PREREQUISITE = 4
EXIT_INTERRUPTED = 130


class EvaluatorError(Exception):
    """Base of all errors below. `code` is the word that records carry; `exit_code` is what the process returns."""

    code = "internal"
    exit_code = EXIT_INTERNAL


class UsageError(EvaluatorError):
    """The command line or a file that the user wrote is wrong."""

    code = "usage"
    exit_code = EXIT_USAGE


class ManifestError(UsageError):
    """All problems of one manifest. `problems` are lines `file:line: field: expected ..., found ...`."""

    code = "manifest"

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(self.problems))


class OutputError(UsageError):
    """The output folder is in use, belongs to another run, or cannot be written."""

    code = "output"


class LedgerError(UsageError):
    """A judge's ledger cannot be read, or was changed after it was written."""

    code = "ledger"


class MediaError(EvaluatorError):
    """One media file cannot be used as asked. `code` tells why, for example `no_video_stream` or `incomplete`."""

    exit_code = EXIT_FAILED_CASES

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


class ExpertError(EvaluatorError):
    """A model ran and its output cannot be used (not finite, wrong shape)."""

    code = "expert"
    exit_code = EXIT_FAILED_CASES


class NetworkError(EvaluatorError):
    """ONNX Runtime cannot open a network, or cannot run it on what it was given: the metrics of that model fail."""

    code = "network"
    exit_code = EXIT_FAILED_CASES


class AnswerError(EvaluatorError):
    """A judge answered, and its answer cannot become a number. `code` is its status, for example `refused`."""

    exit_code = EXIT_FAILED_CASES

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


class PrerequisiteError(EvaluatorError):
    """Something that the machine must provide is missing."""

    code = "prerequisite"
    exit_code = EXIT_PREREQUISITE


class ModelMissing(PrerequisiteError):
    """No weight file is present for a model. The message names path, digest and origin to copy from."""

    code = "model_missing"


class ModelCorrupt(PrerequisiteError):
    """A weight file is not the one that the lock names. The message names file, expected and found digest."""

    code = "model_corrupt"


class EngineError(PrerequisiteError):
    """A network cannot be built, or a built one cannot be run, on this device."""

    code = "engine"


class JudgeUnusableError(PrerequisiteError):
    """The judge cannot be reached or started, does not obey, or stopped answering. Answers so far are in the ledger."""

    code = "judge_unusable"


class NotApplicable(Exception):
    """This clip has no answer to the question (no audio stream, no face, too short ...): a `skipped` record.

    `reason` is one of the words in `evaluator.schema.SKIP_REASONS`.
    """

    def __init__(self, reason: str, message: str) -> None:
        self.reason = reason
        self.message = message
        super().__init__(message)

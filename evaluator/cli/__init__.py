"""The command line: options to calls, results to text, errors to exit codes. No logic of its own.

People read stderr; machines read the files of the run, or stdout with --json. Every option is also an environment
variable: `--models` is EVALUATOR_MODELS. What a command does is in `evaluator/commands*.py`, imported when called.

    group      the group of commands, exit codes
    options    what several commands share
    scoring, reports, judging, protocols, machine    the commands
"""

from evaluator.cli import judging, machine, protocols, reports, scoring
from evaluator.cli.group import cli, command

__all__ = ["cli", "command", "judging", "machine", "protocols", "reports", "scoring"]

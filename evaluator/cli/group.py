"""The command line's frame: the group of commands, exit codes in words, and errors as exit codes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

import click

import evaluator
from evaluator import errors

EXIT_CODES = """
\b
Exit codes:
  0    every case has its results (skips allowed)
  1    internal error
  2    usage or manifest error
  3    finished, but some metrics failed
  4    something is missing: weights, a codec, a device
  130  interrupted; everything finished is kept, the same command goes on
\b
Every option is also an environment variable: --media-root is EVALUATOR_MEDIA_ROOT.
"""

REPORT_EXIT_CODES = """
\b
Exit codes:
  0    done
  1    internal error
  2    usage: what was given cannot be compared, or cannot be read
  3    a --fail-if rule was met
"""


JUDGE_EXIT_CODES = """
\b
Exit codes:
  0    done
  1    internal error
  2    usage, or a ledger that is damaged
  3    answers differ between two ledgers
  4    no judge: vLLM or the model is missing, nobody answers, or the check failed
"""


class _Command(click.Group):
    """A group that runs `run` when the first word is an option: `evaluator --manifest F` alone works."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {"--help", "-h", "--version"}
        if args and args[0].startswith("-") and args[0] not in own:
            args = ["run", *args]
        return super().parse_args(ctx, args)


def command(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line. Always exits; never shows a traceback for what the user can mend."""
    try:
        code = cli.main(args=arguments, prog_name="evaluator", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else errors.EXIT_OK)
    except click.ClickException as error:
        error.show()
        sys.exit(errors.EXIT_USAGE)
    except errors.EvaluatorError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)
    except OSError as error:  # a full disk, a folder that went away: nothing that was finished is lost
        click.echo(f"error: {error.filename or 'output'}: {error.strerror or error}", err=True)
        sys.exit(errors.EXIT_INTERNAL)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted: what was finished is kept; run the same command to go on", err=True)
        sys.exit(errors.EXIT_INTERRUPTED)


@click.group(cls=_Command, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(evaluator.__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Reproducible, offline scores for generated and edited audio-video.

    `evaluator --manifest run.jsonl --out DIR` scores a manifest; it is short for `evaluator run ...`.
    """

"""The command line: options to calls, results to text, errors to exit codes. No logic of its own.

People read stderr; machines read the files of the run, or stdout with --json. Every option is also an environment
variable: `--models` is EVALUATOR_MODELS.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

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


def option(*names: str, **settings: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A click option that is also an environment variable: `--media-root` is EVALUATOR_MEDIA_ROOT."""
    long = next(name for name in names if name.startswith("--")).partition("/")[0]
    variable = "EVALUATOR_" + long.strip("-").replace("-", "_").upper()
    return click.option(*names, envvar=variable, **settings)


PathIn = click.Path(path_type=Path, exists=True)
PathOut = click.Path(path_type=Path)


def _manifest_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for add in (
        option("--media-root", type=PathIn, help="Folder that paths start from. [default: the manifest's folder]"),
        option("--manifest", type=PathIn, required=True, help="JSON lines, one case a line."),
    ):
        function = add(function)
    return function


def _model_options(function: Callable[..., Any]) -> Callable[..., Any]:
    return option("--models", type=PathIn, help="Folder with mounted reference weights.")(function)


def _json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return option("--json", "as_json", is_flag=True, help="Write the result to stdout as JSON.")(function)


def _shard(_: click.Context, __: click.Parameter, value: str) -> tuple[int, int]:
    first, slash, second = value.partition("/")
    if not (slash and first.isdecimal() and second.isdecimal() and 1 <= int(first) <= int(second)):
        raise click.BadParameter(f"expected i/n with 1 <= i <= n, found {value!r}")
    return int(first), int(second)


def _words(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...]:
    return tuple(word for word in (value or "").split(",") if word)


@cli.command(epilog=EXIT_CODES)
@_manifest_options
@_model_options
@option("--out", type=PathOut, default=Path("out"), show_default=True, help="Folder for the results.")
@option("--suite", callback=_words, help="Only these suites, separated by commas.")
@option("--metrics", callback=_words, help="Only these metrics, separated by commas.")
@option("--limit", type=click.IntRange(min=1), help="Only the first N cases.")
@option("--shard", default="1/1", callback=_shard, show_default=True, help="Part i of n, by source clip.")
@option("--profile", default="paper", show_default=True, help="Which reading of the papers to compute.")
@option("--workers", type=click.IntRange(min=1), help="Worker threads. [default: one per core]")
@option("--device", type=click.Choice(["cpu", "gpu"]), default="cpu", show_default=True, help="Where models run.")
@option("--judge-url", help="A judge server on loopback, for example http://127.0.0.1:8000.")
@option("--judge-model", type=PathIn, help="A judge's model directory, served while the run lasts.")
@option(
    "--judge-engine",
    type=click.Choice(["auto", "vllm", "local"]),
    default="auto",
    show_default=True,
    help="What runs --judge-model: vLLM, or transformers in this process (slow).",
)
@option("--judge-replay", type=PathIn, help="A ledger (judge.jsonl) that answers instead of a judge.")
@option("--judge-tolerance", default=0.0, show_default=True, help="Change of P between repeats that is accepted.")
@option("--require-reference", is_flag=True, help="Exit 4 instead of using a stand-in model.")
@option("--resume/--fresh", default=True, show_default=True, help="Go on in --out, or start over.")
@option("--report/--no-report", default=True, show_default=True, help="Write report.html and its tables at the end.")
@option("--dry-run", is_flag=True, help="Plan, say what would be done, do nothing.")
@option("-q", "--quiet", is_flag=True, help="No progress and no table.")
@_json_option
def run(**options: Any) -> int:
    """Score a manifest."""
    from evaluator import commands

    return commands.run(options)


@cli.command()
@_manifest_options
@option("--checklists", is_flag=True, help="Look at the checklists instead of the clips: every rule, every warning.")
@_json_option
def check(manifest: Path, media_root: Path | None, checklists: bool, as_json: bool) -> int:
    """Read a manifest and every file that it names; report everything that is wrong."""
    if checklists:
        from evaluator import commands_generate

        return commands_generate.check_checklists(manifest, media_root, as_json)
    from evaluator import commands

    return commands.check(manifest, media_root, as_json)


@cli.command(name="list")
@click.argument("suite", required=False)
@_json_option
def list_(suite: str | None, as_json: bool) -> int:
    """List suites and their metrics: direction, range, unit, source."""
    from evaluator import commands

    return commands.list_metrics(suite, as_json)


@cli.command()
@_manifest_options
@click.argument("parts", nargs=-1, required=True, type=PathIn)
@option("--out", type=PathOut, required=True, help="Folder for the joined results.")
@option("-q", "--quiet", is_flag=True, help="No table.")
def merge(manifest: Path, media_root: Path | None, parts: tuple[Path, ...], out: Path, quiet: bool) -> int:
    """Join the --out folders of shards into one."""
    from evaluator import commands

    return commands.merge(manifest, media_root, parts, out, quiet)


@cli.command(epilog=REPORT_EXIT_CODES)
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@option("--thumbnails/--no-thumbnails", default=False, show_default=True, help="Decode the clips for frames and sound.")
@option("--manifest", type=PathIn, help="What each case was. [default: the manifest that the run names]")
@option("--media-root", type=PathIn, help="Folder that its paths start from. [default: the manifest's folder]")
def report(**options: Any) -> int:
    """Write report.html, report.csv and report.md into the --out folder of a run."""
    from evaluator import commands_report

    return commands_report.report(options)


def _write_option(function: Callable[..., Any]) -> Callable[..., Any]:
    text = "Also write a file: .md, .csv or .json by its name."
    return option("--write", type=PathOut, help=text)(function)


def _resampling_options(function: Callable[..., Any]) -> Callable[..., Any]:
    kinds = click.Choice(["percentile", "bca"])
    for add in (
        option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the resampling."),
        option("--interval", type=kinds, default="percentile", show_default=True, help="Kind of bootstrap interval."),
    ):
        function = add(function)
    return function


@cli.command(epilog=REPORT_EXIT_CODES)
@click.argument("folders", nargs=-1, required=True, type=PathIn)
@option("--by", type=click.Choice(["run", "system"]), default="run", show_default=True, help="What is compared.")
@option("--baseline", help="With --by system: which one to compare with. [default: the first]")
@option("--all-pairs", is_flag=True, help="Every pair, not only the first with each other one.")
@option("--manifest", type=PathIn, help="Which source each case has. [default: the manifest that the run names]")
@option("--allow", callback=_words, help="Differences to accept: profile,tier,model,metric,judge.")
@option("--fail-if", multiple=True, help="Exit 3 if met: 'ssim<-0.01', 'core/lpips>0.02@p0.05', 'lost>0'. Repeatable.")
@option(
    "--test",
    type=click.Choice(["permutation", "wilcoxon", "bootstrap"]),
    default="permutation",
    show_default=True,
    help="Paired test behind p.",
)
@option("--top", type=click.IntRange(min=0), default=5, show_default=True, help="Cases to list per metric.")
@_resampling_options
@_write_option
@_json_option
def compare(**options: Any) -> int:
    """Compare runs case by case: the first folder with each other one.

    With --by system: the systems of one run, matched by what they were given (source, prompt, references, shots).
    """
    from evaluator import commands_report

    return commands_report.compare(options)


@cli.command(epilog=REPORT_EXIT_CODES)
@click.argument("scores", type=PathIn)
@click.argument("human", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@option("--metrics", callback=_words, help="Only these metrics, separated by commas.")
@option("--raw", is_flag=True, help="Compare the raw figure of each record, not its value.")
@option("--manifest", type=PathIn, help="Which task each case has. [default: the manifest that the run names]")
@_resampling_options
@_write_option
@_json_option
def agree(**options: Any) -> int:
    """Compare the metrics of a run with what people said in a CSV file.

    \b
    Columns, with a line that names them:
      case, score                 how good an output is, higher is better
      case, rank                  place among the outputs of an item, 1 is best
      case, label                 a category that the metric gives too
      case_a, case_b, preference  a, b or tie
    and, where they matter: annotator, metric, item, note.
    """
    from evaluator import commands_report

    return commands_report.agree(options)


@cli.command(epilog=REPORT_EXIT_CODES)
@click.argument("folders", nargs=-1, required=True, type=PathIn)
@option("--metrics", callback=_words, help="Only these metrics, separated by commas.")
@option("--last", type=click.IntRange(min=1), default=8, show_default=True, help="Runs to show; files hold all.")
@_write_option
@_json_option
def history(**options: Any) -> int:
    """List runs over time, what moved, and which digest changed with it.

    A folder is a run, or holds runs.
    """
    from evaluator import commands_report

    return commands_report.history(options)


@cli.command()
@_model_options
@option("--clips", type=PathOut, help="Folder of the synthetic clips, made there once. [default: the cache]")
@option("--out", type=PathOut, help="Folder for bench.json and bench.md.")
@option("--against", type=PathIn, help="An earlier bench.json: exit 3 if a ratio got clearly worse.")
@option("--race", is_flag=True, help="Also run the usual flow, one process per metric and case.")
@option("--quick", is_flag=True, help="Two short clips, and only what fits into two minutes.")
@option("--device", type=click.Choice(["cpu"]), default="cpu", show_default=True, help="Where models run.")
@_json_option
def bench(**options: Any) -> int:
    """Measure how fast this machine scores, against limits and against the usual flow."""
    from evaluator import commands_bench

    return commands_bench.run(options)


@cli.group()
def models() -> None:
    """What models there are, which are present, and where the missing ones come from."""


def _models_command(name: str, text: str) -> None:
    @models.command(name=name, help=text)
    @_model_options
    @_json_option
    def _(models: Path | None, as_json: bool) -> int:
        from evaluator import commands

        return commands.models(name, models, as_json)


_models_command("list", "Every capability, the model that serves it here, and its tier.")
_models_command(
    "verify",
    "Read every weight file and compare it with the lock. Exit 4 if one differs or an embedded one is missing.",
)
_models_command("where", "The path where each file is, or has to be copied to, and from where.")


@cli.group(epilog=JUDGE_EXIT_CODES)
def judge() -> None:
    """A local judge: start one, check one, look back at what one said."""


def _judge_model_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return option("--judge-model", type=PathIn, help="Directory of a Qwen3-VL checkpoint in safetensors.")(function)


@judge.command(name="serve", epilog=JUDGE_EXIT_CODES)
@_judge_model_option
@option("--port", type=click.IntRange(0, 65535), default=0, help="Port on loopback. [default: a free one]")
@option("--vllm", help="The vLLM program. [default: vllm on the PATH]")
@option("--log", type=PathOut, default=Path("judge-server.log"), show_default=True, help="File for what vLLM says.")
@option("--print-command", is_flag=True, help="Print the command line with its environment, start nothing.")
@_json_option
@click.argument("extra", nargs=-1)
def judge_serve(**options: Any) -> int:
    """Serve a model directory with vLLM until interrupted. What follows -- goes to vLLM."""
    from evaluator import commands_judge

    return commands_judge.serve(options)


@judge.command(name="check", epilog=JUDGE_EXIT_CODES)
@option("--judge-url", help="http://127.0.0.1:PORT, http://[::1]:PORT or unix:/path. [default: start --judge-model]")
@option("--served-name", default="", help="Model to ask, where a server has several.")
@_judge_model_option
@option("--vllm", help="The vLLM program. [default: vllm on the PATH]")
@option("--modalities", default="text,image,video", callback=_words, show_default=True, help="What the judge takes in.")
@option("--questions", type=click.IntRange(min=1), default=16, show_default=True, help="Asked three times each.")
@option("--concurrency", type=click.IntRange(min=1), default=8, show_default=True, help="Questions at a time.")
@option(
    "--tolerance", type=click.FloatRange(min=0), default=0.0, show_default=True, help="Change of P that is accepted."
)
@_json_option
def judge_check(**options: Any) -> int:
    """Try whether a judge obeys constraints, looks at evidence and repeats itself."""
    from evaluator import commands_judge

    return commands_judge.check(options)


LedgerIn = click.Path(path_type=Path, exists=True, dir_okay=False)


@judge.command(name="verify", epilog=JUDGE_EXIT_CODES)
@click.argument("ledger", type=LedgerIn)
@option("--media/--no-media", default=True, show_default=True, help="Also compare kept pictures and sounds.")
@_json_option
def judge_verify(ledger: Path, media: bool, as_json: bool) -> int:
    """Check that a ledger is whole: its chain, its keys, what its replies mean, its media."""
    from evaluator import commands_judge

    return commands_judge.verify(ledger, media, as_json)


@judge.command(name="show")
@click.argument("ledger", type=LedgerIn)
@click.argument("key")
def judge_show(ledger: Path, key: str) -> int:
    """Write all calls whose key begins with KEY, or whose item is KEY, to stdout as JSON."""
    from evaluator import commands_judge

    return commands_judge.show(ledger, key)


@judge.command(name="diff", epilog=JUDGE_EXIT_CODES)
@click.argument("first", type=LedgerIn)
@click.argument("second", type=LedgerIn)
@option(
    "--by", type=click.Choice(["key", "portable", "question"]), default="key", show_default=True, help="What is equal."
)
@_json_option
def judge_diff(first: Path, second: Path, by: str, as_json: bool) -> int:
    """Compare the answers of two ledgers.

    \b
    --by key       the same request to the same weights in the same engine
    --by portable  the same request to the same weights in any engine
    --by question  the same request to any judge
    """
    from evaluator import commands_judge

    return commands_judge.diff(first, second, by, as_json)


@cli.group()
def distill() -> None:
    """From a judge's ledger to a smaller judge: training rows, agreement with the teacher."""


@distill.command(name="export")
@click.argument("ledgers", nargs=-1, required=True, type=LedgerIn)
@option("--out", type=PathOut, required=True, help="Folder for the rows and their media.")
@option("--held-out", type=click.FloatRange(0, 1), default=0.2, show_default=True, help="Share of clips to hold out.")
@option("--min-mass", type=click.FloatRange(0, 1), default=0.0, show_default=True, help="Leave out doubtful answers.")
@_json_option
def distill_export(**options: Any) -> int:
    """Write training rows from ledgers, split by clip. How to train: the docstring of evaluator.judge.distill."""
    from evaluator import commands_distill

    return commands_distill.export(options)


@distill.command(name="agree")
@click.argument("teacher", type=LedgerIn)
@click.argument("student", type=LedgerIn)
@option("--rows", type=LedgerIn, help="Only the questions of this file, for example held_out.jsonl.")
@option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the resampling.")
@_json_option
def distill_agree(teacher: Path, student: Path, rows: Path | None, seed: int, as_json: bool) -> int:
    """Compare the answers of a student with its teacher's: accuracy, kappa, distance of probabilities, per task."""
    from evaluator import commands_distill

    return commands_distill.agree(teacher, student, rows, seed, as_json)


@cli.group(epilog=EXIT_CODES)
def generate() -> None:
    """Documents that a protocol needs before it can score, written by a judge and checked before they are accepted."""


def _generate_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for add in (
        _json_option,
        option("--workers", type=click.IntRange(min=1), help="Worker threads. [default: one per core]"),
        option("--limit", type=click.IntRange(min=1), help="Only the first N cases."),
        option(
            "--judge-tolerance", default=0.0, show_default=True, help="Change of P between repeats that is accepted."
        ),
        option("--judge-replay", type=PathIn, help="A ledger (judge.jsonl) that answers instead of a judge."),
        option("--judge-model", type=PathIn, help="A judge's model directory, served with vLLM while this lasts."),
        option("--judge-url", help="A judge server on loopback, for example http://127.0.0.1:8000."),
        option("--out", type=PathOut, required=True, help="Folder for the documents."),
        _model_options,
        _manifest_options,
    ):
        function = add(function)
    return function


@generate.command(name="caption", epilog=EXIT_CODES)
@_generate_options
def generate_caption(**options: Any) -> int:
    """Describe the source clip of every case: DIR/<case>_caption.json, or DIR/rejected/ with the reasons."""
    from evaluator import commands_generate

    return commands_generate.generate("caption", options)


@generate.command(name="checklist", epilog=EXIT_CODES)
@_generate_options
@option("--captions", type=PathIn, help="Folder of `generate caption`. [default: --out, then the case's checklist]")
def generate_checklist(**options: Any) -> int:
    """Write the checklist of every case: DIR/<case>_checklist.json, or DIR/rejected/ with the reasons."""
    from evaluator import commands_generate

    return commands_generate.generate("checklist", options)


@cli.group(name="ave-compass", epilog=REPORT_EXIT_CODES)
def ave_compass() -> None:
    """What only AVE-Compass has: the reference's table, repeated runs, agreement with people."""


RunIn = click.Path(path_type=Path, exists=True)


@ave_compass.command(name="csv", epilog=REPORT_EXIT_CODES)
@click.argument("folder", type=RunIn)
@_manifest_options
@option("--out", type=PathOut, help="File to write. [default: stdout]")
def ave_compass_csv(folder: Path, manifest: Path, media_root: Path | None, out: Path | None) -> int:
    """Write a run with the columns of the reference's results."""
    from evaluator import commands_ave

    return commands_ave.csv(folder, manifest, media_root, out)


@ave_compass.command(name="stability", epilog=REPORT_EXIT_CODES)
@click.argument("folders", nargs=-1, required=True, type=RunIn)
@_json_option
def ave_compass_stability(folders: tuple[Path, ...], as_json: bool) -> int:
    """Compare the means of repeated runs with the published bounds; exit 3 if one moves too far."""
    from evaluator import commands_ave

    return commands_ave.repeats(folders, as_json)


@ave_compass.command(name="agree", epilog=REPORT_EXIT_CODES)
@click.argument("folder", type=RunIn)
@click.argument("labels", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@_json_option
def ave_compass_agree(folder: Path, labels: Path, as_json: bool) -> int:
    """Compare the judge's answers with those of people: a CSV of case, item, value and perhaps annotator."""
    from evaluator import commands_ave

    return commands_ave.agree(folder, labels, as_json)


def _settings(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    pairs = [value.partition("=") for value in values]
    if wrong := [name for name, sign, _ in pairs if not (name and sign)]:
        raise click.BadParameter(f"expected NAME=VALUE, found {wrong[0]!r}")
    return {name: value for name, _, value in pairs}


@cli.command(epilog=EXIT_CODES)
@click.argument("suite")
@click.argument("root", type=PathIn)
@option("--system", required=True, help="The model or method whose clips these are.")
@option("--out", type=PathOut, help="File to write. [default: ROOT/SYSTEM.jsonl]")
@click.option("--set", "settings", multiple=True, callback=_settings, help="NAME=VALUE that only this suite knows.")
def manifest(suite: str, root: Path, system: str, out: Path | None, settings: dict[str, str]) -> int:
    """Write a manifest from the layout in which a benchmark is published."""
    from evaluator import commands_suites

    return commands_suites.manifest(suite, root, system, settings, out)


@cli.command(name="filter", epilog=EXIT_CODES)
@click.argument("suite")
@_manifest_options
@_model_options
@option("--out", type=PathOut, required=True, help="Folder for kept.jsonl, dropped.jsonl and undecided.jsonl.")
@option("-q", "--quiet", is_flag=True, help="No progress.")
def filter_(suite: str, manifest: Path, media_root: Path | None, models: Path | None, out: Path, quiet: bool) -> int:
    """Keep the lines of a manifest whose source clips pass a suite's curation filters."""
    from evaluator import commands_filter

    return commands_filter.run(suite, manifest, media_root, models, out, quiet)


@cli.command(epilog=EXIT_CODES)
@option("--manifest", type=PathIn, help="Look at what this manifest needs. [default: at everything]")
@option("--media-root", type=PathIn, help="Folder that paths start from. [default: the manifest's folder]")
@_model_options
@option("--out", type=PathOut, default=Path("out"), show_default=True, help="Folder that a run would write to.")
@option("--judge-url", help="A judge server on loopback that should answer.")
@option("--require-reference", is_flag=True, help="Treat a stand-in model as missing.")
@_json_option
def doctor(**options: Any) -> int:
    """Is this machine ready: software, codecs, device, models, judge."""
    from evaluator import commands_doctor

    return commands_doctor.doctor(options)


@cli.command(epilog=JUDGE_EXIT_CODES)
@click.argument("run", type=PathIn)
@_manifest_options
@option("--out", type=PathOut, help="Folder for the second grades. [default: RUN/rejudged]")
@option("--judge-url", help="A judge server on loopback, for example http://127.0.0.1:8000.")
@option("--judge-model", type=PathIn, help="A judge's model directory, served while this lasts.")
@option("--judge-replay", type=PathIn, help="A ledger (judge.jsonl) that answers instead of a judge.")
@option("--judge-tolerance", default=0.0, show_default=True, help="Change of P between repeats that is accepted.")
def rejudge(**given: Any) -> int:
    """Let the judge look again at grades that differ between the systems of a run (MultiRef-Compass)."""
    from evaluator import commands_rejudge

    return commands_rejudge.rejudge(given)


@cli.command()
@click.argument("runs", nargs=-1, required=True, type=PathIn)
def stability(runs: tuple[Path, ...]) -> int:
    """How much the metrics of repeated runs of one manifest differ (MultiRef-Compass, section 5)."""
    from evaluator import commands_rejudge

    return commands_rejudge.stability(runs)


@cli.command(
    name="lab", context_settings={"ignore_unknown_options": True, "help_option_names": []}, add_help_option=False
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def lab(arguments: tuple[str, ...]) -> int:
    """Make clips with known transitions and sound bridges, and measure what CutCraft's rules find in them."""
    from evaluator import commands_cutcraft

    return commands_cutcraft.lab(arguments)


@cli.group()
def cutcraft() -> None:
    """CutCraft's example, displacement test, sensitivity analysis and counters."""


@cutcraft.command(name="example", epilog=EXIT_CODES)
def cutcraft_example() -> int:
    """Make the clip of the worked example out of the demo clips, and its manifest."""
    from evaluator import commands_cutcraft

    return commands_cutcraft.make_example()


@cutcraft.command(name="displace", epilog=EXIT_CODES)
@click.argument("manifest", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@option("--by", "shift", type=click.IntRange(min=1), default=30, show_default=True, help="Clips further on.")
@option("--out", type=PathOut, required=True, help="Manifest to write.")
def cutcraft_displace(manifest: Path, shift: int, out: Path) -> int:
    """Write a manifest in which every clip is scored with another clip's script and questions."""
    from evaluator import commands_cutcraft

    return commands_cutcraft.displace(manifest, shift, out)


@cutcraft.command(name="displacement", epilog=EXIT_CODES)
@click.argument("run", type=PathIn)
@click.argument("displaced_run", type=PathIn)
@option("--manifest", type=PathIn, required=True, help="Manifest of the first run.")
@option("--displaced", "displaced_manifest", type=PathIn, required=True, help="Manifest of the second run.")
@option("--media-root", type=PathIn, help="Folder that paths start from. [default: the first manifest's folder]")
def cutcraft_displacement(**given: Any) -> int:
    """Print which dimensions drop when clips are scored with other clips' scripts."""
    from evaluator import commands_cutcraft

    return commands_cutcraft.compare_displaced(**given)


@cutcraft.command(name="sensitivity", epilog=EXIT_CODES)
@click.argument("run", type=PathIn)
@_manifest_options
def cutcraft_sensitivity(run: Path, manifest: Path, media_root: Path | None) -> int:
    """Print the systems' ranking under other choices of A2's grades and A3's lambda and weight."""
    from evaluator import commands_cutcraft

    return commands_cutcraft.vary(run, manifest, media_root)


@cutcraft.command(name="counters", epilog=EXIT_CODES)
@click.argument("run", type=PathIn)
def cutcraft_counters(run: Path) -> int:
    """Print what a sample of a run cost, beside the reference."""
    from evaluator import commands_cutcraft

    return commands_cutcraft.count(run)

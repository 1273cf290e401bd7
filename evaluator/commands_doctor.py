"""What `evaluator doctor` does: look at everything, show one screen, exit 4 if something that is needed is missing."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

import click

from evaluator import errors
from evaluator.commands import load, write_json
from evaluator.doctor import codecs, device, judge, machine, models, wanted
from evaluator.doctor.finding import Finding, ready, screen
from evaluator.runner.selection import judge_models
from evaluator.runtime.digests import cache_folder
from evaluator.runtime.engine_cache import EngineCache
from evaluator.runtime.store import Store
from evaluator.schema import to_tree
from evaluator.suites import suites


def doctor(given: Mapping[str, Any]) -> int:
    """Examine this machine, for one manifest if there is one."""
    found = list(_examined(given))
    if given["as_json"]:
        write_json({"ready": ready(found), "findings": to_tree(found)})
    else:
        click.echo(screen(found, get_terminal_size((120, 24)).columns))
    return errors.EXIT_OK if ready(found) else errors.EXIT_PREREQUISITE


def _examined(given: Mapping[str, Any]) -> Iterator[Finding]:
    asked: dict[str, wanted.Wanted] | None = None
    if given["manifest"]:
        asked = wanted.of_cases(load(given["manifest"], given["media_root"]).cases, given["profile"])
    named = list(asked or ())
    yield from machine.findings({"output": given["out"], "cache": cache_folder()})
    with tempfile.TemporaryDirectory() as folder:
        yield from codecs.findings(Path(folder))
        if machine.has_gpu():
            yield from device.findings(EngineCache(cache_folder() / "engines"), Path(folder), "gpu")
    yield from models.findings(Store.open(given["models"]), named, given["require_reference"], asked)
    asking = any(metric.judged for name in named or suites() for metric in suites()[name].metrics)
    alone = judge_models(named or suites())
    yield from judge.findings(given["judge_url"], asking, alone, dict(given["judge_for"]))

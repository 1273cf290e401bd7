"""A finished run -> report.html, report.csv and report.md beside its records. Equal inputs give equal bytes.

Reads files of the run and the manifest, and clips only if thumbnails were asked for; changes none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from evaluator.manifest.problems import Problem
from evaluator.report.aggregate import Row, aggregate, read_summary
from evaluator.report.export_tables import cell_text, csv_rows, markdown_report
from evaluator.report.grid import csv_text
from evaluator.report.page import PAGE, TABLE, TEXT
from evaluator.report.page import cases as listing
from evaluator.report.page.answers import LEDGER_KEY, answer_trees
from evaluator.report.page.assets import assets
from evaluator.report.page.clips import samplings_of, show_clip
from evaluator.report.page.facts import Facts, read_facts
from evaluator.report.page.pictures import Album
from evaluator.report.page.questions import Questions, shown
from evaluator.report.page.suites import SuiteView, view
from evaluator.report.page.text import visible
from evaluator.report.runs import Run, load_run
from evaluator.runtime.files import write_atomic
from evaluator.schema import Score
from evaluator.suites import suites


@dataclass(frozen=True, slots=True)
class Options:
    """What a person may choose. Without `manifest`, the one that the run names is read if it did not change since."""

    thumbnails: bool = False  # decode the clips again for frames and wave forms
    manifest: Path | None = None
    media_root: Path | None = None


PLAIN = Options()


def write_report(folder: Path, options: Options = PLAIN) -> tuple[Path, ...]:
    """Write the report of a run and return its files. Everything is read from the disk, so that a report that is made
    at the end of a run and one that is made later are the same bytes.

    Raises UsageError if the folder holds no run, LedgerError if its ledger is damaged.
    """
    run = load_run(folder)
    facts = read_facts(run, options.manifest, options.media_root)
    rows = aggregate(run.scores.values(), facts.origins)
    boards = _boards(folder)
    views = [view(suite, run, rows, boards.get(suite, ()), facts) for suite in _suites(run)]
    files = {
        PAGE: _page(run, folder, views, facts, options).encode(),
        TABLE: csv_text(csv_rows(rows)).encode(),
        TEXT: markdown_report(folder.resolve().name, views).encode(),
    }
    for name, data in files.items():
        write_atomic(folder / name, data)
    return tuple(folder / name for name in files)


def _suites(run: Run) -> list[str]:
    return list(dict.fromkeys(score.suite for score in run.scores.values()))


def _boards(folder: Path) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """The tables that the protocols print, if the run ended with a summary."""
    summary = read_summary(folder)
    sections: Mapping[str, Sequence[Mapping[str, Any]]] = summary.get("sections", {}) if summary else {}
    return sections


def _page(run: Run, folder: Path, views: Sequence[SuiteView], facts: Facts, options: Options) -> str:
    environment = Environment(
        loader=PackageLoader("evaluator.report.page", "web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(visible=visible, cell=cell_text)
    data = _Data(run, folder, views, facts, options).tree()
    code = assets()
    return environment.get_template("report.html.j2").render(
        title=folder.resolve().name,  # not the path, which may be written in many ways
        run=run,
        header=run.header,
        facts=facts,
        views=views,
        told=data["told"],
        policy=code.policy,
        style=Markup(code.style),  # noqa: S704  (files of ours)
        script=Markup(code.script),  # noqa: S704
        plotly=Markup(code.plotly),  # noqa: S704  (base64)
        data=json_block(data),
    )


def json_block(tree: Any) -> Markup:
    """JSON that no reader of HTML can take for the end of its element or for markup."""
    text = orjson.dumps(tree).decode()
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704  (no character of markup is left)


class _Data:
    """What the scripts of the page read, put together under budgets."""

    def __init__(self, run: Run, folder: Path, views: Sequence[SuiteView], facts: Facts, options: Options) -> None:
        self._run, self._views, self._facts, self._options = run, views, facts, options
        self._folder = folder
        self._cases = listing.by_case(run.scores.values())
        self._metrics = {one.id: [card["id"] for card in one.cards] for one in views}
        self._models = listing.Numbering()
        self._album = Album()

    def tree(self) -> dict[str, Any]:
        listed = listing.list_cases(self._cases, self._metrics, self._facts)
        chosen = listing.choose_detailed(self._cases, listed.ids)
        details = self._details(listing.fitting(self._cases, chosen, self._facts))
        return {
            "names": listed.names,
            "suites": [self._suite(one) for one in self._views],
            "cases": listed.rows,
            "details": details,
            "models": self._models.things,
            "pictures": self._album.pictures,
            "told": self._told(listed, len(details)),
        }

    def _suite(self, one: SuiteView) -> dict[str, Any]:
        counted = [(row.row.metric, row.row.system, row.row) for row in one.figures]
        return {
            "id": one.id,
            "title": one.title,
            "metrics": [_card(card, one) for card in one.cards],
            "systems": one.systems,
            "radar": one.radar,
            "correlation": one.correlation,
            "outcomes": _outcomes([row for _, _, row in counted]),
        }

    def _details(self, chosen: Sequence[str]) -> dict[str, Any]:
        """Records, questions and clips of the chosen cases, until the budget of bytes is used up."""
        keys = {case: _keys(self._cases[case]) for case in chosen}
        questions = Questions(self._run, self._folder, {key for own in keys.values() for key in own}, set(chosen))
        found: dict[str, Any] = {}
        budget = listing.DETAIL_BYTES
        for case in chosen:
            tree = listing.detail(self._cases[case], self._facts.of(case), self._models)
            if questions.path is not None:
                calls = questions.of(case, keys[case])
                tree["questions"] = [shown(call, questions.path, self._album) for call in calls]
            tree["clips"] = self._clips(case) if self._options.thumbnails else {}
            budget -= len(orjson.dumps(tree))
            if budget < 0:
                break
            found[case] = tree
        return found

    def _clips(self, case: str) -> dict[str, Any]:
        """The clips of a case by role, or why they are not shown. None is decoded once the album is full."""
        known, suite = self._facts.of(case), suites().get(self._cases[case][0].suite)
        samplings = samplings_of(suite.metrics) if suite else {}
        found: dict[str, Any] = {}
        for role, written in (("video", known.video), ("source", known.source)):
            if not written or self._album.full:
                continue
            place = self._facts.place(written)
            if isinstance(place, Problem):
                found[role] = f"The clip is not there: {place.found}."
            else:
                found[role] = show_clip(place, samplings if role == "video" else {}, self._album)
        return found

    def _told(self, listed: listing.CaseList, detailed: int) -> list[str]:
        """Sentences about what the page leaves out."""
        total, told = listed.total, []
        if self._facts.missing:
            told.append(
                f"{self._facts.missing} Prompts, categories and clips are not shown, and intervals count every case as "
                "independent, unless the summary was made with the manifest."
            )
        if len(listed.rows) < total:
            told.append(f"The list holds the first {len(listed.rows)} of {total} cases; scores.jsonl holds all.")
        if detailed < total:
            told.append(
                f"Details are embedded for {detailed} of {total} cases, those with a failure first; scores.jsonl holds "
                "all."
            )
        if self._album.full:
            told.append("Not every picture fits into this page; those of later cases are named by their file only.")
        if not self._options.thumbnails:
            told.append(
                "Frames and wave forms are not embedded: `evaluator report DIR --thumbnails` decodes the clips again."
            )
        return told


def _keys(scores: Iterable[Score]) -> list[str]:
    return [str(tree[LEDGER_KEY]) for score in scores for tree in answer_trees(score.details)]


def _card(card: Mapping[str, Any], one: SuiteView) -> dict[str, Any]:
    row = next((row for row in one.table if row.card["id"] == card["id"]), None)
    names = ("id", "title", "summary", "direction", "unit", "range")
    return {name: card.get(name, "") for name in names} | {
        "badges": [asdict(badge) for badge in row.badges] if row else [],
        "scored": row is not None,
    }


def _outcomes(rows: Sequence[Row]) -> dict[str, dict[str, int]]:
    """Metric -> how its records ended: ok, "skipped: code", "failed: code" -> cases."""
    found: dict[str, dict[str, int]] = {}
    for row in rows:
        counts = found.setdefault(row.metric, {"ok": 0})
        counts["ok"] += row.n
        for status, codes in (("skipped", row.skipped), ("failed", row.failed)):
            for code, count in codes.items():
                counts[f"{status}: {code}"] = counts.get(f"{status}: {code}", 0) + count
    return found

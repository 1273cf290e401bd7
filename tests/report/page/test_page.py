"""What stands in a report: figures, marks, reasons, bytes; and what is left out, with a sentence that says so."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr

from evaluator.errors import UsageError
from evaluator.report.aggregate import aggregate, breakdown, write_summary
from evaluator.report.page import cases as listing
from evaluator.report.page.answers import responses
from evaluator.report.page.clips import FRAMES, samplings_of, show_clip
from evaluator.report.page.correlation import average_ranks, correlate
from evaluator.report.page.facts import Facts, read_facts
from evaluator.report.page.pictures import Album
from evaluator.report.page.questions import owner_of
from evaluator.report.page.text import visible
from evaluator.report.page.writer import json_block, write_report
from evaluator.report.runs import load_run
from evaluator.schema import Reason, Score, Status
from evaluator.suites import suites
from evaluator.suites.board import Board
from tests.media.oddfiles import nine_channels
from tests.report.page.synthetic import write_run
from tests.report.runs import MODEL, STAND_IN, failed, records, run
from tests.runner.clips import clip
from tests.test_cli import Cli, cli  # noqa: F401  (fixture)
from tests.test_schema import score


def page(folder: Path) -> str:
    return (folder / "report.html").read_text("utf-8")


def data(folder: Path) -> dict[str, object]:
    """What the scripts of a page read."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page(folder), re.DOTALL)
    assert found
    tree: dict[str, object] = json.loads(found[1])
    return tree


# ------------------------------------------------------------------------------------------------- aggregates


def test_intervals_are_drawn_by_source_clip() -> None:
    """Ten outputs of two sources know as little as two values: the interval reaches from one to the other."""
    scores = records({f"{source}{take}": float(source) for source in (0, 1) for take in range(5)})
    origins = {item.case: item.case[0] for item in scores}
    alone, clustered = aggregate(scores)[0], aggregate(scores, origins)[0]
    assert (alone.clusters, clustered.clusters) == (10, 2)
    assert clustered.interval == (0.0, 1.0)
    assert alone.interval is not None
    assert alone.interval[1] - alone.interval[0] < 0.7


def test_answers_to_substitute_evidence_have_a_row_of_their_own() -> None:
    native, substitute = ({"details": {"evidence": kind}} for kind in ("native", "substitute"))
    first, second = records({"a": 0.2, "b": 0.4}, **native), records({"c": 0.9}, **substitute)
    lost = failed("d", models=(MODEL,))
    assert [(row.evidence, row.n, row.failed) for row in aggregate([*first, lost])] == [("native", 2, {"corrupt": 1})]
    rows = aggregate([*first, *second, lost])
    assert [(row.evidence, row.mean) for row in rows] == [
        ("native", pytest.approx(0.3)),
        ("substitute", 0.9),
        ("", None),
    ]


def test_a_breakdown_counts_every_case_of_a_stratum_once() -> None:
    scores = records({"a": 0.0, "b": 1.0, "c": 0.5})
    parts = breakdown(scores, {"a": "x", "b": "x", "c": "y"})
    assert {name: [(row.n, row.mean) for row in rows] for name, rows in parts.items()} == {
        "x": [(2, 0.5)],
        "y": [(1, 0.5)],
    }


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30))
def test_equal_values_share_the_mean_of_their_ranks(values: list[int]) -> None:
    assert average_ranks(np.asarray(values, float)).tolist() == rankdata(values).tolist()


def test_a_correlation_is_scipys_over_the_cases_that_have_both() -> None:
    rng = np.random.default_rng(0)
    first, second = (rng.integers(0, 6, 40).astype(float).tolist() for _ in range(2))
    gaps = [None if place % 5 == 0 else value for place, value in enumerate(second)]
    found = correlate({"a": first, "b": gaps, "constant": [1.0] * 40, "few": [1.0, 2.0] + [None] * 38})
    assert found is not None
    assert found.metrics == ("a", "b")
    kept = [place for place, value in enumerate(gaps) if value is not None]
    expected = spearmanr([first[place] for place in kept], [second[place] for place in kept]).statistic
    assert found.rho[0][1] == pytest.approx(expected, abs=1e-12)
    assert found.cases == ((40, 32), (32, 32))


def test_the_response_rate_leaves_out_who_was_not_asked() -> None:
    answer = {"evidence": "native", "ledger_key": "k", "margin": 0.5, "label_mass": 0.9, "near_tie": True}
    refused = replace(failed("r"), reason=Reason("refused", "no"))
    gated = score(case="g", value=None, raw=None, status=Status.SKIPPED, reason=Reason("not_applicable", "x"))
    found = responses([*records({"a": 0.2, "b": 0.4, "c": 0.1}, details=answer), refused, gated])
    assert [(one.rate, one.answered, one.near_ties, one.margin) for one in found] == [(0.75, 3, 3, 0.5)]
    assert (found[0].unanswered, found[0].skipped) == ({"refused": 1}, {"not_applicable": 1})
    assert responses(records({"a": 0.2})) == []


# -------------------------------------------------------------------------------------------------- the page


def test_figures_marks_and_reasons_are_in_the_page(tmp_path: Path) -> None:
    out = run(
        tmp_path / "out",
        [*records({"a": 0.25, "b": 0.75}, models=(STAND_IN,)), failed("c"), *records({"a": 1.5}, "lpips")],
    )
    write_report(out)
    told = page(out)
    for words in ("stand-in for the real one", "0.500", "1 failed", "higher is better", "the file ends early", "n = 2"):
        assert words in told
    assert "is not the one that was scored" in told or "is not there any more" in told


def test_boards_are_shown_as_the_suite_made_them(tmp_path: Path) -> None:
    scores = records({"a": 0.25})
    out = run(tmp_path / "out", scores)
    board = Board("main", "Table 3 <of> the paper", ("system", "Q1"), (("s", 0.123456), ("t", None)), ("a & b",), 4)
    write_summary(out, aggregate(scores), {"core": (board,)})
    write_report(out)
    for words in ("Table 3 &lt;of&gt; the paper", "0.1235", "a &amp; b"):
        assert words in page(out)
    assert r"\<of\>" not in (out / "report.md").read_text()
    assert "Table 3 &lt;of&gt; the paper" in (out / "report.md").read_text()


def test_a_report_is_the_same_bytes_every_time_and_changes_no_record(tmp_path: Path) -> None:
    out = write_run(tmp_path / "out", 20)
    before = (out / "scores.jsonl").read_bytes()
    files = write_report(out)
    first = [path.read_bytes() for path in files]
    assert [path.read_bytes() for path in write_report(out)] == first
    assert (out / "scores.jsonl").read_bytes() == before


def test_a_run_ends_with_the_report_that_can_be_made_later(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    clip(tmp_path / "a.mp4")
    (tmp_path / "m.jsonl").write_text('{"id": "a", "suite": "core", "video": "a.mp4", "source": "a.mp4"}\n')
    out = tmp_path / "out"
    arguments = ("--manifest", tmp_path / "m.jsonl", "--out", out, "--metrics", "ssim,loudness")
    told = cli(*arguments)
    assert told.code == 0
    assert "report.html" in told.err
    first = {path.name: path.read_bytes() for path in out.glob("report.*")}
    assert first.keys() == {"report.html", "report.csv", "report.md"}
    assert cli("report", out).code == 0
    assert {path.name: path.read_bytes() for path in out.glob("report.*")} == first
    for name in first:
        (out / name).unlink()
    assert cli(*arguments, "--no-report").code == 0
    assert not list(out.glob("report.*"))


def test_without_a_run_there_is_no_report(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    told = cli("report", tmp_path)
    assert told.code == 2
    assert "run.json" in told.err
    with pytest.raises(UsageError):
        write_report(tmp_path)


@given(st.recursive(st.text() | st.floats(allow_nan=False, allow_infinity=False), st.lists, max_leaves=8))
def test_data_come_back_whole_and_cannot_leave_their_element(tree: object) -> None:
    text = str(json_block(tree))
    assert json.loads(text) == tree
    assert not set(text) & set("<>&\u2028\u2029")


def test_signs_that_turn_or_hide_are_spelled_out() -> None:
    assert visible("a\u202eb\u200b\x07") == "a[U+202E]b[U+200B][U+0007]"
    assert visible("tab\tline\n é 漢 👩") == "tab\tline\n é 漢 👩"


def test_strata_need_the_manifest_that_was_scored(tmp_path: Path) -> None:
    out = write_run(tmp_path / "out", 20)
    write_report(out)
    assert "By category (4)" in page(out)
    assert "By difficulty (3)" in page(out)
    (tmp_path / "out.jsonl").write_text("{}\n")
    write_report(out)
    assert "By category" not in page(out)
    assert "its digest differs" in page(out)


def test_csv_and_markdown_say_what_the_page_says(tmp_path: Path) -> None:
    out = run(
        tmp_path / "out", [*records({"a": 0.25, "b": 0.75}, models=(STAND_IN,), system="|x"), failed("c", system="|x")]
    )
    write_report(out)
    rows = list(csv.DictReader(io.StringIO((out / "report.csv").read_text())))
    assert [(row["n"], row["mean"], row["failed"], row["stands_in_for"]) for row in rows] == [
        ("2", "0.5", "", "the real one"),
        ("0", "", "corrupt:1", "M"),
    ]
    told = (out / "report.md").read_text()
    assert "| metric | \\|x |" in told
    assert "ssim: stand-in for the real one" in told


# ----------------------------------------------------------------------------------------------------- budgets


def few(count: int) -> dict[str, list[Score]]:
    scores = [*records({f"c{place}": 0.5 for place in range(count - 1)}), failed("last")]
    return listing.by_case(scores)


def test_the_list_ends_where_its_budget_does() -> None:
    cases, facts = few(50), Facts({}, Path())
    whole = listing.list_cases(cases, {"core": ["ssim"]}, facts)
    cut = listing.list_cases(cases, {"core": ["ssim"]}, facts, budget=200)
    assert (len(whole.rows), whole.total, cut.total) == (50, 50, 50)
    assert cut.rows == whole.rows[: len(cut.rows)]
    assert len(orjson.dumps(cut.rows)) <= 202
    assert whole.rows[-1][5] == ["0"]
    assert whole.names["reasons"] == [("failed", "corrupt")]


def test_details_are_given_to_failures_first() -> None:
    cases = few(10)
    chosen = listing.choose_detailed(cases, cases)
    assert chosen[:2] == ["last", "c0"]
    assert listing.fitting(cases, chosen, Facts({}, Path()), budget=900)[0] == "last"
    assert listing.fitting(cases, chosen, Facts({}, Path()), budget=10) == []


def test_a_large_page_stays_small_and_says_what_it_leaves_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = write_run(tmp_path / "out", 100)
    monkeypatch.setattr(listing, "DETAIL_BYTES", 30_000)
    monkeypatch.setattr(listing.fitting, "__defaults__", (30_000,))
    write_report(out)
    details = data(out)["details"]
    assert isinstance(details, dict)
    assert 1 < len(details) < 100
    assert f"Details are embedded for {len(details)} of 100 cases" in page(out)


def test_thousands_of_cases_stay_below_the_limit(large: Path) -> None:
    assert (large / "report.html").stat().st_size < 30e6
    assert len(data(large)["cases"]) == 5000  # type: ignore[arg-type]


def test_an_album_takes_each_picture_once_and_nothing_when_full() -> None:
    rng = np.random.default_rng(0)
    one, two = (rng.integers(0, 256, (40, 60, 3), np.uint8) for _ in range(2))
    album = Album(budget=4000)
    assert album.add_array(one) == album.add_array(one) is not None
    size = sum(map(len, album.pictures.values()))
    assert size <= 4000 < 2 * size
    assert album.add_array(two) is None
    assert album.full
    with pytest.raises(ValueError, match="not a picture"):
        album.add_file(b"<svg onload=alert(1)>")


# -------------------------------------------------------------------------------------------- clips and judges


def test_a_clip_is_shown_by_frames_sound_and_moments(tmp_path: Path) -> None:
    album = Album()
    found = show_clip(clip(tmp_path / "a.mp4"), samplings_of(suites()["core"].metrics), album)
    assert not isinstance(found, str)
    assert len(found.frames) == FRAMES == len({name for _, name in found.frames})
    assert found.frames[0][0] == 0.0
    assert found.frames[-1][0] == pytest.approx(29 / 25, abs=1e-3)
    assert 25 < max(found.wave) < 40  # a tone at 0.3 of full scale
    assert len(found.moments["ssim"]) == 10
    assert max(found.moments["ssim"]) <= found.seconds


def test_a_clip_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(b"no film at all" * 99)
    assert str(show_clip(tmp_path / "a.mp4", {}, Album())).startswith("The clip cannot be shown: ")


def test_a_clip_whose_sound_cannot_be_converted_is_shown_without_its_wave(tmp_path: Path) -> None:
    found = show_clip(nine_channels(tmp_path / "a.mkv"), {}, Album())
    assert not isinstance(found, str)
    assert found.frames
    assert found.wave == ()


def test_paths_of_a_manifest_do_not_lead_outside(tmp_path: Path) -> None:
    out = write_run(tmp_path / "out", 5)
    facts = read_facts(load_run(out))
    assert not isinstance(facts.place("../../etc/passwd"), Path)


def test_an_item_belongs_to_the_longest_case_that_it_names() -> None:
    assert owner_of("a/b/prompt_following", {"a", "a/b"}) == "a/b"
    assert owner_of("a/c/prompt_following", {"a", "a/b"}) == "a"
    assert owner_of("x/y", {"a"}) is None


def test_questions_come_with_evidence_probabilities_and_margin(judged: Path) -> None:
    details = data(judged)["details"]
    assert isinstance(details, dict)
    for detail in details.values():
        (question,) = detail["questions"]
        assert question["status"] == "ok"
        assert sum(question["probabilities"].values()) == pytest.approx(1)
        frames = [part for turn in question["turns"] for part in turn["parts"] if part["kind"] == "frames"]
        assert len(frames[0]["pictures"]) == len(frames[0]["times"]) == 8
        assert all(picture["name"] in data(judged)["pictures"] for picture in frames[0]["pictures"])  # type: ignore[operator]

"""What people read: the right number in the right cell, marks for stand-ins, reasons for what is missing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.report.aggregate import aggregate
from evaluator.report.table import absences, shorten, stand_ins, table
from evaluator.schema import ModelRef, Reason, Status, Tier
from tests.test_schema import score

REAL = ModelRef("real", "a" * 64, Tier.REFERENCE)
FAKE = ModelRef("proxy", "b" * 64, Tier.EMBEDDED, "the published one")


def metric(name: str, direction: Direction, unit: str = "") -> Metric:
    return Metric(name, 1, name, name, direction, (None, None), unit, "p", {}, lambda: Outcome(0.0))


METRICS = {
    "ssim": metric("ssim", Direction.HIGHER),
    "lpips": metric("lpips", Direction.LOWER),
    "loudness": metric("loudness", Direction.NONE, "LUFS"),
}


def test_means_are_over_the_cases_that_have_a_value() -> None:
    skip = score(case="c", value=None, raw=None, status=Status.SKIPPED, reason=Reason("not_applicable", "x"))
    rows = aggregate([score(case="a", value=0.25), score(case="b", value=0.75), skip])
    assert len(rows) == 1
    assert (rows[0].n, rows[0].mean, rows[0].skipped, rows[0].failed) == (2, 0.5, {"not_applicable": 1}, {})
    assert rows[0].interval is not None
    assert rows[0].interval[0] <= 0.5 <= rows[0].interval[1]


def test_scores_of_different_models_never_meet_in_one_mean() -> None:
    rows = aggregate([score(case="a", models=(REAL,)), score(case="b", models=(FAKE,))])
    assert [row.n for row in rows] == [1, 1]
    text = table("core", rows, METRICS)
    assert "several" in text
    assert "0.500" not in text


def test_arrows_units_and_marks() -> None:
    rows = aggregate(
        [
            score(metric="ssim", models=()),
            score(metric="lpips", models=(FAKE,), value=0.125),
            score(metric="loudness", models=(), value=-23.0),
        ]
    )
    lines = table("core", rows, METRICS).splitlines()
    assert [line.split()[:2] for line in lines[-3:]] == [["↑", "ssim"], ["↓", "lpips"], ["loudness", "[LUFS]"]]
    assert lines[-2].endswith("0.125*")
    assert lines[-1].endswith("-23.000")
    assert stand_ins(rows) == ["* proxy stands in for the published one"]


def test_a_skip_is_a_dash_and_a_failure_is_seen() -> None:
    gone = {"value": None, "raw": None}
    rows = aggregate(
        [
            score(metric="ssim", status=Status.SKIPPED, reason=Reason("not_applicable", "x"), **gone),
            score(metric="ssim", system="other", models=()),
            score(metric="lpips", status=Status.FAILED, reason=Reason("corrupt", "y"), **gone),
            score(metric="lpips", case="b", models=()),
        ]
    )
    lines = table("core", rows, METRICS).splitlines()
    assert lines[-2].split()[2:] == ["-", "0.500"]
    assert lines[-1].split()[2:] == ["0.500!", "-"]


def test_a_metric_that_was_skipped_everywhere_has_no_line() -> None:
    gone = {"value": None, "raw": None, "status": Status.SKIPPED, "reason": Reason("unavailable", "mount it")}
    rows = aggregate([score(metric="lpips", **gone), score(metric="ssim", models=())])
    assert "lpips" not in table("core", rows, METRICS)
    assert "no metric has a value" in table("core", rows[:1], METRICS)


def test_many_systems_are_wrapped_into_blocks_and_none_is_lost() -> None:
    names = [f"system-with-a-long-name-{i}" for i in range(20)]
    rows = aggregate([score(case=name, system=name, value=i / 100) for i, name in enumerate(names)])
    text = table("core", rows, METRICS, width=80)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert all(f"{i / 100:.3f}" in text for i in range(20))


def test_absences_put_failures_first_and_join_what_is_one_reason() -> None:
    gone = {"value": None, "raw": None, "models": ()}
    scores = [
        score(
            case=str(case),
            metric=metric,
            status=Status.SKIPPED,
            reason=Reason("not_applicable", f"no speech: {case}.5 s of it"),
            **gone,
        )
        for case in range(3)
        for metric in ("dnsmos", "plcmos")
    ]
    scores.append(score(case="z", metric="lpips", status=Status.FAILED, reason=Reason("corrupt", "bad file"), **gone))
    assert absences(scores) == [
        "failed lpips (case z): corrupt: bad file",
        "skipped dnsmos, plcmos (3 cases, first 0): not_applicable: no speech: 0.5 s of it",
    ]


def test_a_reason_can_be_read_however_many_metrics_have_it() -> None:
    gone = {"value": None, "raw": None, "status": Status.FAILED, "reason": Reason("incomplete", "a.mp4 is cut off")}
    names = [f"metric_number_{number}" for number in range(19)]
    (line,) = absences([score(metric=name, case="a", **gone) for name in names], 148)
    assert (
        line
        == "failed metric_number_0, metric_number_1, metric_number_2 and 16 more (case a): incomplete: a.mp4 is cut off"
    )
    (whole,) = absences([score(metric=name, case="a", **gone) for name in names], 10_000)
    assert all(name in whole for name in names)
    (long,) = absences([score(metric="m" * 100, case="a", **gone)], 120)
    assert long.startswith("failed mmm")


@given(st.text(max_size=300), st.integers(10, 120))
def test_shortened_text_is_one_line_that_fits(text: str, width: int) -> None:
    line = shorten(text, width)
    assert len(line) <= width
    assert len(line.splitlines()) <= 1

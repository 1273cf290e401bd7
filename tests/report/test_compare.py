"""`evaluator compare`: the right pairs, honest figures, refusals that say what differs, and a gate that holds."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from evaluator.errors import UsageError
from evaluator.report.compare import compare
from evaluator.report.effect import Pair, Settings, measure
from evaluator.report.gate import parse_rule
from evaluator.report.runs import load_run
from evaluator.report.sides import sides_by_run
from evaluator.schema import Score
from tests.report.runs import MODEL, OTHER, STAND_IN, Cli, cli, failed, manifest, records, run

__all__ = ["cli"]

CASES = [f"c{index:02d}" for index in range(12)]
RNG = np.random.default_rng(3)
BEFORE = dict(zip(CASES, (0.8 + 0.05 * RNG.normal(size=12)).tolist(), strict=True))
WORSE = {case: value - 0.05 + 0.01 * index / 12 for index, (case, value) in enumerate(BEFORE.items())}


def told(cli: Cli, *arguments: object) -> dict[str, object]:
    """The JSON of a comparison."""
    answer = cli("compare", *arguments, "--json")
    assert answer.code in {0, 3}, answer.err
    found: dict[str, object] = json.loads(answer.out)
    return found


def pairs_of(before: Path, after: Path) -> tuple[list[float], list[float]]:
    first, second = (load_run(path).scores for path in (before, after))
    keys = [key for key in first if key in second]
    return [first[key].value or 0.0 for key in keys], [second[key].value or 0.0 for key in keys]


def test_the_figures_are_those_of_scipy(cli: Cli, tmp_path: Path) -> None:
    a, b = run(tmp_path / "a", records(BEFORE)), run(tmp_path / "b", records(WORSE))
    effect = told(cli, a, b, "--test", "wilcoxon")["comparisons"][0]["effects"][0]  # type: ignore[index]
    first, second = pairs_of(a, b)
    assert effect["difference"] == pytest.approx(np.mean(second) - np.mean(first), abs=1e-6)
    assert effect["p"] == pytest.approx(stats.wilcoxon(first, second).pvalue, rel=1e-5)
    assert effect["interval"][0] < effect["difference"] < effect["interval"][1] < 0
    assert (effect["pairs"], effect["better"], effect["ties"], effect["worse"]) == (12, 0, 0, 12)
    assert [move["case"] for move in effect["moves"]] == CASES[:5]
    exact = told(cli, a, b)["comparisons"][0]["effects"][0]  # type: ignore[index]
    assert exact["p"] == pytest.approx(2 / 2**12, rel=1e-5)  # all signs equal: the most extreme pattern


def test_what_a_reader_sees(cli: Cli, tmp_path: Path) -> None:
    a = run(tmp_path / "a", [*records(BEFORE), *records(BEFORE, "lpips"), *records({"c00": -23.0}, "loudness")])
    b = run(tmp_path / "b", [*records(WORSE), *records(WORSE, "lpips"), *records({"c00": -25.0}, "loudness")])
    answer = cli("compare", a, b)
    assert answer.code == 0
    assert answer.out == ""
    rows = {line.split()[1]: line for line in answer.err.splitlines() if line.startswith(("↑", "↓"))}
    assert rows["ssim"].split()[-2:] == ["0/0/12", "worse"]
    assert rows["lpips"].split()[-2:] == ["12/0/0", "better"]
    assert "ssim got worse in 12 of 12: c00 " in answer.err
    assert "lpips got worse" not in answer.err
    assert "loudness" in answer.err
    assert "no manifest was found" in answer.err


def test_p_values_are_corrected_over_all_tests_of_the_call(cli: Cli, tmp_path: Path) -> None:
    both = [records(values) + records(values, "lpips") for values in (BEFORE, WORSE)]
    folders = [run(tmp_path / name, scores) for name, scores in (("a", both[0]), ("b", both[1]), ("c", both[1]))]
    found = told(cli, *folders)["comparisons"]
    effects = [effect for one in found for effect in one["effects"]]  # type: ignore[attr-defined]
    assert len(effects) == 4
    assert all(effect["p_holm"] == pytest.approx(4 * effect["p"], rel=1e-5) for effect in effects)
    assert len(told(cli, *folders, "--all-pairs")["comparisons"]) == 3  # type: ignore[arg-type]


def test_outputs_of_one_source_are_one_unit(cli: Cli, tmp_path: Path) -> None:
    lines = [{"id": case, "source": f"s{index // 4}.mp4"} for index, case in enumerate(CASES)]
    given = manifest(tmp_path / "m.jsonl", lines)
    a, b = run(tmp_path / "a", records(BEFORE), given), run(tmp_path / "b", records(WORSE), given)
    effect = told(cli, a, b)["comparisons"][0]["effects"][0]  # type: ignore[index]
    assert (effect["pairs"], effect["clusters"], effect["p"]) == (12, 3, 0.25)
    assert "3 clusters of 12 cases" in cli("compare", a, b).err
    given.write_text(given.read_text() + "\n")  # edited since: no longer what was scored
    loose = told(cli, a, b)["comparisons"][0]["effects"][0]  # type: ignore[index]
    assert loose["clusters"] == 12
    assert told(cli, a, b, "--manifest", given)["comparisons"][0]["effects"][0]["clusters"] == 3  # type: ignore[index]


def test_only_cases_with_a_value_on_both_sides_are_paired(cli: Cli, tmp_path: Path) -> None:
    a = run(tmp_path / "a", records({"x": 0.5, "y": 0.9, "z": 0.1}))
    b = run(tmp_path / "b", [*records({"x": 0.6, "new": 0.0}), failed("y")])
    one = told(cli, a, b)["comparisons"][0]  # type: ignore[index]
    assert one["effects"][0]["pairs"] == 1
    assert one["effects"][0]["first"] == 0.5
    assert one["effects"][0]["p"] is one["effects"][0]["interval"] is None
    assert [(change["case"], change["before"], change["after"]) for change in one["changes"]] == [("y", "ok", "failed")]
    assert "the file ends early" in one["changes"][0]["reason"]
    assert (one["lost"], one["gained"], one["only_first"], one["only_second"]) == (2, 1, 1, 1)


@pytest.mark.parametrize(
    ("kinds", "other", "header", "words"),
    [
        (["profile"], {"profile": "compat"}, {}, ["paper against compat"]),
        (["model"], {"models": (OTHER,)}, {}, ["ssim: real aaaaaaaaaaaa against real bbbbbbbbbbbb"]),
        (["tier", "model"], {"models": (STAND_IN,)}, {}, ["reference against embedded", "proxy cccccccccccc"]),
        (["judge"], {}, {"judge": {"model": "j2"}}, ["None against {'model': 'j2'}"]),
        (
            ["metric"],
            {},
            {"metrics": [{"id": "ssim", "version": 2, "direction": "higher", "unit": ""}]},
            ["version 1 against 2"],
        ),
    ],
)
def test_unlike_runs_are_refused_until_allowed(
    cli: Cli, tmp_path: Path, kinds: list[str], other: dict[str, object], header: dict[str, object], words: list[str]
) -> None:
    a = run(tmp_path / "a", records(BEFORE))
    b = run(tmp_path / "b", records(WORSE, **other), **header)
    refused = cli("compare", a, b)
    assert refused.code == 2
    for word in [*words, f"--allow {','.join(kinds)}"]:
        assert word in refused.err
    if len(kinds) > 1:
        assert cli("compare", a, b, "--allow", kinds[0]).code == 2
    allowed = cli("compare", a, b, "--allow", ",".join(kinds))
    assert allowed.code == 0
    assert words[0] in allowed.err  # still said


def test_only_models_behind_compared_records_count(cli: Cli, tmp_path: Path) -> None:
    a = run(tmp_path / "a", [*records(BEFORE), *records({"c00": 1.0}, "lpips", models=(MODEL,))])
    b = run(tmp_path / "b", [*records(WORSE), failed("c00", "lpips", models=(OTHER,))])
    assert cli("compare", a, b).code == 0


def test_what_else_changed_is_said(cli: Cli, tmp_path: Path) -> None:
    a = run(tmp_path / "a", records(BEFORE))
    b = run(tmp_path / "b", records(WORSE), packages={"numpy": "9.9"}, lock_sha256="2" * 64)
    err = cli("compare", a, b).err
    assert "packages.numpy: 2.3.5 against 9.9" in err
    assert "lock_sha256: 111111111111 against 222222222222" in err
    assert "12 records have the same clips, models and metric version, yet another value" in err


def test_a_run_against_itself(cli: Cli, tmp_path: Path) -> None:
    a = run(tmp_path / "a", records(BEFORE))
    b = run(tmp_path / "b", records(BEFORE))
    one = told(cli, a, b, "--interval", "bca")["comparisons"][0]  # type: ignore[index]
    effect = one["effects"][0]
    assert (effect["difference"], effect["interval"], effect["p"]) == (0, [0, 0], 1)
    assert (effect["ties"], effect["moves"], one["notes"]) == (12, [], [])


RULES = [
    ("ssim<-0.01", 3),
    ("ssim < -1e-2", 3),
    ("core/ssim<-0.01", 3),
    ("ssim<-0.01@p0.05", 3),
    ("ssim<-0.01@p0.0001", 0),
    ("ssim<-0.1", 0),
    ("ssim>0.01", 0),
    ("ave/ssim<0", 3),  # nothing to see: the gate stays shut
    ("lost>0", 0),
]


@pytest.mark.parametrize(("rule", "code"), RULES)
def test_the_gate(cli: Cli, tmp_path: Path, rule: str, code: int) -> None:
    a, b = run(tmp_path / "a", records(BEFORE)), run(tmp_path / "b", records(WORSE))
    answer = cli("compare", a, b, "--fail-if", rule)
    assert answer.code == code, answer.err
    assert (f"--fail-if {rule}: " in answer.err) == (code == 3)


def test_a_metric_that_lost_all_its_values_does_not_pass(cli: Cli, tmp_path: Path) -> None:
    a = run(tmp_path / "a", records({"x": 0.5}))
    b = run(tmp_path / "b", [failed("x")])
    assert cli("compare", a, b).code == 0
    assert "no record has a value on both sides" in cli("compare", a, b).err
    assert "ssim has no pair to compare" in cli("compare", a, b, "--fail-if", "ssim<-0.5").err
    assert cli("compare", a, b, "--fail-if", "ssim<-0.5").code == 3
    assert cli("compare", a, b, "--fail-if", "lost>0").code == 3


@pytest.mark.parametrize("rule", ["ssim", "ssim<", "ssim<x", "<1", "ssim=1", "ssim<1@0.05", "ssim<1..2", "sism<0"])
def test_a_rule_that_cannot_be_read_is_refused(cli: Cli, tmp_path: Path, rule: str) -> None:
    a, b = run(tmp_path / "a", records(BEFORE)), run(tmp_path / "b", records(WORSE))
    answer = cli("compare", a, b, "--fail-if", rule)
    assert answer.code == 2
    assert "--fail-if" in answer.err


def test_a_rule_is_read_whole() -> None:
    rule = parse_rule("av-core/dnsmos.2 > -.5@p0.01")
    assert (rule.suite, rule.metric, rule.above, rule.bound, rule.level) == ("av-core", "dnsmos.2", True, -0.5, 0.01)


def two_systems(folder: Path) -> Path:
    """Systems p and q over the same three clips; q has two outputs for the first of them."""
    made = [("p", 0, 0.5), ("p", 1, 0.6), ("p", 2, 0.7), ("q", 0, 0.6), ("q", 0, 0.8), ("q", 1, 0.9), ("q", 2, 0.7)]
    lines, scores = [], []
    for index, (system, source, value) in enumerate(made):
        lines.append({"id": f"{system}{index}", "system": system, "source": f"s{source}.mp4", "category": system})
        scores += records({f"{system}{index}": value}, system=system)
    return run(folder / "out", scores, manifest(folder / "m.jsonl", lines))


def test_systems_of_one_run_meet_over_the_same_task(cli: Cli, tmp_path: Path) -> None:
    out = two_systems(tmp_path)
    one = told(cli, out, "--by", "system")["comparisons"][0]  # type: ignore[index]
    effect = one["effects"][0]
    assert (one["first"], one["second"], effect["pairs"]) == ("p", "q", 3)
    assert effect["difference"] == pytest.approx((0.2 + 0.3 + 0.0) / 3)  # 0.5 against the mean of 0.6 and 0.8
    assert (effect["better"], effect["ties"], effect["worse"]) == (2, 1, 0)
    swapped = told(cli, out, "--by", "system", "--baseline", "q")["comparisons"][0]  # type: ignore[index]
    assert swapped["effects"][0]["difference"] == pytest.approx(-effect["difference"])


def test_a_prompt_is_a_task_too_and_no_task_is_refused(cli: Cli, tmp_path: Path) -> None:
    scores = [*records({"a": 0.1}, system="p"), *records({"b": 0.4}, system="q")]
    given = manifest(tmp_path / "m.jsonl", [{"id": "a", "prompt": "a cat"}, {"id": "b", "prompt": "a cat"}])
    effect = told(cli, run(tmp_path / "out", scores, given), "--by", "system")["comparisons"][0]["effects"][0]  # type: ignore[index]
    assert effect["difference"] == pytest.approx(0.3)
    bare = manifest(tmp_path / "bare.jsonl", [{"id": "a"}, {"id": "b"}])
    refused = cli("compare", run(tmp_path / "out2", scores, bare), "--by", "system")
    assert refused.code == 2
    assert "has no source, prompt, references or shots" in refused.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a"], "at least two folders"),
        (["a", "b", "--by", "system"], "2 folders were given"),
        (["a", "--by", "system"], "all cases are of one system"),
        (["a", "b", "--baseline", "x"], "needs --by system"),
        (["a", "strange"], "no case id in common"),
        (["a", "empty"], "no run.json there"),
        (["a", "b", "--allow", "profil"], "expected some of profile, tier, model, metric, judge"),
        (["a", "b", "--write", "x.txt"], "ends in .md, .csv, .json"),
        (["a", "torn"], "not JSON"),
        (["a", "old"], "schema 0, this version reads 1"),
        (["a", "cardless"], "does not describe ssim"),
    ],
)
def test_what_cannot_be_compared(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    run(Path("a"), records(BEFORE))
    run(Path("b"), records(WORSE))
    run(Path("strange"), records({"other": 0.5}))
    Path("empty").mkdir()
    (run(Path("torn"), records(BEFORE)) / "run.json").write_text("{")
    run(Path("old"), records(BEFORE), schema=0)
    run(Path("cardless"), records(BEFORE), metrics=[])
    answer = cli("compare", *arguments)
    assert answer.code == 2
    assert words in answer.err
    assert "Traceback" not in answer.err


def test_files_for_people_and_machines(cli: Cli, tmp_path: Path) -> None:
    a = run(tmp_path / "a", records({"x|<b>": 0.5, "y": 0.7}))
    b = run(tmp_path / "b" / "scores", records({"x|<b>": 0.4, "y": 0.8})) / "scores.jsonl"  # a file is a run too
    for name in ("c.md", "c.csv", "c.json"):
        assert cli("compare", a, b, "--write", tmp_path / name).code == 0
    rows = list(csv.DictReader((tmp_path / "c.csv").open()))
    assert [(row["metric"], row["pairs"], float(row["difference"]), row["verdict"]) for row in rows] == [
        ("ssim", "2", pytest.approx(0.0), "")
    ]
    text = (tmp_path / "c.md").read_text()
    assert "x\\|&lt;b&gt; 0.4" in text
    assert "| ↑ ssim | 2 | 0.600 | 0.600 |" in text
    assert json.loads((tmp_path / "c.json").read_text())["by"] == "run"


def test_two_thousand_cases_take_a_moment(tmp_path: Path) -> None:
    def scores(shift: float) -> list[Score]:
        values = {str(case): 0.5 + 0.3 * np.sin(case) + shift * (case % 3) for case in range(2000)}
        return records(values)

    sides = sides_by_run([load_run(run(tmp_path / str(shift), scores(shift))) for shift in (0.0, 0.01)])
    found = compare([(sides[0], sides[1])], {str(case): str(case // 4) for case in range(2000)}, Settings())
    effect = found[0].effects[0]
    assert effect.clusters == 500
    assert effect.interval is not None
    assert effect.interval[0] < 0.01 < effect.interval[1]
    assert effect.verdict == "better"


def test_facts_have_no_good_direction() -> None:
    from evaluator.metrics.base import Direction

    pairs = [Pair(str(index), str(index), 0.0, 1.0 + index) for index in range(8)]
    effect = measure("core", "loudness", "LUFS", Direction.NONE, pairs, Settings(top=2))
    assert (effect.better, effect.worse, effect.ties) == (None, None, 0)
    assert [pair.case for pair in effect.moves] == ["7", "6"]


def test_loading_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no run\.json"):
        load_run(tmp_path)

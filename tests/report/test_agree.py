"""`evaluator agree`: every figure against a plain count, the figures of AVENUE, and files that cannot be used."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.report.runs import Cli, cli, failed, manifest, records, run

__all__ = ["cli"]

Votes = dict[tuple[str, str, str], float]  # annotator, item, system -> score

ITEMS, SYSTEMS, PEOPLE = [f"i{n}" for n in range(12)], "pqrs", "uvwxy"


@pytest.fixture(scope="module")
def votes() -> Votes:
    rng = np.random.default_rng(6)
    return {
        (who, item, system): float(rng.integers(1, 4) + (system in "pq"))
        for who in PEOPLE
        for item in ITEMS
        for system in SYSTEMS
        if not (who == "y" and item > "i5")  # the last annotator saw half
    }


@pytest.fixture(scope="module")
def values() -> dict[str, float]:
    rng = np.random.default_rng(7)
    return {f"{item}-{system}": round(rng.normal() + (system in "pq"), 2) for item in ITEMS for system in SYSTEMS}


def study(folder: Path, values: dict[str, float], metric: str = "ssim") -> Path:
    scores = [one for case, value in values.items() for one in records({case: value}, metric, system=case[-1])]
    return run(folder / "out", scores)


def table(path: Path, head: str, *rows: object) -> Path:
    path.write_text("\n".join([head, *map(str, rows)]) + "\n")
    return path


def scored(folder: Path, votes: Votes, column: str = "score", sign: int = 1) -> Path:
    rows = [f"{item}-{system},{who},{sign * vote},{item}" for (who, item, system), vote in votes.items()]
    return table(folder / "human.csv", f"case,annotator,{column},item", *rows)


def figures(cli: Cli, *arguments: object) -> dict[str, Any]:
    """Name -> figure of the only metric, and what stands beside them."""
    answer = cli("agree", *arguments, "--json")
    assert answer.code == 0, answer.err
    (one,) = json.loads(answer.out)["metrics"]
    pairs = one["pairs"] or {"figures": []}
    return {figure["name"]: figure for figure in [*one["cases"], *pairs["figures"]]} | {"pairs": pairs, "whole": one}


def value(found: dict[str, Any], name: str) -> float:
    figure = found[name]["value"]
    assert isinstance(figure, float)
    return figure


def signs(votes: Votes, who: str, item: str) -> list[float] | None:
    if (who, item, "p") not in votes:
        return None
    return [np.sign(votes[who, item, a] - votes[who, item, b]) for a, b in combinations(SYSTEMS, 2)]


def metric_signs(values: dict[str, float], item: str) -> list[float]:
    return [np.sign(values[f"{item}-{a}"] - values[f"{item}-{b}"]) for a, b in combinations(SYSTEMS, 2)]


def share(pairs: list[tuple[float, float]]) -> float:
    """Equal signs among those where neither is a tie."""
    compared = [(a, b) for a, b in pairs if a and b]
    return sum(a == b for a, b in compared) / len(compared)


def every(votes: Votes, item: str) -> dict[str, list[float]]:
    found = {who: signs(votes, who, item) for who in PEOPLE}
    return {who: row for who, row in found.items() if row is not None}


def test_pairwise_agreement_by_counting(cli: Cli, tmp_path: Path, votes: Votes, values: dict[str, float]) -> None:
    found = figures(cli, study(tmp_path, values), scored(tmp_path, votes))
    ours = [
        pair
        for i in ITEMS
        for row in every(votes, i).values()
        for pair in zip(metric_signs(values, i), row, strict=True)
    ]
    theirs = [
        pair
        for i in ITEMS
        for first, second in combinations(every(votes, i).values(), 2)
        for pair in zip(first, second, strict=True)
    ]
    assert value(found, "pairwise agreement") == pytest.approx(share(ours), abs=1e-6)
    assert value(found, "pairwise agreement, people") == pytest.approx(share(theirs), abs=1e-6)
    out = found["pairs"]["excluded"]
    assert out["human_tie"] == sum(human == 0 for _, human in ours)
    assert out["metric_tie"] == sum(metric == 0 and human != 0 for metric, human in ours)
    low, high = found["pairwise agreement"]["interval"]
    assert low < value(found, "pairwise agreement") < high


def test_leave_one_out_by_leaving_one_out(cli: Cli, tmp_path: Path, votes: Votes, values: dict[str, float]) -> None:
    found = figures(cli, study(tmp_path, values), scored(tmp_path, votes))
    ours, theirs = [], []
    for out in PEOPLE:
        judge: list[tuple[float, float]] = []
        person: list[tuple[float, float]] = []
        for item in ITEMS:
            rows = every(votes, item)
            rest = np.sign(sum(np.asarray(row) for who, row in rows.items() if who != out)).tolist()
            judge += zip(metric_signs(values, item), rest, strict=True)
            person += zip(rows[out], rest, strict=True) if out in rows else []
        ours.append(share(judge))
        theirs.append(share(person))
    assert value(found, "leave-one-out") == pytest.approx(np.mean(ours), abs=1e-6)
    assert value(found, "leave-one-out, people") == pytest.approx(np.mean(theirs), abs=1e-6)


def test_rankings_by_scipy(cli: Cli, tmp_path: Path, votes: Votes, values: dict[str, float]) -> None:
    found = figures(cli, study(tmp_path, values), scored(tmp_path, votes))
    rankings = {
        (who, item): [votes[who, item, system] for system in SYSTEMS] for who, item, system in votes if system == "p"
    }
    ours, theirs = [], []
    for (who, item), ranking in rankings.items():
        ours.append(stats.kendalltau(ranking, [values[f"{item}-{system}"] for system in SYSTEMS]).statistic)
        theirs += [
            stats.kendalltau(ranking, rankings[other, item]).statistic
            for other in PEOPLE
            if who < other and (other, item) in rankings
        ]
    assert value(found, "Kendall tau-b") == pytest.approx(np.nanmean(ours), abs=1e-6)
    assert value(found, "Kendall tau-b, people") == pytest.approx(np.nanmean(theirs), abs=1e-6)
    assert found["Kendall tau-b"]["n"] == np.sum(~np.isnan(ours))


def test_win_rates_and_scores_by_counting(cli: Cli, tmp_path: Path, votes: Votes, values: dict[str, float]) -> None:
    found = figures(cli, study(tmp_path, values), scored(tmp_path, votes))
    rates = np.zeros((2, len(SYSTEMS)))
    for item in ITEMS:
        majority = np.sign(sum(np.asarray(row) for row in every(votes, item).values()))
        for row, side in ((0, majority), (1, metric_signs(values, item))):
            for (a, b), sign in zip(combinations(range(len(SYSTEMS)), 2), side, strict=True):
                rates[row, a] += (1 + sign) / 2
                rates[row, b] += (1 - sign) / 2
    assert value(found, "win-rate correlation") == pytest.approx(np.corrcoef(rates)[0, 1], abs=1e-6)
    means = {
        f"{i}-{s}": np.mean([votes[who, i, s] for who in PEOPLE if (who, i, s) in votes])
        for i in ITEMS
        for s in SYSTEMS
    }
    rho = stats.spearmanr([means[case] for case in values], list(values.values())).statistic
    assert value(found, "Spearman rho over outputs") == pytest.approx(rho, abs=1e-6)


def test_a_rank_is_a_score_upside_down(cli: Cli, tmp_path: Path, votes: Votes, values: dict[str, float]) -> None:
    out = study(tmp_path, values)
    by_score = figures(cli, out, scored(tmp_path, votes))["pairs"]
    by_rank = figures(cli, out, scored(tmp_path, votes, "rank", -1))["pairs"]
    assert by_rank == by_score


def test_a_metric_where_less_is_better(cli: Cli, tmp_path: Path, votes: Votes, values: dict[str, float]) -> None:
    human = scored(tmp_path, votes)
    up = figures(cli, study(tmp_path / "up", values), human)
    down = figures(cli, study(tmp_path / "down", {case: -one for case, one in values.items()}, "lpips"), human)
    assert down["pairs"] == up["pairs"]
    assert down["Spearman rho over outputs"] == up["Spearman rho over outputs"]


DELTAS = [0.1, 0.2, 0.3, 0.4, 0.5, -0.6, 0.7, 0.8, 0.9, 1.0]
PREFERRED = ["tie", "tie", "a", "tie", "a", "b", "a", "b", "a", "a"]


def sides(folder: Path) -> tuple[Path, list[tuple[str, str, str]]]:
    """Ten pairs of two outputs: the differences of CoVEBench's worked example, three of them human ties."""
    cases = {f"{n}{side}": delta * (side == "a") for n, delta in enumerate(DELTAS) for side in "ab"}
    return study(folder, cases), [(f"{n}a", f"{n}b", choice) for n, choice in enumerate(PREFERRED)]


def test_the_adaptive_threshold_of_covebench(cli: Cli, tmp_path: Path) -> None:
    out, rows = sides(tmp_path)
    human = table(tmp_path / "h.csv", "case_a,case_b,preference", *map(",".join, rows))
    found = figures(cli, out, human)
    assert found["pairs"]["tie_share"] == 0.3
    assert found["pairs"]["threshold"] == pytest.approx(0.37)  # spec, section 12.2
    # The metric ties 0.1, 0.2, 0.3: two of the three human ties, and one clear choice. It misses 0.8 altogether.
    assert value(found, "agreement, 3-way") == pytest.approx((2 + 5) / 10)
    assert value(found, "agreement, clear") == pytest.approx(6 / 7, abs=1e-6)
    assert "up to a difference of 0.37" in cli("agree", out, human).err
    assert "pairwise agreement, people" not in found


def test_which_output_is_called_a_moves_no_figure(cli: Cli, tmp_path: Path) -> None:
    out, rows = sides(tmp_path)
    straight = table(tmp_path / "1.csv", "case_a,case_b,preference", *map(",".join, rows))
    other = {"a": "b", "b": "a", "tie": "tie"}
    swapped = [(b, a, other[choice]) if n % 3 else (a, b, choice) for n, (a, b, choice) in enumerate(rows)]
    turned = table(tmp_path / "2.csv", "case_a,case_b,preference", *map(",".join, swapped))
    assert figures(cli, out, turned)["pairs"] == figures(cli, out, straight)["pairs"]


def test_both_orders_count_once_or_not_at_all(cli: Cli, tmp_path: Path) -> None:
    out, _ = sides(tmp_path)
    head = "annotator,case_a,case_b,preference"
    once = table(tmp_path / "1.csv", head, "x,4a,4b,a", "x,5a,5b,b", "y,5a,5b,a")
    twice = table(
        tmp_path / "2.csv", head, "x,4a,4b,a", "x,4b,4a,b", "x,5a,5b,b", "y,5a,5b,a", "x,6a,6b,a", "x,6b,6a,a"
    )
    found = figures(cli, out, twice)["pairs"]
    assert found["excluded"].pop("order_inconsistent") == 1
    plain = figures(cli, out, once)["pairs"]
    assert plain["excluded"].pop("order_inconsistent") == 0
    assert found == plain


def test_the_three_figures_of_avenue(cli: Cli, tmp_path: Path) -> None:
    """1,000 verified instructions with the marginals of spec section 5.3; the metric answers as the first expert."""
    cells = [(1, 1, 139), (1, 0, 47), (0, 1, 47), (0, 0, 767)]
    labels = [(first, second) for first, second, count in cells for _ in range(count)]
    out = run(tmp_path / "out", records({f"c{n}": float(first) for n, (first, _) in enumerate(labels)}))
    rows = [f"c{n},{who},{label}" for n, both in enumerate(labels) for who, label in zip("xy", both, strict=True)]
    found = figures(cli, out, table(tmp_path / "h.csv", "case,annotator,label", *rows))
    assert value(found, "equal labels, people") == 0.906
    assert value(found, "Cohen kappa, people") == pytest.approx(0.690, abs=5e-4)
    assert value(found, "Gwet AC1, people") == pytest.approx(0.865, abs=5e-4)
    assert value(found, "equal labels") == 1.0  # where the experts differ there is no majority
    assert found["equal labels"]["n"] == 906
    low, high = found["Cohen kappa, people"]["interval"]
    assert 0.6 < low < 0.690 < high < 0.75


def test_labels_on_a_scale(cli: Cli, tmp_path: Path) -> None:
    out = run(
        tmp_path / "out",
        [one for case, raw in zip("abcd", (1.0, 2.0, 5.0, 4.0), strict=True) for one in records({case: 0.5}, raw=raw)],
    )
    human = table(tmp_path / "h.csv", "case,label", "a,1", "b,3", "c,5", "d,1")
    found = figures(cli, out, human, "--raw")
    assert value(found, "equal labels") == 0.5
    assert value(found, "labels within one") == 0.75
    assert value(found, "Cohen kappa, quadratic") > value(found, "Cohen kappa")


def test_outputs_without_a_value_are_left_out_and_counted(cli: Cli, tmp_path: Path) -> None:
    out = run(tmp_path / "out", [*records({"a": 0.9, "b": 0.1, "c": 0.5}), failed("d")])
    human = table(tmp_path / "h.csv", "case,score,item", "a,5,i", "b,1,i", "c,3,i", "d,4,i")
    found = figures(cli, out, human)
    assert found["whole"]["without_value"] == 1
    assert found["pairs"]["pairs"] == 3
    assert found["pairs"]["excluded"]["no_value"] == 3
    assert value(found, "pairwise agreement") == 1.0
    assert found["pairwise agreement"]["interval"] is None  # one item cannot be resampled


def test_items_come_from_the_manifest(cli: Cli, tmp_path: Path) -> None:
    lines = [{"id": case, "source": source} for case, source in zip("abcd", "xxyy", strict=True)]
    out = run(
        tmp_path / "out", records({"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}), manifest(tmp_path / "m.jsonl", lines)
    )
    found = figures(cli, out, table(tmp_path / "h.csv", "case,rank", "a,2", "b,1", "c,1", "d,2"))
    assert (found["pairs"]["pairs"], found["pairs"]["items"]) == (2, 2)
    assert value(found, "pairwise agreement") == 0.5


def test_judgements_about_one_metric_do_not_reach_another(cli: Cli, tmp_path: Path) -> None:
    scores = [*records({"a": 0.1, "b": 0.2, "c": 0.3}), *records({"a": 0.1, "b": 0.2, "c": 0.3}, "lpips")]
    out = run(tmp_path / "out", scores)
    human = table(
        tmp_path / "h.csv", "case,metric,score,item", *(f"{case},lpips,{n},i" for n, case in enumerate("abc"))
    )
    found = figures(cli, out, human)
    assert found["whole"]["metric"] == "lpips"
    assert value(found, "pairwise agreement") == 0.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("case,score\na,good\nb,1\na,2\n", [":2: score: expected a number", '"good"', ":4: (line)", "after line 2"]),
        ("case,score\nzz,1\na,inf\n", [':2: case: expected a case of the run, found "zz"', ":3: score"]),
        ("case,score\na\n", [":2: (line): expected 2 values, found 1"]),
        ("case,scor\na,1\n", [":1: (columns): expected case,score or"]),
        ("case,score,anotator\na,1,x\n", [":1: (columns): expected each at most once of annotator, case"]),
        ("case,score,label\na,1,1\n", [":1: (columns)"]),
        ("case_a,case_b,preference\na,b,left\na,a,tie\n", [":2: preference: expected a, b or tie", ":3: case_b"]),
        ("case,metric,score\na,sism,1\n", [":2: metric: expected one of lpips, ssim"]),
        ('case,score\n"a,1\n', ["(line): expected comma-separated values"]),
        ("case,score\n", ["no judgement in it"]),
        ("", [":1: (columns)"]),
        ("case,rank\na,1\nb,2\n", ["add a column item"]),
    ],
)
def test_a_bad_file_is_told_line_by_line(cli: Cli, tmp_path: Path, text: str, words: list[str]) -> None:
    out = run(tmp_path / "out", [*records({"a": 0.1, "b": 0.2}), *records({"a": 0.1}, "lpips")])
    (tmp_path / "h.csv").write_text(text)
    answer = cli("agree", out, tmp_path / "h.csv")
    assert answer.code == 2
    for word in words:
        assert word in answer.err
    assert "Traceback" not in answer.err


def test_text_that_is_not_utf8(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_bytes(b"case,score\n\xff,1\n")
    answer = cli("agree", run(tmp_path / "out", records({"a": 0.1})), tmp_path / "h.csv")
    assert answer.code == 2
    assert "UTF-8" in answer.err


def test_a_spreadsheets_file_is_read(cli: Cli, tmp_path: Path) -> None:
    out = run(tmp_path / "out", records({"a, b": 0.1, "c": 0.2}))
    (tmp_path / "h.csv").write_bytes('\ufeffcase,score,item,note\r\n"a, b",1,i,"two\nlines"\r\nc,2,i,\r\n'.encode())
    assert value(figures(cli, out, tmp_path / "h.csv"), "pairwise agreement") == 1.0


def test_nobody_can_agree_with_a_fact(cli: Cli, tmp_path: Path) -> None:
    out = run(tmp_path / "out", [*records({"a": 0.1, "b": 0.3}, "loudness"), *records({"a": 0.1, "b": 0.2})])
    human = table(tmp_path / "h.csv", "case,score,item", "a,1,i", "b,2,i")
    assert figures(cli, out, human)["whole"]["metric"] == "ssim"
    for wanted, words in (("loudness", "neither high nor low is better"), ("sism", "not in")):
        answer = cli("agree", out, human, "--metrics", wanted)
        assert answer.code == 2
        assert words in answer.err


def test_labels_are_few(cli: Cli, tmp_path: Path) -> None:
    out = run(tmp_path / "out", records({f"c{n}": n / 100 for n in range(30)}))
    answer = cli("agree", out, table(tmp_path / "h.csv", "case,label", *(f"c{n},1" for n in range(30))))
    assert answer.code == 2
    assert "more than 20" in answer.err


def test_files_for_people_and_machines(cli: Cli, tmp_path: Path) -> None:
    out = run(tmp_path / "out", records({"a": 0.1, "b": 0.2}))
    human = table(tmp_path / "h.csv", "case,score,item", "a,1,i", "b,2,i")
    for name in ("a.md", "a.csv"):
        assert cli("agree", out, human, "--write", tmp_path / name).code == 0
    assert "| pairwise agreement | 1.000 | - | 1 |" in (tmp_path / "a.md").read_text()
    assert "ssim,pairwise agreement,1.0,,,1" in (tmp_path / "a.csv").read_text().splitlines()

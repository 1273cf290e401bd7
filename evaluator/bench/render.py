"""The board for people: one line per figure, then where the time goes, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SIGN = {"lower": "≤", "higher": "≥", "equal": "="}
WORD = {True: "pass", False: "MISS", None: "-"}
BAR = 40  # characters
SMALL = 0.002  # of the whole, below which a stage is not drawn


def text(board: Mapping[str, Any]) -> str:
    """Everything, for a terminal."""
    parts = [_head(board), _figures(board["figures"])]
    for name, draw in (("stages", _stages), ("networks", _networks), ("decoders", _decoders), ("race", _race)):
        if name in board:
            parts.append(draw(board))
    return "\n\n".join(parts)


def markdown(board: Mapping[str, Any]) -> str:
    """The figures as a Markdown table."""
    lines = ["| | what | target | here | | how |", "|---|---|---|---|---|---|"]
    for row in board["figures"]:
        cells = (row["id"], row["what"], _target(row), _value(row), _word(row), row["note"])
        lines += [f"| {' | '.join(cells)} |"]
    return "\n".join(lines)


def _head(board: Mapping[str, Any]) -> str:
    machine = board["machine"]
    state = f"loaded ({machine['load']:.1f} processes per core before we began)" if board["loaded"] else "quiet"
    words = (
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory'] / 1e9:.0f} GB; "
        f"{machine['peak']:.0f} GFLOP/s on one thread; {state}"
    )
    gpu = board.get("gpu", {})
    return "; ".join([words, *(f"{name} {told}" for name, told in gpu.items())])


def _figures(rows: Sequence[Mapping[str, Any]]) -> str:
    lines = []
    for row in rows:
        figure = f"{row['id']:<9}{_value(row):>10}  {_target(row):<14}{_word(row):<5} {row['what']}"
        lines.append(f"{figure}\n{'':<41}{row['note']}" if row["note"] else figure)
    return "\n".join(lines)


def _word(row: Mapping[str, Any]) -> str:
    return WORD[row["passed"]]


def _value(row: Mapping[str, Any]) -> str:
    return "-" if row["value"] is None else f"{row['value']:.3g}"


def _target(row: Mapping[str, Any]) -> str:
    return f"{SIGN[row['better']]} {row['target']:g} {row['unit']}".rstrip()


def _stages(board: Mapping[str, Any]) -> str:
    """CPU seconds per stage as bars."""
    stages, total = board["stages"], board["core"]["total"]
    lines = [f"where {total:.1f} CPU s go, one worker"]
    for name, seconds in sorted(stages.items(), key=lambda item: -item[1]):
        share = seconds / total
        if share >= SMALL:
            lines.append(f"  {name:<26}{seconds:8.2f} s {100 * share:5.1f} %  {'█' * round(BAR * share)}")
    return "\n".join(lines)


def _networks(board: Mapping[str, Any]) -> str:
    peak = board["machine"]["peak"]
    lines = [f"{'networks on ready tensors':<34}{'items':>7}{'CPU s':>8}{'items/s':>9}{'GFLOP/s':>9}{'of peak':>9}"]
    for item in sorted(board["networks"], key=lambda item: -item["ready"]):
        speed = item["gflop_per_s"]
        lines.append(
            f"  {item['name']:<32}{item['items']:7d}{item['ready']:8.2f}{item['items_per_s']:9.1f}{speed:9.1f}"
            f"{100 * speed / peak:7.0f} %"
        )
    return "\n".join(lines)


def _decoders(board: Mapping[str, Any]) -> str:
    lines = ["decoding alone, one thread"]
    return "\n".join([*lines, *(f"  {name:<26}{cost:8.2f} s" for name, cost in sorted(board["decoders"].items()))])


def _race(board: Mapping[str, Any]) -> str:
    race = board["race"]
    lines = [f"the usual flow: {race['processes']} processes, {race['rival_starts']:.1f} CPU s of them starting"]
    for name, seconds in sorted(race["rival"].items(), key=lambda item: -item[1]):
        lines.append(f"  {name:<26}{seconds:8.2f} s")
    return "\n".join([*lines, f"  {'ours, everything':<26}{race['ours']['all']:8.2f} s"])

"""Every error knows its exit code, and the tree in the module's docstring is the real one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from evaluator import errors
from evaluator.judge.types import Status
from evaluator.schema import SKIP_REASONS

PACKAGE = Path(errors.__file__).parent


def media_codes() -> Iterator[str]:
    """The code of every MediaError that the package raises."""
    for path in PACKAGE.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "MediaError":
                word = call.args[0]
                if isinstance(word, ast.Constant) and isinstance(word.value, str):
                    yield word.value


def test_the_drawn_tree_names_every_error_with_its_exit_code() -> None:
    drawn = dict(re.findall(r"(\w+(?:Error|Missing|Corrupt))\s+(\d)", errors.__doc__ or ""))
    real = {
        name: str(item.exit_code)
        for name, item in vars(errors).items()
        if isinstance(item, type) and issubclass(item, errors.EvaluatorError)
    }
    assert drawn == real


def test_manifest_errors_are_shown_one_to_a_line() -> None:
    assert str(errors.ManifestError(["f:1: id: ...", "f:2: video: ..."])) == "f:1: id: ...\nf:2: video: ..."


def test_a_code_tells_a_broken_file_from_a_judge_without_an_answer() -> None:
    """Both are the reason of a failed record, and a report counts who did not answer by these words."""
    media = set(media_codes())
    assert {"incomplete", "not_media", "too_large"} <= media
    others = {item.code for item in vars(errors).values() if isinstance(item, type) and hasattr(item, "code")}
    assert not {str(status) for status in Status} & (media | others | SKIP_REASONS)

"""Every error knows its exit code, and the tree in the module's docstring is the real one."""

from __future__ import annotations

import re

from evaluator import errors


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

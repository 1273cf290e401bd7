"""The comparison with the reference project, where a checkout of it is at hand."""

from __future__ import annotations

import shutil

import pytest

from tests.suites.ave_compass.side_by_side import VARIABLE, checkout, compare, main, pairs_of


def test_without_a_checkout_it_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("skipped: ")


def test_ours_and_the_reference_agree() -> None:
    reference = checkout()
    if reference is None:
        pytest.skip(f"{VARIABLE} names no checkout of the reference project")
    if shutil.which("ffmpeg") is None:
        pytest.skip("the reference calls the ffmpeg program, which is not here")
    assert [row for row in compare(reference, pairs_of([])) if not row.equal] == []

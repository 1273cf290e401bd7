"""Runs whose reports are looked at, made once: a judged run with hostile names, the demo, thousands of cases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluator.cli import command
from tests.conftest import ROOT
from tests.judge.fake_server import Behaviour, running
from tests.report.page.synthetic import write_run
from tests.runner.clips import clip

HOSTILE = "\"'><img src=x onerror=alert(1)><\\script>\u202egpj.4pm</script><!--"
"""What somebody may write into a caption, an id, or the name of a system."""
FILE = "\"'<b onerror=alert(1)>\u202e&.mp4"
PLAIN = "two/plain case"


def evaluate(*arguments: object) -> None:
    """The command line in this process."""
    with pytest.raises(SystemExit) as end:
        command([str(argument) for argument in arguments])
    assert end.value.code == 0


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two cases, one with hostile text wherever text may stand; a judge answered; frames are shown."""
    folder = tmp_path_factory.mktemp("judged")
    for seed, name in enumerate((FILE, "plain.mp4")):
        clip(folder / name, seed=seed, frames=12)
    common = {"suite": "core", "source": "plain.mp4"}
    hostile = {"id": HOSTILE, "video": FILE, "prompt": HOSTILE, "system": HOSTILE[:50], "category": HOSTILE[:20]}
    lines = [
        {**common, **hostile, "labels": {"difficulty": "hard", "note": HOSTILE}},
        {**common, "id": PLAIN, "video": "plain.mp4", "prompt": "A picture.", "system": "plain", "category": "calm"},
    ]
    manifest = folder / "m.jsonl"
    manifest.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.MonkeyPatch.context() as patch, running(Behaviour()) as url:
        patch.setenv("EVALUATOR_CACHE", str(folder / "cache"))
        chosen = ("--metrics", "prompt_following,loudness,ssim,silence")
        evaluate("--manifest", manifest, "--out", folder / "out", "-q", *chosen, "--judge-url", url)
    evaluate("report", folder / "out", "--thumbnails")
    return folder / "out"


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three clips of the demo under metrics that need no model, with thumbnails."""
    manifest = ROOT / "manifests" / "demo.jsonl"
    if not (manifest.parent / "demo").is_dir():
        pytest.skip("the demo clips are not prepared (./run.sh setup)")
    out = tmp_path_factory.mktemp("demo") / "out"
    evaluate("--manifest", manifest, "--out", out, "-q", "--limit", 3, "--metrics", "loudness,silence,ssim")
    evaluate("report", out, "--thumbnails")
    return out


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five thousand cases of five systems."""
    out = write_run(tmp_path_factory.mktemp("large") / "out", 5000)
    evaluate("report", out)
    return out

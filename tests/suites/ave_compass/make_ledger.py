"""Make manifests/ave_compass/judge.jsonl anew: the tiny judge answers the questions of the worked example.

    python -m tests.suites.ave_compass.make_ledger

Needed after a change of a prompt, of the evidence or of the example. The ledger answers as long as the demo clips are
the same to the last bit; where an encoder makes others, replay says so (`no_judge`), and this script makes a ledger for
that machine.
"""

from __future__ import annotations

import sys

from evaluator.suites.ave_compass import judged
from tests.judge.tiny.ledger import make
from tests.judge.tiny.process import ROOT

MANIFEST = ROOT / "manifests" / "ave_compass.example.jsonl"
LEDGER = ROOT / "manifests" / "ave_compass" / "judge.jsonl"
JUDGED = tuple(metric.id for metric in judged.JUDGED)

if __name__ == "__main__":
    sys.exit(make(MANIFEST, JUDGED, LEDGER))

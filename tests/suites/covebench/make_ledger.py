"""Make manifests/covebench/judge.jsonl anew: the tiny judge answers the questions of the worked example.

    python -m tests.suites.covebench.make_ledger

Needed after a change of a prompt, of the evidence or of the example. The ledger answers as long as the demo clips are
the same to the last bit; where an encoder makes others, replay says so (`no_judge`), and this script makes a ledger for
that machine.
"""

from __future__ import annotations

import sys

from evaluator.suites.covebench import checklist
from tests.judge.tiny.ledger import make
from tests.judge.tiny.process import ROOT

MANIFEST = ROOT / "manifests" / "covebench.example.jsonl"
LEDGER = ROOT / "manifests" / "covebench" / "judge.jsonl"
JUDGED = tuple(metric.id for metric in checklist.METRICS)

if __name__ == "__main__":
    sys.exit(make(MANIFEST, JUDGED, LEDGER))

"""`python -m evaluator` and the `evaluator` command: settles the process, then hands over to the command line.

Numeric libraries start no threads of their own: workers use the cores, and a sum must not depend on how many there are.
Python looks for cyclic garbage less often than its default: a start and a resume make objects that live to the end, and
a seventh of their time went into looking through them.
"""

from __future__ import annotations

import gc
import os

gc.set_threshold(10_000, 20, 10)
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"


def main() -> None:
    """Run the command line and exit with the code that `evaluator.errors` explains."""
    import cv2

    from evaluator.cli import command

    cv2.setNumThreads(1)
    command()


if __name__ == "__main__":
    main()

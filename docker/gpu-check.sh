#!/usr/bin/env bash
# All checks for a machine with a GPU, one verdict each, at most fifteen minutes. Run it inside the gpu image or in any
# environment with torch; what is not installed is skipped and said. PYTHON chooses the interpreter.
#
#   docker run --rm --gpus all --entrypoint docker/gpu-check.sh evaluator:gpu --out /out/gpu-check.json
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PYTHONPATH=$PWD exec timeout 900 "${PYTHON:-python3}" -m tests.gpu.checks "$@"

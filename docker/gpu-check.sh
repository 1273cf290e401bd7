#!/usr/bin/env bash
# All checks for a machine with a GPU, one verdict each, at most fifteen minutes. Run it inside the gpu image or in any
# environment with torch; what is not installed is skipped and said. PYTHON chooses the interpreter.
# The image has no tests, so the checkout is mounted:
#
#   docker run --rm --gpus all -v "$PWD":/src:ro -v "$PWD/out":/out --user "$(id -u):$(id -g)" \
#     --entrypoint /src/docker/gpu-check.sh evaluator:gpu --out /out/gpu-check.json
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PYTHONPATH=$PWD exec timeout 900 "${PYTHON:-python3}" -m tests.gpu.checks "$@"

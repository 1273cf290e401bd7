#!/usr/bin/env bash
# One command for everything. Makes its own environments, prepares the embedded models once, and does no work twice.
#
#   ./run.sh --manifest manifests/demo.jsonl [evaluator options]   score clips (prepares everything on the first call)
#   ./run.sh test [pytest options]                                 run the test suite
#   ./run.sh lint                                                  style and types
#   ./run.sh setup                                                 only prepare: environment, models, demo clips
#   ./run.sh judge-demo                                            wiring demo of the judge, with a tiny model made here
#   ./run.sh image [cpu|gpu|judge]                                 build a container image (docker/README.md)
#   ./run.sh save [TARGET [FOLDER]], ./run.sh load FOLDER [TARGET] carry an image across an air gap, checked
#   ./run.sh check|list|models|merge|report|doctor|judge|bench ...  any other evaluator command
#
# EVALUATOR_VENV, EVALUATOR_EXPORT_VENV, EVALUATOR_JUDGE_VENV and EVALUATOR_DEVICE_VENV choose where the environments go;
# EVALUATOR_TEST_WORKERS (2) how many tests run at a time; PYTHON chooses the interpreter.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv=${EVALUATOR_VENV:-$root/.venv}
export_venv=${EVALUATOR_EXPORT_VENV:-$root/.venv-export}
store=${EVALUATOR_STORE:-$root/models/store}
judge_venv=${EVALUATOR_JUDGE_VENV:-$root/.venv-judge}
device_venv=${EVALUATOR_DEVICE_VENV:-$root/.venv-device}
requirements=$root/docker/requirements
export PYTHONPATH=$root PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore ORT_DISABLE_TELEMETRY=1

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }

find_python() {
  local candidate
  for candidate in "${PYTHON:-}" python3.11 python3.12 python3.13 python3.14 python3; do
    if [ -n "$candidate" ] && "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  echo "error: CPython 3.11 or newer with venv and ensurepip is needed (set PYTHON=/path/to/python3)" >&2
  exit 4
}

# install ENVIRONMENT FILE PIP-OPTIONS...: once per content of FILE
install() {
  local target=$1 file=$2
  shift 2
  local stamp want interpreter
  stamp=$target/.installed-$(basename "$file") want=$(sha256sum <"$file")
  [ "$(cat "$stamp" 2>/dev/null || true)" = "$want" ] && return
  say "installing $(basename "$file") into $target"
  if ! "$target/bin/python" -m pip --version >/dev/null 2>&1; then # absent, or half made by a call that was interrupted
    interpreter=$(find_python) || exit 4
    "$interpreter" -m venv --clear "$target"
  fi
  if ! "$target/bin/python" -m pip install --progress-bar off "$@" -r "$file" 2>&1 | tee "$target/install.log" | pip_progress >&2; then
    tail -n 5 "$target/install.log" >&2
    echo "error: $(basename "$file") could not be installed; the whole output is in $target/install.log" >&2
    exit 4
  fi
  printf '%s' "$want" >"$stamp"
}

# what a person waiting wants to see of pip: downloads, the final step, and every error
pip_progress() { awk '/^ *(Downloading|Processing|Installing|Successfully)/ {print substr($0, 1, 100); fflush(); next} /ERROR|rror:/ {print; fflush()}'; }

# the run-time environment: hash-locked, without torch
environment() { install "$venv" "$requirements/cpu.txt" --require-hashes; }

# the same environment with what the tests need
test_environment() { install "$venv" "$requirements/dev.txt" --require-hashes; }

# torch lives only here; its build (CPU or CUDA) is whatever the index gives this machine
export_environment() {
  install "$export_venv" "$requirements/export.txt" --require-hashes
  install "$export_venv" "$requirements/export-torch.txt"
}

# torch and transformers for the in-process judge and its wiring fixture; nothing else needs them
judge_environment() {
  install "$judge_venv" "$requirements/judge-test.txt" --require-hashes
  install "$judge_venv" "$requirements/judge-torch.txt"
}

python() { "$venv/bin/python" "$@"; }

# embedded models: copied or exported once; the export environment exists only for that
models() {
  local stamp=$store/.prepared want
  want=$(cat "$root/models/models.lock.json" "$requirements/weights.txt" "$requirements/demo.txt" | sha256sum)
  [ "$(cat "$stamp" 2>/dev/null || true)" = "$want" ] && return
  say "preparing the embedded models (once)"
  python -m export fetch
  python -m export build --copied
  if ! python -m export ready --embedded >/dev/null 2>&1; then
    export_environment
    "$export_venv/bin/python" -m export build --embedded
  fi
  printf '%s' "$want" >"$stamp"
}

demo() { python -m evaluator.demo; }

case "${1:-}" in
  "" | -h | --help | help)
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
    ;;
  setup)
    environment
    rm -f "$store/.prepared" # look again, and mend what is missing or damaged
    models
    demo
    ;;
  test)
    shift
    test_environment
    install "$venv" "$requirements/ray.txt" --require-hashes # --engine ray
    judge_environment
    install "$judge_venv" "$requirements/export-models.txt" --require-hashes # the recipes of reference models, tiny
    install "$judge_venv" "$requirements/judge-train.txt"
    install "$device_venv" "$requirements/device-test.txt" --require-hashes # DALI and TensorRT's builder, without a GPU
    models
    demo
    cd "$root"
    "$judge_venv/bin/python" -c 'from tests.judge.tiny import process; process.checkpoint(print)' >&2
    exec "$venv/bin/python" -m pytest -n "${EVALUATOR_TEST_WORKERS:-2}" --dist loadfile --durations=25 "$@"
    ;;
  lint)
    test_environment
    cd "$root"
    "$venv/bin/ruff" check --no-cache .
    "$venv/bin/ruff" format --no-cache --check .
    exec "$venv/bin/mypy"
    ;;
  judge-demo)
    environment
    judge_environment
    models
    demo
    cd "$root"
    exec "$venv/bin/python" -m tests.judge.tiny.demo
    ;;
  image | save | load)
    verb=$1
    shift
    exec "$root/docker/$verb.sh" "$@"
    ;;
  *)
    environment
    models
    case " $* " in *manifests/*.jsonl*) demo ;; esac
    exec "$venv/bin/python" -m evaluator "$@"
    ;;
esac

#!/usr/bin/env bash
# The image job of CI: starts a Docker engine, builds the cpu image from this machine's own package mirror and from wheels,
# and runs every promise that needs a container. Needs root and Debian; installs what it uses.
#
#   CI_IMAGE=0      turns it off by hand; it never turns itself off
#   CI_IMAGE=full   also builds twice with another tool and compares digests, and runs the Slurm templates
#   SIZE_LIMIT_MB   the unpacked image may not grow beyond this
set -euo pipefail
if [ "${CI_IMAGE:-1}" = 0 ]; then
  echo "CI_IMAGE=0: no image is built or tested"
  exit 0
fi
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=docker/ci/engine.sh
. docker/ci/engine.sh

SIZE_TARGET_MB=700
SIZE_LIMIT_MB=${SIZE_LIMIT_MB:-900}
work=$(mktemp -d /tmp/evaluator-image.XXXXXX)
chmod 755 "$work"
trap 'engine_stop; rm -rf "$work"' EXIT
step() { printf '\n=== image: %s (%s s)\n' "$*" "$SECONDS"; }

step "tools"
packages=(docker.io mmdebstrap logrotate strace zstd)
[ "${CI_IMAGE:-1}" = full ] && packages+=(buildah runc slurmctld slurmd slurm-client munge)
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
.venv/bin/python -m venv "$work/tools"
"$work/tools/bin/pip" install -q --disable-pip-version-check --require-hashes -r docker/requirements/image-check.txt
PATH=$work/tools/bin:$PATH

step "linters"
hadolint --config docker/hadolint.yaml Dockerfile
shellcheck -x run.sh .ci/* docker/*.sh docker/*/*.sh docker/slurm/*.sbatch

step "engine"
engine_start "$work/engine"

step "base image and wheels"
docker/base.sh "$work/base.tar" &
PYTHON=.venv/bin/python docker/wheelhouse.sh cpu 2>/dev/null
wait $!
docker import -c 'CMD ["bash"]' "$work/base.tar" debian:bookworm-slim >/dev/null

step "build"
ENGINE=/usr/bin/docker BUILD_OPTIONS="--network=host --quiet" ./run.sh image cpu

step "size"
size=$(($(docker image inspect --format '{{.Size}}' evaluator:cpu) / 1000000))
echo "unpacked: $size MB (target $SIZE_TARGET_MB MB: $([ "$size" -le "$SIZE_TARGET_MB" ] && echo met || echo missed))"
[ "$size" -le "$SIZE_LIMIT_MB" ] || { echo "error: larger than $SIZE_LIMIT_MB MB" >&2; exit 1; }

step "structure"
container-structure-test test --image evaluator:cpu --config docker/structure-test.yaml >"$work/structure" ||
  { cat "$work/structure"; exit 1; }
tail -n 8 "$work/structure"

step "behaviour"
export EVALUATOR_IMAGE=evaluator:cpu EVALUATOR_DOCKER=/usr/bin/docker EVALUATOR_IMAGE_WORK=$work/tests
[ "${CI_IMAGE:-1}" = full ] && export EVALUATOR_SLURM=1
.venv/bin/python -m pytest -q --durations=5 tests/docker

step "across an air gap and back"
ENGINE=/usr/bin/docker ./run.sh save cpu "$work/carried"
for package in numpy onnxruntime libc6 python3.11-minimal; do
  grep -Eq "\"name\": ?\"$package\"" "$work/carried/evaluator-cpu.spdx.json" ||
    { echo "error: the list of contents does not name $package" >&2; exit 1; }
done
docker rmi --force evaluator:cpu >/dev/null
ENGINE=/usr/bin/docker ./run.sh load "$work/carried" cpu
printf x >>"$work/carried/evaluator-cpu.digest"
if ENGINE=/usr/bin/docker ./run.sh load "$work/carried" cpu 2>/dev/null; then
  echo "error: a changed file was not noticed" >&2
  exit 1
fi

if [ "${CI_IMAGE:-1}" = full ]; then
  step "the same digest twice"
  docker/ci/reproduce.sh "$work/base.tar"
fi
step "done"

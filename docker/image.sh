#!/usr/bin/env bash
# image.sh [cpu|gpu|judge]: build an image, named evaluator:TARGET. What `run.sh image` runs.
#
# The embedded models come from models/store where that is prepared (./run.sh setup), else they are exported in the build.
# Wheels come from docker/wheelhouse/ where docker/wheelhouse.sh has put them, else from pip's index. Environment:
#   BASE_IMAGE   the Debian to build on, with its digest for a release
#   ENGINE       docker (default), podman, or a path
#   BUILD_OPTIONS  more options for the build, for example --network=host
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${1:-cpu}
case $target in cpu | gpu | judge) ;; *) echo "error: no target $target; there are cpu, gpu and judge" >&2 && exit 2 ;; esac

models="export"
[ -f "$root/models/store/.prepared" ] && models=prepared
revision=$(git -C "$root" rev-parse HEAD 2>/dev/null || echo unknown)
git -C "$root" diff --quiet HEAD -- 2>/dev/null || revision=$revision-changed
version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' "$root/evaluator/__init__.py")

# shellcheck disable=SC2086  # BUILD_OPTIONS are several words
DOCKER_BUILDKIT=1 "${ENGINE:-docker}" build --target "$target" --tag "evaluator:$target" \
  --build-arg "MODELS=$models" --build-arg "REVISION=$revision" --build-arg "VERSION=$version" \
  ${BASE_IMAGE:+--build-arg "BASE_IMAGE=$BASE_IMAGE"} ${BUILD_OPTIONS:-} "$root"

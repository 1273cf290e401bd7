#!/usr/bin/env bash
# wheelhouse.sh NAME...: download the wheels of docker/requirements/NAME.txt into docker/wheelhouse/NAME, so that a build
# needs no package index. For the interpreter of the base image (PYTHON_VERSION, bookworm's by default), whatever runs here.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=${PYTHON_VERSION:-3.11}

platforms=()
for glibc in 2_36 2_35 2_34 2_31 2_28 2_27 2_24 2_17; do platforms+=(--platform "manylinux_${glibc}_x86_64"); done
platforms+=(--platform manylinux2014_x86_64 --platform linux_x86_64)

for name in "$@"; do
  folder=$here/wheelhouse/$name lock=$here/requirements/$name.txt
  want=$(sha256sum <"$lock")
  [ "$(cat "$folder/.complete" 2>/dev/null || true)" = "$want $version" ] && continue
  rm -rf "$folder"
  "${PYTHON:-python3}" -m pip download -q --progress-bar off --disable-pip-version-check --require-hashes --no-deps \
    --only-binary :all: --python-version "$version" --implementation cp "${platforms[@]}" -r "$lock" -d "$folder"
  printf '%s' "$want $version" >"$folder/.complete"
done

#!/usr/bin/env bash
# reproduce.sh BASE_TAR: build the cpu image twice, without a cache and without an engine (buildah), and compare digests.
# Prints both; exit code 1 if they differ. Needs docker/wheelhouse/cpu, models/store, root, and a network for apt.
set -euo pipefail
base=$(realpath "$1")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
# shellcheck disable=SC2329  # called by the trap
cleanup() {
  buildah umount --all >/dev/null 2>&1 || true
  buildah rm --all >/dev/null 2>&1 || true
  buildah rmi --all --force >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap cleanup EXIT

printf '[storage]\ndriver = "overlay"\nrunroot = "%s/run"\ngraphroot = "%s/graph"\n' "$work" "$work" >"$work/storage.conf"
export CONTAINERS_STORAGE_CONF=$work/storage.conf SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-1735689600}
made=$(buildah from scratch)
buildah add -q "$made" "$base" / >/dev/null
buildah commit -q --rm "$made" localhost/base >/dev/null

# buildah builds every stage that stands before the target, used or not: leave out the one that exports with torch.
sed '/^FROM builder AS models-export/,/^FROM scratch AS models-prepared/{/AS models-prepared/!d}' "$root/Dockerfile" >"$work/Dockerfile"

once() {
  buildah bud -q --isolation chroot --network host --no-cache --timestamp "$SOURCE_DATE_EPOCH" --target cpu \
    --build-arg BASE_IMAGE=localhost/base --build-arg MODELS=prepared --build-arg REVISION=reproduced \
    --ignorefile "$root/.dockerignore" -f "$work/Dockerfile" -t "localhost/evaluator:$1" "$root" >"$work/log.$1" 2>&1 ||
    { tail -n 20 "$work/log.$1" >&2; exit 1; }
  buildah inspect --type image --format '{{.FromImageDigest}}' "localhost/evaluator:$1"
}

first=$(once first)
second=$(once second)
printf 'first build   %s\nsecond build  %s\n' "$first" "$second"
[ "$first" = "$second" ] && exit 0
echo "what differs, layers and configuration:" >&2
told() { buildah inspect --type image --format '{{.Config}}' "localhost/evaluator:$1" | tr ',' '\n'; }
diff <(told first) <(told second) >&2 || true
exit 1

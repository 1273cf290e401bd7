#!/usr/bin/env bash
# load.sh FOLDER [TARGET]: check what save.sh wrote, load the image, and make sure that it is the one that was saved.
set -euo pipefail
folder=${1:?a folder that run.sh save wrote} target=${2:-cpu}
engine=${ENGINE:-docker}
name=evaluator-$target

[ -f "$folder/$name.sha256" ] || { echo "error: $folder/$name.sha256: not there" >&2; exit 4; }
(cd "$folder" && sha256sum --check --strict --quiet "$name.sha256") ||
  { echo "error: $folder is not as it was saved; copy it again" >&2; exit 4; }
if [ -f "$folder/$name.tar.zst" ]; then zstd -dcq "$folder/$name.tar.zst"; else gzip -dc "$folder/$name.tar.gz"; fi |
  "$engine" load --quiet >&2
found=$("$engine" image inspect --format '{{.Id}}' "evaluator:$target")
[ "$found" = "$(cat "$folder/$name.digest")" ] ||
  { echo "error: the loaded image is $found, and $(cat "$folder/$name.digest") was saved" >&2; exit 4; }
echo "loaded evaluator:$target $found" >&2

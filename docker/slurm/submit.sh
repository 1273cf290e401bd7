#!/usr/bin/env bash
# submit.sh SHARDS MANIFEST OUT [sbatch options for the shards, for example --gres=gpu:1 --array=...%8]
# Prints the numbers of both jobs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export SHARDS=$1 MANIFEST=$2 OUT=$3 EVALUATOR=${EVALUATOR:?the command that scores}
shift 3
mkdir -p "$OUT"
array=$(sbatch --parsable --array="1-$SHARDS" --chdir="$OUT" "$@" "$here/shards.sbatch")
merge=$(sbatch --parsable --dependency="afterany:${array%%;*}" --chdir="$OUT" "$here/merge.sbatch")
echo "shards ${array%%;*} merge ${merge%%;*}"

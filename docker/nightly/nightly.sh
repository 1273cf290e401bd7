#!/usr/bin/env bash
# nightly.sh: score tonight's outputs in a container, compare with a baseline, publish metrics, drop old runs.
# Everything it needs to know comes from the environment (nightly.env beside this file has an example).
# Started again in the same night, after a crash or by hand, it goes on where it was.
#
# Exit codes are those of the run; 3 also if the comparison found a regression.
set -euo pipefail

: "${MEDIA:?the folder of the manifest and its media}" "${RUNS:?the folder of all runs}"
engine=${ENGINE:-docker} image=${IMAGE:-evaluator:cpu} manifest=${MANIFEST:-run.jsonl} keep=${KEEP:-30}
night=${NIGHT:-$(date +%F)}

container() {
  # shellcheck disable=SC2086  # ENGINE_OPTIONS are several words
  "$engine" run --rm --network none --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
    --user "$(id -u):$(id -g)" ${ENGINE_OPTIONS:-} "$@"
}

publish() { # a collector must never read half a file, so it is renamed into its place
  [ -n "${PROM_DIR:-}" ] && [ -f "$RUNS/$night/metrics.prom" ] || return 0
  cp "$RUNS/$night/metrics.prom" "$PROM_DIR/.evaluator.prom.part"
  mv "$PROM_DIR/.evaluator.prom.part" "$PROM_DIR/evaluator.prom"
}

prune() { # nights have names that sort by date; the baseline is kept whatever its age
  find "$RUNS" -mindepth 1 -maxdepth 1 -type d -name '20[0-9][0-9]-[01][0-9]-[0-3][0-9]' | sort -r | tail -n "+$((keep + 1))" |
    while read -r old; do [ "$(basename "$old")" = "${BASELINE:-}" ] || rm -rf "$old"; done
}

mkdir -p "$RUNS/$night" "$RUNS/.cache"
exec 9>"$RUNS/.lock"
flock --nonblock 9 || { echo "error: another nightly run writes to $RUNS" >&2; exit 2; }
"$engine" rm --force "evaluator-$night" >/dev/null 2>&1 || true # what a crash may have left running
code=0
container --name "evaluator-$night" -v "$MEDIA:/data:ro" -v "$RUNS/$night:/out" -v "$RUNS/.cache:/cache" \
  "$image" --manifest "$manifest" || code=$?
publish
if [ "$code" = 0 ] && [ -n "${BASELINE:-}" ]; then
  container -v "$RUNS:/data:ro" "$image" compare "$BASELINE" "$night" ${FAIL_IF:+--fail-if "$FAIL_IF"} || code=$?
fi
prune
exit "$code"

#!/usr/bin/env bash
# base.sh FILE [SUITE]: a slim Debian as a tar file, from the package mirror that this machine is set up to use.
# For builds where no image registry can be reached: import it as debian:bookworm-slim. Equal packages give equal bytes.
# It holds this machine's package sources: a base for tests, not one to publish.
set -euo pipefail
file=$1 suite=${2:-bookworm}
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-1735689600}
[ -d /dev/shm ] && export TMPDIR=/dev/shm

sources=/etc/apt/sources.list
[ -f /etc/apt/sources.list.d/debian.sources ] && sources=/etc/apt/sources.list.d/debian.sources
paths=()
for path in man locale info lintian doc; do paths+=(--dpkgopt="path-exclude=/usr/share/$path/*"); done
# shellcheck disable=SC2016  # "$1" is for mmdebstrap
mmdebstrap --quiet --variant=minbase --mode=root --include=ca-certificates --dpkgopt=force-unsafe-io \
  "${paths[@]}" --dpkgopt='path-include=/usr/share/doc/*/copyright' --aptopt='APT::Install-Recommends "false"' \
  --customize-hook='rm -f "$1/etc/resolv.conf" "$1/etc/hostname"' "$suite" "$file" "$sources"

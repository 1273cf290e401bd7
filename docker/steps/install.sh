#!/bin/sh
# install.sh FOLDER FILE: make a virtual environment (once) and install a requirement file of /requirements into it.
# Wheels that were brought along (docker/wheelhouse/NAME/, mounted at /wheelhouse) are the only source if they are there.
set -eu
folder=$1 file=$2
wheels=/wheelhouse/${file%.txt}
set -- --no-cache-dir --no-compile --disable-pip-version-check --root-user-action ignore --progress-bar off
if grep -q -- '--hash=' "/requirements/$file"; then set -- "$@" --require-hashes --no-deps; fi
if [ -d "$wheels" ]; then set -- "$@" --no-index --find-links "$wheels"; fi
[ -x "$folder/bin/python" ] || python3 -m venv "$folder"
"$folder/bin/pip" install -q "$@" -r "/requirements/$file"

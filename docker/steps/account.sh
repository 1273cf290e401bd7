#!/bin/sh
# account.sh ROOT: the account that containers run as, and the folders that people mount.
set -eu
root=${1%/}
mkdir -p "$root"/etc "$root"/models "$root"/data "$root"/out "$root"/cache "$root"/tmp
touch "$root"/etc/passwd "$root"/etc/group
grep -q '^root:' "$root"/etc/passwd || echo 'root:x:0:0:root:/root:/usr/sbin/nologin' >>"$root"/etc/passwd
grep -q '^root:' "$root"/etc/group || echo 'root:x:0:' >>"$root"/etc/group
echo 'evaluator:x:10001:10001:evaluator:/cache:/usr/sbin/nologin' >>"$root"/etc/passwd
echo 'evaluator:x:10001:' >>"$root"/etc/group
chown 10001:10001 "$root"/out "$root"/cache
chmod 1777 "$root"/tmp

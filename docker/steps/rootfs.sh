#!/bin/sh
# rootfs.sh FOLDER PACKAGE...: a root file system of these packages and what they depend on, and nothing else.
# The files are those that are installed here. Each package leaves its entry in /var/lib/dpkg/status.d, which is where
# scanners look for the packages of an image without a package manager. A library that is missing ends the build.
set -eu
target=$1
shift
ours='^(dpkg|debconf|debconf-2.0|cdebconf|perl-base|tar|install-info|media-types|mailcap|mime-support)$' # run at installation only

needed() {
  apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances "$@" |
    awk '/^[a-z0-9]/ {sub(/:.*/, ""); print}' | sort -u | grep -Ev "$ours"
}

mkdir -p "$target"/usr/bin "$target"/usr/sbin "$target"/usr/lib "$target"/usr/lib64 "$target"/var/lib/dpkg/status.d
for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$target/$folder"; done
for package in $(needed "$@"); do
  dpkg-query -s "$package" >"$target/var/lib/dpkg/status.d/$package" 2>/dev/null || {
    rm "$target/var/lib/dpkg/status.d/$package" # a virtual package: another one provides it
    continue
  }
  dpkg-query -L "$package" | while read -r path; do
    if [ -L "$path" ] || [ -f "$path" ]; then echo "$path" | sed -E 's#^/(bin|sbin|lib|lib64)/#/usr/\1/#; s#^/##'; fi
  done
done | sort -u | tar -C / --no-recursion -T - -cf - | tar -C "$target" -xf -

rm -rf "$target"/usr/share/man "$target"/usr/share/lintian "$target"/usr/share/python3/debpython "$target"/etc/python3*
find "$target"/usr/lib -depth -type d \( -name __pycache__ -o -name test -o -name idlelib -o -name lib2to3 -o -name pydoc_data -o -name gconv \) -exec rm -rf {} +
"$(dirname "$0")"/account.sh "$target"
python3 -m compileall -q --invalidation-mode unchecked-hash -s "$target" "$target"/usr/lib/python3*/

# Everything that a module of the environment links to must be in the new root or beside the module.
missing=$(find /opt/venv "$target"/usr/lib -name '*.so*' -type f -exec ldd {} + 2>/dev/null |
  awk '$2 == "=>" && $3 ~ /^\// {print $3} $1 ~ /^\/lib/ {print $1}' | sort -u | grep -v '^/opt/venv/' |
  while read -r library; do [ -e "$target$library" ] || echo "$library"; done)
[ -z "$missing" ] || { echo "not in the root file system: $missing" >&2; exit 1; }

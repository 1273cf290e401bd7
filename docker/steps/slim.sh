#!/bin/sh
# slim.sh FOLDER: take out of a virtual environment what no run needs, and compile what stays.
# What is taken out: pip, the tests of packages, headers and sources of compiled modules, 67 MB of debugging symbols, and
# the copy of ONNX Runtime for C programs (the module for Python holds its own).
set -eu
folder=$1
site=$(echo "$folder"/lib/python3*/site-packages)
rm -rf "$site"/pip "$site"/pip-* "$site"/setuptools "$site"/setuptools-* "$site"/pkg_resources "$site"/_distutils_hack \
  "$site"/distutils-precedence.pth "$folder"/bin/pip* "$folder"/bin/[Aa]ctivate* "$folder"/include
rm -f "$site"/onnxruntime/capi/libonnxruntime.so.*
find "$site" -type d \( -name tests -o -name testing -o -name __pycache__ \) -prune -print | grep -v /numpy/testing | xargs rm -rf
find "$site" -type f \( -name '*.pyi' -o -name '*.pyx' -o -name '*.pxd' -o -name '*.c' -o -name '*.h' -o -name '*.a' \) -delete
strip --strip-debug "$site"/ctranslate2/_ext.*.so # no other module: stripping breaks libraries that auditwheel moved
# By content, not by date: the files get other dates in a layer, and a container has nowhere to write what it compiled.
"$folder/bin/python" -m compileall -q --invalidation-mode unchecked-hash "$site"

# What was taken out must not have been needed.
cd "$site" && "$folder/bin/python" -I -B -c 'import av, ctranslate2, cv2, numpy, onnxruntime, orjson, PIL.Image, pydantic, scipy.signal, scipy.stats'

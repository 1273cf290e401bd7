#!/bin/sh
# slim.sh FOLDER: take out of a virtual environment what no run needs, and compile what stays.
set -eu
folder=$1
site=$(echo "$folder"/lib/python3*/site-packages)

# What installs, tests and builds: pip, the tests of packages, headers and sources of compiled modules; of ONNX Runtime
# the converters, which need protobuf and flatbuffers, and the copy for C programs (the module for Python holds its own).
rm -rf "$site"/pip "$site"/pip-* "$site"/setuptools "$site"/setuptools-* "$site"/pkg_resources "$site"/_distutils_hack \
  "$site"/distutils-precedence.pth "$folder"/bin/pip* "$folder"/bin/[Aa]ctivate* "$folder"/include
rm -rf "$site"/onnxruntime/backend "$site"/onnxruntime/datasets "$site"/onnxruntime/quantization "$site"/onnxruntime/tools \
  "$site"/onnxruntime/transformers "$site"/onnxruntime/capi/libonnxruntime.so.* \
  "$site"/google "$site"/protobuf-* "$site"/flatbuffers "$site"/flatbuffers-*
find "$site" -type d \( -name tests -o -name testing -o -name __pycache__ \) -prune -print | grep -v /numpy/testing | xargs rm -rf
find "$site" -type f \( -name '*.pyi' -o -name '*.pyx' -o -name '*.pxd' -o -name '*.c' -o -name '*.h' -o -name '*.a' \) -delete

# Of Plotly the report uses one file of JavaScript; its Python half, which needs narwhals, is never imported.
find "$site"/plotly -type f ! -path '*/package_data/plotly.min.js' -delete
find "$site"/plotly -type d -empty -delete
rm -rf "$site"/_plotly_utils "$site"/narwhals "$site"/narwhals-*

# PyAV and OpenCV each bring FFmpeg of the same ABI. One stays, PyAV's, which decodes every clip that is scored: the
# libraries of both lie in one folder, and OpenCV's names of the five that are there twice lead to PyAV's.
ours=$site/av.libs theirs=$site/opencv_python_headless.libs
abi() { basename "$1" | sed 's/.*\.so\.\([0-9]*\).*/\1/'; }
for library in avcodec avformat avutil swresample swscale; do
  mine=$(echo "$ours"/lib$library-*) other=$(echo "$theirs"/lib$library-*)
  [ "$(abi "$mine")" = "$(abi "$other")" ] || { echo "not one FFmpeg: $mine, $other" >&2; exit 1; }
  ln -sf "$(basename "$mine")" "$other"
done
rm -f "$theirs"/libvpx-* "$theirs"/libssl-* "$theirs"/libcrypto-* # only OpenCV's FFmpeg linked to them
mv "$theirs"/* "$ours"/
rmdir "$theirs"
ln -s av.libs "$theirs"

# Symbols for debuggers, but for four libraries whose segments auditwheel has moved: they would not load any more.
find "$site" -name '*.so*' -type f ! -path '*/numpy.libs/*' ! -path '*/scipy.libs/*' -exec strip --strip-unneeded {} +

# By content, not by date: the files get other dates in a layer, and a container has nowhere to write what it compiled.
"$folder/bin/python" -m compileall -q --invalidation-mode unchecked-hash "$site"

# What was taken out must not have been needed: every module is loaded with all that it links to, and ours are imported.
wrong=$(find "$site" -name '*.so' -type f ! -path '*.libs/*' -exec ldd {} + 2>&1 | grep -E 'not found|ELF' | sort -u || true)
[ -z "$wrong" ] || { echo "a module does not load: $wrong" >&2; exit 1; }
cd "$site" && "$folder/bin/python" -I -B -c 'import av, ctranslate2, cv2, httpx2, jinja2, numpy, onnxruntime, orjson, PIL.Image, pydantic, tqdm
import scipy.ndimage, scipy.optimize, scipy.signal, scipy.special, scipy.stats'

#!/bin/sh
# tensorrt.sh FOLDER: install TensorRT's libraries into an environment, if somebody brought them along. The registry has only
# their bindings; the wheels (tensorrt_cu13, tensorrt_cu13_libs) come from their maker, into docker/wheelhouse/tensorrt/,
# with SHA256SUMS beside them. Their digest is that file's, which the build may be told to insist on.
set -eu
folder=$1 wanted=${2:-}
wheels=/wheelhouse/tensorrt
if [ ! -d "$wheels" ]; then
  [ -z "$wanted" ] || { echo "error: TENSORRT_SHA256 is given, and docker/wheelhouse/tensorrt/ is not there" >&2; exit 1; }
  echo "no docker/wheelhouse/tensorrt/: this image runs networks with ONNX Runtime on the GPU, without TensorRT" >&2
  exit 0
fi
cd "$wheels"
if [ -n "$wanted" ]; then echo "$wanted  SHA256SUMS" | sha256sum -c --quiet --strict -; fi
sha256sum -c --quiet --strict SHA256SUMS
for wheel in *.whl; do
  grep -q "  $wheel\$" SHA256SUMS || { echo "error: $wheel is not in SHA256SUMS" >&2; exit 1; }
done
"$folder/bin/pip" install -q --no-cache-dir --no-compile --disable-pip-version-check --root-user-action ignore \
  --no-index --no-deps ./*.whl

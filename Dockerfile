# Targets: cpu    scores on any machine; what `docker build .` makes
#          gpu    the same on a GPU (ONNX Runtime for CUDA, DALI, torch, TensorRT if it is brought along), and vLLM for a
#                 judge that is mounted at /models/judge
#          judge  that judge as a server of its own, for docker/compose.yaml
#
# docker/README.md tells how to build and run them. BuildKit and buildah both build this file: no syntax line, no heredoc,
# no --link. Nothing is fetched when a container runs; what a build fetches comes from the base image's own package
# mirror and from pip's configured index, or from wheels that were brought along in docker/wheelhouse/.

# At a release: debian:bookworm-slim@sha256:... of the day. Any Debian whose python3 is 3.11 to 3.14 does.
ARG BASE_IMAGE=debian:bookworm-slim
# Where the embedded models come from: export makes them here, with torch; prepared takes models/store of the checkout.
ARG MODELS=export

# ---------------------------------------------------------------------------------------- what a build needs
FROM ${BASE_IMAGE} AS builder
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 python3-venv libstdc++6 tini binutils \
 && rm -rf /var/lib/apt/lists/*
COPY docker/steps/ /steps/
COPY docker/requirements/ /requirements/

FROM builder AS environment
RUN --mount=type=bind,source=docker/wheelhouse,target=/wheelhouse /steps/install.sh /opt/venv cpu.txt \
 && /steps/slim.sh /opt/venv \
 && echo /opt/evaluator >"$(echo /opt/venv/lib/python3*/site-packages)/evaluator.pth"

# ---------------------------------------------------------------------------------------- embedded models
FROM builder AS models-export
RUN --mount=type=bind,source=docker/wheelhouse,target=/wheelhouse \
    /steps/install.sh /opt/export export.txt \
 && /steps/install.sh /opt/export export-torch.txt
COPY . /opt/evaluator
WORKDIR /opt/evaluator
RUN /opt/export/bin/python -m export fetch \
 && /opt/export/bin/python -m export build --embedded \
 && rm -rf models/store/wheels && mv models/store /store

FROM scratch AS models-prepared
COPY models/store/ /store/

# hadolint ignore=DL3006
FROM models-${MODELS} AS models

# ---------------------------------------------------------------------------------------- cpu
# No shell, no package manager, no compiler: the interpreter with its libraries, the environment, the models, the code.
FROM builder AS root
COPY --from=environment /opt/venv/ /opt/venv/
RUN /steps/rootfs.sh /image python3-minimal libpython3-stdlib libstdc++6 zlib1g tini

FROM scratch AS cpu
COPY --from=root /image/ /
COPY --from=models /store/ /opt/evaluator/models/store/
COPY --from=environment /opt/venv/ /opt/venv/
COPY LICENSE THIRD_PARTY.md /opt/evaluator/
COPY models/models.lock.json /opt/evaluator/models/
COPY models/cards/ /opt/evaluator/models/cards/
COPY docker/entrypoint.py docker/healthcheck.py /opt/evaluator/docker/
COPY evaluator/ /opt/evaluator/evaluator/

# Every variable that keeps a library from calling home, whether or not the library is in this image.
ENV PATH=/opt/venv/bin:/usr/local/bin:/usr/bin:/bin \
    HOME=/cache XDG_CACHE_HOME=/cache EVALUATOR_CACHE=/cache/evaluator EVALUATOR_MODELS=/models \
    LANG=C.UTF-8 \
    ORT_DISABLE_TELEMETRY=1 DO_NOT_TRACK=1 VLLM_NO_USAGE_STATS=1 RAY_USAGE_STATS_ENABLED=0 \
    HF_HUB_OFFLINE=1 HF_HUB_DISABLE_TELEMETRY=1 TRANSFORMERS_OFFLINE=1 HF_DATASETS_OFFLINE=1 \
    NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility,video
USER 10001:10001
WORKDIR /data
STOPSIGNAL SIGINT
ENTRYPOINT ["/usr/bin/tini", "--", "/opt/venv/bin/python", "-I", "/opt/evaluator/docker/entrypoint.py"]
CMD ["--help"]

# Last, so that a new commit changes one small layer's configuration and nothing else.
ARG REVISION=unknown
ARG VERSION=unknown
ENV EVALUATOR_REVISION=${REVISION}
LABEL org.opencontainers.image.title="evaluator" \
      org.opencontainers.image.description="Offline, reproducible scores for generated and edited audio-video" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"

# ---------------------------------------------------------------------------------------- gpu, judge
FROM builder AS environment-gpu
ARG TENSORRT_SHA256=
RUN --mount=type=bind,source=docker/wheelhouse,target=/wheelhouse /steps/install.sh /opt/gpu gpu.txt \
 && /steps/tensorrt.sh /opt/gpu "${TENSORRT_SHA256}" \
 && echo /opt/evaluator >"$(echo /opt/gpu/lib/python3*/site-packages)/evaluator.pth" \
 && mkdir /opt/gpu/npp && ln -s /opt/gpu/lib/python3*/site-packages/nvidia/cu13/lib/libnpp*.so* /opt/gpu/npp/ \
 && test -e /opt/gpu/npp/libnppc.so.13 \
 && /opt/gpu/bin/pip uninstall -q -y --root-user-action ignore pip

FROM builder AS vllm
RUN --mount=type=bind,source=docker/wheelhouse,target=/wheelhouse /steps/install.sh /opt/vllm vllm.txt \
 && /opt/vllm/bin/pip uninstall -q -y --root-user-action ignore pip

# vLLM is not slimmed: Triton compiles a launcher for each kernel at run time, so it needs a C compiler, Python's headers
# and ldconfig, and torch looks for a shell. What it compiles goes to /cache.
FROM ${BASE_IMAGE} AS system
COPY docker/steps/account.sh /steps/
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 libpython3-dev gcc libc6-dev libstdc++6 tini \
 && rm -rf /var/lib/apt/lists/* \
 && /steps/account.sh / \
 && rm -rf /steps \
 && ln -s /opt/vllm/bin/vllm /usr/local/bin/vllm

# The environment of the CPU stays beside its own, as a shared layer: two builds of ONNX Runtime in one would be neither.
# DALI looks for NPP on the library path only; nothing else is on it, since vLLM has CUDA libraries of its own.
FROM cpu AS gpu
COPY --from=system /usr/ /usr/
COPY --from=system /etc/ /etc/
COPY --from=system /var/lib/dpkg/ /var/lib/dpkg/
COPY --from=environment-gpu /opt/gpu/ /opt/gpu/
COPY --from=vllm /opt/vllm/ /opt/vllm/
ENV PATH=/opt/gpu/bin:/opt/venv/bin:/usr/local/bin:/usr/bin:/bin LD_LIBRARY_PATH=/opt/gpu/npp
ENTRYPOINT ["/usr/bin/tini", "--", "/opt/gpu/bin/python", "-I", "/opt/evaluator/docker/entrypoint.py"]

FROM gpu AS judge
ENV EVALUATOR_JUDGE_MODEL=/models/judge EVALUATOR_LOG=/cache/judge-server.log
HEALTHCHECK --interval=10s --timeout=5s --start-period=30m --retries=3 \
    CMD ["/opt/venv/bin/python", "-I", "/opt/evaluator/docker/healthcheck.py", "8000"]
CMD ["judge", "serve", "--port", "8000"]

FROM cpu AS default

# shellcheck shell=bash
# A Docker engine of this job's own: started in a folder of its own, without a bridge, stopped at the end. To be sourced.
# Needs root and the packages docker.io and mmdebstrap. Sets DOCKER_HOST and `docker`, the client that belongs to it.

docker() { /usr/bin/docker "$@"; }

# engine_start FOLDER: start it and wait until it answers; fail if it does not. Layers are kept by the first driver that works
# here: overlay2, or whole copies where a file system does not allow overlays (three times the disk, half the speed).
engine_start() {
  local driver
  engine_folder=$1
  mkdir -p "$engine_folder"
  export DOCKER_HOST=unix://$engine_folder/docker.sock DOCKER_BUILDKIT=1 DOCKER_CONFIG=$engine_folder/config
  for driver in ${ENGINE_STORAGE:-overlay2 vfs}; do
    engine_with "$driver" && return
    tail -n 20 "$engine_folder/dockerd.log" >&2
    echo "note: no engine with storage driver $driver" >&2
  done
  echo "error: no Docker engine could be started here (CI_IMAGE=0 turns the image job off)" >&2
  return 1
}

# engine_with DRIVER: one attempt, over as soon as the engine gives up
engine_with() {
  local engine
  setsid "${DOCKERD:-/usr/sbin/dockerd}" --data-root "$engine_folder/data" --exec-root "$engine_folder/exec" \
    --pidfile "$engine_folder/dockerd.pid" -H "$DOCKER_HOST" --iptables=false --ip6tables=false --bridge=none \
    --storage-driver "$1" --exec-opt native.cgroupdriver=cgroupfs >"$engine_folder/dockerd.log" 2>&1 &
  engine=$!
  for _ in $(seq 120); do
    docker info >/dev/null 2>&1 && return
    kill -0 "$engine" 2>/dev/null || break
    sleep 0.5
  done
  kill "$engine" 2>/dev/null || true
  wait "$engine" 2>/dev/null || true
  return 1
}

# engine_stop: stop it and its containers, and remove everything that it wrote
engine_stop() {
  local pid
  [ -f "${engine_folder:-/none}/dockerd.pid" ] || return 0
  pid=$(cat "$engine_folder/dockerd.pid")
  docker ps -aq 2>/dev/null | xargs -r /usr/bin/docker rm --force >/dev/null 2>&1 || true
  kill "$pid" 2>/dev/null || true
  for _ in $(seq 60); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.25
  done
  if mountpoint -q "$engine_folder/data"; then umount "$engine_folder/data"; fi # the engine leaves it with vfs
  rm -rf "$engine_folder"
}

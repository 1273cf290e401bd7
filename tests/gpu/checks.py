"""Checks for a machine with a GPU, in the order of what rests on what; at most fifteen minutes, one verdict per check.

    python -m tests.gpu.checks [--out FILE]

A check passes, fails, or is skipped with its reason; a failure does not stop the next one. Everything that has a
counterpart on the CPU is compared with it. Exit status: 0 unless a check failed. `docker/gpu-check.sh` calls it.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import json
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.bench.bench import BenchOptions, bench
from evaluator.doctor.codecs import KINDS, Kind, number, write
from evaluator.errors import EngineError
from evaluator.media.decode import CollectTap, decode
from evaluator.media.decode_dali import DaliSource
from evaluator.media.decode_device import decode_on
from evaluator.media.probe import probe
from evaluator.media.source_route import not_for_dali
from evaluator.media.steps import steps
from evaluator.media.steps_torch import apply
from evaluator.runtime.backends import Backends, Network, agreement
from evaluator.runtime.device import CudaDevice
from evaluator.runtime.engine_cache import EngineCache
from evaluator.runtime.onnx import OnnxSession
from evaluator.runtime.onnx_device import BoundOnnxSession
from evaluator.runtime.shapes import network
from evaluator.runtime.store import Store
from tests.device import residence as claim
from tests.device.views import VIEWS

LIBRARIES = ("libcuda.so.1", "libnvcuvid.so.1", "libnvinfer.so.11", "libnppicc.so.13", "libcublasLt.so.13")
PSNR = 40.0
"""dB between frames of a GPU and of the CPU, scaled: what one library's scaler differs from another's."""
LEVEL = 1.001 / 255 / 0.224
"""One grey level after ImageNet's normalisation, where it counts most."""
SESSIONS = 7
"""Decode sessions that stay open at a time on an H100 or H200."""


class Skip(Exception):
    """This machine lacks what the check needs."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one check said."""

    check: str
    verdict: str  # pass, fail, skip
    seconds: float
    found: Any


def environment() -> Any:
    """Device, driver, and which of the libraries load."""
    torch = _need("torch")
    loaded = {}
    for name in LIBRARIES:
        try:
            ctypes.CDLL(name)
            loaded[name] = "loads"
        except OSError as error:
            loaded[name] = str(error)
    return {"torch": torch.__version__, "cuda": torch.version.cuda, "gpu": asdict(_device().gpu), "libraries": loaded}


def scaling() -> Any:
    """The scalers of torch on the GPU against the same on the CPU: at most one grey level."""
    torch, device = _need("torch"), _device()
    frames = torch.from_numpy(np.random.default_rng(0).integers(0, 256, (4, 270, 480, 3), np.uint8))
    furthest = {}
    for name, view in VIEWS.items():
        how = steps(view, 480, 270)
        here, there = apply(frames, how), apply(frames.to("cuda"), how).cpu()
        furthest[name] = int((here.int() - there.int()).abs().max())
    assert max(furthest.values()) <= 1, furthest
    return {"device": device.gpu.name, "largest difference": furthest}


def memory() -> Any:
    """Addresses survive: what is uploaded, adopted through DLPack and downloaded is the same, on one stream."""
    torch, device = _need("torch"), _device()
    for seed in range(20):
        array = np.random.default_rng(seed).random((8, 3, 64, 64), np.float32)
        assert np.array_equal(device.download(device.upload(array)), array)
        tensor = torch.from_numpy(array).to("cuda")
        torch.cuda.synchronize()
        adopted = device.adopt(tensor)
        assert adopted.address == tensor.data_ptr()
        assert np.array_equal(device.download(adopted), array)
    return {"rounds": 20}


def onnx_on_the_device() -> Any:
    """Every prepared network through ONNX Runtime's CUDA provider against the CPU."""
    device = _device()
    return _compared(lambda path: BoundOnnxSession(path, device))


def engines() -> Any:
    """Every prepared network as an engine: built, compared, used. TensorRT for RTX builds them all."""
    return _as_engines((f"{model}/{file.name}", network(file, path)) for model, file, path in _networks())


def half_engines() -> Any:
    """The same of float16 copies of every network that a recipe makes."""
    _need("torch")
    _need("onnx")
    from export.half import halve  # it imports both

    store = Store.open()
    with tempfile.TemporaryDirectory() as folder:
        halves = []
        for model, file, path in _networks():
            if file in store.lock[model].made:
                copy = Path(folder) / f"{model}-{file.name}"
                shutil.copyfile(path, copy)
                halve(copy)
                halves.append((f"{model}/{file.name}", network(file, copy)))
        return _as_engines(halves)


def decoding() -> Any:
    """Every kind of clip that the route lets through: the right frames in order, and near the CPU's pixels."""
    _need("nvidia.dali")
    source = DaliSource("gpu", stream=_device().stream)
    with tempfile.TemporaryDirectory() as folder:
        return {
            kind.name: _decoded(source, kind, Path(folder) / f"{place}.{kind.suffix}")
            for place, kind in enumerate(KINDS)
        }


def preprocessing() -> Any:
    """What experts feed their networks from pictures on the GPU, against the host: to the bit, or one grey level."""
    _need("torch")
    _device()
    from tests.device.twin_report import twins  # it imports torch

    with tempfile.TemporaryDirectory() as folder:
        found = twins(Path(folder), "cuda")
    far = {name: case["largest"] for name, case in found.items() if case["largest"] > LEVEL}
    assert not far, far
    assert any(case["inputs on the device"] for case in found.values())
    return {name: case["largest"] for name, case in found.items()}


def residence() -> Any:
    """A run whose pictures stay on the GPU: nothing crosses but what metrics read, and the scores are the host's."""
    _need("nvidia.dali")
    device, trt = _device(), _optional("tensorrt")
    with tempfile.TemporaryDirectory() as folder:
        runs = claim.three_runs(claim.manifest(Path(folder), "libx264", "mp4"), device, trt)
    problems = claim.wrong(runs)
    assert not problems, problems
    return {name: found["bytes"] for name, found in runs.items()} | {"values": runs["device"]["values"]}


def sessions() -> Any:
    """Seven decoders at a time, each in the middle of a clip."""
    _need("nvidia.dali")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clip.mp4"
        write(KINDS[0], path)
        info = probe(path)
        assert info.video is not None
        open_ones = [DaliSource("gpu", threads=1) for _ in range(SESSIONS)]
        for source in open_ones:
            [(_, frames)] = list(source.frames(path, info.video, np.arange(24)))
            assert [number(frame) for frame in source.host(frames)] == list(range(24))
    return {"sessions": SESSIONS}


def leaks() -> Any:
    """Device memory after the tenth and after the two hundredth clip."""
    torch = _need("torch")
    _need("nvidia.dali")
    source = DaliSource("gpu")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clip.mp4"
        write(KINDS[0], path)
        info = probe(path)
        assert info.video is not None
        free = []
        for place in range(200):
            for _, frames in source.frames(path, info.video, np.arange(24)):
                source.host(frames)
            if place in (9, 199):
                free.append(torch.cuda.mem_get_info()[0])
    assert free[0] - free[1] < 64 << 20, f"{(free[0] - free[1]) >> 20} MiB lost in 190 clips"
    return {"MiB lost": (free[0] - free[1]) >> 20}


def benchmark() -> Any:
    """G1, G4 and G9 of two short clips. A missed target is a figure; none at all, or pictures far from the CPU's, is a
    failure.
    """
    _device()
    with tempfile.TemporaryDirectory() as folder:
        board = bench(BenchOptions(clips=Path(folder), quick=True, device="gpu"), say=lambda _: None)
    found = {row["id"]: row for row in board["figures"] if row["id"] in {"G1", "G4", "G9"}}
    assert all(row["value"] is not None for row in found.values()), found
    assert found["G9"]["value"] >= PSNR, found["G9"]
    return {name: [row["value"], row["note"]] for name, row in found.items()}


CHECKS: Mapping[str, Callable[[], Any]] = {
    "environment": environment,
    "scaling": scaling,
    "memory": memory,
    "onnxruntime cuda": onnx_on_the_device,
    "engines": engines,
    "half engines": half_engines,
    "decoding": decoding,
    "preprocessing": preprocessing,
    "residence": residence,
    "sessions": sessions,
    "leaks": leaks,
    "benchmark": benchmark,
}


def run(name: str) -> Verdict:
    """One check, whatever happens in it."""
    began = time.monotonic()
    try:
        verdict, found = "pass", CHECKS[name]()
    except Skip as reason:
        verdict, found = "skip", str(reason)
    except Exception:  # a check that breaks has failed, and the next one still says something
        verdict, found = "fail", traceback.format_exc()[-2000:]
    return Verdict(name, verdict, round(time.monotonic() - began, 1), found)


# ------------------------------------------------------------------------------------------------------ pieces


def _need(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Skip(f"{name} is not installed ({error})") from error


def _optional(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:  # networks run on ONNX Runtime's CUDA provider then
        return None


def _device() -> CudaDevice:
    try:
        return CudaDevice()
    except EngineError as error:
        raise Skip(str(error)) from error


def _as_engines(networks: Iterable[tuple[str, Network]]) -> dict[str, Any]:
    """Providers by name, and the comparisons that were passed. Fails with the reasons of networks without an engine."""
    trt, device = _need("tensorrt"), _device()
    with tempfile.TemporaryDirectory() as folder:
        backends, cache = Backends(device, trt, EngineCache(Path(folder))), EngineCache(Path(folder))
        opened = {name: backends.open(own).provider for name, own in networks}
        assert not backends.fallbacks, [asdict(fallback) for fallback in backends.fallbacks]
        proofs = [{"comparison": one["comparison"], "rewrites": one["rewrites"]} for one in cache.records()]
    return {"providers": opened, "proofs": proofs}


def _networks() -> list[tuple[str, Any, Path]]:
    """(model, file, path) of every network of the prepared store."""
    store = Store.open()
    return [
        (model.entry.id, model.entry.file(file.name), file.path)
        for model in store.status()
        for file in model.files
        if file.state != "missing" and file.name.endswith(".onnx")
    ]


def _compared(open_session: Callable[[Path], Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for model, file, path in _networks():
        own = network(file, path)
        try:
            session = open_session(path)
        except EngineError as error:
            raise Skip(str(error)) from error
        near = agreement(session.run(own.probe), OnnxSession(path).run(own.probe))
        assert near.cosine >= own.cosine, f"{model}/{file.name}: {near}"
        assert near.max_abs <= own.max_abs, f"{model}/{file.name}: {near}"
        found[f"{model}/{file.name}"] = asdict(near)
    return found


def _decoded(source: DaliSource, kind: Kind, path: Path) -> Any:
    write(kind, path)
    info = probe(path)
    if reason := not_for_dali(info, "gpu"):
        return f"not for DALI: {reason}"
    ours, theirs = ([(view, CollectTap(info)) for view in VIEWS.values()] for _ in range(2))
    _, report = decode_on(source, path, info, theirs, [])
    assert report.notes[0] == "decoder dali", report.notes
    decode(path, info, ours, [])
    near = {}
    for name, (_, one), (_, other) in zip(VIEWS, theirs, ours, strict=True):
        given, wanted = one.close(), other.close()
        assert np.array_equal(given.index, wanted.index), name
        assert np.array_equal(given.time, wanted.time), name
        error = float(((given.data.astype(np.float64) - wanted.data) ** 2).mean())
        near[name] = round(10 * np.log10(255**2 / max(error, 1e-9)), 1)
        assert name == "native" or near[name] >= PSNR, near
    return near


def main() -> int:
    """All checks in order, told as they end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="file for the verdicts as JSON")
    given = parser.parse_args()
    verdicts = []
    for name in CHECKS:
        verdicts.append(run(name))
        last = verdicts[-1]
        text = last.found if isinstance(last.found, str) else json.dumps(last.found)
        print(f"{last.verdict.upper():<5} {name} ({last.seconds} s)\n      {text}", flush=True)
    if given.out:
        given.out.write_text(json.dumps([asdict(verdict) for verdict in verdicts], indent=2) + "\n")
    return any(verdict.verdict == "fail" for verdict in verdicts)


if __name__ == "__main__":
    raise SystemExit(main())

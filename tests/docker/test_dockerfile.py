"""The Dockerfile and what stands around it, read as text: what can be promised without an engine."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fnmatch import fnmatch

import pytest
import yaml

from evaluator.judge import launch
from tests.conftest import ROOT

FOLDER = ROOT / "docker"
SCRIPTS = sorted(path for path in FOLDER.rglob("*") if path.suffix in {".sh", ".sbatch"})


@dataclass
class Stage:
    base: str
    name: str
    steps: list[tuple[str, str]] = field(default_factory=list)  # instruction, argument

    def of(self, instruction: str) -> list[str]:
        return [argument for name, argument in self.steps if name == instruction]


def stages() -> dict[str, Stage]:
    """Stages by name, instructions with their continuation lines joined."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    found: dict[str, Stage] = {}
    current = None
    for line in text.replace("\\\n", " ").splitlines():
        name, _, argument = line.strip().partition(" ")
        if name == "FROM":
            base, _, alias = argument.partition(" AS ")
            current = found[alias] = Stage(base, alias)
        elif name and current:
            current.steps.append((name, argument.strip()))
    return found


STAGES = stages()


def lineage(name: str) -> list[Stage]:
    """A stage and those that it is made from, the last first; models by way of their export."""
    stage = STAGES[name]
    base = stage.base.replace("${MODELS}", "export")
    return [stage, *(lineage(base) if base in STAGES else [])]


def environment(name: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for stage in reversed(lineage(name)):
        for argument in stage.of("ENV"):
            found.update(re.findall(r'(\w+)=(?:"?)([^"\s]*)', argument))
    return found


@pytest.mark.parametrize("target", ["cpu", "gpu", "judge"])
def test_every_target_runs_as_a_number_and_says_what_it_is(target: str) -> None:
    steps = [step for stage in lineage(target) for step in stage.steps]
    users = [argument for name, argument in steps if name == "USER"]
    assert users == ["10001:10001"]
    labels = " ".join(argument for name, argument in steps if name == "LABEL")
    for word in ("title", "description", "licenses", "version", "revision"):
        assert f"org.opencontainers.image.{word}=" in labels
    assert all(argument.startswith("[") for name, argument in steps if name in {"ENTRYPOINT", "CMD"})


@pytest.mark.parametrize("target", ["cpu", "gpu", "judge"])
def test_nothing_in_an_image_calls_home(target: str) -> None:
    found = environment(target)
    wanted = {k: v for k, v in launch.OFFLINE.items() if k != "VLLM_BATCH_INVARIANT"}  # set where vLLM is started
    wanted |= {"ORT_DISABLE_TELEMETRY": "1", "HF_DATASETS_OFFLINE": "1", "RAY_USAGE_STATS_ENABLED": "0"}
    assert {name: found.get(name) for name in wanted} == wanted


def test_the_gpu_image_asks_for_the_driver_parts_that_it_needs() -> None:
    found = environment("gpu")
    assert found["NVIDIA_DRIVER_CAPABILITIES"] == "compute,utility,video"
    assert found["NVIDIA_VISIBLE_DEVICES"] == "all"


def test_cpu_is_made_from_nothing_and_is_the_default() -> None:
    assert STAGES["cpu"].base == "scratch"
    assert STAGES["cpu"].of("RUN") == []
    last = list(STAGES.values())[-1]
    assert (last.base, last.steps) == ("cpu", [])


def test_no_step_that_an_engine_here_does_not_know() -> None:
    text = (ROOT / "Dockerfile").read_text()
    for word in ("# syntax", "<<", "--link", "--network", "VOLUME", "ADD "):
        assert word not in re.sub(r"^#.*no syntax line, no heredoc,\n# no --link.*$", "", text, flags=re.MULTILINE), (
            word
        )


def test_every_package_is_installed_from_a_lock() -> None:
    calls = re.findall(r"install\.sh (\S+) (\S+)", (ROOT / "Dockerfile").read_text())
    assert {file for _, file in calls} == {"cpu.txt", "gpu.txt", "vllm.txt", "export.txt", "export-torch.txt"}
    for name in ("cpu.txt", "gpu.txt", "vllm.txt", "export.txt", "image-check.txt"):
        lines = [line for line in (FOLDER / "requirements" / name).read_text().splitlines() if "==" in line]
        assert lines
        assert all(line.endswith("\\") for line in lines if not line.startswith("#")), f"{name}: a pin without digests"
    assert not re.search(r"pip3? install|curl|wget", (ROOT / "Dockerfile").read_text())


def test_vllm_meets_nothing_of_ours() -> None:
    """Its transformers and torch differ from any other: an environment of its own, on the PATH by one link."""
    assert STAGES["gpu"].of("COPY")[-1] == "--from=vllm /opt/vllm/ /opt/vllm/"
    assert "ln -s /opt/vllm/bin/vllm /usr/local/bin/vllm" in STAGES["system"].of("RUN")[0]


def test_what_is_copied_is_there_and_passes_the_ignore_file() -> None:
    allowed = [line[1:].rstrip("/") for line in ignored() if line.startswith("!")]
    for stage in STAGES.values():
        for argument in stage.of("COPY"):
            if "--from=" in argument:
                continue
            for source in argument.split()[:-1]:
                top = source.rstrip("/").split("/")[0]
                if source != ".":
                    assert top in allowed, f"{source} is kept out by .dockerignore"
                    assert (ROOT / source).exists() or source.startswith("models/store/"), source


@pytest.mark.parametrize("target", ["cpu", "gpu", "judge"])
def test_a_target_is_made_of_stages_steps_and_locks_that_exist(target: str) -> None:
    """Also for the two targets that CI cannot build: no stage, script, lock or folder of another stage is missing."""
    for stage in needed(target):
        for source in (re.search(r"--from=(\S+) (\S+)", argument) for argument in stage.of("COPY")):
            if source and source[2] not in {"/usr/", "/etc/", "/var/lib/dpkg/"}:  # what Debian brings
                made = " ".join(argument for origin in lineage(source[1]) for _, argument in origin.steps)
                assert source[2].rstrip("/") in made, f"{source[1]} does not make {source[2]}"
        for command in stage.of("RUN"):
            for script in re.findall(r"/steps/(\S+\.sh)", command):
                assert (FOLDER / "steps" / script).is_file(), script
            for lock in re.findall(r"install\.sh \S+ (\S+)", command):
                assert (FOLDER / "requirements" / lock).is_file(), lock


def needed(target: str) -> list[Stage]:
    """Every stage that a target is built from, by FROM and by COPY --from. Both ways to the models."""
    found: dict[str, Stage] = {}
    names = [target]
    while names:
        name = names.pop()
        for one in ("models-export", "models-prepared") if name == "models-${MODELS}" else (name,):
            if one in found or one in {"scratch", "${BASE_IMAGE}"}:
                continue
            stage = found[one] = STAGES[one]  # a stage that does not exist is a KeyError here
            names += [
                stage.base,
                *(word for argument in stage.of("COPY") for word in re.findall(r"--from=(\S+)", argument)),
            ]
    return list(found.values())


def test_the_script_that_builds_knows_the_targets() -> None:
    assert "cpu | gpu | judge)" in (FOLDER / "image.sh").read_text()
    assert {"system", "vllm", "environment-gpu"} <= {stage.name for stage in needed("judge")}
    assert not {"system", "vllm", "environment-gpu"} & {stage.name for stage in needed("cpu")}


@pytest.mark.parametrize("name", ["cpu", "gpu", "vllm", "image-check", "dev", "ray"])
def test_a_lock_is_what_its_list_asks_for(name: str) -> None:
    """Every package that a list names is pinned in its lock, and exactly there where the list is exact."""
    pinned = pins(name)
    asked = [line.split("#")[0].strip() for line in (FOLDER / "requirements" / f"{name}.in").read_text().splitlines()]
    for line in filter(None, asked):
        if line.startswith("-r "):
            continue
        package = re.split(r"[\[<>=!~ ]", line)[0].lower()
        assert package in pinned, f"{name}.txt has no {package}"
        if "==" in line:
            assert pinned[package] == line.partition("==")[2], line


def pins(name: str) -> dict[str, str]:
    text = (FOLDER / "requirements" / f"{name}.txt").read_text()
    return dict(re.findall(r"^([a-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", text, flags=re.MULTILINE))


def test_a_pair_of_environments_reads_media_with_one_decoder() -> None:
    """What decodes and computes in the CPU environment is pinned alike in the one of the GPU."""
    cpu, gpu = pins("cpu"), pins("gpu")
    for package in ("av", "numpy", "opencv-python-headless", "pillow", "scipy"):
        assert cpu[package] == gpu[package], package


def test_what_is_installed_beside_an_environment_changes_nothing_in_it() -> None:
    beside = pins("ray")
    for name in ("cpu", "dev"):
        there = pins(name)
        assert {package: there[package] for package in beside if package in there}.items() <= beside.items()


def test_the_context_is_a_list_of_what_may_enter() -> None:
    lines = ignored()
    assert lines[0] == "*"
    out = [line for line in lines[1:] if not line.startswith("!")]
    assert any(fnmatch("models/store/wheels", line.rstrip("/")) for line in out)
    for name in (".git", "tests", "manifests", ".venv", "out"):
        assert f"!{name}/" not in lines


def ignored() -> list[str]:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_no_address_of_a_registry_or_mirror_stands_anywhere() -> None:
    files = [ROOT / "Dockerfile", ROOT / ".dockerignore"]
    files += [path for path in FOLDER.rglob("*") if path.is_file() and "wheelhouse/" not in str(path)]
    for path in files:
        if path.suffix != ".pyc":
            assert not re.search(r"https?://(?!127\.0\.0\.1)|file://", path.read_text()), path


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(FOLDER)))
def test_a_script_stops_at_its_first_error_and_says_what_it_is(path: object) -> None:
    lines = path.read_text().splitlines()  # type: ignore[attr-defined]
    if lines[0].startswith("# shellcheck"):  # to be sourced
        return
    assert lines[0].startswith("#!")
    assert lines[1].startswith("# ")
    assert any(line.startswith("set -eu") for line in lines)


def test_compose_gives_the_pair_loopback_and_nothing_else() -> None:
    services = yaml.safe_load((FOLDER / "compose.yaml").read_text())["services"]
    assert services["judge"]["network_mode"] == "none"
    assert services["evaluator"]["network_mode"] == "service:judge"
    assert services["evaluator"]["depends_on"] == {"judge": {"condition": "service_healthy"}}
    assert "http://127.0.0.1:8000" in services["evaluator"]["command"]
    assert STAGES["judge"].of("CMD") == ['["judge", "serve", "--port", "8000"]']
    assert 'healthcheck.py", "8000"' in STAGES["judge"].of("HEALTHCHECK")[0]
    for service in services.values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert "ports" not in service
        assert service["logging"]["options"]["max-size"]
        writable = {mount["target"] for mount in service["volumes"] if not mount.get("read_only")}
        assert writable <= {"/out", "/cache"}

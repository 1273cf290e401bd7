"""`evaluator manifest cutcraft ROOT --system NAME`: the published files become a manifest.

    ROOT/prompt.json            the prompts                         --set prompts=FILE  (prompt_zh.json: the twin)
    ROOT/question_bank.json     six questions per prompt            --set questions=FILE (question_bank_zh.json)
    ROOT/NAME/<id>_<title>.mp4  one system's clips                  --set videos=DIR; --system '*' takes every folder

    --set ids=9001,9005         only these prompts
    --set range=1-50            only these places in the prompt file, from 1, inclusive; with ids: both
    --set text_fps=1            words on screen are read, so many pictures a second, and told to the judge (screen_text)

The id is the whole number before the first underscore of a name. A clip without a prompt, a prompt without a clip and a
prompt without questions are named; a prompt whose labels are not known gets no line. Source: spec 2.4, 2.5.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from evaluator.errors import UsageError
from evaluator.manifest.places import real
from evaluator.manifest.problems import nearest
from evaluator.schema import Case
from evaluator.suites.base import Imported
from evaluator.suites.cutcraft.data import MOST_READ, examine

SETTINGS = ("ids", "prompts", "questions", "range", "text_fps", "videos")
EVERYBODY = "*"


def importer(root: Path, system: str, settings: Mapping[str, str]) -> Imported:
    """Lines in the order of the prompt file, system by system. UsageError for what keeps everything from being read."""
    if unknown := sorted(settings.keys() - set(SETTINGS)):
        hint = nearest(unknown[0], SETTINGS) or f"there are {', '.join(SETTINGS)}"
        raise UsageError(f"--set {unknown[0]}: cutcraft has no such setting; {hint}")
    prompts = read_prompts(root / settings.get("prompts", "prompt.json"))
    questions = read_questions(root / settings.get("questions", "question_bank.json"))
    if not questions.keys() & prompts.keys():
        raise UsageError("the question bank has a question for none of the prompts: are the files of one release?")
    chosen, rate = _chosen(list(prompts), settings), _text_rate(settings)
    lines: list[Mapping[str, Any]] = []
    problems: list[str] = []
    for name, folder in _folders(root, system, settings).items():
        clips = _clips(folder, prompts.keys(), problems)
        for number in chosen:
            if number not in clips:
                problems.append(f"{name}: prompt {number}: expected a clip, found none; left out")
                continue
            line = line_of(prompts[number], questions.get(number), name, _inside(clips[number], root), rate)
            wrong = list(examine(_case(line)))
            problems += [f"prompt {number}: {one.field}: expected {one.expected}, found {one.found}" for one in wrong]
            if number not in questions:
                problems.append(f"prompt {number}: expected questions, found none; judged dimensions have no score")
            if not wrong:
                lines.append(line)
    return Imported(tuple(lines), tuple(dict.fromkeys(problems)))


def line_of(
    prompt: Mapping[str, Any], questions: Sequence[Any] | None, system: str, video: str, text_fps: float | None = None
) -> dict[str, Any]:
    """One manifest line."""
    seed = str(prompt.get("source_seed", ""))
    return {
        "id": f"{prompt['id']}/{system}",
        "suite": "cutcraft",
        "system": system,
        "video": video,
        "prompt": prompt.get("overall_description_prompt", ""),
        "category": seed.split("_", maxsplit=1)[0],
        "shots": prompt.get("shots", []),
        **({"checklist": list(questions)} if questions is not None else {}),
        "data": {
            "prompt_id": prompt["id"],
            "title": prompt.get("title", ""),
            "source_seed": seed,
            "editing_style": prompt.get("global_editing_style", ""),
            "number_of_shots": prompt.get("number_of_shots", len(prompt.get("shots", []))),
            **({"text_fps": text_fps} if text_fps is not None else {}),
        },
    }


def read_prompts(path: Path) -> dict[int, Mapping[str, Any]]:
    """Id -> prompt, in the order of the file. UsageError for another form, or an id that comes twice."""
    listed = _read(path, "prompts")
    try:
        found = {int(prompt["id"]): prompt for prompt in listed}
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path}: expected a list of prompts with an id ({type(error).__name__}: {error})") from error
    if len(found) < len(listed):
        raise UsageError(f"{path}: expected each prompt once, found {len(listed)} prompts with {len(found)} ids")
    return found


def read_questions(path: Path) -> dict[int, Sequence[Any]]:
    """Id -> its questions. UsageError for another form."""
    tree = _read(path, "questions")
    try:
        return {int(entry["video_id"]): list(entry["questions"]) for entry in tree["question_bank"]}
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path}: expected a question bank ({type(error).__name__}: {error})") from error


def clip_id(name: str) -> int | None:
    """The prompt of a clip by its file name; None if there is no whole number before the first underscore.

    >>> clip_id("9001_Early_Loaf.mp4"), clip_id("intro.mp4")
    (9001, None)
    """
    head = name.split("_", maxsplit=1)[0].removesuffix(".mp4")
    return int(head) if head.isascii() and head.isdecimal() else None


def _read(path: Path, setting: str) -> Any:
    try:
        return orjson.loads(path.read_bytes().removeprefix(codecs.BOM_UTF8))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}); name it with --set {setting}=FILE") from error
    except orjson.JSONDecodeError as error:
        raise UsageError(f"{path}: not JSON ({error})") from error


def _folders(root: Path, system: str, settings: Mapping[str, str]) -> dict[str, Path]:
    """System -> folder of its clips."""
    home = root / settings["videos"] if "videos" in settings else root
    if system == EVERYBODY:
        found = {folder.name: folder for folder in sorted(home.iterdir()) if any(folder.glob("*.mp4"))}
        if not found:
            raise UsageError(f"{home}: no folder with clips")
        return found
    folder = home if "videos" in settings and not (home / system).is_dir() else home / system
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; name the one above it with --set videos=DIR")
    return {system: folder}


def _clips(folder: Path, known: Any, problems: list[str]) -> dict[int, Path]:
    """Prompt -> clip, of the clips directly in a folder. Two clips of one prompt are none."""
    found: dict[int, list[Path]] = {}
    for path in sorted(folder.glob("*.mp4")):
        number = clip_id(path.name)
        if number is None or number not in known:
            wanted = "the number of a prompt" if number is None else "a prompt of the file"
            problems.append(f"{folder.name}: {path.name}: expected {wanted} before the first _; left out")
        else:
            found.setdefault(number, []).append(path)
    for number, paths in found.items():
        if len(paths) > 1:
            problems.append(f"{folder.name}: prompt {number}: expected one clip, found {len(paths)}; left out")
    return {number: paths[0] for number, paths in found.items() if len(paths) == 1}


def _chosen(ids: list[int], settings: Mapping[str, str]) -> list[int]:
    """Prompts by --set ids and --set range; all of them without either."""
    try:
        named = {int(word) for word in settings["ids"].split(",")} if "ids" in settings else set()
        if "range" in settings:
            first, last = map(int, settings["range"].split("-"))
            if not 1 <= first <= last:
                raise ValueError("a range goes from 1 up")
            named |= set(ids[first - 1 : last])
    except ValueError as error:
        raise UsageError(f"--set ids=N,N and --set range=A-B hold whole numbers ({error})") from error
    if lost := sorted(named - set(ids)):
        raise UsageError(f"--set ids: the prompt file has no prompt {lost[0]}")
    return [number for number in ids if number in named] if settings.keys() & {"ids", "range"} else ids


def _text_rate(settings: Mapping[str, str]) -> float | None:
    """Pictures a second whose words are read; None unless it was set."""
    if "text_fps" not in settings:
        return None
    try:
        rate = float(settings["text_fps"])
    except ValueError:
        rate = 0.0
    if not 0.0 < rate <= MOST_READ:
        found = settings["text_fps"]
        raise UsageError(f"--set text_fps={found}: expected pictures a second above 0, at most {MOST_READ:g}")
    return rate


def _inside(path: Path, root: Path) -> str:
    inside, base = real(path), real(root)
    if not inside.is_relative_to(base):
        raise UsageError(f"{path}: clips must lie below {root}")
    return inside.relative_to(base).as_posix()


def _case(line: Mapping[str, Any]) -> Case:
    """The line as `examine` sees it."""
    return Case(
        id=line["id"],
        suite=line["suite"],
        video=Path(line["video"]),
        prompt=line["prompt"],
        checklist=tuple(line.get("checklist", ())),
        shots=tuple(line["shots"]),
        data=line["data"],
    )


def each_line(lines: Sequence[Mapping[str, Any]]) -> Iterator[bytes]:
    """Manifest lines as bytes."""
    return (orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)

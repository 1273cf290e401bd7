"""vLLM's dialect of the OpenAI chat API: a question as a request body, a response body as a Raw answer. Pure functions.

Labels: the allowed tokens are forced with `allowed_token_ids`, and `logprob_token_ids` asks for their log-probabilities
over the full vocabulary, before any mask. Frames go as one list of encoded pictures with their times, so that the
server neither decodes a container nor picks frames. Times are written as frame numbers at 1000 frames a second: whole
milliseconds. A server has one list of times per request, so several clips must be sampled at the same times.

Measured on vLLM 0.32. Knows the vocabulary; opens no socket.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from evaluator.judge.render import turns
from evaluator.judge.types import AudioPart, FramesPart, ImagePart, JudgeError, Part, Question, Raw, Status, TextPart

CHAT = "/v1/chat/completions"
MILLISECONDS = 1000  # frames a second of the clock that frame times are told in
IMAGE_TYPES = frozenset({"image/png", "image/jpeg"})


def chat_request(question: Question, model: str, label_ids: Sequence[int]) -> dict[str, Any]:
    """The body of POST /v1/chat/completions. `label_ids` are the token ids of `question.labels`, in order.

    Raises JudgeError (error) for a question that this dialect cannot carry.
    """
    body: dict[str, Any] = {
        "model": model,
        "messages": _messages(question),
        "temperature": question.temperature,
        "seed": question.sample,
        "max_tokens": question.max_tokens,
    }
    if question.temperature:
        body["top_p"] = 1.0  # a server may have another default, that of the checkpoint
    if question.top_k:
        body["top_k"] = question.top_k
    if question.labels:
        body |= {"logprobs": True, "logprob_token_ids": list(label_ids), "allowed_token_ids": list(label_ids)}
    elif question.answer_schema is not None:
        schema = {"name": "answer", "schema": question.answer_schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if clock := _clock([part for part in question.parts if isinstance(part, FramesPart)]):
        body["media_io_kwargs"] = {"video": clock}
    return body


def _messages(question: Question) -> list[dict[str, Any]]:
    try:
        return [{"role": turn.role, "content": [_content(part) for part in turn.parts]} for turn in turns(question)]
    except ValueError as error:
        raise JudgeError(Status.ERROR, f"the question cannot be sent: {error}") from error


def _content(part: Part) -> dict[str, Any]:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case ImagePart():
            if part.mime not in IMAGE_TYPES:
                raise ValueError(f"a picture must be one of {sorted(IMAGE_TYPES)}, found {part.mime!r}")
            return {"type": "image_url", "image_url": {"url": f"data:{part.mime};base64,{_base64(part.data)}"}}
        case FramesPart():
            # the type names a list of encoded pictures, whatever their encoding; PNG stays lossless under it
            frames = ",".join(_base64(frame) for frame in part.frames)
            return {"type": "video_url", "video_url": {"url": f"data:video/jpeg;base64,{frames}"}}
        case AudioPart():
            return {"type": "input_audio", "input_audio": {"data": _base64(part.wav), "format": "wav"}}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _clock(clips: Sequence[FramesPart]) -> dict[str, Any] | None:
    """When the frames were shown, for all clips of a request; None without clips."""
    if not clips:
        return None
    times = clips[0].times
    if any(clip.times != times for clip in clips):
        raise JudgeError(Status.ERROR, "clips in one question must be sampled at the same times")
    indices = [round(time * MILLISECONDS) for time in times]
    rising = all(first < second for first, second in pairwise(indices))
    if not indices or len(indices) % 2 or indices[0] < 0 or not rising:
        raise JudgeError(
            Status.ERROR, "frame times must be an even number of distinct milliseconds, rising from 0 or later"
        )
    if any(len(clip.frames) != len(times) for clip in clips):
        raise JudgeError(Status.ERROR, "a clip needs one time per frame")
    total = indices[-1] + 1
    return {
        "fps": MILLISECONDS,
        "frames_indices": indices,
        "total_num_frames": total,
        "duration": total / MILLISECONDS,
        "do_sample_frames": False,
        "num_frames": -1,  # all of them: a server's own default keeps 32
    }


def read_answer(tree: Mapping[str, Any], question: Question, label_ids: Sequence[int]) -> Raw:
    """The first choice of a response, uninterpreted. Raises JudgeError (error) if it is not a chat completion."""
    try:
        choice = tree["choices"][0]
        message = choice["message"]
        refusal = message.get("refusal")
        text = refusal or message.get("content") or ""
        finish = "refusal" if refusal or choice["finish_reason"] == "content_filter" else choice["finish_reason"]
        logprobs = _label_logprobs(choice, question.labels, label_ids) if question.labels and not refusal else {}
        usage = {name: count for name, count in (tree.get("usage") or {}).items() if isinstance(count, int)}
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise JudgeError(Status.ERROR, f"the answer has not the form of a chat completion: {error!r}") from error
    if not isinstance(text, str) or not isinstance(finish, str):
        raise JudgeError(Status.ERROR, "the answer has not the form of a chat completion: no text or no finish_reason")
    return Raw(text=text, finish_reason=finish, label_logprobs=logprobs, usage=usage)


def _label_logprobs(choice: Mapping[str, Any], labels: Sequence[str], ids: Sequence[int]) -> dict[str, float]:
    """Natural log-probability of each label as the first token."""
    told = list(choice["logprobs"]["content"][0]["top_logprobs"])
    return {label: _logprob(told, label, number) for label, number in zip(labels, ids, strict=True)}


def _logprob(told: Iterable[Mapping[str, Any]], label: str, number: int) -> float:
    """By token id where the server tells it, else by the token's text."""
    for entry in told:
        if entry["token_id"] == number if "token_id" in entry else entry["token"] == label:
            value = entry["logprob"]
            if isinstance(value, int | float) and math.isfinite(value) and value <= 1e-6:  # rounding may pass 0
                return float(value)
            raise JudgeError(Status.ERROR, f"the log-probability of label {label!r} is {value!r}")
    raise JudgeError(Status.ERROR, f"the server returned no log-probability for label {label!r}")

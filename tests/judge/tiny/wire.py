"""The dialect of the tiny server: a request body checked field by field, and an answer in the form of vLLM's.

Written from what vLLM 0.32 was seen to take and give, and independent of the client's own code, so that both are tested
against each other. Where vLLM ignores a field that it does not know, this refuses it: a slip in the client then fails a
test. No torch here.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluator.judge.local_engine import Chat, Clip, Content, Picture

FIELDS = {
    "model",
    "messages",
    "temperature",
    "seed",
    "max_tokens",
    "logprobs",
    "logprob_token_ids",
    "allowed_token_ids",
    "response_format",
    "media_io_kwargs",
}
CLOCK = {"fps", "frames_indices", "total_num_frames", "duration", "do_sample_frames", "num_frames"}


class Refused(Exception):
    """A request that is answered with an error code."""

    def __init__(self, code: int, message: str) -> None:
        self.code = code
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that was understood: `allowed` and `told` (label scoring), or `schema`, or neither (plain text)."""

    chat: Chat
    most: int
    allowed: tuple[int, ...]
    told: tuple[int, ...]
    schema: Mapping[str, Any] | None


def read(body: Any, name: str, vocabulary: int) -> Asked:
    """Raises Refused for anything that is not understood completely."""
    _known(body, FIELDS, "body")
    if body.get("model") != name:
        raise Refused(404, f"The model `{body.get('model')}` does not exist.")
    if body.get("temperature") != 0 or not isinstance(body.get("seed"), int):
        raise Refused(400, "temperature must be 0, and seed a whole number")
    most = body.get("max_tokens")
    if not isinstance(most, int) or most < 1:
        raise Refused(400, "max_tokens must be at least 1")
    allowed = _ids(body.get("allowed_token_ids", []), vocabulary)
    told = _ids(body.get("logprob_token_ids", []), vocabulary)
    schema = _schema(body.get("response_format"))
    scored = bool(allowed), bool(told), bool(body.get("logprobs"))
    if len(set(scored)) != 1 or (allowed and (most != 1 or schema is not None)):
        raise Refused(400, "expected either one constrained token with logprobs, or a JSON schema, or neither")
    clock = (body.get("media_io_kwargs") or {}).get("video")
    return Asked(_chat(body.get("messages"), clock), most, allowed, told, schema)


def answer(text: str, finish: str, usage: tuple[int, int], told: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The body of a response without its model. `told` are tokens with log-probabilities, the sampled one first."""
    logprobs = {"content": [{**told[0], "top_logprobs": list(told)}]} if told else None
    message = {"role": "assistant", "content": text}
    return {
        "id": "tiny",
        "object": "chat.completion",
        "created": 0,
        "choices": [{"index": 0, "finish_reason": finish, "message": message, "logprobs": logprobs}],
        "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)},
    }


def _known(tree: Any, names: set[str], where: str) -> None:
    if not isinstance(tree, dict):
        raise Refused(400, f"{where}: expected an object")
    if unknown := sorted(set(tree) - names):
        raise Refused(400, f"{where}: unknown fields {unknown}")


def _ids(given: Any, vocabulary: int) -> tuple[int, ...]:
    if not isinstance(given, list) or not all(isinstance(token, int) and 0 <= token < vocabulary for token in given):
        raise Refused(400, f"token ids must lie in 0..{vocabulary - 1}")
    return tuple(given)


def _schema(given: Any) -> Mapping[str, Any] | None:
    if given is None:
        return None
    _known(given, {"type", "json_schema"}, "response_format")
    inner = given.get("json_schema")
    if given.get("type") != "json_schema" or not isinstance(inner, dict) or not isinstance(inner.get("schema"), dict):
        raise Refused(400, "response_format: expected a json_schema with a schema")
    schema: Mapping[str, Any] = inner["schema"]
    return schema


def _chat(messages: Any, clock: Any) -> Chat:
    if not isinstance(messages, list) or not messages:
        raise Refused(400, "messages: expected a list")
    try:
        return [(turn["role"], [_content(part, clock) for part in turn["content"]]) for turn in messages]
    except (KeyError, TypeError) as error:
        raise Refused(400, f"messages: not in the expected form ({error!r})") from error


def _content(part: Mapping[str, Any], clock: Any) -> Content:
    match part["type"]:
        case "text":
            return str(part["text"])
        case "image_url":
            return Picture(_bytes(_data(part["image_url"]["url"], {"image/png", "image/jpeg"})))
        case "video_url":
            files = _data(part["video_url"]["url"], {"video/jpeg"}).split(",")
            return _clip(tuple(_bytes(file) for file in files), clock)
        case kind:
            raise Refused(400, f"content of type {kind!r} is not supported by this model")


def _clip(frames: tuple[bytes, ...], clock: Any) -> Clip:
    if clock is None:
        raise Refused(400, "frames without times: a server would assume one frame a second")
    _known(clock, CLOCK, "media_io_kwargs.video")
    indices = clock["frames_indices"]
    if len(indices) != len(frames) or clock.get("do_sample_frames") is not False or clock.get("num_frames") != -1:
        raise Refused(400, f"{len(frames)} frames, {len(indices)} times; sampling must be off")
    return Clip(frames, tuple(indices), float(clock["fps"]))


def _data(url: str, types: set[str]) -> str:
    head, _, data = url.partition(",")
    if head not in {f"data:{kind};base64" for kind in types}:
        raise Refused(400, f"expected data of type {sorted(types)}; nothing else is opened")
    return data


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise Refused(400, f"not base64: {error}") from error

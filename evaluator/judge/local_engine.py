"""A vision-language model of transformers in this process: chat in, log-probabilities or constrained JSON out.

One request at a time, batch 1, fixed threads: on a CPU in float32 the same request gives the same bits, whatever else
is asked. The only module of the judge that loads torch, and it does so when a model is loaded. Knows nothing about
questions, HTTP or ledgers; used by the in-process back end and by the test server.
"""

from __future__ import annotations

import importlib.util
import io
import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, UnidentifiedImageError

from evaluator.errors import PrerequisiteError
from evaluator.media.types import F64, U8

INSTALL = "docker/requirements/judge-test.txt and judge-torch.txt"
MARKER = "wiring_fixture"
"""Key in config.json of a checkpoint that tests made: its answers mean nothing."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An encoded picture as it came."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Clip:
    """Encoded frames and when each was shown, in frame numbers of a clock of `rate` frames a second."""

    frames: tuple[bytes, ...]
    indices: tuple[int, ...]
    rate: float


Content = str | Picture | Clip
Chat = Sequence[tuple[str, Sequence[Content]]]
"""(role, contents) of each message."""


@dataclass(frozen=True, slots=True)
class Written:
    """What the model wrote. `finish` is "stop", or "length" when it was cut off."""

    text: str
    finish: str
    tokens: int


def importable() -> bool:
    """Whether the libraries of an in-process judge are installed. Loads neither."""
    return all(importlib.util.find_spec(name) is not None for name in ("torch", "transformers"))


class Unreadable(ValueError):
    """A picture in a request cannot be decoded."""


class Engine:
    """A loaded model directory. Safe to call from several threads; they take turns."""

    def __init__(self, model: Any, processor: Any, version: str = "") -> None:
        """A model and its processor, as transformers loads them."""
        self._torch, self._metadata = _optional("torch"), _optional("transformers.video_utils").VideoMetadata
        self._model, self._processor = model, processor
        self._turn = threading.Lock()
        self._constrained: Any = None
        self.version = version
        self.trained = not getattr(model.config, MARKER, False)

    @classmethod
    def load(cls, folder: Path, device: str = "cpu", threads: int = 1) -> Engine:
        """Load a model directory: float32 on a CPU, bfloat16 elsewhere.

        Raises PrerequisiteError if a library or the model is missing.
        """
        if not (folder / "config.json").is_file():
            raise PrerequisiteError(f"{folder}: not a model directory (it has no config.json)")
        torch, transformers = libraries()
        torch.set_num_threads(threads)
        dtype = torch.float32 if device == "cpu" else torch.bfloat16
        given = {"local_files_only": True, "trust_remote_code": False}
        processor = transformers.AutoProcessor.from_pretrained(folder, **given)
        model = transformers.AutoModelForImageTextToText.from_pretrained(
            folder, dtype=dtype, use_safetensors=True, **given
        )
        kind = f"{device} {str(dtype).removeprefix('torch.')} threads {threads}"
        version = f"transformers {transformers.__version__} torch {torch.__version__} {kind}"
        return cls(model.to(device).eval(), processor, version)

    def token_ids(self, text: str) -> list[int]:
        """The tokens of a text, without special ones."""
        return [int(number) for number in self._processor.tokenizer.encode(text, add_special_tokens=False)]

    def text(self, token: int) -> str:
        """The text of one token."""
        return str(self._processor.tokenizer.decode([token]))

    @property
    def vocabulary(self) -> int:
        """Size of the model's output."""
        return int(self._model.config.get_text_config().vocab_size)

    def next_logprobs(self, chat: Chat) -> tuple[F64, int]:
        """Natural log-probability of every token as the first of the answer [vocabulary], and the prompt's length."""
        inputs = self.inputs(chat)
        with self._turn, self._torch.inference_mode():
            logits = self._model(**inputs, logits_to_keep=1).logits[0, -1].double()
            logprobs = self._torch.log_softmax(logits, -1).cpu().numpy()
        return logprobs, inputs["input_ids"].shape[1]

    def write(
        self,
        chat: Chat,
        schema: Mapping[str, Any] | None,
        most: int,
        temperature: float = 0.0,
        seed: int = 0,
        top_k: int = 0,
    ) -> tuple[Written, int]:
        """A JSON text under `schema`, without optional white space (any text if it is None), and the prompt's length.

        Token by token, at most `most`: the likeliest each time, or drawn at a temperature, from the seed, of the
        `top_k` likeliest (0: of all). Raises ValueError for a schema that cannot be a grammar.
        """
        grammar = None if schema is None else _Grammar(self._tokenizer_for_grammars(), schema, self.vocabulary)
        inputs = self.inputs(chat)
        ends = self._model.generation_config.eos_token_id
        ends = set(ends) if isinstance(ends, list) else {ends}
        drawn = {"do_sample": True, "temperature": temperature, "top_k": top_k, "top_p": 1.0}
        with self._turn, self._torch.inference_mode():
            self._torch.manual_seed(seed)
            choice = drawn if temperature else {"do_sample": False}
            tokens, finish = self._generate(inputs, grammar, most, ends, choice)
        text = self._processor.tokenizer.decode(tokens, skip_special_tokens=True)
        return Written(str(text), finish, len(tokens)), inputs["input_ids"].shape[1]

    def _generate(
        self, inputs: Any, grammar: _Grammar | None, most: int, ends: set[int], choice: Mapping[str, Any]
    ) -> tuple[list[int], str]:
        start = inputs["input_ids"].shape[1]

        def mask(ids: Any, logits: Any) -> Any:  # called once before each new token
            if grammar is None:
                return logits
            if ids.shape[1] > start:
                grammar.take(int(ids[0, -1]))
            allowed = self._torch.from_numpy(grammar.allowed(ends)).to(logits.device)
            return logits.masked_fill(~allowed[None], float("-inf"))

        found = self._model.generate(**inputs, max_new_tokens=most, logits_processor=[mask], **choice)
        picked = [int(token) for token in found[0, start:]]
        if picked and picked[-1] in ends:
            return picked[:-1], "stop"
        if grammar is None:
            return picked, "length"
        grammar.take(picked[-1])
        return picked, "stop" if grammar.finished else "length"

    def _tokenizer_for_grammars(self) -> Any:
        if self._constrained is None:
            self._constrained = _optional("llguidance.hf").from_tokenizer(
                self._processor.tokenizer, n_vocab=self.vocabulary
            )
        return self._constrained

    def inputs(self, chat: Chat) -> Any:
        """The processor's tensors of a chat, batch 1. Frames come sampled: it must neither pick nor repeat any."""
        clips = [part for _, parts in chat for part in parts if isinstance(part, Clip)]
        messages = [{"role": role, "content": [_content(part) for part in parts]} for role, parts in chat]
        media = {"video_metadata": [self._clock(clip) for clip in clips], "do_sample_frames": False} if clips else {}
        return self._processor.apply_chat_template(
            messages,
            tokenize=True,
            add_generation_prompt=True,
            return_dict=True,
            return_tensors="pt",
            processor_kwargs=media,
        ).to(self._model.device)

    def _clock(self, clip: Clip) -> Any:
        total = clip.indices[-1] + 1
        return self._metadata(
            total_num_frames=total, fps=clip.rate, frames_indices=list(clip.indices), duration=total / clip.rate
        )


class _Grammar:
    """Which tokens may come next so that the text stays the beginning of a JSON value of a schema."""

    def __init__(self, tokenizer: Any, schema: Mapping[str, Any], size: int) -> None:
        library = _optional("llguidance")
        self._bits = _optional("llguidance.numpy")
        text = library.LLMatcher.grammar_from_json_schema(
            json.dumps(dict(schema)), defaults={"whitespace_flexible": False}
        )
        self._matcher = library.LLMatcher(tokenizer, text)
        self._size = size
        if self._matcher.is_error():
            raise ValueError(f"the schema cannot constrain an answer: {self._matcher.get_error()}")

    @property
    def finished(self) -> bool:
        return bool(self._matcher.is_stopped())

    def take(self, token: int) -> None:
        self._matcher.consume_token(token)

    def allowed(self, ends: set[int]) -> npt.NDArray[np.bool_]:
        """[vocabulary]: True where a token may come; only the end of the text once the value is complete."""
        words = self._bits.allocate_token_bitmask(1, self._size)
        self._bits.fill_next_token_bitmask(self._matcher, words, 0)
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")[: self._size].astype(bool)
        if self.finished or not bits.any():
            bits[:] = False
            bits[min(ends)] = True
        return bits


def _content(part: Content) -> dict[str, Any]:
    match part:
        case str():
            return {"type": "text", "text": part}
        case Picture():
            return {"type": "image", "image": Image.fromarray(_pixels(part.data))}
        case Clip():
            return {"type": "video", "video": np.stack([_pixels(frame) for frame in part.frames])}  # [N, H, W, 3]


def _pixels(data: bytes) -> U8:
    """[H, W, 3] of an encoded picture. Raises Unreadable."""
    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as image:
            return np.asarray(image.convert("RGB"))
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise Unreadable(f"a picture of {len(data)} bytes cannot be decoded: {error}") from error


# ---------------------------------------------------------------------------------------------------- libraries


def libraries() -> tuple[Any, Any]:
    """torch and transformers, told to stay off the network. Raises PrerequisiteError if they are not installed."""
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", DO_NOT_TRACK="1")
    torch = _optional("torch")
    _load_vision_operators(torch)
    transformers = _optional("transformers")
    transformers.utils.logging.disable_progress_bar()
    return torch, transformers


def _optional(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise PrerequisiteError(
            f"the in-process judge needs {error.name}, which is not installed here; use an environment made from "
            f"{INSTALL}, or a judge behind a URL"
        ) from error


_vision_schemas: list[Any] = []


def _load_vision_operators(torch: Any) -> None:
    """Make torchvision importable beside a torch without CUDA.

    The Linux wheel of torchvision links CUDA libraries; beside a CPU build of torch its operators do not load, and the
    package stops at describing them. The processors use its Python part only, so declaring the two operators is enough.
    """
    try:
        _optional("torchvision")
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
        library = torch.library.Library("torchvision", "FRAGMENT")
        library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        library.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _vision_schemas.append(library)  # the declarations live as long as the object
        _optional("torchvision")

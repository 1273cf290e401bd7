"""all-MiniLM-L6-v2 with 8-bit weights: one vector for a sentence, so that sentences of like meaning lie close.

Wang et al., "MiniLM", NeurIPS 2020, tuned by Sentence-Transformers on pairs of sentences. Mean over the tokens' last
states, then unit length; a text is cut at 128 tokens, as its tokenizer file says. Each text is run alone, so that
neither a neighbour nor padding moves its last digits. English; no CJK segmentation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from evaluator.errors import ModelCorrupt, NotApplicable
from evaluator.experts.base import Expert
from evaluator.experts.features import Embeddings
from evaluator.experts.pixels import unit_rows
from evaluator.experts.wordpiece import encode
from evaluator.media.types import F32
from evaluator.runtime.session import SessionSource
from evaluator.schema import ExpertNeed, Need

ID = "minilm"
LENGTH = 128
"""Tokens, with the two at the ends."""
DIMENSIONS = 384
REMEMBERED = 4096
"""Texts whose vectors are kept: class names come again with every clip."""


class MiniLm(Expert):
    """capability `text_embedding`: one unit vector [1, 384] of the option `text`. It looks at no clip."""

    id = ID
    capability = "text_embedding"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> Embeddings:
        text = str(dict(want.options).get("text", "")).strip()
        if not text:
            raise NotApplicable("not_applicable", "there is no text to embed")
        return Embeddings(embed(self.sessions, [text]), np.zeros(1, np.int64))


def embed(sessions: SessionSource, texts: Sequence[str]) -> F32:
    """Unit vectors [N, 384]. A text without a word is the vector of nothing said, not an error."""
    if not texts:
        return np.zeros((0, DIMENSIONS), np.float32)
    return np.stack([_vector(sessions, text) for text in texts])  # type: ignore[arg-type]  # one source per process


@lru_cache(maxsize=REMEMBERED)
def _vector(sessions: SessionSource, text: str) -> F32:
    tokens = encode(text, vocabulary(sessions.path(ID, "tokenizer.json")))
    ids = np.concatenate([tokens[: LENGTH - 1], tokens[-1:]])[None] if len(tokens) > LENGTH else tokens[None]
    feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    states: F32 = sessions.session(ID, "model.onnx").run(feeds)["last_hidden_state"]  # [1, L, 384]
    vector: F32 = unit_rows(states.mean(axis=1))[0]
    vector.setflags(write=False)  # one array for all who ask
    return vector


@lru_cache(maxsize=2)
def vocabulary(path: Path) -> Mapping[str, int]:
    """Token -> number from a tokenizer file. Raises ModelCorrupt if it holds none."""
    tree: Any = orjson.loads(path.read_bytes())
    found = tree.get("model", {}).get("vocab") if isinstance(tree, dict) else None
    if not isinstance(found, dict) or not {"[CLS]", "[SEP]", "[UNK]"} <= found.keys():
        raise ModelCorrupt(f"{path}: expected a WordPiece vocabulary under model.vocab")
    return found


EXPERT = MiniLm

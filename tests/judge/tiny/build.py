"""Make a tiny Qwen3-VL checkpoint: the real architecture, tokenizer kind and processor, half a million random weights.

    python -m tests.judge.tiny.build FOLDER [--steps N] [--seed N]

Nothing is fetched: the tokenizer is a byte-level BPE trained on the project's own prompts, the chat template is ours,
the weights are random and then trained (`tests.judge.tiny.train`) to see a red stripe. `config.json` says that this is
a wiring fixture, and whatever serves it says so. Needs an environment made from docker/requirements/judge-test.txt.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from evaluator.judge import prompts
from evaluator.judge.local_engine import MARKER, libraries
from tests.judge.tiny.process import CORPUS

SPECIAL = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""Where Qwen's tokenizers cut a text before they merge."""

WORDS = 1500  # tokens, at most
STEPS = 90  # of training: about a minute on one core
PIXELS_STILL = (32 * 32, 128 * 128)
PIXELS_CLIP = (2 * 32 * 32, 16 * 96 * 96)  # over all frames: a test never meets thousands of vision tokens

TEMPLATE = """\
{%- for message in messages -%}
<|im_start|>{{ message.role }}
{% if message.content is string %}{{ message.content }}{% else %}
{%- for part in message.content -%}
{%- if part.type == 'image' -%}<|vision_start|><|image_pad|><|vision_end|>
{%- elif part.type == 'video' -%}<|vision_start|><|video_pad|><|vision_end|>
{%- else -%}{{ part.text }}{%- endif -%}
{%- endfor -%}
{%- endif -%}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant
{% endif -%}
"""


def texts() -> list[str]:
    """What the tokenizer learns its words from: general prompts, and every label often enough to be one token."""
    loaded = [prompts.load(name) for name in CORPUS]
    labels = [label for prompt in loaded for label in prompt.labels]
    written = [text for prompt in loaded for text in (prompt.system, prompt.closing)]
    return written + [*labels, "Yes", "No", *prompts.LETTERS, *"0123456789"] * 100


def tokenizer() -> Any:
    """A byte-level BPE with Qwen's special tokens."""
    from transformers import Qwen2TokenizerFast

    bpe = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(Regex(SPLIT), behavior="isolated")
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bpe.pre_tokenizer = pre_tokenizers.Sequence([split, level])
    bpe.decoder = decoders.ByteLevel()
    bpe.post_processor = processors.ByteLevel(trim_offsets=False)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(vocab_size=WORDS, min_frequency=2, initial_alphabet=alphabet, show_progress=False)
    bpe.train_from_iterator(texts(), trainer)
    bpe.add_special_tokens([AddedToken(word, special=True, normalized=False) for word in SPECIAL])
    return Qwen2TokenizerFast(
        tokenizer_object=bpe,
        eos_token="<|im_end|>",  # noqa: S106  (a token of text)
        pad_token="<|endoftext|>",  # noqa: S106
        bos_token=None,
        unk_token=None,
        additional_special_tokens=list(SPECIAL),
        model_max_length=32_768,
        clean_up_tokenization_spaces=False,
    )


def config(words: Any, hidden: int = 64) -> Any:
    """Two layers of text, two of vision. The mrope sections add up to half a head, the position table is a square."""
    from transformers import Qwen3VLConfig

    ids = {word: words.convert_tokens_to_ids(word) for word in SPECIAL}
    text = {
        "vocab_size": (len(words) + 63) // 64 * 64,
        "hidden_size": hidden,
        "intermediate_size": 2 * hidden,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 32,
        "max_position_embeddings": 32_768,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 5e6,
            "mrope_section": [6, 5, 5],
            "mrope_interleaved": True,
        },
        "bos_token_id": ids["<|endoftext|>"],
        "eos_token_id": ids["<|im_end|>"],
        "pad_token_id": ids["<|endoftext|>"],
        "tie_word_embeddings": True,
    }
    vision = {
        "depth": 2,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_heads": 2,
        "patch_size": 16,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "out_hidden_size": hidden,
        "num_position_embeddings": 256,
        "deepstack_visual_indexes": [0],
    }
    return Qwen3VLConfig(
        text_config=text,
        vision_config=vision,
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
        tie_word_embeddings=True,
        **{MARKER: True},
    )


def processor(words: Any) -> Any:
    """Small pixel budgets; `cap_pixels_per_frame` is pinned, because its default is announced to change."""
    from transformers import Qwen2VLImageProcessor, Qwen3VLProcessor, Qwen3VLVideoProcessor

    grid = {"patch_size": 16, "temporal_patch_size": 2, "merge_size": 2}
    still = Qwen2VLImageProcessor(
        size=dict(zip(("shortest_edge", "longest_edge"), PIXELS_STILL, strict=True)),
        image_mean=[0.5] * 3,
        image_std=[0.5] * 3,
        **grid,
    )
    clip = Qwen3VLVideoProcessor(
        size=dict(zip(("shortest_edge", "longest_edge"), PIXELS_CLIP, strict=True)),
        min_frames=2,
        max_frames=64,
        cap_pixels_per_frame=False,
        **grid,
    )
    return Qwen3VLProcessor(image_processor=still, tokenizer=words, video_processor=clip, chat_template=TEMPLATE)


def model(words: Any, seed: int) -> Any:
    """Random weights in float32."""
    from transformers import GenerationConfig, Qwen3VLForConditionalGeneration

    torch.manual_seed(seed)
    made = Qwen3VLForConditionalGeneration(config(words)).to(torch.float32)
    end, pad = (words.convert_tokens_to_ids(word) for word in ("<|im_end|>", "<|endoftext|>"))
    made.generation_config = GenerationConfig(do_sample=False, eos_token_id=[end, pad], pad_token_id=pad)
    return made


def build(folder: Path, steps: int, seed: int = 0) -> float:
    """Write a checkpoint into `folder`, trained for `steps`. Returns its accuracy on pictures that it never saw."""
    from tests.judge.tiny.train import accuracy, train

    libraries()
    torch.set_num_threads(1)
    words = tokenizer()
    made, shows = model(words, seed), processor(words)
    train(made, shows, steps, seed)
    made.eval().save_pretrained(folder)
    shows.save_pretrained(folder)
    return accuracy(made, shows, seed + 1)


def main() -> int:
    """Build, and say how good the skill is."""
    parser = argparse.ArgumentParser(prog="python -m tests.judge.tiny.build", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    right = build(given.folder, given.steps, given.seed)
    print(f"{given.folder}: accuracy {right:.3f} on unseen stripes")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""WordPiece on a small vocabulary."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.errors import ModelCorrupt
from evaluator.experts.wordpiece import encode, read_vocabulary

TOKENS = (
    "[PAD] [UNK] [CLS] [SEP] red car ##s the ##port sport , . - un ##play ##able e cafe 8 ##0 $".split()  # noqa: SIM905
)
VOCABULARY = {token: number for number, token in enumerate(TOKENS)}


def words(text: str) -> list[str]:
    return [TOKENS[number] for number in encode(text, VOCABULARY)[1:-1]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("red car.", ["red", "car", "."]),
        ("The  RED\tcars,", ["the", "red", "car", "##s", ","]),
        ("sports-car", ["sport", "##s", "-", "car"]),
        ("unplayable", ["un", "##play", "##able"]),
        ("café", ["cafe"]),
        ("zebra car", ["[UNK]", "car"]),
        ("carzebra", ["[UNK]"]),  # a word is known to its end or not at all
        ("$80", ["$", "8", "##0"]),
        ("", []),
        ("car\u200b\x00", ["car"]),
    ],
)
def test_the_longest_known_pieces_from_the_left(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_special_tokens_stand_around_and_are_never_read_from_text() -> None:
    assert encode("red", VOCABULARY).tolist() == [2, 4, 3]
    assert "[SEP]" not in words("[SEP]")


def test_a_word_of_a_hundred_letters_is_the_longest() -> None:
    vocabulary = {**VOCABULARY, "##e": len(TOKENS)}
    assert len(encode("e" * 100, vocabulary)) == 102
    assert encode("e" * 101, vocabulary).tolist() == [2, 1, 3]


def test_a_vocabulary_is_read_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(TOKENS) + "\n", encoding="utf-8")
    assert read_vocabulary(tmp_path / "vocab.txt") == VOCABULARY
    (tmp_path / "vocab.txt").write_text("red\ncar\n")
    with pytest.raises(ModelCorrupt, match=r"\[CLS\], \[SEP\], \[UNK\]"):
        read_vocabulary(tmp_path / "vocab.txt")

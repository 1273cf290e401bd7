"""Every label of the data has a class of its own; the reference's word rules are as the spec measured them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import UsageError
from evaluator.suites.cutcraft import labels
from evaluator.suites.cutcraft.labels import TABLE, Optical, Relation, normalise

FIELDS = json.loads(TABLE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("label", "wanted"),
    [
        ("hard cut (straight cut)", Optical.HARD_CUT),
        ("Dissolve (Cross-Dissolve)", Optical.DISSOLVE),
        ("Wipe", Optical.WIPE),
        ("Flash-to-White", Optical.FLASH_WHITE),
        ("flash-to-black", Optical.FLASH_BLACK),
        ("硬切（直切）", Optical.HARD_CUT),
        ("闪白", Optical.FLASH_WHITE),
        ("叠化", Optical.DISSOLVE),
    ],
)
def test_optical_labels_of_both_languages(label: str, wanted: Optical) -> None:
    assert labels.optical(label) is wanted


@pytest.mark.parametrize(
    ("label", "wanted"),
    [
        ("J-Cut", Relation.J_CUT),
        ("L-cut", Relation.L_CUT),
        ("Straight Cut (Sync Cut)", Relation.STRAIGHT),
        ("J切", Relation.J_CUT),
        ("同步切", Relation.STRAIGHT),
    ],
)
def test_relation_labels_of_both_languages(label: str, wanted: Relation) -> None:
    assert labels.relation(label) is wanted


@pytest.mark.parametrize(
    ("field", "label", "wanted"),
    [
        ("scale", "ECU", "ECU"),  # D-11: the reference cannot reach it
        ("scale", "LS (wide-shot)", "LS"),
        ("motion", "Truck (Lateral Tracking)", "Truck"),
        ("motion", "Roll", "Roll"),
        ("zoom", "Dolly Zoom (Vertigo/Hitchcock Zoom)", "Dolly Zoom"),
        ("angle", "Bird's-Eye View (Overhead)", "Bird's-Eye"),
        ("angle", "Bird’s-Eye View", "Bird's-Eye"),
        ("cinematographic", "wipe-by (foreground-occlusion [transition])", "wipe-by"),
        ("cinematographic", "Cutaway to Scenery / Empty Shot Transition / Insert Shot", "empty shot"),
        ("style", "Vintage / Retro Style", "Vintage / Retro Style"),
        ("montage", "Montage of Attractions", "Attractions"),
        ("depth", "Macro Lens", "Macro"),
    ],
)
def test_camera_and_other_labels(field: str, label: str, wanted: str) -> None:
    assert normalise(field, label) == wanted


def test_an_unknown_label_is_an_error_that_helps() -> None:
    with pytest.raises(UsageError, match="flash to white"):
        labels.optical("flashh to white")


@pytest.mark.parametrize("field", FIELDS)
def test_no_spelling_has_two_classes(field: str) -> None:
    keys = [labels.key(word) for words in FIELDS[field].values() for word in words]
    classes = {key: {name for name, words in FIELDS[field].items() if key in map(labels.key, words)} for key in keys}
    assert all(len(names) == 1 for names in classes.values())


@given(st.sampled_from(sorted(labels.vocabulary("optical"))), st.sampled_from([str.upper, str.title, str.swapcase]))
def test_letter_case_and_space_do_not_count(word: str, case: object) -> None:
    assert callable(case)
    assert normalise("optical", f"  {case(word)}\n") == normalise("optical", word)


def test_every_label_of_the_example_prompts(shared: Path) -> None:
    fields = {"shot_scale": "scale", "angle": "angle", "camera_motion": "motion", "optical_motion": "zoom"}
    for prompt in json.loads((shared / "data/cutcraft/prompt.example.json").read_text(encoding="utf-8")):
        for shot in prompt["shots"]:
            for name, field in fields.items():
                assert normalise(field, shot["camera"][name])
            assert normalise("depth", shot["camera"]["depth_of_field"])
            if change := shot.get("transition_to_next"):
                labels.optical(change["optical_effect"])
                labels.relation(change["audio_visual_relation"])
                assert normalise("cinematographic", change["cinematographic_type"])
        assert normalise("style", prompt["source_seed"].split("_")[2])
        assert normalise("montage", prompt["source_seed"].split("_")[0])


class TestReferenceRules:
    """Spec 15.2."""

    @pytest.mark.parametrize(
        ("label", "wanted"),
        [
            ("hard cut (straight cut)", Optical.HARD_CUT),
            ("Dissolve (Cross-Dissolve)", Optical.DISSOLVE),
            ("Wipe", Optical.WIPE),
            ("Flash-to-White", Optical.HARD_CUT),
            ("Flash-to-Black", Optical.HARD_CUT),
            ("white flash", Optical.FLASH_WHITE),
            ("fade to black", Optical.FLASH_BLACK),
        ],
    )
    def test_optical(self, label: str, wanted: Optical) -> None:
        assert labels.optical_by_words(label) is wanted

    @pytest.mark.parametrize(
        ("label", "wanted"),
        [
            ("J-Cut", "j-cut"),
            ("L-cut", "l-cut"),
            ("Straight Cut (Sync Cut)", "straight"),
            ("overlap-unclear", "overlap-unclear"),
            ("owner: incoming", "j-cut"),
            ("nothing", "unclear"),
        ],
    )
    def test_relation(self, label: str, wanted: str) -> None:
        assert labels.relation_by_words(label) == wanted

    @pytest.mark.parametrize(
        ("field", "label", "wanted"),
        [
            ("motion", "Static (Locked-Off)", "Static"),
            ("motion", "Truck (Lateral Tracking)", "Tracking"),
            ("motion", "Dolly Zoom (Vertigo/Hitchcock Zoom)", "Zoom"),
            ("motion", "Crane Shot (Boom/Pedestal)", "Crane"),
            ("motion", "Arc Shot (Orbit)", "Arc"),
            ("scale", "ELS", "ELS"),
            ("scale", "MCU", "MCU"),
            ("scale", "MS", "MS"),
            ("scale", "CU (close-up)", "CU"),
            ("scale", "ECU", "CU"),
            ("scale", "FS (Full Shot)", "FS"),
        ],
    )
    def test_camera(self, field: str, label: str, wanted: str) -> None:
        assert labels.camera_by_substring(field, label) == wanted

    def test_a_label_without_a_key_is_an_error(self) -> None:
        with pytest.raises(UsageError, match="no key"):
            labels.camera_by_substring("scale", "wide")

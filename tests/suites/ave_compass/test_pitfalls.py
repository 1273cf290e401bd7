"""The table of known pitfalls (spec 10), line by line: which tests show our behaviour, and what has no other home.

A line of the index that names a test which is not there fails.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from evaluator.judge.exchange import Exchange
from evaluator.judge.parse import read
from evaluator.judge.types import JudgeError, Raw, Status
from evaluator.manifest.loader import read as read_manifest
from evaluator.runner.options import RunOptions
from evaluator.runner.run import run
from evaluator.runtime.session import SessionSource
from evaluator.runtime.store import Store
from evaluator.schema import Score
from evaluator.suites.ave_compass import SUITE
from tests.conftest import ROOT
from tests.runner.clips import clip
from tests.suites.ave_compass.cases import case
from tests.suites.ave_compass.manifests import write_manifest

HERE = "suites/ave_compass"
SHOWN = {
    1: (
        f"{HERE}/test_pitfalls.py::test_1_a_published_label_routes_right_and_compat_repeats_the_fault",
        f"{HERE}/test_routing.py::test_labels_that_the_reference_takes_for_joint",
        f"{HERE}/test_branches.py::test_the_reference_takes_these_for_joint",
    ),
    2: (
        f"{HERE}/test_defects_objective.py::test_2_removing_the_track_is_no_better_than_silencing_it",
        f"{HERE}/test_contracts.py::test_a_clip_without_sound",
    ),
    3: (f"{HERE}/test_defects_objective.py::test_3_faint_noise_and_digital_silence_are_both_silence",),
    4: (
        f"{HERE}/test_defects_objective.py::test_4_what_the_score_does_not_see_stands_beside_it",
        f"{HERE}/test_defects_objective.py::test_4_a_truncation_is_told_and_lowers_the_strict_score_only",
    ),
    5: (
        f"{HERE}/test_defects_objective.py::test_5_whole_frames_are_the_documented_default_and_strict_follows_faces",
        f"{HERE}/test_lip_sync_faces.py::test_a_face_is_found_followed_and_compared_by_mounted_files",
        f"{HERE}/test_objective.py::test_other_frame_rates_are_told",
    ),
    6: (
        f"{HERE}/test_defects_objective.py::test_6_a_padded_clip_says_so_and_strict_looks_at_the_end",
        f"{HERE}/test_objective.py::test_strict_av_sync_looks_at_both_ends",
    ),
    7: (
        f"{HERE}/test_defects_objective.py::test_7_one_file_and_no_fallback_for_videoclip",
        f"{HERE}/test_contracts.py::test_a_network_of_another_shape_is_refused",
    ),
    8: (
        f"{HERE}/test_defects_objective.py::test_8_no_card_changes_a_score_unless_the_case_names_one_in_compat",
        "experts/test_amt_g.py::test_published_scales",
        "experts/test_amt_g.py::test_the_fixed_card",
    ),
    9: (
        f"{HERE}/test_defects_objective.py::test_9_speech_is_rated_as_published_and_on_the_full_band_in_strict",
        "experts/test_nisqa.py::test_published_clips_at_full_band",
    ),
    10: (
        f"{HERE}/test_defects_objective.py::test_10_causes_keep_their_names",
        f"{HERE}/test_defects_objective.py::test_10_compat_codes_the_clip_again_as_the_reference_does",
        f"{HERE}/test_contracts.py::test_without_mounted_files_stand_ins_are_marked_or_nothing_is_told",
    ),
    11: (
        f"{HERE}/test_judged.py::test_each_item_sees_its_modality_and_nothing_else",
        f"{HERE}/test_batches.py::test_one_question_per_modality_in_the_order_of_the_reference",
    ),
    12: (
        f"{HERE}/test_judged.py::test_one_failed_split_keeps_the_scores_of_the_other",
        f"{HERE}/test_judged.py::test_a_missing_track_is_judged_as_silence_and_the_record_says_so",
        f"{HERE}/test_batches.py::test_after_two_more_tries_the_whole_case_is_lost",
        f"{HERE}/test_batches.py::test_a_clip_without_a_track_loses_the_case_if_it_asks_about_sound",
    ),
    13: (
        f"{HERE}/test_pitfalls.py::test_13_14_a_changed_clip_or_profile_is_scored_anew_in_the_same_folder",
        f"{HERE}/test_pitfalls.py::test_13_what_failed_is_tried_again",
        "runner/test_plan.py::test_what_can_change_a_score_changes_the_fingerprint",
    ),
    14: (f"{HERE}/test_pitfalls.py::test_13_14_a_changed_clip_or_profile_is_scored_anew_in_the_same_folder",),
    15: (f"{HERE}/test_layout.py::test_raw_stems_do_not_collide_where_the_references_ids_do",),
    16: (f"{HERE}/test_pitfalls.py::test_16_a_request_beyond_the_limit_is_refused_by_its_size",),
    17: (
        f"{HERE}/test_pitfalls.py::test_17_a_brace_inside_text_does_not_end_an_answer",
        "judge/test_parse.py::test_an_answer_that_does_not_fit_is_unparsed",
    ),
    18: (
        f"{HERE}/test_contracts.py::test_all_nine_metrics_from_mounted_files",  # its folder has blanks and quotes
        f"{HERE}/test_pitfalls.py::test_18_no_shell_is_ever_asked",
    ),
    19: (
        "experts/test_nisqa.py::test_too_short_and_too_long",
        f"{HERE}/test_objective.py::test_very_short_sound",
        f"{HERE}/test_objective.py::test_too_short_for_syncnet",
        f"{HERE}/test_objective.py::test_a_model_without_an_answer_is_no_silence",
        "metrics/test_motion_smoothness.py::test_needs_three_frames",
        "metrics/test_subject_consistency.py::test_needs_two_frames",
    ),
    20: (
        f"{HERE}/test_defects_objective.py::test_20_nothing_holds_a_whole_clip",
        "experts/test_face_tape.py::test_no_more_pictures_are_held_than_a_crop_has_to_wait_for",
    ),
    21: ("system/test_airgap.py::test_the_demo_opens_no_socket_to_anywhere",),
    22: (
        "test_layering.py::test_no_module_imports_a_heavy_library_or_the_exporter",
        "system/test_airgap.py::test_a_run_imports_no_training_library",
    ),
    23: ("runtime/test_onnx.py::test_a_provider_that_is_not_there_is_an_error",),
    24: (
        f"{HERE}/test_defects_objective.py::test_24_a_wrong_count_is_told_and_only_compat_believes_it",
        "media/test_promised.py::test_a_file_that_was_cut_off_promises_what_it_had",
    ),
    25: ("test_layering.py::test_no_module_imports_a_heavy_library_or_the_exporter",),
}
"""Pitfall -> tests that show what we do, and what compat does where it repeats the fault."""


@cache
def functions_of(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def test_every_pitfall_has_its_tests() -> None:
    assert list(SHOWN) == list(range(1, 26))
    for number, named in SHOWN.items():
        for place in named:
            file, name = place.split("::")
            assert name in functions_of(ROOT / "tests" / file), f"pitfall {number}: {place}"


SPEECH_ONLY = {"lip_sync", "speech_quality"}


@pytest.mark.parametrize("label", ["speech_edit", "S2.1"])
def test_1_a_published_label_routes_right_and_compat_repeats_the_fault(label: str) -> None:
    one = case("one", "speech", branch_label=label)
    ours, theirs = ({metric.id for metric in SUITE.metrics_of(one, name)} for name in ("paper", "compat"))
    assert ours >= SPEECH_ONLY
    assert not theirs & SPEECH_ONLY


def similarity(folder: Path, out: Path, store: Store, profile: str = "paper") -> Score:
    manifest = read_manifest(folder / "cases.jsonl", suites={SUITE.id: SUITE.data})
    options = RunOptions(out=out, workers=1, metrics=("audio_similarity",), profile=profile, quiet=True)
    (score,) = run(manifest, store, options).scores
    return score


def test_13_14_a_changed_clip_or_profile_is_scored_anew_in_the_same_folder(
    models: SessionSource, tmp_path: Path
) -> None:
    """Records hold for the bytes that they were made of; no clip is copied into the folder of a run."""
    assert isinstance(models, Store)
    clip(tmp_path / "source.mp4", seed=1)
    clip(tmp_path / "edited.mp4", seed=1)
    write_manifest(tmp_path, [{"id": "one", "category": "video-only"}])
    first = similarity(tmp_path, tmp_path / "out", models)
    clip(tmp_path / "edited.mp4", seed=9)
    second = similarity(tmp_path, tmp_path / "out", models)
    assert first.value is not None and second.value is not None  # noqa: PT018
    assert first.value == pytest.approx(1.0)
    assert second.value < first.value - 0.05
    third = similarity(tmp_path, tmp_path / "out", models, "strict")
    assert (second.profile, third.profile) == ("paper", "strict")
    assert third.fingerprint != second.fingerprint
    assert not [path for path in (tmp_path / "out").rglob("*") if path.suffix in {".mp4", ".wav", ".jpg"}]


def test_13_what_failed_is_tried_again(models: SessionSource, tmp_path: Path) -> None:
    assert isinstance(models, Store)
    clip(tmp_path / "source.mp4", seed=1)
    (tmp_path / "edited.mp4").write_bytes(b"not a clip")
    write_manifest(tmp_path, [{"id": "one", "category": "video-only"}])
    failed = similarity(tmp_path, tmp_path / "out", models)
    assert (failed.status, failed.value) == ("failed", None)
    clip(tmp_path / "edited.mp4", seed=1)
    assert similarity(tmp_path, tmp_path / "out", models).value == pytest.approx(1.0)


def test_16_a_request_beyond_the_limit_is_refused_by_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[object] = []
    exchange = Exchange.__new__(Exchange)
    monkeypatch.setattr(exchange, "_send", lambda *request: sent.append(request), raising=False)
    monkeypatch.setattr("evaluator.judge.exchange.MAX_REQUEST_BYTES", 1000)
    with pytest.raises(JudgeError, match="at most 1000"):
        exchange.post("/v1/chat/completions", {"clip": "x" * 1000})
    assert not sent


def test_17_a_brace_inside_text_does_not_end_an_answer() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    found = read((), schema, Raw('{"a": "he drew a } and a { on the wall"}', "stop"), "k")
    assert (found.status, found.value) == (Status.OK, {"a": "he drew a } and a { on the wall"})


def test_18_no_shell_is_ever_asked() -> None:
    """No module under `evaluator/` calls os.system or passes `shell=True`."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "evaluator").rglob("*.py"))}
    suspects = {
        path: text for path, text in texts.items() if any(word in text for word in ("shell", "os.", "getoutput"))
    }
    for path, text in suspects.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call):
                assert ast.unparse(node.func) not in {"os.system", "os.popen", "subprocess.getoutput"}, path
                assert not any(word.arg == "shell" for word in node.keywords), path

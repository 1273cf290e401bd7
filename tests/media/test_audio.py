"""Sound: exact sample counts and values, alignment, silence, and the ffmpeg binary as the reference."""

from __future__ import annotations

import shutil
import struct
import subprocess
import wave
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from av.audio.frame import AudioFrame
from av.audio.layout import AudioLayout
from av.audio.resampler import AudioResampler

from evaluator.errors import MediaError, NotApplicable
from evaluator.media import audio
from evaluator.media.audio import JOINED, Track
from evaluator.media.decode import CollectTap, decode
from evaluator.media.decode_pyav import _Sink
from evaluator.media.limits import Limits
from evaluator.media.probe import probe
from evaluator.media.types import Audio
from evaluator.schema import AudioView, View
from tests.media.oddfiles import Clip, Sound


def sound(path: Path, rate: int = 16_000, missing: str = "skip") -> Audio:
    view = AudioView(rate, missing)
    return decode(path, probe(path), [], [view])[0][view]


def test_same_rate_mono_pcm_is_untouched(odd: Path) -> None:
    expected = np.rint(Sound(rate=16_000, gains=(0.5,)).samples()[0] * 32_767).astype(np.int16)
    assert np.array_equal(sound(odd / "mono16k.mkv").samples, expected)


def test_stereo_is_averaged(odd: Path) -> None:
    expected = 0.25 * np.sin(2 * np.pi * 440 * np.arange(32_000) / 16_000)
    found = sound(odd / "left_only.mkv").float32
    assert len(found) == 32_000
    assert np.abs(found - expected)[200:-200].max() < 2e-3


@pytest.mark.parametrize("rate", [8_000, 16_000, 22_050, 44_100, 48_000])
def test_rates_keep_pitch_level_and_length(odd: Path, rate: int) -> None:
    found = sound(odd / "left_only.mkv", rate)
    assert found.rate == rate
    assert len(found.samples) == 2 * rate
    spectrum = np.abs(np.fft.rfft(found.float32 * np.hanning(2 * rate)))
    assert np.argmax(spectrum) == 880  # half-hertz bins
    assert np.sqrt(np.mean(found.float32**2)) == pytest.approx(0.25 / np.sqrt(2), rel=0.01)


def test_two_channels_are_kept_apart_and_their_mean_is_the_mono_view(odd: Path) -> None:
    views = [AudioView(44_100), AudioView(44_100, channels=2)]
    found, _ = decode(odd / "left_only.mkv", probe(odd / "left_only.mkv"), [], views)
    mono, stereo = (found[view].float32 for view in views)
    assert stereo.shape == (len(mono), 2)
    assert not stereo[:, 1].any()
    assert stereo.mean(axis=1) == pytest.approx(mono, abs=2 / 32768)


def test_one_channel_is_heard_on_both_sides(odd: Path) -> None:
    view = AudioView(16_000, channels=2)
    stereo = decode(odd / "mono16k.mkv", probe(odd / "mono16k.mkv"), [], [view])[0][view].samples
    assert np.array_equal(stereo[:, 0], stereo[:, 1])
    assert np.corrcoef(stereo[:, 0], sound(odd / "mono16k.mkv").samples)[0, 1] > 0.9999
    silent = AudioView(16_000, "silence", channels=2)
    assert decode(odd / "whole.mkv", probe(odd / "whole.mkv"), [], [silent])[0][silent].samples.shape == (32_000, 2)


@pytest.mark.parametrize(("layout", "rate"), [("mono", 8_000), ("stereo", 44_100), ("5.1", 48_000)])
@pytest.mark.parametrize("lengths", [[1024] * 40, [1, 3000, 17, 40_000, 576]])
def test_frames_that_travel_together_give_the_samples_of_frames_alone(
    layout: str, rate: int, lengths: list[int]
) -> None:
    noise = np.random.default_rng(0).normal(0, 0.2, (AudioLayout(layout).nb_channels, sum(lengths)))
    parts = np.split(noise.astype(np.float32), np.cumsum(lengths)[:-1], axis=1)
    track, alone, expected = Track({(16_000, 1)}), AudioResampler("s16", "mono", 16_000), []
    for part in parts:
        frame = AudioFrame.from_ndarray(np.ascontiguousarray(part), format="fltp", layout=layout)
        frame.sample_rate = rate
        expected += [one.to_ndarray()[0] for one in alone.resample(frame)]
        track.push(frame, 0.0)
    track.end()
    expected += [one.to_ndarray()[0] for one in alone.resample(None)]
    assert sum(lengths) > JOINED
    assert np.array_equal(track.samples((16_000, 1)), np.concatenate(expected))


def test_a_few_samples_that_last_an_hour_are_resampled_second_by_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a resampler holds beside its result is some seconds of sound, whatever the stream says of its rate."""
    pieces: list[float] = []
    take = audio._Output.take

    def taken(output: audio._Output, frame: AudioFrame | None) -> None:
        pieces.append(frame.samples / frame.sample_rate if frame else 0.0)
        take(output, frame)

    monkeypatch.setattr(audio._Output, "take", taken)
    frame = AudioFrame.from_ndarray(np.ones((1, 500), np.int16), format="s16", layout="mono")
    frame.sample_rate = 5
    track = Track({(48_000, 1)})
    track.push(frame, 0.0)
    track.end()
    assert max(pieces) == 1.0
    assert len(track.samples((48_000, 1))) == pytest.approx(100 * 48_000, rel=0.01)


def test_a_frame_that_is_too_long_is_refused_before_it_is_resampled() -> None:
    frame = AudioFrame.from_ndarray(np.zeros((1, 65_535), np.int16), format="s16", layout="mono")
    frame.sample_rate = 1
    track = Track({(48_000, 1)})
    sink = _Sink(Path("long.flac"), None, track, Limits())
    with pytest.raises(MediaError, match=r"long\.flac has more than 3660\.0 s of sound"):
        sink._sound(frame, 0.0)
    assert track.seconds == 0


def test_two_channels_that_are_not_left_and_right_are_mixed_at_their_own_rate_too(tmp_path: Path) -> None:
    """Centre and low frequencies, by the channel mask of a WAV file: the centre is heard on both sides."""
    made = np.random.default_rng(0).integers(-9000, 9000, (1000, 2)).astype("<i2")
    kind = struct.pack("<HHIIHHHHI", 0xFFFE, 2, 16_000, 64_000, 4, 16, 22, 16, 0xC)
    kind += bytes.fromhex("0100000000001000800000aa00389b71")  # PCM
    chunks = b"".join(
        name + struct.pack("<I", len(data)) + data for name, data in ((b"fmt ", kind), (b"data", made.tobytes()))
    )
    (tmp_path / "centre.wav").write_bytes(b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks)
    view = AudioView(16_000, channels=2)
    found = decode(tmp_path / "centre.wav", probe(tmp_path / "centre.wav"), [], [view])[0][view].samples
    assert np.array_equal(found[:, 0], found[:, 1])
    assert np.corrcoef(found[:, 0], made[:, 0])[0, 1] > 0.999


def test_several_rates_in_one_pass(odd: Path) -> None:
    views = [AudioView(16_000), AudioView(44_100)]
    found, report = decode(odd / "plain.mp4", probe(odd / "plain.mp4"), [], views)
    assert report.passes == 1
    for view in views:
        assert np.array_equal(found[view].samples, sound(odd / "plain.mp4", view.rate).samples)


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("suffix", ["wav", "mkv", "flac"])
def test_pcm_at_its_own_rate_and_at_others_in_one_pass(tmp_path: Path, suffix: str, channels: Literal[1, 2]) -> None:
    """Sound without a channel order, as in most WAV files: what one view takes as it is, the others resample."""
    codec, gains = "flac" if suffix == "flac" else "pcm_s16le", (0.5, 0.25)[:channels]
    made = Sound(seconds=1.0, rate=16_000, gains=gains, codec=codec)
    path = Clip(f"pcm.{suffix}", frames=0, sound=made).write(tmp_path)
    own = AudioView(16_000, channels=channels)
    views = [AudioView(8_000), own, AudioView(16_000), AudioView(48_000), AudioView(48_000, channels=2)]
    found, _ = decode(path, probe(path), [], views)
    exact = np.rint(made.samples().T * 32_767).astype(np.int16)
    assert np.array_equal(found[own].samples, exact[:, 0] if channels == 1 else exact)
    for view in views:
        alone = decode(path, probe(path), [], [view])[0][view].samples
        assert np.array_equal(found[view].samples, alone)
        assert len(alone) == pytest.approx(view.rate, abs=2)


@pytest.mark.parametrize("seconds", [0.5, 3.0], ids=["at its end", "on its way"])
def test_channels_that_cannot_be_mixed_are_a_fault_of_the_file(tmp_path: Path, seconds: float) -> None:
    """Nine channels without an order; eight are guessed."""
    for channels in (8, 9):
        with wave.open(str(tmp_path / f"{channels}.wav"), "wb") as file:
            file.setparams((channels, 2, 16_000, 0, "NONE", ""))
            file.writeframes(bytes(2 * channels * int(seconds * 16_000)))
    assert len(sound(tmp_path / "8.wav", 48_000).samples) == pytest.approx(48_000 * seconds, abs=2)
    with pytest.raises(MediaError, match=r"9\.wav: FFmpeg cannot convert its sound") as caught:
        sound(tmp_path / "9.wav", 48_000)
    assert caught.value.code == "unsupported_sound"


def test_silent_track_is_present(odd: Path) -> None:
    found = sound(odd / "silent.mp4")
    assert found.present
    assert len(found.samples) >= 32_000
    assert not found.samples.any()


def test_sound_shorter_and_longer_than_the_video(odd: Path) -> None:
    assert len(sound(odd / "short_sound.mp4").samples) == pytest.approx(16_000, abs=400)
    assert len(sound(odd / "long_sound.mp4").samples) == pytest.approx(48_000, abs=400)


def test_start_is_the_time_of_the_first_sample(odd: Path) -> None:
    assert sound(odd / "late_sound.mkv").start == pytest.approx(0.5)
    assert len(sound(odd / "late_sound.mkv").samples) == 16_000
    assert sound(odd / "plain.mp4").start == 0.0
    info = probe(odd / "stream.ts")
    assert info.audio is not None
    assert sound(odd / "stream.ts").start == info.audio.start


def test_priming_samples_of_the_encoder_are_left_out(odd: Path) -> None:
    tone = sound(odd / "plain.mp4", 48_000).float32[:4800]
    expected = 0.5 * np.sin(2 * np.pi * 440 * np.arange(4800) / 48_000)
    assert np.corrcoef(tone, expected)[0, 1] > 0.99  # a shift of 1024 samples would make it -0.8


def test_no_audio_stream(odd: Path) -> None:
    silence = sound(odd / "whole.mkv", missing="silence")
    assert (silence.present, silence.start, len(silence.samples)) == (False, 0.0, 32_000)
    assert not silence.samples.any()
    with pytest.raises(NotApplicable) as caught:
        sound(odd / "whole.mkv")
    assert caught.value.reason == "not_applicable"


def test_silence_costs_no_decoding(odd: Path) -> None:
    report = decode(odd / "whole.mkv", probe(odd / "whole.mkv"), [], [AudioView(missing="silence")])[1]
    assert report.passes == 0


def test_audio_only_has_no_pictures(odd: Path) -> None:
    info = probe(odd / "sound.m4a")
    assert len(sound(odd / "sound.m4a").samples) == pytest.approx(32_000, abs=400)
    with pytest.raises(NotApplicable, match="no video stream"):
        decode(odd / "sound.m4a", info, [(View(), CollectTap(info))], [])


def test_a_stream_that_changes_its_rate(tmp_path: Path) -> None:
    tones = [Sound(seconds=1.0, rate=rate, codec="mp2") for rate in (48_000, 32_000)]
    parts = [Clip(f"{tone.rate}.ts", frames=0, sound=tone).write(tmp_path).read_bytes() for tone in tones]
    (tmp_path / "both.ts").write_bytes(b"".join(parts))
    found = sound(tmp_path / "both.ts").float32
    assert len(found) == pytest.approx(32_000, abs=2_000)
    for second in (found[2_000:14_000], found[-14_000:-2_000]):
        assert np.argmax(np.abs(np.fft.rfft(second))) == pytest.approx(440 * 12_000 / 16_000, abs=1)


def test_too_much_sound(odd: Path) -> None:
    info = probe(odd / "long_sound.mp4")
    with pytest.raises(MediaError) as caught:
        decode(odd / "long_sound.mp4", info, [], [AudioView()], Limits(seconds=2.5))
    assert caught.value.code == "too_large"


FILES = ["plain.mp4", "stream.ts", "short_sound.mp4", "late_sound.mkv", "left_only.mkv", "sound.m4a", "corrupt.ts"]


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="no ffmpeg binary to compare with")
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(("rate", "channels"), [(16_000, 1), (44_100, 1), (44_100, 2)])
def test_samples_of_the_ffmpeg_binary(odd: Path, name: str, rate: int, channels: Literal[1, 2]) -> None:
    args = [
        "ffmpeg",
        "-v",
        "quiet",
        "-i",
        odd / name,
        "-vn",
        "-ac",
        str(channels),
        "-ar",
        str(rate),
        "-f",
        "s16le",
        "-",
    ]
    expected = np.frombuffer(subprocess.run(args, capture_output=True, check=True).stdout, np.int16)
    view = AudioView(rate, channels=channels)
    found = decode(odd / name, probe(odd / name), [], [view])[0][view].samples.reshape(-1)
    assert len(found) == len(expected)
    if name != "corrupt.ts":  # decoders conceal damage as they like
        assert np.abs(found.astype(int) - expected).max() <= 4  # 16-bit input is resampled in 16 bits

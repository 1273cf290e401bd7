"""Whisper base: what is said in a clip, in whichever of 99 languages it is said.

Radford et al., "Robust Speech Recognition via Large-Scale Weak Supervision", 2022; multilingual weights, run by
CTranslate2 on one thread in float32 with beam search at temperature 0. Windows of 30 s are heard one after the other,
each from where the last complete utterance of the one before ended. No window sees the text of another one, and there
is no second try at a higher temperature: the result follows from the sound alone. The published rule of silence holds.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np

from evaluator.errors import PrerequisiteError
from evaluator.experts.base import Expert
from evaluator.experts.features import AudioTags, SpeechActivity, Transcript, Utterance
from evaluator.experts.spectral import hann, mel_bank, mel_spectrogram
from evaluator.experts.waveform import RATE, samples_of, sound_need, zero_padded
from evaluator.experts.whisper_tokens import decoded, spans, vocabulary
from evaluator.media.types import F32
from evaluator.runtime.session import SessionSource
from evaluator.schema import ExpertNeed, Need

WEIGHTS, CONFIG, VOCABULARY = "model.bin", "config.json", "vocabulary.txt"

WINDOW_S = 30
WINDOW = WINDOW_S * RATE  # samples
FFT, HOP, MELS = 400, 160, 80
LEAST = 1_600  # samples, 0.1 s: less is no word

BEAMS = 5
SILENT = 0.6  # a window is silent if the network thinks so with this probability ...
UNSURE = -1.0  # ... and its words have a mean log-probability below this

GATE = "speech_gate"
"""Option of a need: listen only if voice activity and the tagger's class Speech both reach 0.5 (seconds, probability).
In music and noise the network hears words, one long one after the other, at a multiple of the cost of speech."""
GATE_SECONDS = GATE_PROBABILITY = 0.5
SPEECH = "Speech"  # AudioSet class


class WhisperBase(Expert):
    """capability `transcript`. Words that begin in the last tenth of a second of a clip are not looked for."""

    id = "whisper_base"
    capability = "transcript"

    def __init__(self, sessions: SessionSource) -> None:
        super().__init__(sessions)
        self._lock = threading.Lock()
        self._loaded: Any = None

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        witnesses = {"activity": "speech_activity", "tags": "audio_tags"} if gated(want) else {}
        return {
            "audio": sound_need(want),
            **{name: ExpertNeed(capability, want.roles) for name, capability in witnesses.items()},
        }

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> Transcript:
        samples = samples_of(inputs["audio"], "Whisper", LEAST)
        if gated(want) and not speaks(inputs["activity"], inputs["tags"]):
            return Transcript("", 0.0, (), len(samples) / RATE)
        words = vocabulary(self.sessions.path(self.id, VOCABULARY))
        language, probability = "", 0.0
        found: list[Utterance] = []
        start = 0
        while len(samples) - start >= LEAST:
            part = samples[start : start + WINDOW]
            if not part.any():  # digital silence, in which the network hears words
                start += len(part)
                continue
            features = self._features(part)
            if not language:
                language, probability = self._language(features)
            utterances, heard = self._window(features, language, len(part) / RATE, start / RATE, words)
            found += utterances
            start += max(HOP, round(heard * RATE))
        spoken = bool(found)
        return Transcript(language if spoken else "", probability if spoken else 0.0, tuple(found), len(samples) / RATE)

    def _window(
        self, features: Any, language: str, seconds: float, offset: float, words: tuple[bytes, ...]
    ) -> tuple[list[Utterance], float]:
        """The utterances of one window, and how many of its seconds were heard."""
        prompt = ["<|startoftranscript|>", f"<|{language}|>", "<|transcribe|>"]
        found = self._model.generate(
            features, [prompt], beam_size=BEAMS, return_scores=True, return_no_speech_prob=True
        )[0]
        logprob, no_speech = float(found.scores[0]), float(found.no_speech_prob)
        if no_speech > SILENT and logprob < UNSURE:
            return [], seconds
        cut, heard = spans(found.sequences_ids[0], seconds)
        utterances = [
            Utterance(offset + span.start, offset + span.end, decoded(span.tokens, words), logprob, no_speech)
            for span in cut
        ]
        return [one for one in utterances if one.text], heard if heard > 0 else seconds

    def _language(self, features: Any) -> tuple[str, float]:
        """The likeliest language of a window, and its probability."""
        token, probability = self._model.detect_language(features)[0][0]
        return str(token).strip("<|>"), float(probability)

    def _features(self, samples: F32) -> Any:
        library = _library()
        return library.StorageView.from_array(log_mel(zero_padded(samples, WINDOW))[None])

    @property
    def _model(self) -> Any:
        """The network, loaded on first use. Every file that it reads is verified."""
        with self._lock:
            if self._loaded is None:
                folders = {self.sessions.path(self.id, name).parent for name in (WEIGHTS, CONFIG, VOCABULARY)}
                if len(folders) != 1:
                    raise PrerequisiteError(f"{self.id}: its files must lie in one folder, found {sorted(folders)}")
                self._loaded = _library().models.Whisper(
                    str(folders.pop()), device="cpu", compute_type="float32", inter_threads=1, intra_threads=1
                )
            return self._loaded


def gated(want: ExpertNeed) -> bool:
    """Whether words are looked for only where two witnesses say that somebody speaks."""
    return bool(dict(want.options).get(GATE, False))


def speaks(activity: SpeechActivity, tags: AudioTags) -> bool:
    """What the two witnesses say."""
    likely = tags.probability[:, tags.names.index(SPEECH)].max(initial=0.0)
    return bool(activity.seconds() >= GATE_SECONDS and likely >= GATE_PROBABILITY)


def log_mel(samples: F32) -> F32:
    """[80, T / 160] of samples [T]: the front end of the published model, scaled from the loudest moment down."""
    bank = mel_bank(RATE, FFT, MELS, 0.0, RATE / 2, "slaney", unit_area=True)
    padded = np.pad(samples, FFT // 2, mode="reflect")
    power = mel_spectrogram(padded, hann(FFT, FFT), HOP, bank, power=2)[:-1]  # [frames, 80]
    level = np.log10(np.maximum(power, 1e-10))
    level = np.maximum(level, level.max() - 8.0)
    return np.ascontiguousarray(((level + 4.0) / 4.0).T, np.float32)


def _library() -> Any:
    """CTranslate2, imported when it is first needed."""
    try:
        return importlib.import_module("ctranslate2")
    except ImportError as error:
        raise PrerequisiteError(
            "transcripts need the package ctranslate2; install the environment from docker/requirements/cpu.txt"
        ) from error


EXPERT = WhisperBase

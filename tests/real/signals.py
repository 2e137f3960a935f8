"""What the networks are asked about, made in code: a line of text, two notes, something like speech, files."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, ImageDraw, ImageFont

FILES = {
    "markdown": b"# Title\n\nSome *text* here\n\n- a\n- b\n" * 5,
    "python": b"import os\ndef f(x):\n    return os.path.join(x)\n" * 4,
    "toml": b'[package]\nname = "x"\nversion = "1.0"\n[dependencies]\nserde = "1"\n' * 3,
}
"""Contents by the type that they have."""


def line_of_text(text: str, size: int = 36, margin: int = 20) -> Image.Image:
    """Black letters on white, in Pillow's own font."""
    font = ImageFont.load_default(size)
    _, _, right, bottom = font.getbbox(text)
    picture = Image.new("RGB", (int(right) + 2 * margin, int(bottom) + 2 * margin), "white")
    ImageDraw.Draw(picture).text((margin, margin), text, fill="black", font=font)
    return picture


def as_png(picture: Image.Image) -> bytes:
    """The picture as a file."""
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def two_notes(rate: int) -> np.ndarray:
    """C4 and A4 with some harmonics, from 0.5 s to 2.5 s of three seconds."""
    time = np.arange(3 * rate) / rate
    tones = [0.2 / k * np.sin(2 * np.pi * pitch * k * time) for pitch in (261.63, 440.0) for k in (1, 2, 3, 4)]
    return np.sum(tones, axis=0) * (time > 0.5) * (time < 2.5)


def like_speech(rate: int = 16000) -> np.ndarray:
    """Fourteen vowels: harmonics of a voice of some 110 Hz under formants; a second of silence before and behind."""
    generator = np.random.default_rng(0)
    formants = [(700, 1200, 2600), (300, 2300, 3000), (500, 900, 2400), (400, 1900, 2550)]
    pieces = [np.zeros(rate)]
    for number in range(14):
        pitch = 110 + 20 * np.sin(number)
        time = np.arange(int(rate * 0.22)) / rate
        phase = 2 * np.pi * np.cumsum(pitch * (1 + 0.05 * np.sin(6 * np.pi * time))) / rate
        vowel = np.zeros(len(time))
        for harmonic in range(1, 40):
            near = [np.exp(-(((pitch * harmonic - f) / (80 + 0.06 * f)) ** 2)) for f in formants[number % 4]]
            vowel += (sum(near) + 0.02) / np.sqrt(harmonic) * np.sin(harmonic * phase)
        pieces += [vowel * np.hanning(len(time)) ** 0.4 * 0.12]
        pieces += [generator.standard_normal(int(rate * 0.05)) * 0.02 * (number % 2)]
    sound = np.concatenate([*pieces, np.zeros(rate)])
    return (sound + 0.001 * generator.standard_normal(len(sound))).astype(np.float32)

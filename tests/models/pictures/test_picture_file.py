"""Pictures that are hostile, odd or broken: a picture comes out, or one ImageError; no warning, no other program."""

from __future__ import annotations

import io
import json
import os
import re
import struct
import threading
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, features

from kuiper.errors import ImageError, ParameterError
from kuiper.models.pictures import picture_file
from kuiper.models.pictures.letterbox import Letterbox
from kuiper.models.pictures.picture_file import open_picture
from kuiper.models.pictures.preprocess import read_image, resize, resize_shorter

ROOT = Path(__file__).parents[3]
POSTSCRIPT = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n%%EOF\n"


def png(width: int, height: int, data: bytes = b"") -> bytes:
    """A PNG that says it is so large, with this little behind it."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


@pytest.mark.parametrize("name", ["photo.eps", "photo.png", "photo"])
def test_postscript_starts_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    marker = tmp_path / "started"
    gs = tmp_path / "bin" / "gs"
    gs.parent.mkdir()
    gs.write_text(f"#!/bin/sh\ntouch {marker}\n")
    gs.chmod(0o755)
    monkeypatch.setenv("PATH", str(gs.parent), prepend=os.pathsep)
    monkeypatch.setattr("subprocess.Popen", None)
    (tmp_path / name).write_bytes(POSTSCRIPT)
    with pytest.raises(ImageError, match="expected an image, got a file of another kind"):
        read_image(tmp_path / name)
    assert not marker.exists()


@pytest.mark.parametrize("kind", ["EPS", "PDF", "WMF", "FPX", "MIC", "HDF5", "GRIB", "BUFR", "MPEG"])
def test_formats_are_those_of_pixels_only(kind: str) -> None:
    assert kind not in picture_file.FORMATS


def test_pictures_are_opened_in_one_place() -> None:
    """But for the bundled photo, which comes with kuiper, and what a test or a lecture has written itself."""
    sources = [path for folder in ("kuiper", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    sources += [path for path in ROOT.glob("course*/**/*.py") if ".kuiper" not in path.parts]
    places = {}
    for path in sources:
        for call in re.findall(r"\bImage\.open\((.*)", path.read_text(encoding="utf-8")):
            places[str(path.relative_to(ROOT))] = call
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            code = "".join(cell["source"]) if cell["cell_type"] == "code" else ""
            for call in re.findall(r"\bImage\.open\((.*)", code):
                places[path.name] = call
    assert places.pop("kuiper/models/pictures/picture_file.py") == "file, formats=known_formats()) as image:"
    trusted = ("bundled_photo()", 'formats=["JPEG"]', 'formats=["PNG"]', 'formats=["PNG", "JPEG"]')
    assert {name for name, call in places.items() if not any(words in call for words in trusted)} == set()


@pytest.mark.parametrize("size", [(100_000, 100_000), (2**31 - 1, 2**31 - 1), (13_000, 13_000), (2**27 + 1, 1)])
def test_too_many_pixels_are_one_error_and_no_warning(tmp_path: Path, size: tuple[int, int]) -> None:
    (tmp_path / "large.png").write_bytes(png(*size))
    with pytest.raises(ImageError, match=r"large\.png: expected a picture of at most 134,217,728 pixels, got"):
        read_image(tmp_path / "large.png")


def test_a_large_picture_within_the_limit_gives_no_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow's own warning turned down to a size that a test can afford; the test suite makes errors of warnings."""
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 8)
    Image.new("L", (3, 4)).save(tmp_path / "large.png")
    assert read_image(tmp_path / "large.png").size == (3, 4)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 4)  # twice of which is an error
    with pytest.raises(ImageError, match="expected a picture of at most 134,217,728 pixels, got more"):
        read_image(tmp_path / "large.png")


def test_what_pillow_says_of_its_caller_gives_no_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Image.new("L", (3, 4)).save(tmp_path / "odd.png")
    opened = Image.open

    def warned(*arguments: object, **options: object) -> Image.Image:
        warnings.warn("odd metadata", stacklevel=2)
        return opened(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Image, "open", warned)
    assert read_image(tmp_path / "odd.png").size == (3, 4)


def test_warnings_are_as_before_however_many_threads_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 8)
    Image.new("L", (3, 4)).save(tmp_path / "large.png")
    before = list(warnings.filters)
    failures: list[BaseException] = []

    def read() -> None:
        try:
            for _ in range(50):
                read_image(tmp_path / "large.png")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert warnings.filters == before


@pytest.mark.parametrize("size", [(1, 2**16), (2**16, 1)])
def test_a_line_is_not_made_as_wide_as_it_is_long(size: tuple[int, int]) -> None:
    with pytest.raises(ParameterError, match=r"resize: expected at most 134,217,728 pixels, got"):
        resize_shorter(Image.new("L", size), 224)


def test_sizes_beyond_a_c_long_are_refused() -> None:
    with pytest.raises(ParameterError, match="at most 134,217,728 pixels"):
        resize(Image.new("L", (1, 1)), (10**30, 10**30))
    with pytest.raises(ParameterError, match="at most 134,217,728 pixels"):
        Letterbox.fit((1, 1), (10**6, 10**6))


def saved(picture: Image.Image, kind: str, **options: object) -> bytes:
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


GREEN = Image.new("RGB", (40, 30), (0, 200, 0))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP", "TIFF", "PPM", "TGA", "WEBP"])
@pytest.mark.parametrize("share", [0.01, 0.3, 0.6, 0.9])
def test_truncated_files_are_refused_or_whole(tmp_path: Path, kind: str, share: float) -> None:
    if kind == "WEBP" and not features.check("webp"):
        pytest.skip("this Pillow has no WebP")
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 256, (30, 40, 3), np.uint8))
    whole = saved(noise, kind)
    path = tmp_path / "cut"
    path.write_bytes(whole[: max(1, int(share * len(whole)))])
    with pytest.raises(ImageError, match="cut: expected an image"):
        read_image(path)


def test_of_an_animation_the_first_picture_counts(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (4, 4), colour) for colour in ("red", "blue")]
    for kind in ("GIF", "PNG", "TIFF"):
        frames[0].save(tmp_path / "moving", kind, save_all=True, append_images=frames[1:])
        assert read_image(tmp_path / "moving").getpixel((1, 1)) == (255, 0, 0)


def test_broken_exif_leaves_a_picture_as_it_is_stored(tmp_path: Path) -> None:
    exif = b"Exif\0\0II*\0\x08\0\0\0\xff\xff\x12\x01\x03\0\x01\0\0\0\x06\0"
    (tmp_path / "photo.jpg").write_bytes(saved(GREEN, "JPEG", exif=exif))
    assert read_image(tmp_path / "photo.jpg").size in ((40, 30), (30, 40))


def test_whatever_a_decoder_raises_becomes_an_image_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "photo.png").write_bytes(saved(GREEN, "PNG"))
    for error in (struct.error("unpack"), MemoryError(), KeyError(3), RecursionError(), UserWarning("odd")):

        def fail(*_: object, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr("PIL.ImageFile.ImageFile.load", fail)
        with pytest.raises(ImageError, match=r"photo\.png: expected an image that can be read, got"):
            read_image(tmp_path / "photo.png")


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices are files on POSIX only")
def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        with pytest.raises(ImageError, match=r"expected a file, got a (special file|directory)"):
            read_image(path)
    (tmp_path / "empty.png").touch()
    with pytest.raises(ImageError, match=r"empty\.png: expected an image, got an empty file"):
        open_picture(str(tmp_path / "empty.png"))

"""Broken .bin files: each is one ModelFormatError that names file and entry, soon and without a big allocation."""

from __future__ import annotations

import io
import struct
import time
import tracemalloc
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kuiper.errors import ModelFormatError
from kuiper.graph import pnnx
from tests.graph.malformed import Archive, Entry

if TYPE_CHECKING:
    from pathlib import Path

PARAM = """7767517
3 2
pnnx.Input               in                       0 1 0 #0=(1,2)f32
nn.Linear                fc                       1 1 0 1 bias=True @bias=(3)f32 @weight=(3,2)f32 $input=0
pnnx.Output              out                      1 0 1
"""
BIAS, WEIGHT = np.arange(3, dtype="<f4").tobytes(), np.arange(6, dtype="<f4").tobytes()
GOOD = Archive([Entry("fc.bias", BIAS), Entry("fc.weight", WEIGHT)]).build()
CLASSIC = Archive([Entry("fc.bias", BIAS), Entry("fc.weight", WEIGHT)], zip64=False).build()


def bias(**claims: object) -> bytes:
    """The good archive, but for what the headers of its first entry claim."""
    return Archive([Entry("fc.bias", BIAS, **claims), Entry("fc.weight", WEIGHT)]).build()  # type: ignore[arg-type]


def packed(method: int) -> bytes:
    """The same weights, compressed."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("fc.bias", BIAS)
        archive.writestr("fc.weight", WEIGHT)
    return file.getvalue()


def bomb() -> bytes:
    """An entry of a megabyte and more that a few hundred bytes unfold to."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("fc.bias", b"\0" * 2**24)
    return file.getvalue()


def zip64_extra(*numbers: int) -> bytes:
    return struct.pack(f"<2H{len(numbers)}Q", 1, 8 * len(numbers), *numbers)


NO_ZIP = "expected a zip archive, got"

# The bytes of the .bin file, the entry that the error names ("" for the file itself; None where it depends on the
# version of zipfile), a part of its message.
FILES = {
    "empty": (b"", "", NO_ZIP),
    "text": (PARAM.encode(), "", NO_ZIP),
    "zeros": (bytes(4096), "", NO_ZIP),
    "garbage": (bytes(range(256)) * 50, "", NO_ZIP),
    "raw_floats": (BIAS + WEIGHT, "", NO_ZIP),
    "cut_in_half": (GOOD[: len(GOOD) // 2], "", NO_ZIP),
    "cut_by_one_byte": (GOOD[:-1], "", NO_ZIP),
    "cut_before_the_end_record": (GOOD[:-22], "", NO_ZIP),
    "classic_cut_by_one_byte": (CLASSIC[:-1], "", NO_ZIP),
    "without_its_first_half": (GOOD[len(GOOD) // 2 :], None, "expected"),
    "end_record_only": (GOOD[-22:], "", NO_ZIP),
    "directory_outside": (
        Archive([Entry("fc.bias", BIAS)], zip64=False, directory_shift=2**31).build(),
        None,
        "expected",
    ),
    "directory_far_outside": (Archive([Entry("fc.bias", BIAS)], directory_shift=2**62).build(), None, "expected"),
    "no_entries": (Archive().build(), "fc.bias", "this weight in the archive, got none; do .param and .bin belong"),
    "one_entry_missing": (
        Archive([Entry("fc.bias", BIAS)]).build(),
        "fc.weight",
        "this weight in the archive, got none",
    ),
    "names_with_underscores": (GOOD.replace(b"fc.", b"fc_"), "fc.bias", "this weight in the archive, got none"),
    "names_that_end_early": (GOOD.replace(b"fc.bias", b"fc.\0ias"), "fc.bias", "this weight in the archive, got none"),
    "entry_twice": (Archive([Entry("fc.bias", BIAS)] * 2).build(), "fc.bias", "expected 1 of this name, got 2"),
    "entry_too_small": (
        Archive([Entry("fc.bias", BIAS[:8]), Entry("fc.weight", WEIGHT)]).build(),
        "fc.bias",
        "expected 12 bytes for (3)f32, got 8 bytes; do .param and .bin belong together?",
    ),
    "entry_too_big": (Archive([Entry("fc.bias", WEIGHT)]).build(), "fc.bias", "12 bytes for (3)f32, got 24 bytes"),
    "entry_empty": (Archive([Entry("fc.bias", b"")]).build(), "fc.bias", "12 bytes for (3)f32, got 0 bytes"),
    "checksum_wrong": (bias(crc=1), "fc.bias", "data that fits its checksum, got another checksum"),
    "data_changed": (GOOD.replace(WEIGHT, WEIGHT[::-1]), "fc.weight", "data that fits its checksum"),
    "deflated": (packed(zipfile.ZIP_DEFLATED), "fc.bias", "a stored entry, got compression method 8"),
    "bzipped": (packed(zipfile.ZIP_BZIP2), "fc.bias", "a stored entry, got compression method 12"),
    "method_unknown": (bias(method=99), "fc.bias", "a stored entry, got compression method 99"),
    "zip_bomb": (bomb(), "", "entries that fit in the file"),
    "encrypted": (bias(flags=1), "fc.bias", "a plain entry, got an encrypted one"),
    "size_claimed_huge": (bias(size=2**40), "", "entries that fit in the file"),
    "size_claimed_beyond_64_bits": (bias(size=2**64 - 1), None, "expected"),
    "size_and_packed_size_differ": (bias(compressed=11), "fc.bias", "a stored entry"),
    "size_claimed_too_big_by_one": (bias(size=13), "fc.bias", "12 bytes for (3)f32, got 13 bytes"),
    "entries_that_share_their_bytes": (
        Archive([Entry("fc.bias", BIAS), Entry("fc.weight", WEIGHT, offset=0)]).build(),
        "fc.weight",
        "a local header that agrees with the directory",
    ),
    "offset_outside": (bias(offset=10**6), "fc.bias", "an entry inside the file, got offset 1000000"),
    "offset_huge": (bias(offset=2**63), "fc.bias", "an entry inside the file"),
    "offset_between": (bias(offset=3), "fc.bias", "a local header that agrees with the directory"),
    "local_signature_wrong": (
        bias(signature=b"PK\x03\x05"),
        "fc.bias",
        "a local header that agrees with the directory",
    ),
    "local_name_differs": (bias(local_name=b"fc.bia_"), "fc.bias", "a local header that agrees with the directory"),
    "name_claimed_not_to_be_utf8": (
        Archive([Entry(b"\xff\xfe", b"", flags=0x800), Entry("fc.bias", BIAS)]).build(),
        "",
        NO_ZIP,
    ),
    "local_extra_field_of_size_zero": (
        bias(local_extra=b"\1\0\0\0"),
        "fc.bias",
        "extra fields with content, got one of 0",
    ),
    "extra_fields_of_size_zero": (bias(local_extra=b"\0\0\0\0" * 9), "fc.bias", "extra fields with content"),
    "extra_field_of_size_zero_behind_others": (
        bias(local_extra=zip64_extra(12, 12) + b"\xfe\xca\0\0"),
        "fc.bias",
        "extra fields with content",
    ),
    "extra_field_that_runs_over": (bias(local_extra=b"\1\0\xff\xff"), "fc.bias", "extra fields with content"),
    "extra_field_cut": (bias(local_extra=b"\1"), "fc.bias", "extra fields with content"),
    "directory_extra_field_of_size_zero": (bias(extra=b"\1\0\0\0"), None, "expected"),
    "directory_extra_field_behind_others": (
        bias(extra=zip64_extra(12, 12, 0) + b"\xfe\xca\0\0"),
        None,
        "expected",
    ),
    "directory_extra_field_cut": (bias(extra=b"\1\0\x10\0\1"), None, "expected"),
    "directory_without_zip64_sizes": (bias(extra=b""), None, "expected"),
}

SHAPES = {
    "bigger_than_the_entry": ("(4)f32", "expected 16 bytes for (4)f32, got 12 bytes"),
    "smaller_than_the_entry": ("(2)f32", "expected 8 bytes for (2)f32, got 12 bytes"),
    "of_another_type": ("(3)f64", "expected 24 bytes for (3)f64, got 12 bytes"),
    "empty": ("(0)f32", "expected 0 bytes for (0)f32, got 12 bytes"),
    "of_16_gigabytes": ("(2147483647,2)f32", "expected 17179869176 bytes"),
    "beyond_64_bits": ("(2147483647,2147483647,2147483647)f64", "expected 79228162403"),
    "that_wraps_to_12_bytes": ("(65536,65536,1)i8", "expected 4294967296 bytes"),
    "of_100_axes": (f"({','.join(['1'] * 99)},3)f32", "a shape that an array can have"),
}


def refusal(folder: Path, data: bytes, param: str = PARAM) -> ModelFormatError:
    """The error of loading; checks that it comes within a second and that no memory was taken for it."""
    path = folder / "m.pnnx.param"
    path.write_text(param)
    path.with_name("m.pnnx.bin").write_bytes(data)
    tracemalloc.start()
    start = time.process_time()
    try:
        with pytest.raises(ModelFormatError) as caught:
            pnnx.load(path)
        assert time.process_time() - start < 1
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()
    assert type(caught.value) is ModelFormatError
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("name", FILES)
def test_broken_archive_is_refused(name: str, tmp_path: Path) -> None:
    data, entry, message = FILES[name]
    error = refusal(tmp_path, data)
    file = tmp_path / "m.pnnx.bin"
    if entry is None:
        assert error.where.startswith(f"{file}")
    else:
        assert error.where == (f"{file} entry '{entry}'" if entry else f"{file}")
    assert message in str(error)


@pytest.mark.parametrize("name", SHAPES)
def test_shape_that_does_not_fit_its_entry_is_refused(name: str, tmp_path: Path) -> None:
    shape, message = SHAPES[name]
    error = refusal(tmp_path, GOOD, PARAM.replace("@bias=(3)f32", f"@bias={shape}"))
    assert error.where == f"{tmp_path / 'm.pnnx.bin'} entry 'fc.bias'"
    assert message in str(error)


def test_zero_beside_sizes_that_overflow_is_refused(tmp_path: Path) -> None:
    size = 2**31 - 1
    data = Archive([Entry("fc.bias", b""), Entry("fc.weight", WEIGHT)]).build()
    error = refusal(tmp_path, data, PARAM.replace("@bias=(3)f32", f"@bias=(0,{size},{size},{size})f32"))
    assert "expected a shape that an array can have" in str(error)


def test_missing_bin_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.pnnx.param"
    path.write_text(PARAM)
    with pytest.raises(ModelFormatError) as caught:
        pnnx.load(path)
    assert str(caught.value) == f"{tmp_path / 'm.pnnx.bin'}: expected a file, got nothing there"


def test_directory_in_place_of_the_bin_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.pnnx.param"
    path.write_text(PARAM)
    (tmp_path / "m.pnnx.bin").mkdir()
    with pytest.raises(ModelFormatError, match="expected a file, got a directory"):
        pnnx.load(path)


def test_broken_bin_is_refused_even_if_no_weight_is_needed(tmp_path: Path) -> None:
    param = "7767517\n2 1\npnnx.Input in 0 1 0\npnnx.Output out 1 0 0\n"
    assert NO_ZIP in str(refusal(tmp_path, b"", param))


def test_good_archives_are_good(tmp_path: Path) -> None:
    path = tmp_path / "m.pnnx.param"
    path.write_text(PARAM)
    for data in (GOOD, CLASSIC):
        path.with_name("m.pnnx.bin").write_bytes(data)
        assert pnnx.load(path).operator("fc").attrs["weight"].data is not None


@pytest.mark.thorough
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from([GOOD, CLASSIC]),
    st.lists(st.tuples(st.integers(0, len(GOOD)), st.integers(0, 8), st.binary(max_size=8)), min_size=1, max_size=4),
)
def test_random_edits_raise_nothing_but_model_format_errors(
    tmp_path: Path, data: bytes, edits: list[tuple[int, int, bytes]]
) -> None:
    for position, cut, insert in edits:
        data = data[:position] + insert + data[position + cut :]
    path = tmp_path / "m.pnnx.param"
    path.write_text(PARAM)
    path.with_name("m.pnnx.bin").write_bytes(data)
    try:
        graph = pnnx.load(path)
    except ModelFormatError:
        return
    # What was changed lies between the entries: the weights are still those of the good file.
    attrs = graph.operator("fc").attrs
    np.testing.assert_array_equal(attrs["bias"].data, np.frombuffer(BIAS, "<f4"))
    np.testing.assert_array_equal(attrs["weight"].data, np.frombuffer(WEIGHT, "<f4").reshape(3, 2))

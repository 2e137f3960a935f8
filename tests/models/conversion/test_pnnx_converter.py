"""What the converter leaves is judged by its files; here they come from stand-ins for its program."""

from __future__ import annotations

import sys
import zipfile
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.errors import ExportError
from kuiper.models import bundled
from kuiper.models.conversion import pnnx_converter
from kuiper.models.conversion.pnnx_converter import convert, last_words, shape_option

if TYPE_CHECKING:
    from pathlib import Path

PARAM = bundled("cifar_resnet20")
BIN = PARAM.with_suffix(".bin")

SPLIT = """7767517
4 3
pnnx.Input      in  0 1 0 #0=(2,3)f32
pnnx.Attribute  a   0 1 1 @data=(3,3)f32
nn.Linear       b   2 1 1 0 2 bias=False in_features=3 out_features=3 @weight=(3,3)f32
pnnx.Output     out 1 0 2
"""


@pytest.fixture
def converter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shell script in the place of pnnx's program; the tests fill it in."""
    script = tmp_path / "converter"
    monkeypatch.setitem(sys.modules, "pnnx", SimpleNamespace(EXEC_PATH=str(script)))
    return script


def run(script: Path, commands: str) -> tuple[Path, Path]:
    script.write_text(f"#!/bin/sh\n{commands}\n")
    script.chmod(0o755)
    folder = script.parent / "work"
    folder.mkdir()
    return convert(folder / "net.pt", ["inputshape=[1,3,32,32]f32"])


def test_whole_files_count_whatever_the_exit_code(converter: Path) -> None:
    param, weights = run(converter, f"cp {PARAM} net.pnnx.param; cp {BIN} net.pnnx.bin; exit 3")
    assert param.read_bytes() == PARAM.read_bytes()
    assert weights.read_bytes() == BIN.read_bytes()


def test_the_converter_gets_the_file_and_the_options(converter: Path) -> None:
    run(converter, f'cp {PARAM} net.pnnx.param; cp {BIN} net.pnnx.bin; echo "$@" > words')
    assert (converter.parent / "work" / "words").read_text() == "net.pt inputshape=[1,3,32,32]f32\n"


def test_a_converter_that_does_not_end_is_ended(converter: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pnnx_converter, "MAX_SECONDS", 0.2)
    with pytest.raises(ExportError, match=r"pnnx: expected a graph within 0\.2 s, got none .*; .*round and round"):
        run(converter, "echo round and round; exec sleep 100")


@pytest.mark.parametrize(
    ("commands", "message"),
    [
        ("exit 0", r"expected a whole graph, got none \(the converter ended with exit code 0\)$"),
        ("kill -ABRT $$", r"got none \(the converter crashed: SIGABRT\)"),
        ("echo busy; echo 'open failed'; echo done >&2; exit 255", r"exit code 255\); it said: open failed$"),
        (
            f"head -n 20 {PARAM} > net.pnnx.param; cp {BIN} net.pnnx.bin",
            r"got in its \.param:2 18 lines instead of a line for each of 54 operators \(",
        ),
        (f"cp {PARAM} net.pnnx.param", r"got in its \.bin nothing there instead of a file \("),
        (f"cp {PARAM} net.pnnx.param; head -c 9999 {BIN} > net.pnnx.bin; kill -SEGV $$", r"zip.*crashed: SIGSEGV"),
    ],
)
def test_half_a_graph_is_refused(converter: Path, commands: str, message: str) -> None:
    with pytest.raises(ExportError, match=message):
        run(converter, commands)


def test_an_archive_without_a_weight_is_refused(converter: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "net.bin", "w"):
        pass
    with pytest.raises(ExportError, match=r"expected a whole graph, got .*weight"):
        run(converter, f"cp {PARAM} net.pnnx.param; cp {tmp_path}/net.bin net.pnnx.bin")


@pytest.mark.parametrize("constant", ["same", "other"])
def test_a_weight_that_came_out_as_an_input_is_refused(converter: Path, tmp_path: Path, constant: str) -> None:
    weight = np.arange(9, dtype=np.float32)
    (tmp_path / "net.param").write_text(SPLIT)
    with zipfile.ZipFile(tmp_path / "net.bin", "w") as archive:
        archive.writestr("a.data", (weight if constant == "same" else weight + 1).tobytes())
        archive.writestr("b.weight", weight.tobytes())
    copies = f"cp {tmp_path}/net.param net.pnnx.param; cp {tmp_path}/net.bin net.pnnx.bin"
    if constant == "other":
        run(converter, copies)
        return
    with pytest.raises(ExportError, match=r"nn.Linear 'b': expected its weight inside.*shares the weight of 'a'"):
        run(converter, copies)


def test_last_words_leave_colours_and_chatter_out() -> None:
    chatter = "shape_inference \x1b[0;93m[W:onnxruntime:pnnx, error] Unknown CPU\x1b[m\n"
    assert last_words(f"{chatter}pass 1\nload \x1b[1mfailed\x1b[0m\nbye\n") == "it said: load failed"
    assert last_words("pass 1\npass 2\n") == "it said: pass 1 | pass 2"
    assert last_words("") == ""


def test_shape_option_refuses_types_that_the_converter_lacks() -> None:
    with pytest.raises(ExportError, match=r"expected inputs of the types float32, .*, got complex64"):
        shape_option([np.zeros(3, np.complex64)])

from __future__ import annotations

import ast
import io
import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.cli import COMMANDS
from kuiper.cli.input_files import load_array
from kuiper.errors import DataTypeError
from kuiper.models import bundled, bundled_photo
from tests.cli.program import run

if TYPE_CHECKING:
    from pathlib import Path

MODEL = bundled("cifar_resnet20")

UNKNOWN = """7767517
4 3
pnnx.Input in 0 1 0 #0=(1,2)f32
nn.Relu a 1 1 0 1 #0=(1,2)f32 #1=(1,2)f32
my.Thing b 1 1 1 2 #1=(1,2)f32
pnnx.Output out 1 0 2
"""


def test_classify_prints_the_right_class_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("classify", bundled_photo()) == 0
    lines = capsys.readouterr().out.splitlines()
    assert " ms, " in lines[0]
    assert lines[1].split()[0] == "cat"
    assert "█" in lines[1]
    assert len([line for line in lines[1:] if line.strip()]) == 5


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_classify_draws_plain_bars_where_the_code_page_lacks_blocks(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding=encoding))
    assert run("classify", bundled_photo()) == 0
    lines = written.getvalue().decode(encoding).splitlines()
    assert lines[1].split()[0] == "cat"
    assert set(lines[1].split()[2]) == {"#"}


def test_profile_names_microseconds_where_the_code_page_lacks_the_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding="ascii"))
    assert run("profile", MODEL) == 0
    assert "us" in written.getvalue().decode("ascii").split()


def test_names_that_are_no_text_are_printed_readably(capfd: pytest.CaptureFixture[str]) -> None:
    assert run("classify", "caf\udce9.jpg") == 1
    assert "caf\\udce9.jpg" in capfd.readouterr().err


def test_classify_goes_on_after_a_bad_image(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "notes.jpg"
    bad.write_text("no picture")
    assert run("classify", bad, bundled_photo()) == 1
    out = capsys.readouterr().out
    assert "notes.jpg" in out
    assert "cat" in out


def test_classify_of_one_bad_image_is_one_line_on_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("classify", tmp_path) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("kuiper classify: ")


def test_run_stores_what_the_model_returns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", np.zeros((2, 3, 32, 32), np.float32))
    assert run("run", MODEL, tmp_path / "x.npy", "-o", tmp_path / "y.npy") == 0
    assert np.load(tmp_path / "y.npy").shape == (2, 10)
    assert "output 0: (2, 10) float32" in capsys.readouterr().out


@pytest.mark.parametrize("content", [b"", b"not numpy", b"\x93NUMPY\x01\x00"])
def test_run_refuses_a_file_that_is_no_array(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(content)
    assert run("run", MODEL, path) == 1
    assert "expected a .npy file" in capsys.readouterr().err


def test_run_refuses_pickles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", np.array([{}], dtype=object), allow_pickle=True)
    assert run("run", MODEL, tmp_path / "x.npy") == 1
    assert "expected a .npy file" in capsys.readouterr().err


def test_run_with_the_wrong_number_of_inputs_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("run", MODEL) == 1
    assert "expected 1 inputs" in capsys.readouterr().err


def test_run_checks_the_output_name_before_it_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("run", MODEL, tmp_path / "missing.npy", "-o", tmp_path / "y.txt") == 1
    assert "ends in .npy or .npz" in capsys.readouterr().err


def test_show_prints_shapes_parameters_and_flops(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("show", MODEL) == 0
    out = capsys.readouterr().out
    assert "nn.Linear" in out
    assert "(1, 64, 8, 8)" in out
    assert "FLOPs" in out


def test_show_works_from_a_param_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alone = tmp_path / "alone.pnnx.param"
    shutil.copyfile(MODEL, alone)
    assert run("show", alone) == 1
    assert "alone.pnnx.bin" in capsys.readouterr().err
    assert run("show", alone, "--random-weights") == 0
    assert "nn.Linear" in capsys.readouterr().out


def test_show_lists_all_unsupported_operators(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "unknown.pnnx.param"
    path.write_text(UNKNOWN)
    assert run("show", path) == 1
    captured = capsys.readouterr()
    assert "nn.Relu" in captured.err
    assert "my.Thing" in captured.err
    assert "my.Thing" in captured.out  # the table is there all the same


def test_profile_writes_a_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("profile", MODEL, "--random-weights", "--runs", 2, "--trace", tmp_path / "t.json") == 0
    assert len(json.loads((tmp_path / "t.json").read_text())["traceEvents"]) > 20
    assert "share" in capsys.readouterr().out


def test_plan_prints_every_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("plan", MODEL, "--runs", 2, "--shape", "2,3,32,32") == 0
    out = capsys.readouterr().out
    assert "on (2, 3, 32, 32), " in out
    assert "median of 2 runs" in out
    assert "convbn2d_0+relu" in out
    assert "Winograd" in out
    assert "one arena of" in out


def test_plan_of_inputs_that_do_not_fit_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("plan", MODEL, "--shape", "1,4,32,32") == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "expected input (n, 3, h, w), got (1, 4, 32, 32)" in captured.err


@pytest.mark.parametrize(("words", "types"), [((), "kuiper.FusedConv2d"), (("--no-optimize",), "nn.ReLU")])
def test_profile_times_what_runs(words: tuple[str, ...], types: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("profile", MODEL, "--runs", 1, *words) == 0
    out = capsys.readouterr().out
    assert types in out
    assert ("pnnx.Output" in out) == (not words)  # the engine has a step for it


def test_bench_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("bench", MODEL, "--random-weights", "--runs", 2, "--threads", 1, "--shape", "2,3,32,32", "--json") == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["inputs"] == [[2, 3, 32, 32]]
    assert figures["threads"] == 1
    assert 0 < figures["min_ms"] <= figures["median_ms"] <= figures["max_ms"]


def test_draw_writes_svg(tmp_path: Path) -> None:
    assert run("draw", MODEL, "-o", tmp_path / "net.svg") == 0
    assert (tmp_path / "net.svg").read_text().startswith("<svg")


def test_kuiper_alone_prints_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run()
    assert caught.value.code == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert [command for command in COMMANDS if f"\n    {command} " not in captured.out] == []


def test_a_word_that_is_no_command_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("sing") == 2
    assert capsys.readouterr().err == "kuiper: expected a command, got 'sing'; kuiper --help lists them\n"


@pytest.mark.parametrize("words", [["run"], ["bench", "m.param", "--shape", "x"], ["--nonsense"]])
def test_wrong_usage_exits_with_2(words: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run(*words)
    assert caught.value.code == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run(command, "--help")
    assert caught.value.code == 0
    assert "usage: kuiper" in capsys.readouterr().out


@pytest.mark.parametrize("path", ["nowhere.pnnx.param", "."])
def test_missing_model_is_one_line_on_stderr(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("show", path) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_python_m_kuiper_is_the_same_program() -> None:
    answer = subprocess.run([sys.executable, "-m", "kuiper", "--version"], capture_output=True, text=True, check=True)
    assert answer.stdout.startswith("kuiper ")


@pytest.mark.parametrize("shape", ["(2, 3)", "()", "(0, 5)"])
def test_load_array_reads_arrays_of_every_shape(tmp_path: Path, shape: str) -> None:
    array = np.asfortranarray(np.ones(ast.literal_eval(shape), np.float32))
    np.save(tmp_path / "x.npy", array)
    np.testing.assert_array_equal(load_array(tmp_path / "x.npy"), array)


def test_load_array_asks_for_no_memory_that_the_file_has_not(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones((2, 3), np.float32))
    data = (tmp_path / "x.npy").read_bytes()
    for shape in (b"(99999999999,)}", b"(9, 9), }", b"(-1, 3), }", b"(1" + b"0" * 40 + b",)}"):
        place, size = data.index(b"(2, 3)"), len(data)
        (tmp_path / "huge.npy").write_bytes((data[:place] + shape + b" " * size)[: size - 25] + b"\n" + data[-24:])
        with pytest.raises(DataTypeError, match=r"huge\.npy: expected a .npy file, got \d+ bytes of something else"):
            load_array(tmp_path / "huge.npy")

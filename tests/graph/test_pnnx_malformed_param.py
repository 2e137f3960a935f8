"""Broken .param files: each is one ModelFormatError that names the line, soon and without a big allocation."""

from __future__ import annotations

import os
import re
import time
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from kuiper.errors import ModelFormatError
from kuiper.graph import pnnx

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """7767517
5 4
pnnx.Input               in                       0 1 0 #0=(1,3,4,4)f32
nn.Conv2d                conv                     1 1 0 1 bias=True stride=(1,1) padding=same @bias=(2)f32 \
@weight=(2,3,1,1)f32 $input=0 #0=(1,3,4,4)f32 #1=(1,2,4,4)f32
nn.ReLU                  relu                     1 1 1 2 #1=(1,2,4,4)f32 #2=(1,2,4,4)f32
torch.cat                cat                      2 1 1 2 3 dim=1 #1=(1,2,4,4)f32 #2=(1,2,4,4)f32 #3=(1,4,4,4)f32
pnnx.Output              out                      1 0 3
"""

# What to replace in GOOD, by what, the line that the error names, and a part of its message.
EDITS = {
    "magic_wrong": ("7767517", "7767518", 1, "expected the magic number 7767517, got '7767518'"),
    "magic_missing": ("7767517\n", "", 1, "expected the magic number 7767517, got '5 4'"),
    "magic_with_more": ("7767517", "7767517 1", 1, "the magic number"),
    "magic_of_a_byte_order_mark": ("7767517", "\ufeff7767517", 1, "got '\\ufeff7767517'"),
    "magic_in_foreign_digits": ("7767517", "٧٧٦٧٥١٧", 1, "the magic number"),
    "header_missing": ("5 4\n", "", 2, "two numbers, of operators and of operands"),
    "header_empty": ("5 4", "", 2, "got nothing"),
    "header_of_one": ("5 4", "5", 2, "two numbers, of operators and of operands, got '5'"),
    "header_of_three": ("5 4", "5 4 3", 2, "two numbers"),
    "header_of_words": ("5 4", "five four", 2, "expected a count, got 'five'"),
    "header_of_floats": ("5 4", "5.0 4", 2, "expected a count, got '5.0'"),
    "header_with_underscore": ("5 4", "0_5 4", 2, "expected a count"),
    "header_with_plus": ("5 4", "+5 4", 2, "expected a count"),
    "operators_too_many_declared": ("5 4", "6 4", 2, "a line for each of 6 operators, got 5 lines"),
    "operators_too_few_declared": ("5 4", "4 4", 2, "a line for each of 4 operators, got 5 lines"),
    "operators_none_declared": ("5 4", "0 4", 2, "a line for each of 0 operators, got 5 lines"),
    "operators_negative": ("5 4", "-5 4", 2, "expected a count, got '-5'"),
    "operators_huge": ("5 4", f"{10**18} 4", 2, "a line for each of 1000000000000000000 operators"),
    "operators_beyond_64_bits": ("5 4", f"{10**30} 4", 2, "expected a count"),
    "operators_of_10000_digits": ("5 4", f"{'9' * 10_000} 4", 2, "expected a count"),
    "operands_too_few_declared": ("5 4", "5 3", 2, "expected at most 3 operands, got 4 on the lines below"),
    "operands_negative": ("5 4", "5 -4", 2, "expected a count, got '-4'"),
    "operands_beyond_64_bits": ("5 4", f"5 {10**30}", 2, "expected a count"),
    "file_cut_between_lines": ("pnnx.Output              out                      1 0 3\n", "", 2, "got 4 lines"),
    "file_cut_inside_a_name": ("out                      1 0 3\n", "ou", 7, "type, name, number of inputs and of"),
    "file_cut_before_the_operand": ("1 0 3\n", "1 0", 7, "expected 1 inputs and 0 outputs, got 0 operands"),
    "line_empty": ("nn.ReLU ", "\nnn.ReLU ", 2, "got 6 lines"),
    "line_empty_but_counted": ("5 4\n", "6 4\n\n", 3, "got an empty line"),
    "line_without_counts": ("relu                     1 1 1 2", "relu", 5, "a number of operands, got '#1="),
    "input_count_a_word": ("1 1 0 1 bias", "x 1 0 1 bias", 4, "expected a number of operands, got 'x'"),
    "input_count_negative": ("1 1 0 1 bias", "-1 1 0 1 bias", 4, "expected a number of operands, got '-1'"),
    "input_count_too_big": ("1 1 0 1 bias", "9 1 0 1 bias", 4, "expected 9 inputs and 1 outputs, got 2 operands"),
    "input_count_too_big_by_one": ("1 1 0 1 bias", "2 1 0 1 bias", 4, "expected 2 inputs and 1 outputs, got 2"),
    "input_count_too_small": ("2 1 1 2 3", "1 1 1 2 3", 6, "a new operand, got '2', which has a producer already"),
    "input_count_huge": ("1 1 0 1 bias", f"{10**18} 1 0 1 bias", 4, "got 2 operands"),
    "input_count_beyond_64_bits": ("1 1 0 1 bias", f"{2**64} 1 0 1 bias", 4, "a number of operands"),
    "output_count_huge": ("1 1 0 1 bias", f"1 {2**63 - 1} 0 1 bias", 4, "got 2 operands"),
    "output_count_negative": ("1 1 0 1 bias", "1 -1 0 1 bias", 4, "expected a number of operands, got '-1'"),
    "output_count_too_small": ("1 1 1 2 #1", "1 0 1 2 #1", 5, "expected a field key=value, got '2'"),
    "output_count_too_big": ("0 1 0 #0", "0 2 0 #0", 3, "expected 0 inputs and 2 outputs, got 1 operands"),
    "operand_undefined": (
        "2 1 1 2 3",
        "2 1 1 7 3",
        6,
        "expected an operand that exists, got '7'; an operand is produced",
    ),
    "operand_used_before_its_producer": ("1 1 0 1 bias", "1 1 3 1 bias", 4, "an operand that exists, got '3'"),
    "operand_consumed_by_its_producer": ("1 1 1 2 #1", "1 1 2 2 #1", 5, "an operand that exists, got '2'"),
    "operand_of_the_output_undefined": ("1 0 3", "1 0 4", 7, "an operand that exists, got '4'"),
    "operand_with_two_producers": ("2 1 1 2 3", "2 1 1 2 2", 6, "got '2', which has a producer already"),
    "operand_produced_twice_on_a_line": ("0 1 0 #0", "0 2 0 0 #0", 3, "got '0', which has a producer already"),
    "input_that_consumes": ("nn.ReLU ", "pnnx.Input ", 5, "a pnnx.Input with outputs only, got 1 in, 1 out"),
    "input_without_outputs": ("0 1 0 #0=(1,3,4,4)f32", "0 0", 3, "a pnnx.Input with outputs only, got 0 in, 0 out"),
    "output_that_produces": ("nn.ReLU ", "pnnx.Output ", 5, "a pnnx.Output with inputs only, got 1 in, 1 out"),
    "output_without_inputs": ("1 0 3", "0 0", 7, "a pnnx.Output with inputs only, got 0 in, 0 out"),
    "no_output": ("pnnx.Output", "nn.Identity", None, "expected a pnnx.Output, got 5 operators without one"),
    "field_without_value": (" bias=True", " bias", 4, "expected a field key=value, got 'bias'"),
    "field_without_key": ("bias=True", "=True", 4, "expected a field key=value, got '=True'"),
    "field_of_a_bare_mark": ("$input=0", "$", 4, "expected a field key=value, got '$'"),
    "field_of_a_mark_without_key": ("$input=0", "$=0", 4, "expected a field key=value, got '$=0'"),
    "parameter_twice": ("bias=True", "bias=True bias=True", 4, "every parameter once, got a second 'bias'"),
    "parameter_with_an_unclosed_list": ("stride=(1,1)", "stride=(1,1", 4, "a list that ends with ')', got '(1,1'"),
    "parameter_with_an_unopened_list": ("stride=(1,1)", "stride=1,1)", 4, "an integer of 64 bits, got '1,1)'"),
    "parameter_with_crossed_brackets": ("stride=(1,1)", "stride=[1,1)", 4, "a list that ends with ']'"),
    "parameter_with_a_mixed_list": ("stride=(1,1)", "stride=(1,x)", 4, "a list whose items are of one type"),
    "parameter_with_ints_and_floats": ("stride=(1,1)", "stride=(1,1.0)", 4, "a list whose items are of one type"),
    "parameter_with_an_empty_item": ("stride=(1,1)", "stride=(1,)", 4, "a list of numbers or of words, got '(1,)'"),
    "parameter_with_nested_lists": ("stride=(1,1)", "stride=((1,1))", 4, "a list of numbers or of words"),
    "parameter_with_deep_brackets": ("stride=(1,1)", f"stride={'(' * 50_000}", 4, "a list that ends with ')'"),
    "parameter_with_deep_lists": ("(1,1) padding", f"{'[' * 9999}{']' * 9999} padding", 4, "a list of numbers"),
    "parameter_beyond_64_bits": ("stride=(1,1)", "stride=9223372036854775808", 4, "an integer of 64 bits"),
    "parameter_of_10000_digits": ("stride=(1,1)", f"stride={'1' * 10_000}", 4, "an integer of 64 bits"),
    "parameter_list_beyond_64_bits": ("stride=(1,1)", f"stride=(1,{10**20})", 4, "an integer of 64 bits"),
    "parameter_that_overflows_a_float": ("stride=(1,1)", "stride=1e999", 4, "a number of 64 bits, got '1e999'"),
    "parameter_with_two_points": ("stride=(1,1)", "stride=1.2.3", 4, "a number of 64 bits, got '1.2.3'"),
    "parameter_with_digits_and_letters": ("stride=(1,1)", "stride=3px", 4, "an integer of 64 bits, got '3px'"),
    "weight_without_shape": ("@bias=(2)f32", "@bias", 4, "expected a field key=value, got '@bias'"),
    "weight_with_an_empty_shape": ("@bias=(2)f32", "@bias=", 4, "a shape and a type like (1,64)f32, got ''"),
    "weight_without_type": ("@bias=(2)f32", "@bias=(2)", 4, "one of the types null f32"),
    "weight_of_unknown_type": ("@bias=(2)f32", "@bias=(2)f31", 4, "c32 bf16, got 'f31'"),
    "weight_without_brackets": ("@bias=(2)f32", "@bias=2f32", 4, "a shape and a type like (1,64)f32"),
    "weight_with_an_unclosed_shape": ("@bias=(2)f32", "@bias=(2f32", 4, "a shape and a type like (1,64)f32"),
    "weight_of_negative_size": ("@bias=(2)f32", "@bias=(-2)f32", 4, "a size from 0 to 2147483647, got '-2'"),
    "weight_of_huge_size": ("@bias=(2)f32", f"@bias=({2**31})f32", 4, "a size from 0 to 2147483647"),
    "weight_of_unknown_size": (
        "@bias=(2)f32",
        "@bias=(?)f32",
        4,
        "a known shape for the weight 'conv.bias', got '(?)f32'",
    ),
    "weight_of_named_size": ("@bias=(2)f32", "@bias=(%n)f32", 4, "a known shape for the weight 'conv.bias'"),
    "weight_of_a_word": ("@bias=(2)f32", "@bias=(two)f32", 4, "a size from 0 to 2147483647, got 'two'"),
    "weight_with_a_gap": ("@weight=(2,3,1,1)f32", "@weight=(2,,1,1)f32", 4, "a size from 0 to 2147483647, got ''"),
    "weight_twice": (
        "@bias=(2)f32",
        "@bias=(2)f32 @bias=(2)f32",
        4,
        "expected every weight once, got a second 'conv.bias'",
    ),
    "shape_of_a_foreign_operand": ("#2=(1,2,4,4)f32\n", "#0=(1,2,4,4)f32\n", 5, "the shape of an operand of this"),
    "shape_of_an_unknown_operand": ("#2=(1,2,4,4)f32\n", "#x=(1,2,4,4)f32\n", 5, "the shape of an operand of this"),
    "shape_that_contradicts": ("#3=(1,4,4,4)f32", "#1=(1,5,4,4)f32", 6, "operand '1' to be (1,2,4,4)f32 as above"),
    "shape_of_unknown_type": ("#3=(1,4,4,4)f32", "#3=(1,4,4,4)float", 6, "one of the types null f32"),
    "shape_of_negative_size": ("#3=(1,4,4,4)f32", "#3=(1,-1,4,4)f32", 6, "a size from 0 to 2147483647, got '-1'"),
    "shape_of_huge_size": ("#3=(1,4,4,4)f32", f"#3=(1,{10**20},4)f32", 6, "a size from 0 to 2147483647"),
    "shape_without_value": ("#3=(1,4,4,4)f32", "#3", 6, "expected a field key=value, got '#3'"),
    "shape_with_a_nameless_size": ("#3=(1,4,4,4)f32", "#3=(1,%)f32", 6, "a size from 0 to 2147483647, got '%'"),
    "input_name_for_a_stranger": ("$input=0", "$input=7", 4, "a name for an input of this operator, got '$input=7'"),
    "input_name_for_an_output": ("$input=0", "$input=1", 4, "a name for an input of this operator"),
    "input_name_without_operand": ("$input=0", "$input=", 4, "a name for an input of this operator, got '$input='"),
    "input_named_twice": ("$input=0", "$input=0 $other=0", 4, "a name for an input of this operator, got '$other=0'"),
    "nul_character": ("nn.ReLU", "nn.Re\0LU", 5, "expected text, got the control character '\\x00'"),
    "form_feed": ("nn.ReLU ", "nn.ReLU\f", 5, "the control character '\\x0c'"),
    "escape": ("7767517\n", "7767517\n\x1b[31m", 2, "the control character '\\x1b'"),
    "line_ends_of_an_old_mac": ("\n", "\r", 1, "the control character '\\r'"),
    "line_ends_of_unicode": ("\n", "\u2028", 1, "the magic number 7767517, got"),
    "line_too_long": ("bias=True", f"bias={'x' * 2**20}", 4, "a line of at most 1048576 characters"),
}

FILES = {
    "empty": (b"", 1, "the magic number 7767517, got an empty file"),
    "blank": (b"\n \r\n\t\n", 1, "the magic number 7767517, got an empty file"),
    "magic_only": (b"7767517\n", 2, "two numbers, of operators and of operands, got nothing"),
    "no_operators": (b"7767517\n0 0\n", None, "expected a pnnx.Output, got 0 operators without one"),
    "zip": (b"PK\x03\x04\0\0\0\0", 1, "the control character"),
    "garbage": (bytes(range(255, 0, -1)) * 20, 1, "expected UTF-8 text, got the byte 0xff; is this a .param file?"),
    "latin_1": (GOOD.replace("relu", "relü").encode("latin-1"), 5, "expected UTF-8 text, got the byte 0xfc"),
    "utf_16": (GOOD.encode("utf-16"), 1, "expected UTF-8 text, got the byte 0xff"),
    "cut_inside_a_character": (GOOD.encode() + b"\xc3", 8, "expected UTF-8 text, got the byte 0xc3"),
    "surrogate": (GOOD.replace("relu", "rel\ud800").encode("utf-8", "surrogatepass"), 5, "expected UTF-8 text"),
    "html": (b"<!DOCTYPE html>\n<html>404</html>\n", 1, "the magic number 7767517, got '<!DOCTYPE html>'"),
    "json": (b'{"graph": []}', 1, "the magic number 7767517"),
    "one_long_line": (b"7767517 " * 200_000, 1, "the magic number 7767517"),
    "many_short_lines": (
        b"7767517\n9 9\n" + b"\n" * 10**6 + b"x",
        2,
        "a line for each of 9 operators, got 1000001 lines",
    ),
}


def refusal(path: Path, bin_path: Path | None = None) -> ModelFormatError:
    """The error of loading; checks that it comes within a second and that no memory was taken for it."""
    size = path.stat().st_size if path.exists() else 0
    tracemalloc.start()
    start = time.process_time()
    try:
        with pytest.raises(ModelFormatError) as caught:
            pnnx.load(path, bin_path, weights=bin_path is not None)
        assert time.process_time() - start < 1
        assert tracemalloc.get_traced_memory()[1] < 6 * size + 10**6
    finally:
        tracemalloc.stop()
    assert type(caught.value) is ModelFormatError
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < len(str(path)) + 400
    return caught.value


def place(path: Path, line: int | None) -> str:
    return f"{path}" if line is None else f"{path}:{line}"


@pytest.mark.parametrize("name", EDITS)
def test_edited_file_is_refused(name: str, tmp_path: Path) -> None:
    old, new, line, message = EDITS[name]
    assert old in GOOD
    path = tmp_path / "bad.pnnx.param"
    path.write_bytes(GOOD.replace(old, new, -1 if old == "\n" else 1).encode())
    error = refusal(path)
    assert error.where == place(path, line)
    assert message in str(error)


@pytest.mark.parametrize("name", FILES)
def test_file_of_another_kind_is_refused(name: str, tmp_path: Path) -> None:
    data, line, message = FILES[name]
    path = tmp_path / "bad.pnnx.param"
    path.write_bytes(data)
    error = refusal(path)
    assert error.where == place(path, line)
    assert message in str(error)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    error = refusal(tmp_path / "no.pnnx.param")
    assert str(error) == f"{tmp_path / 'no.pnnx.param'}: expected a file, got nothing there"


def test_directory_is_refused(tmp_path: Path) -> None:
    assert "expected a file, got a directory" in str(refusal(tmp_path))


def test_path_with_a_nul_is_refused(tmp_path: Path) -> None:
    assert re.search("expected a file, got .*embedded null", str(refusal(tmp_path / "a\0b.param")))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.param")
    assert "expected a file, got a special file" in str(refusal(tmp_path / "pipe.param"))


def test_file_beyond_any_model_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "big.pnnx.param"
    with path.open("wb") as file:
        file.truncate(2**36)
    start = time.process_time()
    with pytest.raises(ModelFormatError, match="expected at most 33554432 bytes of text, got 68719476736"):
        pnnx.load(path, weights=False)
    assert time.process_time() - start < 1


def test_param_of_ncnn_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "m.ncnn.param"
    path.write_text("7767517\n2 2\nInput in0 0 1 in0\nReLU relu_0 1 1 in0 out0\n")
    assert "an .ncnn.param is another format" in str(refusal(path))


def test_name_without_param_needs_a_bin_path(tmp_path: Path) -> None:
    path = tmp_path / "model.txt"
    path.write_text(GOOD)
    with pytest.raises(
        ModelFormatError, match=r"expected a name that ends in 'param', got model.txt; or pass bin_path"
    ):
        pnnx.load(path)


def test_operators_of_one_name_may_have_weights_of_one_name() -> None:
    text = GOOD.replace("relu  ", "conv  ").replace("1 1 1 2 #1", "1 1 1 2 @bias=(7)f32 #1")
    assert [op.attrs["bias"].shape for op in pnnx.parse_param(text, "twice").operators[1:3]] == [(2,), (7,)]


def test_operands_may_be_counted_that_stand_on_no_line() -> None:
    graph = pnnx.parse_param(GOOD.replace("5 4", f"5 {10**18}"), "generous")
    assert len(graph.operands) == 4


def test_very_wide_line_is_read_in_linear_time(tmp_path: Path) -> None:
    count = 50_000
    words = " ".join(["0"] * count + ["1"] + [f"$k{i}=0" for i in range(count)])
    path = tmp_path / "wide.param"
    path.write_text(f"7767517\n3 2\npnnx.Input i 0 1 0\nA a {count} 1 {words}\npnnx.Output o 1 0 1\n")
    start = time.process_time()
    graph = pnnx.load(path, weights=False)
    assert graph.operators[1].input_names[-1] == f"k{count - 1}"
    assert time.process_time() - start < 2
    path.write_text(f"7767517\n2 1\nA a 0 1 0 k=x {'x ' * 300_000}\npnnx.Output o 1 0 0\n")
    assert pnnx.load(path, weights=False).operators[0].params["k"].text.count(" ") == 300_000


def test_more_operators_or_operands_than_fit_into_the_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kuiper.graph.pnnx.param_reader.MAX_COUNT", 4)
    with pytest.raises(ModelFormatError, match="huge:2: expected at most 4 operators, got 5"):
        pnnx.parse_param(GOOD, "huge")
    many = "7767517\n2 9\npnnx.Input in 0 5 0 1 2 3 4\npnnx.Output out 1 0 1\n"
    with pytest.raises(ModelFormatError, match="huge:3: expected at most 4 operands, got more"):
        pnnx.parse_param(many, "huge")

from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ParameterError
from kuiper.models.conversion.input_spec import InputSpec, draw_inputs


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("1,3,224,224", InputSpec((1, 3, 224, 224))),
        ("(2, 3)", InputSpec((2, 3))),
        ("5:bool", InputSpec((5,), "bool")),
        ("1,10:i64:-5..999", InputSpec((1, 10), "i64", (-5, 999))),
        ("4:f32:0..0.5", InputSpec((4,), "f32", (0, 0.5))),
        ("4::0..49", InputSpec((4,), "", (0, 49))),
        ("():f32", InputSpec((), "f32")),
    ],
)
def test_parse_reads_sizes_type_and_range(text: str, spec: InputSpec) -> None:
    assert InputSpec.parse(text) == spec


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "1,,3",
        "1,3:",
        "1:i65",
        "1:f32:0",
        "1:f32:5..1",
        "1:f32:a..b",
        "0,3",
        "-1",
        "70000,70000",
        "1:i64:0..9:",
    ],
)
def test_parse_refuses_anything_else(text: str) -> None:
    with pytest.raises(ParameterError, match=r"--input: expected .*, got "):
        InputSpec.parse(text)


def test_draws_stay_in_their_range() -> None:
    generator = np.random.default_rng(0)
    words = InputSpec.parse("1000:i64:3..7").draw(generator)
    assert words.dtype == np.int64
    assert set(words.tolist()) == {3, 4, 5, 6, 7}
    fractions = InputSpec.parse("1000:f32:0..0.5").draw(generator)
    assert fractions.dtype == np.float32
    assert 0 <= fractions.min() < 0.1 < 0.4 < fractions.max() <= 0.5
    assert set(InputSpec.parse("100:bool").draw(generator).tolist()) == {False, True}
    assert InputSpec.parse("1000:u8").draw(generator).max() > 200
    assert InputSpec.parse("1000:i32").draw(generator).max() == 9


def test_the_seed_decides_all_inputs() -> None:
    specs = [InputSpec((3,)), InputSpec((3,))]
    first, again, other = draw_inputs(specs, 1), draw_inputs(specs, 1), draw_inputs(specs, 2)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert not np.array_equal(first[0], first[1])

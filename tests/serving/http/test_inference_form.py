"""Bodies of the Open Inference Protocol that mean harm: one clear error, whatever they are."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kuiper.serving.http.api_error import ApiError
from kuiper.serving.http.inference_form import Inference, read_inference
from kuiper.serving.http.limits import Limits
from kuiper.serving.http.tensors import DATATYPES

LIMITS = Limits(body_bytes=10_000, tensor_bytes=10_000)
PARAMETERS = {"binary_data_size": 8, "binary_data": True, "binary_data_output": True}
BODY: dict[str, Any] = {
    "id": "1",
    "parameters": {"binary_data_output": True},
    "inputs": [
        {"name": "x", "shape": [2, 2], "datatype": "FP32", "data": [[1, 2], [3, 4]]},
        {"name": "y", "shape": [2], "datatype": "INT32", "parameters": {"binary_data_size": 8}},
    ],
    "outputs": [{"name": "z", "parameters": {"binary_data": True}}, {"name": "u"}],
}

numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=5) | st.sampled_from([*DATATYPES, "BYTES", "x", "y"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["name", "shape", "datatype", "data", *PARAMETERS]), inner, max_size=4)
    ),
    max_leaves=8,
)


def read(data: bytes, head: str | None) -> Inference | None:
    """What is asked; None if it was refused with one sentence."""
    try:
        return read_inference(data, head, LIMITS)
    except ApiError as error:
        refusal = error
    assert refusal.status in (400, 413)
    assert 0 < len(str(refusal)) < 2000
    return None


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to all parts of a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, part in items for place in places(part, (*path, key)))]


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_a_body_of_which_one_part_is_another_is_read_or_refused(data: st.DataObject) -> None:
    body: Any = copy.deepcopy(BODY)
    place = data.draw(st.sampled_from(places(BODY)))
    value = data.draw(values)
    if place:
        part = body
        for key in place[:-1]:
            part = part[key]
        part[place[-1]] = value
    else:
        body = value
    text = json.dumps(body).encode()
    found = read(text + np.int32([5, 6]).tobytes(), str(len(text)))
    for array in found.inputs.values() if found else ():
        assert array.dtype.newbyteorder("<") in DATATYPES.values()
        assert array.size <= LIMITS.tensor_bytes


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60), st.none() | st.text(max_size=5) | st.integers(-2, 80).map(str))
def test_bytes_are_read_or_refused(data: bytes, head: str | None) -> None:
    read(data, head)


def test_the_body_that_was_changed_is_right() -> None:
    text = json.dumps(BODY).encode()
    found = read(text + np.int32([5, 6]).tobytes(), str(len(text)))
    assert found is not None
    assert {name: array.tolist() for name, array in found.inputs.items()} == {"x": [[1, 2], [3, 4]], "y": [5, 6]}
    assert (found.identity, found.outputs, found.is_binary) == ("1", {"z": True, "u": False}, True)

"""A request of the Open Inference Protocol and its answer: JSON, and behind it the arrays in binary form, if any.

Sources: the Open Inference Protocol, version 2 (KServe); Triton's "Binary tensor data extension".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from starlette.responses import Response

from kuiper.serving.http.api_error import ApiError, wrong_field
from kuiper.serving.http.body import json_value
from kuiper.serving.http.fields import Fields
from kuiper.serving.http.json_response import json_bytes
from kuiper.serving.http.tensors import DATATYPES, checked_shape, datatype_of, of_bytes, of_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.serving.http.limits import Limits
    from kuiper.serving.http.tensors import Array, TensorSpec

HEAD_LENGTH = "inference-header-content-length"
"""The header that says how many bytes of a body are JSON."""

_MOST_TENSORS = 256


@dataclass(frozen=True)
class Inference:
    """What is asked of a network."""

    identity: str | None
    inputs: dict[str, Array]
    outputs: dict[str, bool] | None
    """Those that are wanted, and whether each in binary form; None for all."""
    is_binary: bool
    """Of outputs that are not named."""


def read_inference(data: bytes, head: str | None, limits: Limits) -> Inference:
    """What a body asks for.

    Parameters
    ----------
    data : the body
    head : what HEAD_LENGTH says, or None
    limits : of the server

    Raises
    ------
    ApiError
        If it is not as it must be.

    Examples
    --------
    >>> from kuiper.serving.http.limits import Limits
    >>> body = b'{"inputs": [{"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [1, 2]}]}'
    >>> read_inference(body, None, Limits()).inputs["x"]
    array([[1., 2.]], dtype=float32)
    """
    json_size = len(data) if head is None else _head_length(head, len(data))
    if json_size > limits.body_bytes:
        raise ApiError(413, f"body: expected at most {limits.body_bytes} bytes of JSON, got {json_size}")
    fields, rest = Fields(json_value(data[:json_size])), memoryview(data)[json_size:]
    inputs: dict[str, Array] = {}
    for name, tensor in _tensors(fields.take("inputs"), "inputs").items():
        inputs[name], rest = _input(name, tensor, rest, limits)
    if rest:
        message = f"body: expected as much binary data as the inputs say, got {len(rest)} bytes more"
        raise ApiError(400, message, param="inputs")
    asked = fields.take("outputs")
    outputs = None if asked is None else {name: _output(name, one) for name, one in _tensors(asked, "outputs").items()}
    identity = fields.take("id")
    if identity is not None and (not isinstance(identity, str) or len(identity) > 256):
        raise wrong_field("id", "a text of at most 256 characters", identity)
    is_binary = _binary(_parameters(fields, "parameters"), "binary_data_output", "parameters")
    _nothing_else(fields, "body")
    return Inference(identity, inputs, outputs, is_binary)


def answer(model: str, asked: Inference, outputs: dict[str, Array], limits: Limits) -> Any:
    """The answer with these outputs of a network.

    Raises
    ------
    ApiError
        If one that is wanted is not there, or is nothing that the protocol has.
    """
    wanted = dict.fromkeys(outputs, asked.is_binary) if asked.outputs is None else asked.outputs
    if missing := [name for name in wanted if name not in outputs]:
        raise wrong_field("outputs", f"outputs among {', '.join(outputs)}", missing[0])
    tensors, blobs = [], list[bytes]()
    for name, is_binary in wanted.items():
        array = outputs[name]
        tensor: dict[str, Any] = {"name": name, "datatype": datatype_of(array.dtype), "shape": list(array.shape)}
        if not tensor["datatype"]:
            raise ApiError(400, f"{name}: expected numbers that this protocol has, got {array.dtype}")
        if is_binary:
            blobs.append(np.asarray(array, array.dtype.newbyteorder("<")).tobytes())
            tensor["parameters"] = {"binary_data_size": len(blobs[-1])}
        else:
            tensor["data"] = _json_data(name, array, limits)
        tensors.append(tensor)
    head = {"model_name": model, **({} if asked.identity is None else {"id": asked.identity}), "outputs": tensors}
    content = json_bytes(head)
    if not blobs:
        return Response(content, media_type="application/json")
    headers = {HEAD_LENGTH: str(len(content))}
    return Response(b"".join([content, *blobs]), headers=headers, media_type="application/octet-stream")


def in_order(inputs: dict[str, Array], specs: Sequence[TensorSpec]) -> list[Array]:
    """The inputs in the order of the network.

    Raises
    ------
    ApiError
        If there are others, or one is of another datatype.
    """
    names = [spec.name for spec in specs]
    if sorted(inputs) != sorted(names):
        message = f"inputs: expected {', '.join(names) or 'none'}, got {', '.join(inputs)[:200] or 'none'}"
        raise ApiError(400, message, param="inputs")
    for spec in specs:
        got = datatype_of(inputs[spec.name].dtype)
        if got != spec.datatype:
            raise ApiError(400, f"{spec.name}.datatype: expected {spec.datatype}, got {got}", param="inputs")
    return [inputs[name] for name in names]


def _head_length(text: str, most: int) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 12 or int(text) > most:
        raise wrong_field(HEAD_LENGTH, f"a number of bytes from 0 to the {most} of the body", text)
    return int(text)


def _tensors(given: object, where: str) -> dict[str, Fields]:
    """Objects with names of their own."""
    if not isinstance(given, list) or len(given) > _MOST_TENSORS:
        raise wrong_field(where, f"a list of at most {_MOST_TENSORS} objects", given)
    found: dict[str, Fields] = {}
    for one in given:
        fields = Fields(one)
        name = fields.text("name")
        if name in found:
            raise wrong_field(where, "names of their own", name)
        found[name] = fields
    return found


def _input(name: str, fields: Fields, rest: memoryview, limits: Limits) -> tuple[Array, memoryview]:
    """An input, and what is left of the binary data behind its own."""
    where = name[:80]
    datatype = fields.text("datatype")
    if datatype not in DATATYPES:
        raise wrong_field(f"{where}.datatype", f"one of {', '.join(DATATYPES)}", datatype)
    shape = checked_shape(where, fields.take("shape"), limits.tensor_bytes)
    parameters, data = _parameters(fields, f"{where}.parameters"), fields.take("data")
    size = parameters.whole("binary_data_size", None, 0, limits.tensor_bytes)
    _nothing_else(parameters, f"{where}.parameters")
    _nothing_else(fields, where)
    if (size is None) == (data is None):
        message = f"{where}: expected either data or binary_data_size, got {'neither' if data is None else 'both'}"
        raise ApiError(400, message, param="inputs")
    if size is None:
        return of_json(where, data, datatype, shape), rest
    if size > len(rest):
        raise wrong_field(f"{where}.binary_data_size", f"at most the {len(rest)} bytes behind the JSON", size)
    return of_bytes(where, rest[:size], datatype, shape), rest[size:]


def _output(name: str, fields: Fields) -> bool:
    """Whether an output is wanted in binary form."""
    where = name[:80]
    is_binary = _binary(_parameters(fields, f"{where}.parameters"), "binary_data", f"{where}.parameters")
    _nothing_else(fields, where)
    return is_binary


def _parameters(fields: Fields, where: str) -> Fields:
    value = fields.take("parameters")
    if value is not None and not isinstance(value, dict):
        raise wrong_field(where, "an object", value)
    return Fields(value or {})


def _binary(parameters: Fields, name: str, where: str) -> bool:
    found = parameters.switch(name)
    _nothing_else(parameters, where)
    return found


def _nothing_else(fields: Fields, where: str) -> None:
    """Shared memory, sequences, classes: what other servers have."""
    if left := fields.left():
        raise ApiError(400, f"{where}: expected fields that this server has, got {left[0][:80]!r}", param=left[0][:80])


def _json_data(name: str, array: Array, limits: Limits) -> list[Any]:
    hint = "ask for binary_data"
    if array.size > limits.json_numbers:
        raise ApiError(400, f"{name}: expected at most {limits.json_numbers} numbers in JSON, got {array.size}; {hint}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ApiError(400, f"{name}: expected numbers that JSON has, got infinite ones or NaN; {hint}")
    return list(array.ravel().tolist())

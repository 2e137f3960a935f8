"""NVIDIA's client, ``tritonclient[http]``, on a running server."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tritonclient.http as triton
from tritonclient.utils import InferenceServerException

import kuiper
from kuiper.models import bundled
from tests.serving.http.networks import of_type, sums

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WAIT = 60.0
INPUT, OUTPUT = "pnnx_input_0", "pnnx_output_0"


@contextmanager
def served() -> Iterator[str]:
    """Where a server with a few networks is."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [sums(folder), *(of_type(folder, kind) for kind in (1, 3, 7, 9, 11))]
        command = [sys.executable, "-m", "kuiper", "serve", "--port", "0", "cifar_resnet20", *map(str, paths)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            assert server.stdout is not None
            place = server.stdout.readline().split("/v1")[0].removeprefix("http://")
            try:
                with triton.InferenceServerClient(place) as client:
                    until = time.monotonic() + WAIT
                    while not is_ready(client):
                        assert time.monotonic() < until
                        time.sleep(0.05)
                yield place
            finally:
                server.terminate()


def is_ready(client: Any) -> bool:
    try:
        return bool(client.is_server_ready())
    except OSError:
        return False


def tensor(name: str, array: np.ndarray, is_binary: bool) -> Any:
    names = {"float32": "FP32", "float64": "FP64", "bool": "BOOL"}
    found = triton.InferInput(name, array.shape, names.get(array.dtype.name, array.dtype.name.upper()))
    found.set_data_from_numpy(array, binary_data=is_binary)
    return found


def describes_itself(place: str) -> None:
    with triton.InferenceServerClient(place) as client:
        assert client.is_server_live()
        assert client.is_model_ready("sums")
        assert not client.is_model_ready("gpt")
        assert client.get_server_metadata()["name"] == "kuiper"
        found = client.get_model_metadata("sums")
        assert [one["name"] for one in found["outputs"]] == ["sum", "difference"]
        assert found["inputs"][0] == {"name": "x", "datatype": "FP32", "shape": [-1, 3]}


def takes_both_forms(place: str) -> None:
    x, y = np.random.default_rng(0).standard_normal((2, 4, 3)).astype(np.float32)
    with triton.InferenceServerClient(place) as client:
        for is_binary in (False, True):
            outputs = [triton.InferRequestedOutput(name, binary_data=not is_binary) for name in ("difference", "sum")]
            inputs = [tensor("y", y, is_binary), tensor("x", x, is_binary)]
            for wanted in (None, outputs):
                found = client.infer("sums", inputs, outputs=wanted, request_id="7")
                assert np.array_equal(found.as_numpy("sum"), x + y)
                assert np.array_equal(found.as_numpy("difference"), x - y)
                assert found.get_response()["id"] == "7"


def takes_every_datatype(place: str) -> None:
    with triton.InferenceServerClient(place) as client:
        for name, array in {
            "float": np.float32([[0.5, -1]]), "double": np.float64([[0.1, 1e300]]), "int8": np.int8([[-128, 127]]),
            "int64": np.int64([[-(2**63), 2**63 - 1]]), "bool": np.array([[True, False]]),
        }.items():  # fmt: skip
            for is_binary in (False, True):
                found = client.infer(name, [tensor("x", array, is_binary)]).as_numpy("y")
                assert (found.dtype, found.tobytes()) == (array.dtype, array.tobytes()), name


def errors_are_read(place: str) -> None:
    x = np.zeros((1, 3), np.float32)
    with triton.InferenceServerClient(place) as client:
        for name, inputs, words in (
            ("gpt", [tensor("x", x, True)], "expected one of"),
            ("sums", [tensor("x", x, True)], "inputs: expected x, y, got x"),
            ("sums", [tensor("x", x, True), tensor("y", x.astype(np.float64), True)], "expected FP32, got FP64"),
            ("sums", [tensor("x", x[0], True), tensor("y", x, True)], "expected 2 axes"),
        ):
            said = ""
            try:
                client.infer(name, inputs)
            except InferenceServerException as error:
                said = str(error)
            assert words in said, said


def many_at_once_have_the_bits_of_one(place: str) -> None:
    graph = kuiper.load(bundled("cifar_resnet20"))
    pictures = np.random.default_rng(1).standard_normal((64, 1, 3, 32, 32)).astype(np.float32)

    def ask(part: np.ndarray) -> list[bytes]:
        with triton.InferenceServerClient(place) as client:
            found = [client.infer("cifar_resnet20", [tensor(INPUT, x, True)]).as_numpy(OUTPUT) for x in part]
        return [one.tobytes() for one in found]

    with ThreadPoolExecutor(8) as threads:
        found = [one for part in threads.map(ask, np.split(pictures, 8)) for one in part]
    assert found == [graph.forward(x).tobytes() for x in pictures]


CHECKS: dict[str, Callable[[str], None]] = {
    f"tritonclient {check.__name__.replace('_', ' ')}": check
    for check in (
        describes_itself,
        takes_both_forms,
        takes_every_datatype,
        errors_are_read,
        many_at_once_have_the_bits_of_one,
    )
}

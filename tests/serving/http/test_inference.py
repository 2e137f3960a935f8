"""The Open Inference Protocol, version 2: what is served, arrays in JSON and in binary form, and everything wrong."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from kuiper.models import bundled
from kuiper.serving.http.application import create_application
from kuiper.serving.http.limits import Limits
from kuiper.serving.http.loading import load_models
from kuiper.serving.http.network import Batching, ServedNetwork
from kuiper.serving.http.tensors import DATATYPES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.testclient import TestClient

pytest.importorskip("onnx")  # in the extra "dev"

from onnx import TensorProto

from tests.serving.http.applications import LIMITS, served
from tests.serving.http.networks import of_type, rows_of_table, sums

HEAD = "inference-header-content-length"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("networks")
    with served(sums(folder), rows_of_table(folder), "cifar_resnet20", "shapes_unet", "tang") as (client, _):
        yield client


def tensor(name: str, array: Any, datatype: str = "FP32") -> dict[str, Any]:
    values = np.array(array)
    return {"name": name, "shape": list(values.shape), "datatype": datatype, "data": values.tolist()}


def binary(head: dict[str, Any], *arrays: Any) -> dict[str, Any]:
    """What a client posts in binary form."""
    text = json.dumps(head).encode()
    content = text + b"".join(array.tobytes() for array in arrays)
    return {"content": content, "headers": {HEAD: str(len(text)), "content-type": "application/octet-stream"}}


def announced(name: str, array: Any, datatype: str = "FP32") -> dict[str, Any]:
    """An input whose numbers come behind the JSON."""
    parameters = {"binary_data_size": array.nbytes}
    return {"name": name, "shape": list(array.shape), "datatype": datatype, "parameters": parameters}


def outputs_of(answer: Any) -> dict[str, Any]:
    """The arrays of an answer, whatever their form."""
    size = int(answer.headers.get(HEAD, len(answer.content)))
    at, found = size, {}
    for output in json.loads(answer.content[:size])["outputs"]:
        dtype = DATATYPES[output["datatype"]]
        if "data" in output:
            array = np.array(output["data"], dtype)
        else:
            array = np.frombuffer(answer.content[at : (at := at + output["parameters"]["binary_data_size"])], dtype)
        found[output["name"]] = array.reshape(output["shape"])
    assert at == len(answer.content) or HEAD not in answer.headers
    return found


XY = {"inputs": [tensor("x", [[1.0, 2.0, 3.0]]), tensor("y", [[0.5, 0.25, 0.125]])]}


def test_server_and_models_are_described(client: TestClient) -> None:
    assert client.get("/v2").json() == {
        "name": "kuiper", "version": kuiper.__version__, "extensions": ["binary_tensor_data"],
    }  # fmt: skip
    for place in ("/v2/health/live", "/v2/health/ready", "/v2/models/sums/ready", "/v2/models/tang/ready"):
        assert client.get(place).status_code == 200
    axes = {"datatype": "FP32", "shape": [-1, 3]}
    assert client.get("/v2/models/sums").json() == {
        "name": "sums",
        "platform": "kuiper",
        "inputs": [{"name": "x", **axes}, {"name": "y", **axes}],
        "outputs": [{"name": "sum", **axes}, {"name": "difference", **axes}],
    }
    found = client.get("/v2/models/shapes_unet").json()
    assert found["inputs"] == [{"name": "pnnx_input_0", "datatype": "FP32", "shape": [-1, 3, -1, -1]}]
    assert found["outputs"][0]["shape"] == [-1, 5, -1, -1]
    listed = [model["id"] for model in client.get("/v1/models").json()["data"]]
    assert listed == ["sums", "rows", "cifar_resnet20", "shapes_unet", "tang"]


@pytest.mark.parametrize("is_nested", [False, True])
def test_infer_takes_json_and_gives_json(client: TestClient, is_nested: bool) -> None:
    x, y = (tensor(name, [[1, 2, 3], [4, 5, 6]]) for name in "xy")
    if not is_nested:
        x["data"] = [1, 2, 3, 4, 5, 6]
    answer = client.post("/v2/models/sums/infer", json={"id": "7", "inputs": [y, x]})
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {
        "model_name": "sums",
        "id": "7",
        "outputs": [
            {"name": "sum", "datatype": "FP32", "shape": [2, 3], "data": [2, 4, 6, 8, 10, 12]},
            {"name": "difference", "datatype": "FP32", "shape": [2, 3], "data": [0, 0, 0, 0, 0, 0]},
        ],
    }


def test_infer_takes_and_gives_the_binary_form(client: TestClient) -> None:
    generator = np.random.default_rng(0)
    x, y = generator.standard_normal((2, 5, 3)).astype(np.float32)
    head = {
        "inputs": [announced("x", x), announced("y", y)],
        "outputs": [{"name": "difference", "parameters": {"binary_data": True}}, {"name": "sum"}],
    }
    answer = client.post("/v2/models/sums/infer", **binary(head, x, y))
    assert answer.headers["content-type"] == "application/octet-stream"
    found = outputs_of(answer)
    assert [*found] == ["difference", "sum"]
    assert np.array_equal(found["difference"], x - y)
    assert np.array_equal(found["sum"], x + y)
    head = {"inputs": [announced("y", y), tensor("x", x)], "parameters": {"binary_data_output": True}}
    found = outputs_of(client.post("/v2/models/sums/infer", **binary(head, y)))
    assert [*found] == ["sum", "difference"]
    assert np.array_equal(found["sum"], x + y)


@pytest.mark.parametrize("shift", range(4))
def test_binary_data_may_begin_at_any_byte(client: TestClient, shift: int) -> None:
    x = np.random.default_rng(1).standard_normal((2, 3, 32, 32)).astype(np.float32)
    head = {"inputs": [announced("pnnx_input_0", x)], "id": "i" * shift, "parameters": {"binary_data_output": True}}
    found = outputs_of(client.post("/v2/models/cifar_resnet20/infer", **binary(head, x)))
    assert found["pnnx_output_0"].tobytes() == kuiper.load(bundled("cifar_resnet20")).forward(x).tobytes()


VALUES: dict[str, list[Any]] = {
    "BOOL": [True, False],
    "INT8": [-128, 127], "INT16": [-(2**15), 2**15 - 1], "INT32": [-(2**31), 2**31 - 1], "INT64": [-(2**63), 2**63 - 1],
    "UINT8": [0, 255], "UINT16": [0, 2**16 - 1], "UINT32": [0, 2**32 - 1], "UINT64": [1, 2**64 - 1],
    "FP32": [-0.1, 3e38], "FP64": [0.1, 1e300],
}  # fmt: skip
KINDS = {
    "BOOL": TensorProto.BOOL, "FP32": TensorProto.FLOAT, "FP64": TensorProto.DOUBLE,
    **{name: getattr(TensorProto, name) for name in VALUES if "INT" in name},
}  # fmt: skip


@pytest.mark.parametrize("datatype", VALUES)
def test_every_datatype_goes_through_and_comes_back(tmp_path: Any, datatype: str) -> None:
    values = np.array([VALUES[datatype]], DATATYPES[datatype])
    with served(of_type(tmp_path, KINDS[datatype])) as (client, (name, *_)):
        assert client.get(f"/v2/models/{name}").json()["inputs"][0]["datatype"] == datatype
        asked = {"inputs": [tensor("x", [VALUES[datatype]], datatype) | {"data": VALUES[datatype]}]}
        found = client.post(f"/v2/models/{name}/infer", json=asked).json()["outputs"][0]
        assert np.array(found["data"], DATATYPES[datatype]).tobytes() == values.tobytes()
        head = {"inputs": [announced("x", values, datatype)], "parameters": {"binary_data_output": True}}
        answer = outputs_of(client.post(f"/v2/models/{name}/infer", **binary(head, values)))["y"]
    assert (answer.dtype, answer.tobytes()) == (values.dtype, values.tobytes())


def changed(name: str = "x", **changes: Any) -> dict[str, Any]:
    """A request with a first input that is changed; None takes a field away."""
    fields = {**XY["inputs"][0], "name": name, **changes}
    return {"inputs": [{key: value for key, value in fields.items() if value is not None}, XY["inputs"][1]]}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ([], "body: expected a JSON object, got []"),
        ({}, "inputs: expected a list of at most 256 objects, got None"),
        ({"inputs": [3]}, "body: expected a JSON object, got 3"),
        ({"inputs": XY["inputs"][:1]}, "inputs: expected x, y, got x"),
        ({"inputs": [*XY["inputs"], tensor("z", [1])]}, "inputs: expected x, y, got x, y, z"),
        ({"inputs": XY["inputs"][:1] * 2}, "inputs: expected names of their own, got 'x'"),
        ({**XY, "outputs": [{"name": "product"}]}, "outputs: expected outputs among sum, difference, got 'product'"),
        ({**XY, "outputs": [{"name": "sum", "parameters": {"classification": 3}}]}, "got 'classification'"),
        ({**XY, "outputs": [{"name": "sum", "parameters": {"binary_data": 1}}]}, "expected true or false, got 1"),
        ({**XY, "id": 3}, "id: expected a text"),
        ({**XY, "parameters": {"sequence_id": 3}}, "parameters: expected fields that this server has, got 'seq"),
        ({**XY, "colour": 1}, "body: expected fields that this server has, got 'colour'"),
        (changed(name=3), "name: expected a text, got 3"),
        (changed(datatype="BYTES"), "x.datatype: expected one of BOOL"),
        (changed(datatype="FP64"), "x.datatype: expected FP32, got FP64"),
        (changed(shape=[3]), "expected 2 axes as in (n, 3), got (3,)"),
        (changed(shape=[1, -3]), "x.shape: expected a list of at most 32 whole numbers"),
        (changed(shape=[1, 3.0]), "x.shape: expected a list of at most 32 whole numbers"),
        (changed(shape=[2**40, 2**40]), "x.shape: expected a list of at most 32 whole numbers from 0 to 400000"),
        (changed(shape=[1000, 1000]), "x.shape: expected a shape of at most 400000 elements"),
        (changed(shape=[2, 3]), "x.data: expected 6 numbers for the shape [2, 3], got 3"),
        (changed(data=None), "x: expected either data or binary_data_size, got neither"),
        (changed(data=3), "x.data: expected 3 numbers for the shape [1, 3], got 3"),
        (changed(data=[[1, 2], 3]), "x.data: expected 3 numbers for the shape [1, 3], got [[1, 2], 3]"),
        (changed(data=[1, 2, "3"]), "x.data: expected numbers of FP32, got '3'"),
        (changed(data=[1, 2, True]), "x.data: expected numbers of FP32, got True"),
        (changed(data=[1, 2, 1e39]), "x.data: expected numbers of FP32, got 1e+39"),
        (changed(parameters={"binary_data_size": 12}), "x: expected either data or binary_data_size, got both"),
        (changed(data=None, parameters={"binary_data_size": 12}), "at most the 0 bytes behind the JSON, got 12"),
        (changed(data=None, parameters={"shared_memory_region": "a"}), "got 'shared_memory_region'"),
        ({"inputs": [tensor("x", [[1] * 3] * 3), tensor("y", [[1] * 3] * 2)]}, "sums: expected"),  # no common shape
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_sentence(client: TestClient, asked: Any, message: str) -> None:
    answer = client.post("/v2/models/sums/infer", json=asked)
    assert answer.status_code == 400
    assert [*answer.json()] == ["error"]
    assert message in answer.json()["error"]
    assert client.post("/v2/models/sums/infer", json=XY).status_code == 200


@pytest.mark.parametrize(
    ("datatype", "value", "message"),
    [
        ("INT8", 128, "whole numbers from -128 to 127, got 128"),
        ("INT64", 1.5, "got 1.5"),
        ("UINT64", -1, "whole numbers from 0 to 18446744073709551615, got -1"),
        ("BOOL", 1, "true or false, got 1"),
    ],
)
def test_numbers_beyond_a_datatype_are_refused(client: TestClient, datatype: str, value: Any, message: str) -> None:
    asked = changed(datatype=datatype, data=[value] * 3)
    assert message in client.post("/v2/models/sums/infer", json=asked).json()["error"]


@pytest.mark.parametrize(
    ("length", "body", "message"),
    [
        ("x", b"{}", "expected a number of bytes from 0 to the 2 of the body, got 'x'"),
        ("-1", b"{}", "got '-1'"),
        ("3", b"{}", "got '3'"),
        ("0", b"{}", "body: expected JSON"),
        ("1", b"{}", "body: expected JSON"),
    ],
)
def test_a_head_is_part_of_its_body(client: TestClient, length: str, body: bytes, message: str) -> None:
    answer = client.post("/v2/models/sums/infer", content=body, headers={HEAD: length})
    assert answer.status_code == 400
    assert message in answer.json()["error"]


def test_binary_data_is_as_long_as_it_says(client: TestClient) -> None:
    x = np.zeros((1, 3), np.float32)
    head = {"inputs": [announced("x", x), announced("y", x)]}
    for arrays, message in (((x,), "at most the 0 bytes"), ((x, x, x), "got 12 bytes more")):
        answer = client.post("/v2/models/sums/infer", **binary(head, *arrays))
        assert (answer.status_code, message in answer.json()["error"]) == (400, True)
    head = {"inputs": [announced("x", x) | {"shape": [2, 3]}, announced("y", x)]}
    answer = client.post("/v2/models/sums/infer", **binary(head, x, x))
    assert "x.data: expected 24 bytes for FP32 of shape [2, 3], got 12" in answer.json()["error"]


def test_paths_models_and_kinds_that_are_not_there(client: TestClient) -> None:
    for place, status, message in (
        ("/v2/models/gpt", 404, "model: expected one of sums, rows, cifar_resnet20, shapes_unet, got 'gpt'"),
        ("/v2/models/gpt/ready", 404, "got 'gpt'"),
        ("/v2/models/tang", 400, "expected one that takes arrays, got tang, which takes text"),
        ("/v2/nothing", 404, "got GET /v2/nothing"),
        ("/v2/models/sums/infer", 405, "got GET"),
    ):
        answer = client.get(place)
        assert (answer.status_code, [*answer.json()]) == (status, ["error"])
        assert message in answer.json()["error"]
    answer = client.post("/v2/models/sums/infer", content=b"{}", headers={"content-type": "text/plain"})
    assert (answer.status_code, answer.json()["error"][:12]) == (415, "content-type")
    answer = client.post("/v1/completions", json={"model": "sums", "prompt": "a"})
    assert answer.json()["error"]["message"] == "model: expected one that writes text, got 'sums', which does not"


def test_bodies_are_bounded(client: TestClient) -> None:
    answer = client.post("/v2/models/sums/infer", json={**XY, "id": "a" * LIMITS.body_bytes})
    assert answer.status_code == 413
    x = np.zeros((50_000, 3), np.float32)
    answer = client.post("/v2/models/sums/infer", **binary({"inputs": [announced("x", x)]}, x))
    assert answer.status_code == 413
    head = {"inputs": [], "id": "a" * LIMITS.body_bytes}
    assert client.post("/v2/models/sums/infer", **binary(head)).status_code == 413


def test_answers_in_json_are_finite_and_not_too_long(client: TestClient) -> None:
    x = np.full((1, 3), 3e38, np.float32)
    asked = {"inputs": [tensor("x", x), tensor("y", x)]}
    answer = client.post("/v2/models/sums/infer", json=asked)
    assert answer.status_code == 400
    assert (
        "sum: expected numbers that JSON has, got infinite ones or NaN; ask for binary_data" in answer.json()["error"]
    )
    found = outputs_of(client.post("/v2/models/sums/infer", json={**asked, "parameters": {"binary_data_output": True}}))
    assert np.isinf(found["sum"]).all()
    x = np.zeros((2000, 3), np.float32)
    answer = client.post("/v2/models/sums/infer", **binary({"inputs": [announced("x", x), announced("y", x)]}, x, x))
    assert "sum: expected at most 5000 numbers in JSON, got 6000; ask for binary_data" in answer.json()["error"]


def test_numbers_that_a_network_cannot_have_are_an_error_and_the_next_request_works(client: TestClient) -> None:
    good, bad = ({"inputs": [tensor("at", [[number]], "INT64")]} for number in (2, 9))
    assert client.post("/v2/models/rows/infer", json=bad).status_code >= 400
    assert client.post("/v2/models/rows/infer", json=good).json()["outputs"][0]["data"] == [4, 5]


def test_a_network_that_fails_is_an_error_with_an_id_and_the_next_request_works(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    def fails(*inputs: Any) -> None:
        raise MemoryError("/secret/place")

    with served(sums(tmp_path)) as (client, models):
        network = models["sums"]
        assert isinstance(network, ServedNetwork)
        with monkeypatch.context() as patch:
            patch.setattr(network._graph, "forward", fails)
            answer = client.post("/v2/models/sums/infer", json=XY)
        assert answer.status_code == 500
        assert answer.headers["x-request-id"] in answer.json()["error"]
        assert "secret" not in answer.text
        assert "/secret/place" in caplog.text
        assert client.post("/v2/models/sums/infer", json=XY).status_code == 200


def test_requests_that_come_together_run_as_one_batch_with_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = kuiper.load(bundled("cifar_resnet20"))
    inputs = np.random.default_rng(5).standard_normal((8, 1, 3, 32, 32)).astype(np.float32)
    with served("cifar_resnet20", batching=Batching(most=8, delay=30.0)) as (client, models):
        network = models["cifar_resnet20"]
        assert isinstance(network, ServedNetwork)

        def ask(x: Any) -> Any:
            head = {"inputs": [announced("pnnx_input_0", x)], "parameters": {"binary_data_output": True}}
            return outputs_of(client.post("/v2/models/cifar_resnet20/infer", **binary(head, x)))["pnnx_output_0"]

        with ThreadPoolExecutor(8) as threads:
            found = list(threads.map(ask, inputs))
        assert (network.batcher.runs, network.batcher.rows) == (1, 8)
        lines = client.get("/metrics").text.splitlines()
    assert [one.tobytes() for one in found] == [graph.forward(x).tobytes() for x in inputs]
    assert 'kuiper_network_rows{model="cifar_resnet20"} 8.0' in lines


def test_a_client_that_leaves_before_the_network_runs_takes_its_call_along(tmp_path: Any) -> None:
    """Asked as uvicorn asks: the body, and then that the client has gone."""
    body = json.dumps(XY).encode()
    models = load_models([str(sums(tmp_path))], memory=1 << 20, limits=LIMITS, batching=Batching(most=8, delay=30.0))
    (network,) = models
    assert isinstance(network, ServedNetwork)
    scope = {"type": "http", "method": "POST", "path": "/v2/models/sums/infer", "headers": [], "query_string": b""}
    sent: list[Any] = []

    async def ask() -> None:
        messages = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Any:
            while not messages and not network.batcher.waiting:
                await asyncio.sleep(0.001)
            return messages.pop() if messages else {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        await create_application(models, limits=LIMITS)(scope, receive, send)

    asyncio.run(ask())
    assert (network.open, network.open_bytes, network.batcher.waiting, network.batcher.runs) == (0, 0, 0, 0)
    assert sent == []
    network.stop()


def test_more_requests_than_there_are_seats_are_sent_away(tmp_path: Any) -> None:
    limits = Limits(calls=2, waiting_bytes=1000)
    with served(sums(tmp_path), limits=limits) as (client, models):
        network = models["sums"]
        assert isinstance(network, ServedNetwork)
        with network.seat(1), network.seat(1):
            answer = client.post("/v2/models/sums/infer", json=XY)
            assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
            assert "at most 2 requests of a model at once" in answer.json()["error"]
        with network.seat(900):
            assert client.post("/v2/models/sums/infer", json=XY).status_code == 429
        assert client.post("/v2/models/sums/infer", json=XY).status_code == 200
        assert network.open_bytes == 0


def test_the_key_is_asked_for(tmp_path: Any) -> None:
    with served(sums(tmp_path), api_key="s3cret") as (client, _):
        answer = client.get("/v2/models/sums")
        assert (answer.status_code, [*answer.json()]) == (401, ["error"])
        assert client.get("/v2/models/sums", headers={"authorization": "Bearer s3cret"}).status_code == 200

"""Pictures as bodies: named, searched, and refused where they mean harm."""

from __future__ import annotations

import base64
import io
import struct
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from kuiper.models import Classifier, Detector, Segmenter, bundled, bundled_photo
from kuiper.serving.http.network import Batching, ServedNetwork
from tests.serving.http.applications import LIMITS, served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.testclient import TestClient

CAT = bundled_photo("cat").read_bytes()
DIGITS = bundled_photo("digits").read_bytes()
JPEG = {"content-type": "image/jpeg"}


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with served("cifar_resnet20", "digits_yolo", "shapes_unet", "tang") as (client, _):
        yield client


def test_classify_names_what_the_classifier_names(client: TestClient) -> None:
    found = client.post("/v1/classify?model=cifar_resnet20&top=3", content=CAT, headers=JPEG).json()
    expected = Classifier(bundled("cifar_resnet20"))(bundled_photo("cat"), top=3)
    assert [(one["label"], one["probability"]) for one in found.pop("labels")] == expected
    with Image.open(bundled_photo("cat"), formats=["JPEG"]) as photo:
        assert found == {"model": "cifar_resnet20", "width": photo.width, "height": photo.height}
    without = client.post("/v1/classify", content=CAT, headers={"content-type": "application/octet-stream"}).json()
    assert len(without["labels"]) == 5  # the only classifier is meant


def test_detect_finds_what_the_detector_finds(client: TestClient) -> None:
    found = client.post("/v1/detect", content=DIGITS, headers={"content-type": "image/png"}).json()
    expected = Detector(bundled("digits_yolo"))(bundled_photo("digits"))
    assert len(expected) > 5
    assert found["detections"] == [vars(one) | {"box": list(one.box)} for one in expected]


def test_segment_tells_the_regions_that_the_segmenter_tells(client: TestClient) -> None:
    data = bundled_photo("shapes").read_bytes()
    found = client.post("/v1/segment", content=data, headers={"content-type": "image/png"}).json()
    expected = Segmenter(bundled("shapes_unet"))(bundled_photo("shapes"))
    with Image.open(io.BytesIO(base64.b64decode(found.pop("map"))), formats=["PNG"]) as classes:
        assert np.array_equal(classes, expected.map)
    regions = [region._asdict() for region in expected.regions()]
    height, width = expected.map.shape
    assert len(regions) > 2
    assert found == {"model": "shapes_unet", "width": width, "height": height, "regions": regions}


def bomb(width: int, height: int) -> bytes:
    """A PNG that says it is so large."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def tiff() -> bytes:
    """Floats, which have no fixed white."""
    file = io.BytesIO()
    Image.new("F", (3, 3)).save(file, "TIFF")
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "picture: expected an image, got an empty file"),
        (b"no picture at all", "picture: expected an image, got a file of another kind"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n", "picture: expected an image"),
        (CAT[: len(CAT) // 2], "picture: expected an image that can be read"),
        (bomb(100_000, 100_000), "picture: expected a picture of at most 134,217,728 pixels"),
        (bomb(20_000, 20_000), "picture: expected a picture of at most 134,217,728 pixels"),
        (bomb(100, 100), "picture: expected an image that can be read"),
        (tiff(), "picture: expected greys of 8 or 16 bits, got floats"),
    ],
)
def test_hostile_pictures_are_one_sentence_and_the_next_request_works(
    client: TestClient, data: bytes, message: str
) -> None:
    answer = client.post("/v1/classify", content=data, headers=JPEG)
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")
    assert answer.json()["error"]["message"].startswith(message)
    assert "0x" not in answer.text  # the address of an object
    assert client.post("/v1/classify", content=CAT, headers=JPEG).status_code == 200


@pytest.mark.parametrize(
    ("address", "status", "message"),
    [
        ("classify?model=gpt", 404, "model: expected one of cifar_resnet20, got 'gpt'"),
        ("classify?model=tang", 404, "model: expected one of cifar_resnet20, got 'tang'"),
        ("detect?model=cifar_resnet20", 404, "model: expected one of digits_yolo, got 'cifar_resnet20'"),
        ("classify?top=0", 400, "top: expected a whole number from 1 to 1000, got '0'"),
        ("classify?top=many", 400, "got 'many'"),
        ("classify?size=3", 400, "query: expected the fields model and top, got 'size'"),
        ("detect?top=3", 400, "query: expected the field model, got 'top'"),
        ("classify?" + "&".join("a=1" for _ in range(20)), 400, "query: expected at most 8 fields"),
    ],
)
def test_what_an_address_asks_for_is_checked(client: TestClient, address: str, status: int, message: str) -> None:
    answer = client.post(f"/v1/{address}", content=CAT, headers=JPEG)
    assert (answer.status_code, message in answer.json()["error"]["message"]) == (status, True)


def test_a_picture_says_that_it_is_one_and_is_bounded(client: TestClient) -> None:
    answer = client.post("/v1/classify", content=CAT, headers={"content-type": "text/plain"})
    assert answer.json()["error"]["param"] == "content-type"
    large = b"\xff\xd8" + bytes(LIMITS.picture_bytes)
    assert client.post("/v1/classify", content=large, headers=JPEG).status_code == 413
    assert client.get("/v1/classify").status_code == 405


def test_without_a_model_for_it_the_answer_says_so() -> None:
    with served("tang") as (client, _):
        answer = client.post("/v1/detect", content=DIGITS, headers=JPEG)
    assert answer.status_code == 404
    assert "none: no model that is served is made to detect" in answer.json()["error"]["message"]


def test_pictures_that_come_together_run_as_one_batch() -> None:
    with served("cifar_resnet20", batching=Batching(most=4, delay=30.0)) as (client, models):
        network = models["cifar_resnet20"]
        assert isinstance(network, ServedNetwork)

        def ask(data: bytes) -> Any:
            return client.post("/v1/classify", content=data, headers=JPEG).json()["labels"]

        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(ask, [CAT, DIGITS, CAT, DIGITS]))
        assert (network.batcher.runs, network.batcher.rows) == (1, 4)
    classifier = Classifier(bundled("cifar_resnet20"))
    for labels, name in zip(found, ["cat", "digits"] * 2, strict=True):
        assert [(one["label"], one["probability"]) for one in labels] == classifier(bundled_photo(name))

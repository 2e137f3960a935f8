"""The predictor on a cluster of two processes, one of which is killed, and without a cluster."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.cli import main
from kuiper.errors import ExecutionError, ParameterError
from kuiper.models import bundled, bundled_photo
from kuiper.models.many.dask_cluster import over_dask
from kuiper.models.predictor import Predictor
from tests.models.predictions import Deadly, Raising

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(**options, silence_logs="CRITICAL") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("photos")
    paths = [folder / f"{i}.jpg" for i in range(24)]
    for path in paths:
        shutil.copyfile(bundled_photo(), path)
    return [str(path) for path in paths]


def test_over_dask_does_the_pictures_of_a_lost_worker_again(cluster: Any, photos: list[str]) -> None:
    predictor = Predictor(bundled("cifar_resnet20"))
    records = over_dask(predictor.record, photos, cluster.scheduler_address)
    first = next(records)  # most pictures have not even been sent
    workers = [worker.pid for worker in cluster.workers.values()]
    os.kill(workers[0], getattr(signal, "SIGKILL", signal.SIGTERM))
    everything = [first, *records]
    assert Counter(record["image"] for record in everything) == Counter(photos)
    assert all(record == predictor.record(record["image"]) for record in everything)


def test_over_dask_passes_on_what_is_wrong_with_the_model(cluster: Any) -> None:
    with pytest.raises(ExecutionError, match="over_dask: expected a record, got LookupError: no model for a"):
        list(over_dask(Raising(), ["a"], cluster.scheduler_address))


def test_classify_works_on_a_cluster(cluster: Any, photos: list[str], tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    words = ["classify", *photos, "--dask", cluster.scheduler_address, "-o", str(output), "--top", "1"]
    assert main(words) == 0
    records = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()[1:]]
    assert Counter(record["image"] for record in records) == Counter(photos)
    assert {record["labels"][0]["label"] for record in records} == {"cat"}


def test_over_dask_gives_up_only_the_picture_that_kills(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)  # so all that a dead worker had in hand are suspects
    paths = ["a", "deadly", "b", "c", "d"]
    records = list(over_dask(Deadly(str(tmp_path / "log"), lives=9), paths, cluster.scheduler_address))
    assert sorted(record["image"] for record in records) == sorted(paths)
    error = "deadly: expected a worker that survives it, got several that did not"
    assert [record for record in records if "error" in record] == [{"image": "deadly", "error": error}]


@pytest.mark.parametrize(
    "address", ["host", "host:8786", "http://host:8786", "tcp://host", "tcp://host:port", "tcp://:1"]
)
def test_over_dask_refuses_what_is_no_address(address: str) -> None:
    with pytest.raises(ParameterError, match="expected the address of a scheduler, like tcp://host:8786, got"):
        next(over_dask(Raising(), ["a"], address))


def test_without_the_package_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    words = ["classify", str(bundled_photo()), "--dask", "tcp://localhost:8786", "-o", str(tmp_path / "out.jsonl")]
    assert main(words) == 1
    message = "kuiper classify: over_dask: expected the package distributed, got none; pip install distributed\n"
    assert capsys.readouterr().err == message

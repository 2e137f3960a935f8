"""What follows from measurements, and the JSON file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.errors import BenchmarkError
from benchmarks.results import Results
from tests.benchmarks.made_up import measurement, results

if TYPE_CHECKING:
    from pathlib import Path


def test_ratio_is_to_the_fastest_of_the_others() -> None:
    big = results().groups(1, 1)["big"]
    assert big.fastest is not None
    assert (big.fastest.peer, big.ratio) == ("openvino", 0.5)


def test_mean_ratios_are_geometric_and_by_kind() -> None:
    found = results()
    found.models["vit_tiny"] = found.models["big"]
    found.measurements += [measurement("vit_tiny", "kuiper", 3.0), measurement("vit_tiny", "openvino", 4.0)]
    means = found.mean_ratios(1, 1)
    assert means == {"convolutional networks": pytest.approx(1.0), "transformers": pytest.approx(0.75)}  # of 0.5 and 2


def test_share_of_peak_counts_the_whole_batch() -> None:
    found = results()
    found.measurements.append(measurement("big", "kuiper", 80.0, batch=8))
    for batch in (1, 8):
        group = found.groups(batch, 1)["big"]
        assert group.share_of_peak(group.by_peer["kuiper"]) == pytest.approx(0.5)  # 1 GFLOP an image, 10 ms, peak 200


def test_ratio_needs_ours_and_another() -> None:
    found = results()
    found.measurements = [entry for entry in found.measurements if entry.peer == "kuiper"]
    assert found.groups(1, 1)["big"].ratio is None
    assert found.mean_ratios(1, 1) == {}


def test_read_returns_what_save_wrote(tmp_path: Path) -> None:
    path = tmp_path / "new" / "results.json"
    results().save(path)
    assert Results.read(path) == results()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "expected the JSON of a benchmark run, got JSONDecodeError"),
        ("[]", "expected the JSON of a benchmark run, got AttributeError|TypeError"),
        ('{"format": 0}', "expected results of format 1, got 0; measure again"),
        ('{"format": 1}', "expected the JSON of a benchmark run, got KeyError"),
    ],
)
def test_read_refuses_other_files(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(text)
    with pytest.raises(BenchmarkError, match=message):
        Results.read(path)

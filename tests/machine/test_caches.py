"""The caches as the operating system tells of them; of the second level a core has its part, and the least counts."""

from __future__ import annotations

import platform
import subprocess
from typing import TYPE_CHECKING

import pytest

from kuiper.machine import caches
from kuiper.machine.caches import BOUNDS, UNKNOWN, core_caches

if TYPE_CHECKING:
    from pathlib import Path


def make_core(root: Path, number: int, size: str, sharing: str, threads: str) -> None:
    """The files of one core, as Linux has them."""
    levels = ("1", "Data", "32K"), ("1", "Instruction", "64K"), ("2", "Unified", size)
    for index, (level, kind, amount) in enumerate(levels):
        entry = root / f"cpu{number}" / "cache" / f"index{index}"
        entry.mkdir(parents=True)
        (entry / "level").write_text(f"{level}\n")
        (entry / "type").write_text(f"{kind}\n")
        (entry / "size").write_text(f"{amount}\n")
        (entry / "shared_cpu_list").write_text(f"{sharing}\n")
    topology = root / f"cpu{number}" / "topology"
    topology.mkdir()
    (topology / "thread_siblings_list").write_text(f"{threads}\n")


def test_caches_of_one_cpu_has_every_level(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_core(tmp_path, 0, "2M", "0-3", "0")
    make_core(tmp_path, 1, "1G", "1", "1")
    monkeypatch.setattr(caches, "_CPUS", tmp_path)
    assert caches.caches_of("cpu0") == [
        (1, "Data", 32 << 10, 8 << 10),
        (1, "Instruction", 64 << 10, 16 << 10),
        (2, "Unified", 2 << 20, 512 << 10),
    ]
    assert [cache.size for cache in caches.caches_of("cpu[0-9]*") if cache.level == 2] == [2 << 20, 1 << 30]


@pytest.mark.parametrize(
    ("size", "sharing", "threads", "expected"),
    [
        ("2048K", "0", "0", 2 << 20),  # a core with a cache of its own
        ("1M", "0,8", "0,8", 1 << 20),  # two threads of one core: still its own
        ("2M", "0-3", "0", 512 << 10),  # four cores share it
        ("16K", "0", "0", BOUNDS[2][0]),
        ("64M", "0", "0", BOUNDS[2][1]),
    ],
)
def test_core_caches_counts_a_cores_part(
    size: str, sharing: str, threads: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_core(tmp_path, 0, size, sharing, threads)
    monkeypatch.setattr(caches, "_CPUS", tmp_path)
    assert core_caches()[1] == expected


def test_core_caches_takes_the_smallest_of_unlike_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_core(tmp_path, 0, "2048K", "0", "0")
    make_core(tmp_path, 1, "512K", "1", "1")
    monkeypatch.setattr(caches, "_CPUS", tmp_path)
    assert core_caches() == (32 << 10, 512 << 10, UNKNOWN[3])


@pytest.mark.parametrize("text", ["", "big\n", "1T\n"])
def test_core_caches_passes_over_what_it_cannot_read(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_core(tmp_path, 0, "1M", "0", "0")
    (tmp_path / "cpu0" / "cache" / "index2" / "size").write_text(text)
    monkeypatch.setattr(caches, "_CPUS", tmp_path)
    monkeypatch.setattr(caches, "_from_sysctl", lambda level: [])
    monkeypatch.setattr(caches, "_from_sysconf", lambda level: [])
    assert core_caches()[1] == UNKNOWN[2]


def test_core_caches_are_some_sizes_where_nobody_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "_CPUS", tmp_path / "nowhere")
    monkeypatch.setattr(caches, "_from_sysctl", lambda level: [])
    monkeypatch.setattr(caches, "_from_sysconf", lambda level: [])
    assert core_caches() == tuple(UNKNOWN.values())


def test_core_caches_shares_out_what_macos_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "_CPUS", tmp_path)
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(caches, "_from_sysconf", lambda level: [])
    for told, size in (("8388608\n4\n", 2 << 20), ("2097152\n0\n", 2 << 20), ("4194304\n", UNKNOWN[2])):
        answers = ["65536\n", told]
        monkeypatch.setattr(
            subprocess, "run", lambda *_, rest=answers, **__: subprocess.CompletedProcess([], 0, stdout=rest.pop(0))
        )
        assert core_caches() == (64 << 10, size, UNKNOWN[3])

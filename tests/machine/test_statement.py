"""Machines that are stated in words: what is taken, and what is refused in which words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kuiper.errors import ParameterError
from kuiper.machine import REPRODUCIBLE, Machine, described, facts_of, stated, this_machine

SERVER = replace(
    REPRODUCIBLE,
    lanes=16,
    registers=32,
    features=frozenset({"avx512f", "avx512_vnni"}),
    l3=33 << 19,
    clock=2_445_000_000,
    splits_avx512=True,
)


@pytest.mark.parametrize("machine", [REPRODUCIBLE, SERVER, this_machine()])
def test_stated_reads_what_facts_of_writes(machine: Machine) -> None:
    assert stated(machine, facts_of(machine)) == machine
    other = replace(machine, l1=48 << 10, l2=3 << 20, l3=0, cores=machine.cores + 1, clock=3_000_000_000)
    assert stated(other, " ".join(facts_of(machine).split())) == replace(machine, clock=machine.clock or other.clock)


def test_stated_changes_nothing_else() -> None:
    assert stated(SERVER, "") == SERVER
    assert stated(SERVER, " l2=256K   cores=1 ") == replace(SERVER, l2=256 << 10, cores=1)
    assert stated(SERVER, "vnni=no") == replace(SERVER, features=frozenset({"avx512f"}))
    assert stated(SERVER, "avx512=full") == replace(SERVER, splits_avx512=False)
    assert stated(SERVER, "lanes=8 registers=16") == replace(SERVER, lanes=8, registers=16, splits_avx512=False)


def test_described_fits_a_terminal() -> None:
    large = replace(
        SERVER, name="Intel(R) Xeon(R) Platinum 8488C CPU @ 2.40GHz", level="x86-64-v4", l3=(1 << 30) + 1024
    )
    lines = described(large)
    assert max(map(len, lines)) <= 80
    assert stated(REPRODUCIBLE, " ".join(lines[1:]).replace("vnni=yes", "")).l3 == large.l3
    assert lines[0] == "Intel(R) Xeon(R) Platinum 8488C CPU @ 2.40GHz, x86-64-v4"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("l2=-1", "KUIPER_MACHINE: expected l2 from 16K to 1G, such as l2=512K, got l2=-1"),
        ("l2=12parsecs", "expected l2 from 16K to 1G, such as l2=512K, got l2=12parsecs"),
        ("l2=0", "expected l2 from 16K"),
        ("l1=", "expected l1 from 1K to 1G"),
        ("l3=99999999999G", "expected l3 from 0 to 1024G"),
        ("cores=0", "expected cores from 1 to 65536, got cores=0"),
        ("cores=1.5", "expected cores from 1 to 65536, got cores=1.5"),
        ("cores=٣", "expected cores from 1 to 65536"),
        ("lanes=5", "expected lanes to be one of 1, 4, 8, 16, got lanes=5"),
        ("registers=many", "expected registers to be one of 16, 32, got registers=many"),
        ("clock=3.2", "expected clock from 0.1G to 100G, such as clock=3.2G, got clock=3.2"),
        ("vnni=perhaps", "expected vnni to be one of yes, no, got vnni=perhaps"),
        ("vnni=yes", "expected vnni=no: this CPU has no such instruction, or this build none for it, got vnni=yes"),
        ("lanes=8 avx512=halves", "expected avx512=full where a vector has less than 16 lanes, got avx512=halves"),
        ("l4=1M", "expected some of lanes, registers, l1, l2, l3, cores, clock, vnni, avx512, as in l2=256K cores=4"),
        ("fast", "expected some of lanes, .*, got fast"),
        ("cores=1 l2=1M cores=2", "expected cores once, got cores=1 l2=1M cores=2"),
    ],
)
def test_stated_refuses_what_cannot_be_meant(text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        stated(REPRODUCIBLE, text, "KUIPER_MACHINE")


@pytest.mark.parametrize(
    "change",
    [{"l2": -1}, {"cores": 0}, {"lanes": 3}, {"registers": 8}, {"clock": 5}, {"lanes": 8, "splits_avx512": True}],
)
def test_machine_refuses_what_no_machine_has(change: dict[str, int]) -> None:
    with pytest.raises(ParameterError, match=r"^Machine: expected "):
        replace(REPRODUCIBLE, **change)  # type: ignore[arg-type]

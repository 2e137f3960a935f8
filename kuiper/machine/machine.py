"""What a plan depends on beside the model: a machine, in numbers that never change."""

from __future__ import annotations

from dataclasses import dataclass

from kuiper.errors import ParameterError

VNNI = frozenset({"avx512_vnni", "avx_vnni"})
"""The instructions that multiply bytes and add them up, for vectors of two sizes."""

CHOICES = {"lanes": (1, 4, 8, 16), "registers": (16, 32)}
RANGES = {"l1": (1 << 10, 1 << 30), "l2": (1 << 14, 1 << 30), "l3": (0, 1 << 40), "cores": (1, 1 << 16)}
_SLOWEST, _FASTEST = 10**8, 10**11  # clocks, in Hz


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine as kuiper's planner sees it.

    Parameters
    ----------
    name : what the CPU calls itself
    level : the build of the kernels that runs on it, such as x86-64-v3; nothing: any
    lanes : floats of a vector: 1, 4, 8 or 16
    registers : for vectors: 16 or 32
    features : vector extensions that kernels use, by the names that Linux gives them
    l1, l2, l3 : bytes of the caches, one core's part of those that cores share; an ``l3`` of 0: none, or unknown
    cores : that this process may use
    clock : in Hz; None: unknown
    splits_avx512 : whether vectors of AVX-512 are executed in two halves, so that a cycle does half as many

    Raises
    ------
    ParameterError
        If a number is none that a machine can have.

    Examples
    --------
    >>> from dataclasses import replace
    >>> replace(REPRODUCIBLE, l2=256 << 10).l2
    262144
    """

    name: str
    level: str
    lanes: int
    registers: int
    features: frozenset[str]
    l1: int
    l2: int
    l3: int
    cores: int
    clock: int | None = None
    splits_avx512: bool = False

    def __post_init__(self) -> None:
        for key, choices in CHOICES.items():
            if (value := getattr(self, key)) not in choices:
                raise ParameterError("Machine", f"{key} to be one of {', '.join(map(str, choices))}", value)
        for key, (least, most) in RANGES.items():
            if not least <= (value := getattr(self, key)) <= most:
                raise ParameterError("Machine", f"{key} from {least} to {most}", value)
        if self.clock is not None and not _SLOWEST <= self.clock <= _FASTEST:
            raise ParameterError("Machine", f"a clock from {_SLOWEST} to {_FASTEST} Hz, or None", self.clock)
        if self.splits_avx512 and self.lanes != 16:
            raise ParameterError("Machine", "vectors of 16 lanes, if they are executed in halves", self.lanes)

    @property
    def vnni(self) -> bool:
        """Whether bytes are multiplied and added up by one instruction."""
        return not VNNI.isdisjoint(self.features)


REPRODUCIBLE = Machine("any machine, reproducibly", "", 8, 16, frozenset(), l1=32 << 10, l2=1 << 20, l3=0, cores=8)
"""What ``kuiper.load(..., reproducible=True)`` chooses algorithms for, wherever it runs."""

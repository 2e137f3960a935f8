"""Which steps are to run as a chain, a few rows at a time: those with an image between them that fills the cache.

before   1x1 convolution -> 4.8 MB -> depthwise -> 1.2 MB -> 1x1 convolution -> 0.3 MB
after    chain of the three, with strips of some rows in the place of the 4.8 MB and the 1.2 MB
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kuiper.engine.cost import second_level_floats
from kuiper.engine.kernels.chain import MAX_STEPS, Chain
from kuiper.engine.planned_step import NativeStep, StepInfo, StepKind
from kuiper.engine.values import Value, new_image, same_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.planned_step import PlannedStep
    from kuiper.engine.step import Step
    from kuiper.engine.values import Buffer
    from kuiper.machine import Machine

    Bands = tuple[int, int]
    Uses = Counter[Buffer]

# Parts of the second-level cache: an image from which on it is worth it, and what all strips of a chain may have.
_LARGE, _STRIPS = 1 / 4, 1 / 2

# Rows of the output that a round makes, at most.
_BANDS = (16, 8, 4, 2)

# Rounds of a task, at least: the first one makes rows that another task makes, too.
_ROUNDS = 2

# Tasks for each core that the process may use. Their number changes the work, but no bit of the result.
_TASKS_PER_CORE = 2


def join_chains(steps: Sequence[PlannedStep], machine: Machine) -> list[PlannedStep]:
    """The steps, with chains in the place of those that make them up, as suits a machine."""
    joined: list[PlannedStep] = []
    uses = Counter(value.buffer for step in steps for value in (*step.reads, *step.writes))
    index = 0
    while index < len(steps):
        links, bands = _best_cut(_chain_from(steps, index, uses, machine), machine)
        joined.append(_chain(links, bands) if bands else steps[index])
        index += max(1, len(links))
    return joined


def _best_cut(links: list[NativeStep], machine: Machine) -> tuple[list[NativeStep], Bands | None]:
    """All links if they fit the cache, else those up to the smallest image; none if not even two fit."""
    parts = ((links[:count], _bands(links[:count], machine)) for count in range(2, len(links) + 1))
    fitting = [(part, bands) for part, bands in parts if bands]
    if not fitting:
        return [], None
    if len(fitting[-1][0]) == len(links):
        return fitting[-1]
    return min(reversed(fitting), key=lambda part: part[0][-1].writes[0].buffer.floats)


def _chain_from(steps: Sequence[PlannedStep], start: int, uses: Uses, machine: Machine) -> list[NativeStep]:
    """The longest chain that begins with this step."""
    first = steps[start]
    links = [first] if isinstance(first, NativeStep) and first.window else []
    for step in steps[start + 1 :]:
        if not 0 < len(links) < MAX_STEPS or not isinstance(step, NativeStep):
            break
        if not _link(links[-1], step, uses, machine):
            break
        links.append(step)
    return links


def _link(maker: NativeStep, reader: NativeStep, uses: Uses, machine: Machine) -> bool:
    """Whether an image goes from one step to the other, is large, and is nobody else's."""
    if reader.window is None or len(maker.writes) != 1:
        return False
    image, read = maker.writes[0], reader.reads[0]
    stride, reach = reader.window
    whole = image.start == 0 and image.strides == new_image(*image.shape).strides
    if (
        image.buffer.floats < _LARGE * second_level_floats(machine)
        or image.buffer.contents is not None
        or reach < stride
        or not whole
    ):
        return False
    return uses[image.buffer] == 2 and image.shape == read.shape and same_memory(image, read)


def _bands(links: list[NativeStep], machine: Machine) -> Bands | None:
    """Rows of a round, and tasks; None if not even two rows of all images fit the cache, or a core has no task."""
    rows = _image_rows(links)
    out_h, cores = links[-1].writes[0].shape[2], machine.cores
    wanted = _TASKS_PER_CORE * cores
    bands = [band for band in _BANDS if _strip_floats(links, rows, band) <= _STRIPS * second_level_floats(machine)]
    if not bands:
        return None
    band = next((band for band in bands if wanted * _ROUNDS * band <= out_h), bands[-1])
    tasks = min(wanted, out_h // (_ROUNDS * band)) // cores * cores
    return (band, tasks) if tasks else None


def _image_rows(links: list[NativeStep]) -> list[int]:
    """Floats of a row of each image between two links."""
    return [link.writes[0].strides[2] for link in links[:-1]]


def _chain(links: list[NativeStep], bands: Bands) -> NativeStep:
    """The links, which fit, as one step."""
    images: list[Value] = [link.writes[0] for link in links[:-1]]
    rows, (band, tasks) = _image_rows(links), bands

    def make() -> Step:
        return Chain([link.make() for link in links], rows, band, tasks)

    for image in images:
        image.buffer.offset = 0  # it has no place on the arena: the chain says where its rows are
    info = StepInfo(
        links[-1].info.op,
        f"in bands of {band} rows: " + ", ".join(link.info.algorithm for link in links),
        sum(link.info.flops for link in links),
        sum(link.info.bytes for link in links) - 8 * sum(image.view.size for image in images),
        sum(link.info.expected for link in links),
        tuple(other for link in links for other in link.info.rejected),
        kind=StepKind.CHAIN,
    )
    reads = [*links[0].reads, *(value for link in links[1:] for value in link.reads[1:])]
    bindings = tuple(binding for link in links for binding in link.bindings)
    return NativeStep(info, make, tuple(reads), links[-1].writes, bindings)


def _strip_floats(links: list[NativeStep], rows: list[int], band: int) -> int:
    """What the strips between the links take if a round makes this many rows of the output."""
    total = 0
    for link, row in zip(links[:0:-1], rows[::-1], strict=True):
        assert link.window is not None
        stride, reach = link.window
        band = (band - 1) * stride + reach
        total += 2 * band * row
    return total

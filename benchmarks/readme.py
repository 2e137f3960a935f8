"""The parts of README.md that are measured, each between two lines with its mark: the demo, and the speed.

They are in the language that is spoken (kuiper/language.py): README.zh-CN.md has them, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.chart import Bar, chart
from benchmarks.demo import WORDS
from benchmarks.errors import BenchmarkError
from benchmarks.machine import vectors_of
from benchmarks.peers import OURS
from benchmarks.places import CHART, README, ROOT
from benchmarks.tables import cpu_of
from benchmarks.text_files import GREEDY
from benchmarks.text_tables import Rates, scales, text_limits, weights_of
from kuiper.language import _, noop, translate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.demo import Demo
    from benchmarks.results import Results
    from benchmarks.text_results import TextResults
    from kuiper.course.pictures.picture import Picture

DEMO, SPEED = "<!-- demo -->", "<!-- performance -->"
KINDS = (noop("convolutional networks"), noop("transformers"))


def written(readme: str, mark: str, lines: Iterable[str]) -> str:
    """The README with other lines between the two that are the mark.

    Raises
    ------
    BenchmarkError
        If it has no two such lines.
    """
    parts = readme.split(mark)
    if len(parts) != 3:
        raise BenchmarkError(README.name, f"two lines {mark}", f"{len(parts) - 1}")
    return "\n".join([f"{parts[0]}{mark}", "", *lines, "", f"{mark}{parts[2]}"])


def demo_lines(demo: Demo | None) -> list[str]:
    """What ``make demo`` and ``kuiper generate`` print, and how long the first takes in a fresh clone."""
    if demo is None:
        return [_("Not measured yet.")]
    words = " ".join(f'"{word}"' if " " in word else word for word in WORDS)
    machine = _("{cpu}, {count} cores").format(cpu=cpu_of(demo.machine), count=demo.machine["cores"])
    if demo.load > demo.machine["cores"] / 2:
        machine = _("{machine} that had other work to do").format(machine=machine)
    sentence = _(
        "It sets everything up ({seconds} seconds on {machine}; {date}) and names what is on a\n"
        "photo, in a first call, which also plans. Then `{command}` writes:"
    )
    command = f".venv/bin/kuiper {words}"
    return [
        sentence.format(seconds=f"{demo.seconds:.0f}", machine=machine, date=demo.date, command=command),
        "",
        "```",
        *demo.classified,
        "",
        *demo.written,
        "```",
    ]


def widest(results: Sequence[Results]) -> Results | None:
    """Those with single images of the build with the longest vectors, and of these the latest."""
    single = [found for found in results if any(batch == 1 for batch, _ in found.settings)]
    return max(single, key=by_width, default=None)


def widest_text(results: Iterable[TextResults]) -> TextResults | None:
    """Those with text of the build with the longest vectors, and of these the latest."""
    return max(results, key=by_width, default=None)


def by_width(results: Results | TextResults) -> tuple[int, str]:
    """What puts builds with longer vectors, and then later results, behind the others."""
    return results.build["lanes"], results.date


def speed_chart(results: Results | None, text: TextResults | None) -> Picture | None:
    """Single images on all the threads that were measured, and a language model; None if nothing is measured."""
    groups = [*([image_bars(results)] if results else []), *(text_bars(text) if text else [])]
    groups = [group for group in groups if group]
    where = results or text
    if not groups or where is None:
        return None
    sentence = _("How many times as fast as the fastest other runtime kuiper is; longer is better. {machine}.")
    return chart(groups, sentence.format(machine=measured_on(where)))


def image_bars(results: Results) -> list[Bar]:
    """A bar for each network."""
    groups = results.groups(1, threads_of(results))
    return [
        Bar(name, 1 / group.ratio, group.fastest.peer)
        for name, group in groups.items()
        if group.ratio is not None and group.fastest is not None
    ]


def text_bars(results: TextResults) -> list[list[Bar]]:
    """Writing, and reading of a prompt, with each kind of weights."""
    threads = max(number for number, _ in results.settings)
    groups = []
    for steps, verb in ((True, "write"), (False, "read")):
        kinds = [bits for number, bits in results.settings if number == threads]
        rates = {bits: Rates.of(results, bits, threads, steps) for bits in kinds}
        groups.append([
            Bar(f"{verb} text, {weights_of(bits)}", found.by_peer[OURS] / found.by_peer[found.fastest], found.fastest)
            for bits, found in rates.items()
            if found.fastest is not None and OURS in found.by_peer
        ])  # fmt: skip
    return groups


def threads_of(results: Results) -> int:
    """The most threads with single images."""
    return max(threads for batch, threads in results.settings if batch == 1)


def measured_on(results: Results | TextResults) -> str:
    """The machine, its vectors and the date: ``A CPU (family 1, model 2), AVX2, 2026-01-31``."""
    return f"{cpu_of(results.machine)}, {vectors_of(results.build)}, {results.date}"


def speed_lines(newest: Sequence[Results], results: Results | None, text: TextResults | None) -> list[str]:
    """The chart, the means for each machine and build, and what stands against kuiper."""
    picture = speed_chart(results, text)
    if picture is None:
        return [_("Not measured yet.")]
    lines = [f"![{picture.alt}]({CHART.relative_to(ROOT).as_posix()})", ""]
    if results:
        sentence = _("Networks in float32, one image or text, {threads} threads, warm. {machine}.")
        lines += [sentence.format(threads=threads_of(results), machine=measured_on(results)), *first_call(results)]
        lines += ["", *means_table(newest), ""]
    return [*lines, *(text_lines(text) if text else [])]


def first_call(results: Results) -> list[str]:
    """How much longer the first call takes than the others, from the least to the most."""
    ours = [entry for entry in results.measurements if (entry.peer, entry.batch) == (OURS, 1)]
    more = [entry.first_ms - entry.median_ms for entry in ours]
    sentence = _("The first call plans and packs: it takes {least} to {most} ms longer.")
    return [sentence.format(least=f"{min(more):.0f}", most=f"{max(more):.0f}")] if more else []


def means_table(newest: Sequence[Results]) -> list[str]:
    """Geometric means of kuiper's time over that of the fastest other, a row for each machine and build."""
    heading = _("kuiper's time / the fastest other's, geometric mean")
    lines = [f"| {heading} | {' | '.join(map(translate, KINDS))} |", "|---|---|---|"]
    for found in newest:
        threads = [number for batch, number in found.settings if batch == 1]
        means = [found.mean_ratios(1, number) for number in threads]
        cells = [", ".join(f"{mean[kind]:.2f}" for mean in means if kind in mean) or "-" for kind in KINDS]
        where = measured_on(found)
        if found.limits:
            where = _("{machine} (all kept to it)").format(machine=where)
        said = _("{numbers} threads") if threads != [1] else _("{numbers} thread")
        numbers = said.format(numbers=_(" and ").join(map(str, threads)))
        lines.append(f"| {where}; {numbers} | {' | '.join(cells)} |")
    return lines


def text_lines(results: TextResults) -> list[str]:
    """The language model: where it was measured, and how close its answers are."""
    threads = max(number for number, _ in results.settings)
    sentence = _("Text: a decoder of 135 million parameters with random weights, {threads} threads, {machine}.")
    lines = [
        sentence.format(threads=threads, machine=measured_on(results)),
        *(f"{limit}." for limit in text_limits(results)),
    ]
    said = []
    for bits in dict.fromkeys(kind for __, kind in results.settings if kind != 32):
        agreeing = ", ".join(f"{peer} {entry.agreeing}" for peer, entry in results.of(bits, threads).items())
        said.append(_("with {bits} bits {agreeing}").format(bits=bits, agreeing=agreeing))
    if said:
        sentence = _("Of {greedy} greedy tokens these are those of float32 weights: {said}.")
        lines.append(sentence.format(greedy=GREEDY, said="; ".join(said)))
        lines.append(scales())
    return lines

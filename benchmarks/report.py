"""Write docs/evidence/performance.md, and what README.md says of speed, anew from the JSON files in benchmarks/results.

Results that are old are refused: those since whose day kuiper/engine has had more than COMMITS commits.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, TypeVar

from benchmarks.demo import Demo
from benchmarks.errors import BenchmarkError
from benchmarks.machine import vectors_of
from benchmarks.places import CHART, DEMO_RESULTS, PAGE, README, RESULTS, ROOT, SERVE_RESULTS, TEXT_RESULTS
from benchmarks.readme import DEMO, SPEED, demo_lines, speed_chart, speed_lines, widest, widest_text, written
from benchmarks.results import Results
from benchmarks.run import ROUNDS, TURNS
from benchmarks.serve import PAUSE, SIZES, calls_of
from benchmarks.serve_results import ServeResults, serve_tables
from benchmarks.session import TOLERANCE
from benchmarks.tables import all_tables, count, exclusions, limits, title
from benchmarks.text_results import TextResults
from benchmarks.text_tables import legend, text_exclusions, text_limits, text_tables
from kuiper.course.translations import editions
from kuiper.language import ENGLISH, speaking

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from kuiper.graph.report import Report

AnyResults = TypeVar("AnyResults", Results, TextResults)
AnyText = TypeVar("AnyText", TextResults, ServeResults)

COMMITS = 50
"""Of kuiper/engine, since the day of a result: with more, it says nothing of this engine."""
QUICK = "**From a quick run, which shows that all works: these figures mean nothing.**"
TEXT_INTRODUCTION = """\
A decoder of SmolLM2-135M's sizes with seeded random weights, one text at a time. These are rates: *ours / fastest*
above 1 means that kuiper is ahead."""
SERVE_INTRODUCTION = f"""\
The same decoder, and readers who share it: each sends its next request {PAUSE} s after its last answer, on average.
Prompts have {SIZES.prompts[0]} to {SIZES.prompts[1]} tokens, every second begins with the same {SIZES.shared}; answers
have {SIZES.answers[0]} to {SIZES.answers[1]}; {calls_of(0)} requests and two for each reader. Where *ours / fastest* is
above 1, kuiper is ahead; of times, where it is below."""
INTRODUCTION = """\
# Performance

kuiper beside onnxruntime, openvino, ncnn and torch: the same models with the same seeded weights in float32, on the
same machine, in the same run. *ours / fastest* is kuiper's median over that of the fastest peer, which the column
before it names: below 1, kuiper is ahead. *of peak* is the share of the machine's multiply-add (FMA) peak that kuiper
reaches, *fastest's* that of the fastest peer; for a build that keeps to AVX2, it is the peak with AVX2.

This page is written by `python -m benchmarks report` from the JSON files in `benchmarks/results`. Do not edit it.
"""

METHOD = f"""\
## How it is measured

- Every peer gets a contiguous float32 array (n, c, h, w), or token ids, and returns an array in torch's order; what a
  runtime does to reorder it counts. How each is set up stands on one page:
  [benchmarks/peers.py](../../benchmarks/peers.py).
- The transformers are a ViT-Ti/16, a MobileViT-XS and a BERT encoder of MiniLM's size on 128 tokens:
  [benchmarks/architectures](../../benchmarks/architectures).
- Where kuiper is built for AVX2 and the CPU has AVX-512, the peers are kept to AVX2 as well (`--isa native` leaves them
  free). torch has switches for that. The others ask the CPU what it has: they are run from copies whose questions are
  answered as a CPU with AVX2 alone would ([benchmarks/avx2_packages.py](../../benchmarks/avx2_packages.py)).
- torch runs in two ways: `torch-frozen` is TorchScript after `freeze` and `optimize_for_inference`; `torch-eager` is
  the Python module in the channels-last memory format. ncnn has half precision off, and runs a batch image by image.
- Each peer has a process of its own, and only one is at work at a time. They take turns, in {count(ROUNDS, "round")}
  of new processes with {count(TURNS, "turn")} each, so that a slow moment of the machine hits all. Times are medians
  over all runs.
- An output that differs from torch's by more than {TOLERANCE:g} of its largest value excludes a peer.
- A multiply-add counts as two operations, and a convolution as done directly. Winograd's algorithm needs fewer, so a
  share of the peak can pass 100%. The peak is measured too: multiply-adds from registers, in a loop compiled for this
  CPU, or for AVX2 where kuiper is.
- Text is written by processes of their own as well, which take turns:
  [benchmarks/text_peers.py](../../benchmarks/text_peers.py) says how each is set up, and that 8 and 4 bits are each
  runtime's own format for these, made from the same weights. openvino-genai gives no scores to Python: it is left to
  write greedily, and held to torch by its tokens; `openvino` runs the same file step by step.
- Serving is timed without HTTP: each runtime gets requests while it works
  ([benchmarks/serve_peers.py](../../benchmarks/serve_peers.py)); `kuiper bench --serve URL` sends them to a server.
- Load time is from the files to ready to run; the first inference, which in some runtimes still prepares, stands
  beside it. Both, and memory, are medians over the processes.

## Measure it yourself

Needs a C++ compiler (llama-cpp-python is built from source) and, once, the network:

    make bench                                                              # nine models, batch 1
    .venv/bin/python -m benchmarks --batch 1 8 -o benchmarks/results/NAME.json
    .venv/bin/python -m benchmarks text -o benchmarks/results/text/NAME.json    # a language model
    .venv/bin/python -m benchmarks text --trained MODEL --text FILE             # with a trained one's quality
    .venv/bin/python -m benchmarks serve -o benchmarks/results/serve/NAME.json  # many readers at once
    .venv/bin/python -m benchmarks report                                   # this page

`python -m benchmarks --help` shows how to choose models, peers and threads; `python -m benchmarks kernels` times single
layers, and `python -m benchmarks roofline -o roofline.png` draws those of a model under the machine's roofline.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--old", action="store_true", help="write it of old results too: each has its date beside it")


def execute(arguments: argparse.Namespace) -> int:
    found, text, serve, demo = read_all(), read_text_results(), read_serve_results(), read_demo()
    if not arguments.old:
        of_text = {f"text/{name}": results for name, results in text.items()}
        refuse_old({**found, **of_text, **{f"serve/{name}": results for name, results in serve.items()}})
    with speaking(ENGLISH):
        PAGE.write_text(page(found, text, serve), encoding="utf-8")
        picture = speed_chart(widest(list(found.values())), widest_text(text.values()))
    if picture is not None:
        picture.save(CHART)
    print(f"wrote {PAGE.relative_to(ROOT)} and {CHART.relative_to(ROOT)}")
    for name, readme in editions(README).items():
        with speaking(name):
            figures = with_figures(readme.read_text(encoding="utf-8"), found, text, demo)
        readme.write_text(figures, encoding="utf-8")
        print(f"wrote the figures in {readme.relative_to(ROOT)}")
    return 0


def refuse_old(results: Mapping[str, Results | TextResults | ServeResults]) -> None:
    """Nothing, if the engine has hardly changed since the results.

    Raises
    ------
    BenchmarkError
        If it has.
    """
    for name, found in results.items():
        commits = commits_since(found.date)
        if commits > COMMITS:
            where = f"benchmarks/results/{name}.json"
            expected = f"a result since which kuiper/engine has had at most {COMMITS} commits"
            hint = "measure again, remove it, or python -m benchmarks report --old"
            raise BenchmarkError(where, expected, f"{commits} since {found.date}", hint=hint)


def commits_since(date: str) -> int:
    """The commits of the engine after a day. The day counts, as a commit may be rebased and lose its number."""
    command = ["git", "rev-list", "--count", f"--since={date}T23:59:59", "HEAD", "--", "kuiper/engine"]
    return int(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


def read_demo() -> Demo | None:
    """The latest record of a demo, if there is one."""
    found = [Demo.read(path) for path in sorted(DEMO_RESULTS.glob("*.json"))]
    return max(found, key=lambda demo: demo.date, default=None)


def read_all() -> dict[str, Results]:
    """All results in the repository by the name of their file, the latest first.

    Raises
    ------
    BenchmarkError
        If there are none.
    """
    found = {path.stem: Results.read(path) for path in sorted(RESULTS.glob("*.json"))}
    if not found:
        raise BenchmarkError(
            "report", f"JSON files in {RESULTS.relative_to(ROOT)}", "none", hint="python -m benchmarks -o FILE"
        )
    return dict(sorted(found.items(), key=lambda item: item[1].date, reverse=True))


def read_text_results() -> dict[str, TextResults]:
    """What ``python -m benchmarks text`` measured, by file name, the latest first."""
    return read_folder(TEXT_RESULTS, TextResults)


def read_serve_results() -> dict[str, ServeResults]:
    """What ``python -m benchmarks serve`` measured, by file name, the latest first."""
    return read_folder(SERVE_RESULTS, ServeResults)


def read_folder(folder: Path, kind: type[AnyText]) -> dict[str, AnyText]:
    """The results in a folder by file name, the latest first."""
    found = {path.stem: kind.read(path) for path in sorted(folder.glob("*.json"))}
    return dict(sorted(found.items(), key=lambda item: item[1].date, reverse=True))


def page(all_results: dict[str, Results], text: dict[str, TextResults], serve: dict[str, ServeResults]) -> str:
    """The text of docs/evidence/performance.md."""
    sections = [section(name, results) for name, results in all_results.items()]
    sections += [text_section(name, results) for name, results in text.items()]
    sections += [serve_section(name, results) for name, results in serve.items()]
    return "\n".join([INTRODUCTION, *sections, METHOD])


def text_section(name: str, results: TextResults) -> str:
    """What a decoder of SmolLM2-135M's sizes does on one machine."""
    parts = [f"## Text: {title(results)}", TEXT_INTRODUCTION, legend(), facts(f"text/{name}", results)]
    if results.quick:
        parts.append(QUICK)
    parts += [markdown(table) for table in text_tables(results)]
    parts += [f"Note: {line}." for line in (*text_limits(results), *text_exclusions(results))]
    return "\n\n".join(parts) + "\n"


def serve_section(name: str, results: ServeResults) -> str:
    """What the same decoder does for many readers at once on one machine."""
    parts = [f"## Serving: {title(results)}", SERVE_INTRODUCTION, facts(f"serve/{name}", results)]
    if results.quick:
        parts.append(QUICK)
    parts += [markdown(table) for table in serve_tables(results)]
    parts += [f"Note: {line}." for line in (*text_limits(results), *text_exclusions(results))]
    return "\n\n".join(parts) + "\n"


def with_figures(readme: str, all_results: dict[str, Results], text: dict[str, TextResults], demo: Demo | None) -> str:
    """The README with the latest demo, and with the speed of the latest results with single images and with text.

    Raises
    ------
    BenchmarkError
        If it has no two lines ``<!-- demo -->``, or ``<!-- performance -->``, to write between.
    """
    single = [results for results in all_results.values() if any(batch == 1 for batch, _ in results.settings)]
    lines = speed_lines(list(newest(single)), widest(single), widest_text(text.values()))
    return written(written(readme, DEMO, demo_lines(demo)), SPEED, lines)


def newest(results: Iterable[AnyResults]) -> Iterable[AnyResults]:
    """Of each machine and build those that come first; the latest do."""
    by_title: dict[str, AnyResults] = {}
    for found in results:
        by_title.setdefault(title(found), found)
    return by_title.values()


def section(name: str, results: Results) -> str:
    """What was measured on one machine."""
    parts = [f"## {title(results)}", facts(name, results)]
    if results.quick:
        parts.append(QUICK)
    parts += [markdown(table) for table in all_tables(results)]
    parts += [f"Note: {line}." for line in (*limits(results), *exclusions(results))]
    return "\n\n".join(parts) + "\n"


def facts(name: str, results: Results | TextResults | ServeResults) -> str:
    """The machine, the build and the versions, as a list."""
    machine, build = results.machine, results.build
    caches = [f"{level} {size} KiB" for level, size in machine["caches_kib"].items()]
    memory = [f"{machine['memory_mib'] / 1024:.0f} GiB of memory"] if machine["memory_mib"] else []
    lanes = f" ({build['lanes']} numbers in a vector)" if "lanes" in build else ""
    versions = ", ".join(f"{package} {version}" for package, version in results.versions.items())
    return "\n".join(
        [
            f"- Measured {results.date}, `benchmarks/results/{name}.json`",
            f"- {machine['system']}: {', '.join(caches + memory)}",
            f"- kuiper built for {vectors_of(build)}{lanes} by {build['compiler']} with `{build['flags']}`",
            f"- Python {build['python']}, numpy {build['numpy']}, {versions}",
        ]
    )


def markdown(table: Report) -> str:
    """A report as a Markdown table under a heading.

    >>> from kuiper.graph.report import Column, Report
    >>> print(markdown(Report("Times", [Column("model"), Column("ms", numeric=True)], [("resnet18", "9.5")], "Fast.")))
    ### Times
    <BLANKLINE>
    | model | ms |
    |---|---:|
    | resnet18 | 9.5 |
    <BLANKLINE>
    Fast.
    """
    lines = [[column.heading for column in table.columns], *table.rows]
    head, *body = (f"| {' | '.join(cells)} |" for cells in lines)
    rule = f"|{'|'.join('---:' if column.numeric else '---' for column in table.columns)}|"
    return "\n".join([f"### {table.title}", "", head, rule, *body, "", table.footer])

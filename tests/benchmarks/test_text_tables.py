"""The tables, the page and the chart of the benchmarks of text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchmarks.errors import BenchmarkError
from benchmarks.readme import speed_chart, text_lines
from benchmarks.report import page
from benchmarks.text_files import GREEDY
from benchmarks.text_quality import TextQuality
from benchmarks.text_results import TextExclusion, TextLimits, TextMeasurement, TextResults
from benchmarks.text_tables import scales, table, text_exclusions, text_limits, text_tables

if TYPE_CHECKING:
    from pathlib import Path


def entry(peer: str, bits: int, step_ms: float) -> TextMeasurement:
    return TextMeasurement(
        bits=bits, threads=1, peer=peer, step_ms=step_ms, step_min_ms=step_ms, prompt_ms=20 * step_ms,
        prompt_min_ms=20 * step_ms, load_ms=500.0, first_ms=100.0, peak_mb=700.0, difference=1e-6, agreeing=16,
    )  # fmt: skip


def results() -> TextResults:
    """Kuiper takes half of llama.cpp's time in float32; with 8 bits it is alone."""
    return TextResults(
        date="2026-01-31",
        quick=False,
        machine={"cpu": "A CPU", "cores": 2, "caches_kib": {"L1": 32}, "memory_mib": 2048, "system": "Linux x86_64"},
        build={
            "compiler": "gcc 12", "flags": "-O3", "python": "3.11.7", "numpy": "2.0.0", "requires": ["avx", "avx2"],
            "machine": "x86_64", "lanes": 8, "cpu_features": ["avx2", "avx512f"],
        },
        versions={"kuiper": "0.1.0"},
        weight_bytes={32: 400_000_000, 8: 100_000_000, 4: 50_000_000},
        prompt_flops=10**10,
        limits=[TextLimits(32, 1, 50.0, 100.0), TextLimits(8, 1, 40.0, 100.0)],
        measurements=[entry("kuiper", 32, 10.0), entry("llama.cpp", 32, 20.0), entry("kuiper", 8, 4.0)],
        excluded=[TextExclusion(8, "llama.cpp", "no module llama_cpp")],
        quality=[
            TextQuality("tiny", "a.txt", "float32", 99, 7.5, 0.0),
            TextQuality("tiny", "a.txt", "8 bits, a scale for 32 numbers", 99, 7.6, 2e-5),
            TextQuality("random weights", "random tokens", "4 bits, a scale for 32 numbers", 99, None, 0.25),
        ],
    )  # fmt: skip


def test_tables_have_rates_and_shares() -> None:
    assert [list(row) for row in table(results(), 1, steps=True).rows] == [
        ["float32", "100", "-", "50", "-", "-", "-", "-", "llama.cpp", "2.00", "50", "80%"],
        ["8 bits", "250", "-", "-", "-", "-", "-", "-", "-", "-", "40", "62%"],
    ]
    (prompt, *_) = table(results(), 1, steps=False).rows
    assert list(prompt) == ["float32", "1280", "-", "640", "-", "-", "-", "-", "llama.cpp", "2.00", "100", "50%"]


def test_results_survive_the_file(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    results().save(path)
    assert TextResults.read(path) == results()


@pytest.mark.parametrize("content", ["{", "[]", '{"format": 99}', '{"format": 3}'])
def test_reading_another_file_is_one_error(tmp_path: Path, content: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(content)
    with pytest.raises(BenchmarkError, match=r"results\.json"):
        TextResults.read(path)


def test_page_has_a_section_of_text() -> None:
    written = page({}, {"made-up": results(), "quick": replace(results(), quick=True)}, {})
    assert "## Text: A CPU, 2 cores; kuiper built for AVX2" in written
    assert "`benchmarks/results/text/made-up.json`" in written
    assert written.count("From a quick run") == 1
    assert "Note: llama.cpp is left out for 8 bits: no module llama_cpp." in written
    assert len(text_tables(results())) == 4
    assert "| tiny | 8 bits, a scale for 32 numbers | 7.600 | 2.0e-05 | 99 tokens, a.txt | 250 | 3200 |" in written
    assert (
        "| random weights | 4 bits, a scale for 32 numbers | - | 2.5e-01 | 99 tokens, random tokens | - | - |"
        in written
    )
    everywhere = replace(results(), excluded=[TextExclusion(0, "openvino", "of reasons")])
    assert text_exclusions(everywhere)[0] == "openvino is left out for all weights: of reasons"
    twice = replace(results(), excluded=[TextExclusion(bits, "torch", "none") for bits in (8, 4)])
    assert text_exclusions(twice) == ["torch is left out for 8 bits and 4 bits: none"]
    assert written.count("kuiper does not.") == 2  # once in each section
    assert text_exclusions(results()) == ["llama.cpp is left out for 8 bits: no module llama_cpp"]
    assert text_limits(results()) == ["The peers use all that the CPU has, kuiper was built for AVX2"]
    assert f"Note: {text_limits(results())[0]}." in written


def test_chart_compares_with_the_fastest_other_and_leaves_out_what_has_none() -> None:
    picture = speed_chart(None, results())
    assert picture is not None
    assert picture.body.count("2.00 x llama.cpp") == 2  # float32 written and read; 8 bits have no other
    assert "8 bits" not in picture.body


def test_readme_says_how_close_quantised_answers_are() -> None:
    [_, limit, said, weights] = text_lines(results())
    assert limit == f"{text_limits(results())[0]}."
    assert said == f"Of {GREEDY} greedy tokens these are those of float32 weights: with 8 bits kuiper {GREEDY}."
    assert weights == scales()

"""docs/evidence/performance.md and the tables it is made of."""

from __future__ import annotations

import pytest

from benchmarks.errors import BenchmarkError
from benchmarks.places import PAGE, README
from benchmarks.report import MARK, page, read_all, read_text_results, section, with_headline
from benchmarks.tables import all_tables, headline
from tests.benchmarks.made_up import results


def test_page_is_what_the_results_generate() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(read_all(), read_text_results()), "run: python -m benchmarks report"


def test_readme_has_the_tables_of_the_results() -> None:
    text = README.read_text(encoding="utf-8")
    assert text == with_headline(text, read_all(), read_text_results()), "run: python -m benchmarks report"


def test_headline_has_ours_and_the_fastest_other() -> None:
    table = headline(results())
    assert list(table.rows[0]) == ["big", "10.0", "20.0 (openvino)", "0.50"]
    assert table.footer.endswith("Geometric mean of the ratios: convolutional networks 1.00 with 1 thread.")


def test_readme_has_a_table_for_each_machine_and_build() -> None:
    ours, other, older = results(), results(), results()
    other.build["requires"] = ["avx", "avx2", "avx512f"]
    older.date = "2026-01-01"
    text = with_headline(f"{MARK}\n{MARK}", {"new": ours, "wide": other, "old": older}, {})
    assert text.count("| big | 10.0 |") == 2
    assert "**A CPU, 2 cores; kuiper built for AVX2**" in text
    assert "**A CPU, 2 cores; kuiper built for AVX-512**" in text


def test_limits_of_the_peers_stand_below_the_tables() -> None:
    limited = results()
    limited.limits = {"openvino": "limited", "ncnn": "not limited", "onnxruntime": "not limited"}
    sentence = "The CPU has more than AVX2. openvino: limited; ncnn, onnxruntime: not limited."
    assert f"Note: {sentence}" in section("name", limited)
    assert sentence in with_headline(f"{MARK}\n{MARK}", {"name": limited}, {})
    assert "has more than" not in section("name", results())


def test_with_headline_needs_two_marks() -> None:
    with pytest.raises(BenchmarkError, match=r"README.md: expected two lines <!-- performance -->, got 0"):
        with_headline("# kuiper\n", {}, {})


def test_latency_table_names_the_fastest_and_leaves_a_gap_for_who_is_left_out() -> None:
    latency = all_tables(results())[0]
    assert [column.heading for column in latency.columns[2:5]] == ["kuiper", "openvino", "ncnn"]
    assert list(latency.rows[0]) == ["big", "1.00", "10.0", "20.0", "25.0", "openvino", "0.50", "50%", "25%"]
    assert list(latency.rows[1]) == ["small", "0.10", "4.00", "2.00", "-", "openvino", "2.00", "12%", "25%"]
    mean = "Geometric mean of ours / fastest: convolutional networks 1.00."
    assert latency.footer.startswith(f"{mean} FMA peak of 1 thread: 200 GFLOP/s.")


def test_start_and_memory_tables_show_one_setting() -> None:
    _, start, memory = all_tables(results())
    assert start.rows[0][1] == "20 + 5.0"
    assert memory.rows[0][1] == "120 (70)"


def test_section_tells_who_is_left_out_and_why() -> None:
    text = section("name", results())
    assert "Note: ncnn is left out for small, 1 thread, batch 1: its output differs from torch's by 2.0e-01." in text
    assert "quick" not in text
    assert text.startswith("## A CPU, 2 cores; kuiper built for AVX2\n")
    assert "kuiper built for AVX2 (8 numbers in a vector) by gcc 12" in text


def test_section_of_a_quick_run_says_so() -> None:
    quick = results()
    quick.quick = True
    assert "these figures mean nothing" in section("name", quick)

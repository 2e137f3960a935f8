"""docs/evidence/performance.md and the tables it is made of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchmarks import report
from benchmarks.errors import BenchmarkError
from benchmarks.places import CHART, PAGE, README
from benchmarks.readme import DEMO, SPEED, speed_chart, speed_lines, widest, widest_text
from benchmarks.report import (
    page,
    read_all,
    read_demo,
    read_serve_results,
    read_text_results,
    section,
    with_figures,
)
from kuiper.course.translations import editions
from kuiper.language import speaking

if TYPE_CHECKING:
    from pathlib import Path
from benchmarks.results import Exclusion
from benchmarks.tables import all_tables, exclusions
from benchmarks.text_results import TextResults
from tests.benchmarks.made_up import measurement, results

EMPTY = f"{DEMO}\n{DEMO}\n{SPEED}\n{SPEED}"


def test_page_is_what_the_results_generate() -> None:
    written = page(read_all(), read_text_results(), read_serve_results())
    assert PAGE.read_text(encoding="utf-8") == written, "run: python -m benchmarks report"


@pytest.mark.parametrize(("language", "readme"), editions(README).items())
def test_readme_has_the_figures_of_the_records(language: str, readme: Path) -> None:
    text = readme.read_text(encoding="utf-8")
    with speaking(language):
        found = with_figures(text, read_all(), read_text_results(), read_demo())
    assert text == found, "run: python -m benchmarks report"


def test_picture_of_speed_is_that_of_the_records() -> None:
    picture = speed_chart(widest(list(read_all().values())), widest_text(read_text_results().values()))
    assert picture is not None
    assert CHART.read_text(encoding="utf-8") == picture.svg(), "run: python -m benchmarks report"


def test_chart_has_a_bar_for_each_network_and_says_who_is_slower() -> None:
    picture = speed_chart(results(), None)
    assert picture is not None
    assert "2.00 x openvino" in picture.body  # big takes half of the time
    assert "0.50 x openvino" in picture.body  # small twice
    assert picture.alt.endswith("longer is better. A CPU, AVX2, 2026-01-31.")


def test_readme_has_a_row_for_each_machine_and_build() -> None:
    ours, other, older = results(), results(), results()
    other.build["requires"] = ["avx", "avx2", "avx512f"]
    other.machine["model"] = "family 25, model 17"
    older.date = "2026-01-01"
    text = with_figures(EMPTY, {"new": ours, "wide": other, "old": older}, {}, None)
    assert "| A CPU, AVX2, 2026-01-31; 1 thread | 1.00 | - |" in text
    assert "| A CPU (family 25, model 17), AVX-512, 2026-01-31; 1 thread | 1.00 | - |" in text
    assert "2026-01-01" not in text


def test_readme_says_how_much_longer_a_first_call_takes() -> None:
    found = results()
    found.measurements += [measurement("tiny", "kuiper", 1.0), measurement("tiny", "openvino", 1.0)]
    found.models["tiny"] = found.models["small"]
    assert "The first call plans and packs: it takes -5 to 4 ms longer." in speed_lines([found], found, None)
    assert speed_lines([], None, None) == ["Not measured yet."]


def test_limits_of_the_peers_stand_below_the_tables() -> None:
    limited = results()
    limited.limits = {"openvino": "limited", "ncnn": "not limited", "onnxruntime": "not limited"}
    sentence = "The CPU has more than AVX2. openvino: limited; ncnn, onnxruntime: not limited."
    assert f"Note: {sentence}" in section("name", limited)
    assert "2026-01-31 (all kept to it); 1 thread |" in with_figures(EMPTY, {"name": limited}, {}, None)
    assert "has more than" not in section("name", results())


@pytest.mark.parametrize(("text", "mark"), [("# kuiper\n", "demo"), (f"{DEMO}\n{DEMO}\n{SPEED}", "performance")])
def test_figures_need_two_marks(text: str, mark: str) -> None:
    with pytest.raises(BenchmarkError, match=f"README.md: expected two lines <!-- {mark} -->, got"):
        with_figures(text, {}, {}, None)


def test_report_refuses_results_of_another_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "commits_since", {"2026-01-31": report.COMMITS, "2026-01-01": 51}.__getitem__)
    report.refuse_old({"new": results()})
    older = results()
    older.date = "2026-01-01"
    with pytest.raises(BenchmarkError, match=r"old.json: expected .* at most 50 commits, got 51 since 2026-01-01"):
        report.refuse_old({"new": results(), "old": older})


def test_peers_that_are_left_out_have_one_line_for_each_reason() -> None:
    found = results()
    found.excluded = [Exclusion(model, 1, threads, "ncnn", "no") for model in "ab" for threads in (1, 2)]
    where = "1 thread, batch 1 and 2 threads, batch 1"
    assert exclusions(found) == [f"ncnn is left out for a, {where}; b, {where}: no"]


def test_latency_table_names_the_fastest_and_leaves_a_gap_for_who_is_left_out() -> None:
    latency = all_tables(results())[0]
    assert [column.heading for column in latency.columns[2:5]] == ["kuiper", "openvino", "ncnn"]
    assert list(latency.rows[0]) == ["big", "1.00", "10.0", "20.0", "25.0", "openvino", "0.50", "50%", "25%"]
    assert list(latency.rows[1]) == ["small", "0.10", "4.00", "2.00", "-", "openvino", "2.00", "12%", "25%"]
    mean = "Geometric mean of ours / fastest: convolutional networks 1.00."
    assert latency.footer.startswith(f"{mean} FMA peak of 1 thread: 200 GFLOP/s.")


def test_start_and_memory_tables_show_one_setting() -> None:
    latency, start, memory = all_tables(results())
    assert all_tables(replace(results(), limits={"torch": "kept to AVX2"})) == [latency]
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


def test_widest_text_goes_before_later_narrow_ones() -> None:
    def made(name: str, lanes: int, date: str) -> TextResults:
        return TextResults(date, False, {"cpu": name}, {"lanes": lanes}, {}, {}, 0)

    wide = made("wide", 16, "2026-01-01")
    assert widest_text([made("narrow", 8, "2026-02-01"), wide]) is wide
    assert widest_text([]) is None

"""What documents and lectures count, list and repeat is what the code says."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

import kuiper
from kuiper.course.manifest import read_syllabus
from kuiper.course.material import PAGES
from kuiper.graph.passes import DEFAULT_PASSES
from kuiper.layers import layer_types
from kuiper.models import bundled
from tests.fuzz.targets import TARGETS
from tests.words import GENERATED, by_hand, pages

ROOT = Path(__file__).parents[1]
LECTURES = sorted(ROOT.glob("notebooks/*.ipynb"))
WORDS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def words_of(lecture: Path) -> list[str]:
    """The cells of a lecture that are words."""
    cells = json.loads(lecture.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


def number(word: str) -> int | None:
    """What a numeral stands for, as digits or as a word."""
    if word.lower() in WORDS:
        return WORDS.index(word.lower()) + 1
    return int(word) if word.isdigit() else None


ALL_TEXTS = {**{page: text_of(page) for page in pages()}, **{path.name: "\n".join(words_of(path)) for path in LECTURES}}


def orphan_rows(text: str) -> list[str]:
    """Rows that no head of a table precedes: a page shows them as a paragraph of bars."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE)
    return [block.splitlines()[0] for block in blocks if not re.match(r"\|.*\n\|[-:| ]+\|\n", block)]


@pytest.mark.parametrize("page", sorted(ALL_TEXTS))
def test_rows_stand_in_tables(page: str) -> None:
    assert orphan_rows(ALL_TEXTS[page]) == []


def test_orphan_rows_are_found() -> None:
    assert orphan_rows("| a |\n|---|\n| b |\n\n| c |\n\n```\n| d |\n```\n") == ["| c |"]


@pytest.mark.parametrize("page", sorted(ALL_TEXTS.keys() - {"CHANGELOG.md"}))  # which tells of the past
def test_numbers_of_passes_and_lectures_are_true(page: str) -> None:
    """A number in front of one of these nouns, as in ``all 19 passes``, is the number of all."""
    known = {"passes": len(DEFAULT_PASSES), "lectures": len(LECTURES), "exercises": len(list(read_syllabus(ROOT)))}
    numbered = re.compile(r"\b(?:all|the|these|kuiper's) (\w+) (passes|lectures|exercises)\b", re.IGNORECASE)
    for word, noun in numbered.findall(ALL_TEXTS[page]):
        assert number(word) in (None, known[noun]), f"{word} {noun}"


def test_page_on_passes_counts_the_operators_of_the_bundled_model() -> None:
    param = bundled("digits_yolo")
    before, after = (len(kuiper.load(param, optimize=optimize).operators) for optimize in (False, True))
    assert f"(`digits_yolo`) | {before} → {after} |" in text_of("docs/reference/passes.md")


def test_pages_on_making_wheels_have_the_limit_of_the_script() -> None:
    limit = runpy.run_path(str(ROOT / "packaging/wheel.py"), run_name="wheel")["MAX_MEGABYTES"]
    assert f"It refuses {limit} MB or more" in text_of("docs/use/install.md")
    assert f"达到或超过 {limit} MB" in text_of("docs/use/install.zh-CN.md")


def test_number_of_operator_types_is_that_of_the_registry() -> None:
    known = len([name for name in layer_types() if not name.startswith("doc.")])
    for page, text in ALL_TEXTS.items():
        for said in re.findall(r"(?:some|about|over) (\d+) operator types", text):
            assert abs(int(said) - known) < 50, (page, known)


def targets() -> set[str]:
    return set(re.findall(r"^([a-z0-9-]+):", text_of("Makefile"), re.MULTILINE))


@pytest.mark.parametrize("page", pages())
def test_targets_of_make_exist(page: str) -> None:
    quoted = re.findall(r"`(make [^`]*)`", ALL_TEXTS[page])
    lines = re.findall(r"^(make [a-z0-9-]+)", ALL_TEXTS[page], re.MULTILINE)
    named = {word for code in (*quoted, *lines) for word in code.split()[1:] if re.fullmatch(r"[a-z0-9-]+", word)}
    assert named <= targets()


def test_head_of_the_makefile_explains_every_target() -> None:
    explained = set(re.findall(r"^# make ([a-z0-9-]+)", text_of("Makefile"), re.MULTILINE))
    assert explained == targets() - {"clean"}


def test_security_names_every_reader_that_is_fuzzed_and_the_figures_have_each() -> None:
    figures = json.loads(text_of("docs/evidence/reliability/fuzz.json"))["figures"]
    counted = {name.removeprefix("executions of ") for name in figures if name.startswith("executions of ")}
    assert counted == set(TARGETS)
    tested = text_of("SECURITY.md").split("## How it is tested")[1].split("##")[0]
    assert set(re.findall(r"`(\w+)`", tested)) == set(TARGETS)


@pytest.mark.parametrize("lecture", LECTURES, ids=lambda path: path.name)
def test_lectures_name_only_documents_that_students_have(lecture: Path) -> None:
    named = {name for text in words_of(lecture) for name in re.findall(r"docs/([\w/-]+)\.md", text)}
    assert named <= set(PAGES)


MEASURED = re.compile(r"\d[\d.,]* ?(?:ms|µs|us|GFLOP/s|tokens a second|tokens/s|images a second)\b")
WORKED_OUT = ("worked example", "<summary>Answer</summary>")


@pytest.mark.parametrize("lecture", LECTURES, ids=lambda path: path.name)
def test_words_of_lectures_repeat_no_measured_number(lecture: Path) -> None:
    """The outputs have them: another machine gives others. Examples that are worked out on paper stay."""
    found = []
    for text in words_of(lecture):
        for paragraph in re.split(r"\n\n(?!</details>)", text):
            found += [] if any(word in text for word in WORKED_OUT) else MEASURED.findall(paragraph)
    assert found == []


def test_what_conversion_needs_is_installed_by_one_line_everywhere() -> None:
    """The extra has torch; how to get its smaller build first stands on one page. Where bits count, it is pinned."""
    for page in pages():
        for line in re.findall(r"pip install [^`\n#]*", ALL_TEXTS[page]):
            torch = re.search(r"\btorch\b(?!==)", line)
            assert not torch or page == "docs/use/convert.md", (page, line)


RATE = re.compile(r"\d[\d.,]* ?(?:ms|µs|GFLOP/s|GB/s|tokens/s|minutes of CPU)(?!\w)")


BY_HAND = [page for page in pages() if page not in GENERATED and not page.startswith("notebooks/")]


@pytest.mark.parametrize("page", BY_HAND)
def test_figures_that_were_measured_have_a_date(page: str) -> None:
    """In the words of a page; what a program prints stands in a block of code."""
    text = re.sub(r"^```.*?^```", "", by_hand(text_of(page)), flags=re.MULTILINE | re.DOTALL)
    measured = [paragraph for paragraph in text.split("\n\n") if RATE.search(paragraph)]
    assert [paragraph for paragraph in measured if not re.search(r"\b20\d\d\b", paragraph)] == []

"""packaging/stamps.py: what is compiled again, and what is not, in a copy whose dates are new."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

PATH = Path(__file__).parents[1] / "packaging" / "stamps.py"
SOURCES = ["kuiper/a.pyx", "kuiper/a.pxd"]
PRODUCT = "build/a.so"


def module() -> Any:
    spec = importlib.util.spec_from_file_location("stamps", PATH)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def stamps(root: Path, salt: str = "") -> Any:
    return module().Stamps(root / "build" / "stamps.json", root, salt)


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A checkout with one product, made of two files."""
    root = tmp_path / "first"
    for name in (*SOURCES, PRODUCT):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    stamps(root).note(PRODUCT, SOURCES)
    return root


def test_fits_in_a_copy_of_the_checkout_whatever_its_dates(built: Path, tmp_path: Path) -> None:
    copied = tmp_path / "second"
    shutil.copytree(built, copied)
    os.utime(copied / PRODUCT, (0, 0))
    assert stamps(copied).fits(PRODUCT, SOURCES) is True


def test_fits_not_where_a_source_is_another_one_even_if_it_is_old(built: Path) -> None:
    (built / SOURCES[1]).write_text("changed")
    os.utime(built / SOURCES[1], (0, 0))
    assert stamps(built).fits(PRODUCT, SOURCES) is False


def test_fits_not_where_the_product_the_salt_or_the_list_of_sources_is_another_one(built: Path) -> None:
    assert stamps(built, salt="Cython 4").fits(PRODUCT, SOURCES) is False
    assert stamps(built).fits(PRODUCT, SOURCES[:1]) is False
    assert stamps(built).fits("build/b.so", SOURCES) is False
    (built / PRODUCT).unlink()
    assert stamps(built).fits(PRODUCT, SOURCES) is False


@pytest.mark.parametrize("text", ["", "[]", "{"])
def test_fits_knows_nothing_without_a_file_that_can_be_read(built: Path, text: str) -> None:
    (built / "build" / "stamps.json").write_text(text)
    assert stamps(built).fits(PRODUCT, SOURCES) is None


def test_date_is_new_where_the_content_fits_and_old_where_it_does_not(built: Path) -> None:
    product, source = built / PRODUCT, built / SOURCES[0]
    os.utime(product, (0, 0))
    stamps(built).date(PRODUCT, SOURCES)
    assert product.stat().st_mtime >= source.stat().st_mtime
    source.write_text("changed")
    os.utime(source, (1, 1))
    stamps(built).date(PRODUCT, SOURCES)
    assert product.stat().st_mtime < source.stat().st_mtime


def test_sources_outside_of_the_checkout_are_known_by_name_and_content(built: Path, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "math.pxd").write_text("the same")
    stamps(built).note(PRODUCT, [*SOURCES, str(tmp_path / "one" / "math.pxd")])
    assert stamps(built).fits(PRODUCT, [*SOURCES, str(tmp_path / "two" / "math.pxd")]) is True


def test_with_included_follows_headers_of_kuiper_through_headers(tmp_path: Path) -> None:
    (tmp_path / "kuiper").mkdir()
    (tmp_path / "kuiper" / "a.h").write_text('#include <math.h>\n#include "kuiper/b.h"\n')
    (tmp_path / "kuiper" / "b.h").write_text('#include "kuiper/c.h"\n#include "kuiper/a.h"\n')
    (tmp_path / "kuiper" / "c.h").write_text("")
    found = module().with_included(tmp_path, ["kuiper/x.pxd", "kuiper/a.h"])
    assert found == ["kuiper/a.h", "kuiper/b.h", "kuiper/c.h", "kuiper/x.pxd"]

"""Sizes of memory and API keys, as users give them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kuiper.errors import KuiperError
from kuiper.serving.settings import bytes_of, read_api_key

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("text", ["", "0", "-1", "1T", "many", "1.5G", "1" * 20])
def test_bytes_of_refuses_what_is_no_size(text: str) -> None:
    with pytest.raises(KuiperError, match="expected a size such as 512M or 2G"):
        bytes_of(text)


def test_read_api_key_takes_one_line(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("s3cret\n")
    assert read_api_key(tmp_path / "key") == "s3cret"

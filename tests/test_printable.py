"""What a terminal would act upon is shown instead."""

from __future__ import annotations

import pytest

from kuiper.errors import KuiperError, ModelFormatError
from kuiper.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", r"\x1b[31mred"),
        ("bell\x07", r"bell\x07"),
        ("\x9b2J", r"\x9b2J"),
        ("a\nb\r\tc\x7f", r"a\nb\r\tc\x7f"),
        ("\u202egpj.exe\u2066", r"\u202egpj.exe\u2066"),
        ("line\u2028paragraph\u2029", r"line\u2028paragraph\u2029"),
        ("\udcff of a file name", r"\udcff of a file name"),
        ("\ufffe", r"\ufffe"),
        ("\U000e0041", r"\U000e0041"),
    ],
)
def test_printable_shows_what_a_terminal_would_do(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize("text", ["", "cat", "[red]:cat:[/]", "Bär ▁ 猫\u3000猫", "👩\u200d🔬", r"C:\new"])
def test_printable_leaves_text_alone(text: str) -> None:
    assert printable(text) == text


def test_printable_keeps_what_it_is_asked_to() -> None:
    assert printable("a\n\x1bb", keep="\n") == "a\n\\x1bb"


def test_errors_are_safe_to_print_whatever_they_quote() -> None:
    error = ModelFormatError("bad\x1b[2J\nname.param:3", "a\x07 word", "\x9bK", "here:\n    \x1b[1m^")
    assert str(error) == "bad\\x1b[2J\\nname.param:3: expected a\\x07 word, got \\x9bK; here:\n    \\x1b[1m^"
    assert error.where == "bad\x1b[2J\nname.param:3"  # for programs, it is what it was


def test_errors_are_of_a_bounded_length() -> None:
    message = str(KuiperError("x" * 10**6, "y" * 10**6, list(range(10**6)), "z" * 10**6))
    assert len(message) < 20000
    assert message.startswith("xxx")
    assert message.endswith("zzz")

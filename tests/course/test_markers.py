from __future__ import annotations

import textwrap
from typing import Any

import pytest

from kuiper.course.errors import CourseError
from kuiper.course.markers import skeleton, without_functions


def made(text: str) -> str:
    return skeleton(textwrap.dedent(text).lstrip("\n"), "3.4", "im2col.pyx")


def test_region_in_a_function_raises_in_its_name() -> None:
    text = made("""
        def f(x):
            y = x
            # BEGIN SOLUTION
            return y
            # END SOLUTION
    """)
    assert text == 'def f(x):\n    y = x\n    raise NotImplementedError("exercise 3.4: f")\n'


@pytest.mark.parametrize(
    "head",
    [
        "cdef void g(float[::1] x) noexcept nogil:",
        "cpdef int g(int x):",
        "cdef inline float g(float x) nogil:",
        "async def g(x):",
    ],
)
def test_region_in_a_cython_function_raises_in_its_name(head: str) -> None:
    text = made(f"{head}\n    # BEGIN SOLUTION\n    pass\n    # END SOLUTION\n")
    assert text == f'{head}\n    raise NotImplementedError("exercise 3.4: g")\n'


def test_region_in_a_method_names_the_class_too() -> None:
    text = made("""
        class A:
            def f(self):
                if self:
                    # BEGIN SOLUTION
                    return 1
                    # END SOLUTION
    """)
    assert '            raise NotImplementedError("exercise 3.4: A.f")\n' in text


def test_region_outside_of_functions_leaves_a_comment() -> None:
    text = made("""
        # BEGIN SOLUTION
        def helper(): ...
        # END SOLUTION
        x = 1
    """)
    assert text == "# exercise 3.4: your own helpers may stand here\nx = 1\n"


def test_text_after_the_colon_takes_the_place() -> None:
    assert made("def f():\n    # BEGIN SOLUTION: pass\n    return 1\n    # END SOLUTION\n") == "def f():\n    pass\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# BEGIN SOLUTION\nx\n", "im2col.pyx:1: expected END SOLUTION below"),
        ("x\n# END SOLUTION\n", "im2col.pyx:2: expected BEGIN SOLUTION first"),
        ("# BEGIN SOLUTION\n# BEGIN SOLUTION\n# END SOLUTION\n", "im2col.pyx:2: expected END SOLUTION for line 1"),
        ("x = 1  # BEGIN SOLUTION\n", "alone on its line"),
        ("#begin solution\n", "alone on its line"),
        ("x = 1\n", "got none"),
    ],
)
def test_unbalanced_markers_are_an_error(text: str, words: str) -> None:
    with pytest.raises(CourseError, match=words):
        made(text)


def test_functions_of_a_module_raise_where_they_are_taken_out() -> None:
    text = 'def f(x):\n    """Double."""\n    return 2 * x\n\n\ndef g(x):\n    return f(x)\n'
    namespace: dict[str, Any] = {}
    exec(without_functions(text, ("f",), "2.6"), namespace)
    with pytest.raises(NotImplementedError, match=r"^exercise 2.6: f$"):
        namespace["g"](1)

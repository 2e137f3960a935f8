"""Which names a student's file has, and what it does with them."""

from __future__ import annotations

from kuiper.course.names import names_in


def test_names_in_leaves_prose_out() -> None:
    text = '"""The size of ``room``, in words."""\ntotal = 2  # of all\n'
    assert names_in(text) == ["room", "total", "total="]


def test_names_in_leaves_texts_out() -> None:
    """A name in a message is no name of the student's: only what an f-string computes is."""
    text = 'def f(x):\n    raise ValueError(f"kernels: {x.shape!r:>9}, {n + 1}" + "groups")\n'
    assert names_in(text) == ["ValueError", "f", "n", "shape", "x", "x.shape"]


def test_names_in_says_what_is_set_and_what_is_cut() -> None:
    text = "self.pages[3], b = a, x[1 : n[2]]\ntotal += y[0, :]\n"
    assert {name for name in names_in(text) if not name.isidentifier()} == {
        "b=", "b=n", "b=x", "pages=", "self.pages", "total=", "total=y", "x[:]", "y[:]",
    }  # fmt: skip


def test_names_in_reads_cython() -> None:
    text = "cdef Py_ssize_t i, n = 3\ndef f(float[:] x):\n    cdef float best = x[n]\n    i = <int>best\n"
    assert {"i=", "n=", "best=", "x"} <= set(names_in(text))

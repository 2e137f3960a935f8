"""Exercise 4.3."""

from __future__ import annotations

import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st

LEAVES = st.sampled_from(["@0", "@1", "@12", "2", "-0.5"])
OWN = {"where": 3, "not": 1, "clamp": 3, "many": 5, "add": 2}


def calls(trees):
    unary = st.tuples(st.sampled_from(["neg", "sqrt"]), trees)
    return unary | st.tuples(st.sampled_from(["add", "sub", "mul", "div", "pow"]), trees, trees)


TREES = st.recursive(LEAVES, calls, max_leaves=12)


def row_of(tree):
    row, waiting = [], [tree]
    while waiting:  # root first, last argument next: the row from its end to its beginning
        node = waiting.pop()
        row.append(node if isinstance(node, str) else node[0])
        waiting += () if isinstance(node, str) else node[1:]
    return row[::-1]


def test_reverse_polish_of_a_leaf(impl):
    calling(impl.reverse_polish, "@0").gives(["@0"])


def test_reverse_polish_of_one_argument(impl):
    calling(impl.reverse_polish, ("neg", "@1")).gives(["@1", "neg"])


def test_reverse_polish_of_two_arguments(impl):
    calling(impl.reverse_polish, ("sub", "@0", "2")).gives(["@0", "2", "sub"])


def test_reverse_polish_of_a_call_first(impl):
    calling(impl.reverse_polish, ("mul", ("add", "@0", "1"), "@1")).gives(["@0", "1", "add", "@1", "mul"])


def test_reverse_polish_of_a_call_last(impl):
    calling(impl.reverse_polish, ("mul", "@1", ("sub", "@0", ("neg", "1")))).gives(
        ["@1", "@0", "1", "neg", "sub", "mul"]
    )


def test_reverse_polish_of_many_arguments(impl):
    tree = ("where", ("not", "@0"), ("many", "1", "2", ("not", "3"), "4", "5"), "@2")
    row = ["@0", "not", "1", "2", "3", "not", "4", "5", "many", "@2", "where"]
    calling(impl.reverse_polish, tree).gives(row)


def test_reverse_polish_of_the_same_twice(impl):
    calling(impl.reverse_polish, ("add", ("mul", "@0", "@0"), ("mul", "@0", "@0"))).gives(
        ["@0", "@0", "mul", "@0", "@0", "mul", "add"]
    )


def test_tree_of_a_leaf(impl):
    calling(impl.tree_of, ["-2"]).gives("-2")


def test_tree_of_one_argument(impl):
    calling(impl.tree_of, ["@1", "neg"]).gives(("neg", "@1"))


def test_tree_of_two_arguments(impl):
    calling(impl.tree_of, ["@0", "2", "sub"]).gives(("sub", "@0", "2"))


def test_tree_of_calls(impl):
    tree = ("div", ("sub", "@0", "1"), ("pow", ("neg", "@1"), "3"))
    calling(impl.tree_of, ["@0", "1", "sub", "@1", "neg", "3", "pow", "div"]).gives(tree)


def test_tree_of_a_call_that_leaves_others_alone(impl):
    calling(impl.tree_of, ["@0", "@1", "@2", "sub", "mul"]).gives(("mul", "@0", ("sub", "@1", "@2")))


def test_tree_of_own_functions(impl):
    row = ["@0", "not", "1", "2", "3", "not", "4", "5", "many", "@2", "where"]
    tree = ("where", ("not", "@0"), ("many", "1", "2", ("not", "3"), "4", "5"), "@2")
    calling(impl.tree_of, row, OWN).gives(tree)


def test_tree_of_many_steps(impl):
    """Nested only 20 deep, but with thousands of leaves."""
    row, tree = ["@0", "1", "sub"], ("sub", "@0", "1")
    for _ in range(9):
        row, tree = [*row, *row, "sub"], ("sub", tree, tree)
    calling(impl.tree_of, row).gives(tree)
    calling(impl.reverse_polish, tree).gives(row)


def test_tree_of_leaves_called_like_a_part_of_a_function(impl):
    calling(impl.tree_of, ["ad", "neg1", "add"]).gives(("add", "ad", "neg1"))
    calling(impl.tree_of, ["ADD", "NEG", "sub"]).gives(("sub", "ADD", "NEG"))


def test_tree_of_what_is_no_function_here(impl):
    calling(impl.tree_of, ["neg", "x", "add"], OWN).gives(("add", "neg", "x"))


@pytest.mark.parametrize(
    ("steps", "name"),
    [(["@0", "sub"], "sub"), (["neg"], "neg"), (["@0", "@1", "add", "mul"], "mul"), (["add", "1", "2"], "add")],
)
def test_tree_of_too_few(impl, steps, name):
    calling(impl.tree_of, steps).raises(ValueError, name)


@pytest.mark.parametrize(
    ("steps", "count"), [([], "0"), (["@0", "@5"], "2"), (["@0", "neg", "@5", "@5", "@5", "add"], "3")]
)
def test_tree_of_what_is_not_one_tree(impl, steps, count):
    calling(impl.tree_of, steps).raises(ValueError, count)


@given(tree=TREES)
def test_reverse_polish_of_any_tree(impl, tree):
    calling(impl.reverse_polish, tree).gives(row_of(tree))


@given(tree=TREES)
def test_tree_of_gives_the_tree_back(impl, tree):
    calling(impl.tree_of, row_of(tree)).gives(tree)

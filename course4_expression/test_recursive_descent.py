"""Exercise 4.2."""

from __future__ import annotations

import pytest

from kuiper.course import calling, same
from kuiper.course.properties import given, st
from kuiper.expression import tokenize
from kuiper.language import translate

KINDS = {"INPUT": "input", "NUMBER": "number", "WORD": "word", "OPEN": "(", "CLOSE": ")", "COMMA": ","}
LEAVES = st.sampled_from(["@0", "@1", "@12", "2", "-0.5", "1e-05"])


def tokens_of(text):
    return [(KINDS[token.type.name], token.text, token.position) for token in tokenize(text)]


def calls(trees):
    unary = st.tuples(st.sampled_from(["neg", "sqrt"]), trees)
    return unary | st.tuples(st.sampled_from(["add", "sub", "mul", "div", "pow"]), trees, trees)


def text_of(tree):
    return tree if isinstance(tree, str) else f"{tree[0]}({','.join(text_of(child) for child in tree[1:])})"


def test_an_input(impl):
    calling(impl.parse, tokens_of("@0")).gives("@0")


def test_a_number(impl):
    calling(impl.parse, tokens_of("-1.5")).gives("-1.5")


def test_one_argument(impl):
    calling(impl.parse, tokens_of("neg(@1)")).gives(("neg", "@1"))


def test_two_arguments(impl):
    calling(impl.parse, tokens_of("sub(@0,2)")).gives(("sub", "@0", "2"))


def test_a_call_as_the_first_argument(impl):
    calling(impl.parse, tokens_of("mul(add(@0,1),@1)")).gives(("mul", ("add", "@0", "1"), "@1"))


def test_a_call_as_the_last_argument(impl):
    calling(impl.parse, tokens_of("mul(@0,neg(sqrt(@1)))")).gives(("mul", "@0", ("neg", ("sqrt", "@1"))))


def test_calls_as_both_arguments(impl):
    tree = ("div", ("pow", ("add", "@0", "@1"), "2"), ("sub", "@2", ("neg", "3")))
    calling(impl.parse, tokens_of("div(pow(add(@0,@1),2),sub(@2,neg(3)))")).gives(tree)


def test_item_says_where_it_ends(impl):
    calling(impl.item, tokens_of("neg(@1)"), 0).gives((("neg", "@1"), 4))


def test_item_in_the_middle(impl):
    calling(impl.item, tokens_of("mul(add(@0,1),@1)"), 2).gives((("add", "@0", "1"), 8))


def test_item_of_a_leaf_in_the_middle(impl):
    calling(impl.item, tokens_of("sub(@0,2)"), 4).gives(("2", 5))


def test_item_does_not_look_behind_its_end(impl):
    calling(impl.item, tokens_of("neg(@0) @1 ) ("), 0).gives((("neg", "@0"), 4))


def test_own_functions(impl):
    tree = ("where", ("not", "@0"), ("where", "1", "2", "3"), "@1")
    calling(impl.parse, tokens_of("where(not(@0),where(1,2,3),@1)"), {"where": 3, "not": 1}).gives(tree)


def test_own_functions_are_all_there_are(impl):
    calling(impl.parse, tokens_of("not(add(@0,1))"), {"not": 1}).raises(ValueError, "add")


@pytest.mark.parametrize("text", ["", "neg(", "neg(@0", "add(@0,", "add(@0,neg(@1)", "add"])
def test_the_tokens_run_out(impl, text):
    calling(impl.parse, tokens_of(text)).raises(ValueError, "the end")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mull(@0,2)", "mull"),
        ("add(@0,x)", "x"),
        ("neg @5", "@5"),
        ("add(neg,@7)", ","),
        ("add(@0 @7)", "@7"),
        ("add(,@0,@1)", ","),
        ("neg()", ")"),
        ("neg(@0,)", ")"),
        (")", ")"),
        ("(@0)", "("),
        ("7(@0)", "("),
    ],
)
def test_a_token_that_does_not_fit(impl, text, words):
    calling(impl.parse, tokens_of(text)).raises(ValueError, words)


@pytest.mark.parametrize(
    ("text", "words"), [("@0 @7", "@7"), ("neg(@0))", ")"), ("@0,@1", ","), ("add(1,2)neg(3)", "neg")]
)
def test_something_is_left(impl, text, words):
    calling(impl.parse, tokens_of(text)).raises(ValueError, words)


@pytest.mark.parametrize(
    ("text", "name"), [("sub(@0)", "sub"), ("neg(@0,@1)", "neg"), ("add(@0,sqrt(1,2))", "sqrt"), ("pow(@0,1,2)", "pow")]
)
def test_wrong_number_of_arguments(impl, text, name):
    calling(impl.parse, tokens_of(text)).raises(ValueError, name)


def effort(impl, text, count):
    """The lines of Python that run until this many calls within each other are read, and for four times as many."""
    import sys

    def steps(count):
        words = [("word", "neg", 0), ("(", "(", 0)] if text == "neg" else [("word", "sub", 0), ("(", "(", 0)]
        ends = [(")", ")", 0)] if text == "neg" else [(",", ",", 0), ("number", "1", 0), (")", ")", 0)]
        tokens, seen = words * count + [("input", "@0", 0)] + ends * count, 0

        def watch(frame, event, argument):
            nonlocal seen
            seen += 1
            if seen > 5_000 * count:
                raise RuntimeError(f"{count} calls are not read after {5_000 * count} steps")
            return watch

        before = sys.gettrace()
        sys.settrace(watch)
        try:
            impl.parse(tokens)
        finally:
            sys.settrace(before)
        return seen

    return steps(count), steps(4 * count)


def in_proportion(few, many):
    """What is said of the steps for a text, and for one four times as deep."""
    words = translate("{few} steps for one, {many} for four times as much")
    return translate("in proportion") if 0 < few <= many < 6 * few else words.format(few=few, many=many)


@pytest.mark.parametrize("text", ["neg", "sub"])
def test_work_grows_with_the_text(impl, text):
    few, many = calling(effort, impl, text, 15).answer()
    what = translate("parse(15 calls within each other), parse(60 calls)")
    same(what, in_proportion(few, many), translate("in proportion"))


def own_tables(impl, tokens, arity):
    """Read with a table of one's own, then with the usual one."""
    return impl.parse(tokens, arity), sorted(impl.ARITY), impl.parse([("input", "@0", 0)])


def test_own_functions_leave_the_table_alone(impl):
    usual = ["add", "div", "mul", "neg", "pow", "sqrt", "sub"]
    calling(own_tables, impl, tokens_of("not(@0)"), {"not": 1}).gives((("not", "@0"), usual, "@0"))


def test_positions_say_nothing(impl):
    tokens = [(kind, text, 7) for kind, text, _ in tokens_of("sub(neg(@0),2)")]
    calling(impl.parse, tokens).gives(("sub", ("neg", "@0"), "2"))


@given(tree=st.recursive(LEAVES, calls, max_leaves=12))
def test_text_and_back(impl, tree):
    calling(impl.parse, tokens_of(text_of(tree))).gives(tree)

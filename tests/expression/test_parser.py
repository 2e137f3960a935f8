from __future__ import annotations

import pytest

from kuiper import ExpressionError
from kuiper.expression import Node, NodeKind, format_tree, parse, reverse_polish
from kuiper.expression.parser import MAX_DEPTH


def call(name: str, *children: Node) -> Node:
    return Node(NodeKind.CALL, name, children)


def constant(value: object) -> Node:
    return Node(NodeKind.CONSTANT, value)


def listing(*children: Node) -> Node:
    return Node(NodeKind.LIST, None, children)


X, Y = Node(NodeKind.INPUT, 0), Node(NodeKind.INPUT, 1)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("@1", Y),
        ("2", constant(2)),
        ("ij", constant("ij")),
        ("floor", constant("floor")),
        ("None", constant(None)),
        ("sin(@0)", call("sin", X)),
        ("mul(add(@0,1),@1)", call("mul", call("add", X, constant(1)), Y)),
        ("size(@0)", call("size", X)),
        ("size(@0,-1)", call("size", X, constant(-1))),
        ("[]", listing()),
        ("[@0,[1,ij]]", listing(X, listing(constant(1), constant("ij")))),
        ("@0,@1", listing(X, Y)),
    ],
)
def test_parse_builds_the_tree(text: str, tree: Node) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize("text", ["add(,@0,1)", "add(@0,,1)", "add(@0,1,)", ",add(@0,1)", " add ( @0 , 1 ) "])
def test_parse_forgives_commas_and_blanks(text: str) -> None:
    assert parse(text) == call("add", X, constant(1))


@pytest.mark.parametrize("text", ["mul(pow(mul(@0,2),2),@1)", "[size(@0,0),-1]", "add(@0,nan)", "or(and(@0,True),2j)"])
def test_str_of_a_node_is_its_text(text: str) -> None:
    assert str(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "polish"),
    [
        ("add(@0,@1)", "@0 @1 add"),
        ("mul(@1,add(@2,@3))", "@1 @2 @3 add mul"),
        ("sin(sub(@0,neg(2)))", "@0 2 neg sub sin"),
        ("[size(@0,0),mul(2,3)]", "@0 0 size 2 3 mul []"),
    ],
)
def test_reverse_polish_puts_children_before_parents(text: str, polish: str) -> None:
    assert " ".join(node.label for node in reverse_polish(parse(text))) == polish


def test_format_tree_draws_branches() -> None:
    assert format_tree(parse("add(mul(@0,@0),[1,exp(@1)])")).splitlines() == [
        "add",
        "|-- mul",
        "|   |-- @0",
        "|   `-- @0",
        "`-- []",
        "    |-- 1",
        "    `-- exp",
        "        `-- @1",
    ]


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("", 0, "expected an expression, got none"),
        (",", 0, "expected an expression, got none"),
        ("add(@0,@1", 9, "expected ',' or ')', got the end"),
        ("[1,2", 4, "expected ',' or ']', got the end"),
        ("add(@0,", 7, "expected an item: a function, a list, an input or a number, got the end"),
        ("add(@0]", 6, "expected ',' or ')', got ']'"),
        ("add(@0 @1)", 7, "expected ',' or ')', got '@1'"),
        ("add(@0,@1))", 10, "expected ',' or the end, got ')'"),
        ("1+2", 1, "expected ',' or the end, got '+2'"),
        ("(1)", 0, "expected an item: a function, a list, an input or a number, got '('"),
        ("@0(1)", 2, "expected ',' or the end, got '('"),
        ("neg(add(@0))", 4, "expected add with 2 arguments, got 1"),
        ("neg()", 0, "expected neg with 1 argument, got 0"),
        ("size(@0,1,2)", 0, "expected size with 1 or 2 arguments, got 3"),
        ("neg(ad(@0,1))", 4, "expected a function, got 'ad'; similar: and, add"),
        ("frobnicate(@0,1)", 0, "expected a function, got 'frobnicate'; here"),
        ("add(@0,ij)", 7, "expected a tensor or a number, got the word 'ij'"),
        ("erfc,@0", 0, "expected a tensor or a number, got the word 'erfc'; similar: erf"),
    ],
)
def test_parse_points_at_the_mistake(text: str, position: int, message: str) -> None:
    with pytest.raises(ExpressionError) as error:
        parse(text, "pnnx.Expression 'e'")
    first, shown, caret = str(error.value).split("\n")
    assert first.startswith(f"pnnx.Expression 'e': {message}")
    assert (shown, caret) == ("    " + text, "    " + " " * position + "^")


def test_parse_reads_deep_nesting_up_to_its_limit() -> None:
    deep = "neg(" * MAX_DEPTH + "@0" + ")" * MAX_DEPTH
    assert len(reverse_polish(parse(deep))) == MAX_DEPTH + 1


@pytest.mark.parametrize("text", ["neg(" * 10_000 + "@0" + ")" * 10_000, "[" * 10_000, "log1p," * 10_000 + "@0"])
def test_parse_refuses_nesting_beyond_its_limit(text: str) -> None:
    with pytest.raises(ExpressionError, match=f"expected at most {MAX_DEPTH} brackets in one another"):
        parse(text)

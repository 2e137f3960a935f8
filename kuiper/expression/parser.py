"""From tokens to a tree, by recursive descent: one method for each line of the grammar.

    expression = item {"," item}
    item       = call | list | input | number | word
    call       = word "(" item {"," item} ")"
    list       = "[" [item {"," item}] "]"

                                mul
    mul(add(@0,1),@1)    ->     |-- add            reverse Polish:   @0 1 add @1 mul
                                |   |-- @0
                                |   `-- 1
                                `-- @1

Commas too many, as in ``add(,@0,,@1)``, are in files and mean nothing. Several items at the top make a list.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from kuiper.expression.brackets import restore_brackets
from kuiper.expression.functions import alike, find_function
from kuiper.expression.lexer import Token, TokenType, tokenize
from kuiper.expression.source import Source

MAX_DEPTH = 200
"""How deep brackets may be nested: each level takes two of Python's 1000 stack frames."""


class NodeKind(Enum):
    """What a node of the tree stands for."""

    INPUT = "input"
    CONSTANT = "constant"
    CALL = "call"
    LIST = "list"


@dataclass(frozen=True, slots=True)
class Node:
    """A part of an expression; ``str(node)`` is its text again.

    ``value`` is the number of the input, the constant itself, or the name of the function; None for a list.
    """

    kind: NodeKind
    value: Any
    children: tuple[Node, ...] = ()
    token: Token | None = field(default=None, compare=False, repr=False)

    @property
    def label(self) -> str:
        """The node without its children: ``@0``, ``2``, ``add``, ``[]``."""
        if self.kind is NodeKind.LIST:
            return "[]"
        return f"@{self.value}" if self.kind is NodeKind.INPUT else str(self.value)

    def __str__(self) -> str:
        items = ",".join(str(child) for child in self.children)
        if self.kind is NodeKind.LIST:
            return f"[{items}]"
        return f"{self.label}({items})" if self.kind is NodeKind.CALL else self.label


def parse(text: str, where: str = "expression") -> Node:
    """The tree of an expression.

    Parameters
    ----------
    text : an expression such as ``mul(add(@0,1),@1)``
    where : whose expression it is, for error messages

    Returns
    -------
    The root of the tree.

    Raises
    ------
    ExpressionError
        If the text does not follow the grammar, names an unknown function, gives one a wrong number of
        arguments, or nests brackets deeper than MAX_DEPTH; the hint shows the place.

    Examples
    --------
    >>> node = parse("mul(add(@0,1),@1)")
    >>> node.label, [child.label for child in node.children]
    ('mul', ['add', '@1'])
    """
    source = Source(text, where)
    return _Parser(restore_brackets(tokenize(text, where)), source).expression()


def reverse_polish(node: Node) -> list[Node]:
    """The nodes of a tree, children before parents: the order in which a stack machine works.

    >>> " ".join(node.label for node in reverse_polish(parse("mul(add(@0,1),@1)")))
    '@0 1 add @1 mul'
    """
    return [later for child in node.children for later in reverse_polish(child)] + [node]


def format_tree(node: Node) -> str:
    """The tree drawn in ASCII.

    >>> print(format_tree(parse("mul(add(@0,1),@1)")))
    mul
    |-- add
    |   |-- @0
    |   `-- 1
    `-- @1
    """
    lines = [node.label]
    for i, child in enumerate(node.children):
        last = i == len(node.children) - 1
        first, *others = format_tree(child).splitlines()
        lines.append(("`-- " if last else "|-- ") + first)
        lines.extend(("    " if last else "|   ") + line for line in others)
    return "\n".join(lines)


class _Parser:
    """The tokens and the place of the next one. Every method leaves the place behind what it has read."""

    def __init__(self, tokens: list[Token], source: Source) -> None:
        self.tokens = [*tokens, Token(TokenType.END, "", len(source.text))]
        self.source = source
        self.place = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.place]

    def take(self) -> Token:
        token = self.next
        self.place += 1
        return token

    def expression(self) -> Node:
        """expression = item {"," item}"""
        items = self.items(TokenType.END, depth=0)
        if len(items) == 1:
            return items[0]
        if not items:
            raise self.source.error(0, "an expression", "none")
        self.refuse_words(items)
        return Node(NodeKind.LIST, None, items)

    def item(self, depth: int) -> Node:
        """item = call | list | input | number | word"""
        token = self.take()
        if depth > MAX_DEPTH:
            raise self.source.error(token.position, f"at most {MAX_DEPTH} brackets in one another", "more")
        if token.type is TokenType.INPUT:
            return Node(NodeKind.INPUT, token.value, (), token)
        if token.type is TokenType.OPEN_LIST:
            return Node(NodeKind.LIST, None, self.items(TokenType.CLOSE_LIST, depth + 1), token)
        if token.type is TokenType.WORD and self.next.type is TokenType.OPEN:
            return self.call(token, depth)
        if token.type in (TokenType.NUMBER, TokenType.WORD):
            return Node(NodeKind.CONSTANT, token.value, (), token)
        raise self.source.error(token.position, "an item: a function, a list, an input or a number", token)

    def call(self, name: Token, depth: int) -> Node:
        """call = word "(" item {"," item} ")" """
        self.take()
        children = self.items(TokenType.CLOSE, depth + 1)
        self.refuse_words(children)
        find_function(name, len(children), self.source)
        return Node(NodeKind.CALL, name.text, children, name)

    def items(self, closing: TokenType, depth: int) -> tuple[Node, ...]:
        """[item {"," item}] and the closing bracket"""
        items: list[Node] = []
        while True:
            while self.next.type is TokenType.COMMA:
                self.take()
            if self.next.type is closing:
                self.take()
                return tuple(items)
            items.append(self.item(depth))
            if self.next.type not in (TokenType.COMMA, closing):
                raise self.source.error(self.next.position, f"',' or {closing.value}", self.next)

    def refuse_words(self, items: tuple[Node, ...]) -> None:
        """A word may stand alone or in a list, but nothing can be computed with it: likely a function is meant."""
        for item in items:
            if item.token is not None and isinstance(item.value, str) and item.kind is NodeKind.CONSTANT:
                expected = "a tensor or a number"
                raise self.source.error(item.token.position, expected, f"the word '{item.value}'", alike(item.value))

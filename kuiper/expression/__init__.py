"""Expressions, the little language of pnnx.Expression.

    text --tokenize--> tokens --parse--> tree --reverse_polish--> steps --evaluate--> value

>>> from kuiper.expression import evaluate
>>> evaluate("add(mul(2,3),4)", [])
10
"""

from kuiper.expression.evaluation import Program, compile_expression, evaluate
from kuiper.expression.expression_layer import Expression
from kuiper.expression.fused_expression import FusedExpression
from kuiper.expression.lexer import Token, TokenType, tokenize
from kuiper.expression.named_functions import NamedFunction
from kuiper.expression.parser import Node, NodeKind, format_tree, parse, reverse_polish
from kuiper.expression.prefix import evaluate_prefix

__all__ = [
    "Expression",
    "FusedExpression",
    "NamedFunction",
    "Node",
    "NodeKind",
    "Program",
    "Token",
    "TokenType",
    "compile_expression",
    "evaluate",
    "evaluate_prefix",
    "format_tree",
    "parse",
    "reverse_polish",
    "tokenize",
]

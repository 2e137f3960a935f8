from __future__ import annotations

import pytest

from kuiper import ExpressionError
from kuiper.expression import parse, tokenize
from kuiper.expression.brackets import restore_brackets


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("expm1,@0", "expm1(@0)"),
        ("add(log1p,@0),1", "add(log1p(@0),1)"),
        ("add(mul(expm1,@0),log1p),abs(@1),@0", "add(mul(expm1(@0),log1p(abs(@1))),@0)"),
        ("mul(log1p,abs(add(@0,@1))),2", "mul(log1p(abs(add(@0,@1))),2)"),
        ("sub(2,log1p),expm1,mul(@0,@1)", "sub(2,log1p(expm1(mul(@0,@1))))"),
        ("[add(expm1,@0),1,@1]", "[add(expm1(@0),1),@1]"),
        ("[expm1,@0,[log1p,@1],2]", "[expm1(@0),[log1p(@1)],2]"),
        ("[int(torch.int),floor(mul(size(@0,2),1.5)),8]", "[int(torch.int(floor(mul(size(@0,2),1.5)))),8]"),
        ("[expm1,@0,size(@1),size(@1,0)]", "[expm1(@0),size(@1),size(@1,0)]"),
        ("add(expm1,,@0),,1", "add(expm1(@0),1)"),
    ],
)
def test_brackets_are_restored_by_number_of_arguments(written: str, meant: str) -> None:
    assert str(parse(written)) == meant


@pytest.mark.parametrize("text", ["add(expm1(@0),1)", "[size(@0,0),-1]", "@0,@1", "floor", "[", "add(@0"])
def test_tokens_with_all_brackets_are_left_alone(text: str) -> None:
    tokens = tokenize(text)
    assert restore_brackets(tokens) is tokens


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("add(expm1,@0)", "expected add with 2 arguments, got 1"),
        ("@0,expm1", "expected expm1 with 1 argument, got 0"),
        ("[add,@0],1", "expected add with 2 arguments, got 1"),
        ("expm1,@0]", "expected an item: a function, a list, an input or a number, got ']'"),
        ("[expm1,@0", "expected an item: a function, a list, an input or a number, got the end"),
        ("expm1,foo", "expected a tensor or a number, got the word 'foo'"),
    ],
)
def test_what_cannot_be_restored_is_an_error(text: str, message: str) -> None:
    with pytest.raises(ExpressionError) as error:
        parse(text)
    assert message in str(error.value)


def test_items_left_over_make_a_list() -> None:
    assert str(parse("expm1,@0,@1")) == "[expm1(@0),@1]"

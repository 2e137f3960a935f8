"""Changes of one place of a student's own file: the one that makes a failing test pass says where the mistake is.

Slips are changes of the solution, so they explain only files that go the solution's way. A student may go another one,
in which a single place is wrong. The same changes are tried there, and their words are turned round: where a file is
right as soon as a number is one larger, the student's is one too small.
"""

from __future__ import annotations

import ast
import re
from functools import partial
from typing import TYPE_CHECKING

from kuiper.course.call_mutants import (
    BEGINS,
    ENDS,
    LEFT_OUT,
    NO_BEGINNING,
    NO_END,
    RELATIVES,
    TOO_LARGE,
    TOO_SMALL,
)
from kuiper.course.expression_mutants import EQUAL_TOO, NOT_EQUAL, TURNED
from kuiper.course.mutant_words import ARGUMENT, COMPUTED, IN_HEAD, IN_RETURN, NEAR, WRITTEN
from kuiper.course.mutants import TOGETHER, Mutant, mutants
from kuiper.course.name_mutants import A_NAME, STANDS
from kuiper.course.names import names_in
from kuiper.course.phrases import Phrase, code, phrase
from kuiper.course.put_in import ONE_TOO_LARGE, ONE_TOO_SMALL, Parts, put_in
from kuiper.course.statement_mutants import (
    ALL_ANEW,
    EXCHANGED,
    NOT_CHANGED,
    NOT_SET,
    PRODUCT,
    SET_ANEW,
    SET_ONCE,
    SUM,
)
from kuiper.course.student_tree import function_named
from kuiper.language import noop

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CODE = 40  # signs of the student's code that are quoted
LAST = 10  # what a rank becomes more by where a change has no words
ELSE = noop("something else belongs")  # what is said where a change has no words of its own
MADE = re.compile(r"\b_\w+\(")  # what the Python of a .pyx has, and the student's file has not
CALLED = noop("{name} is called where it should not be{place}")
STRIPPED = (WRITTEN, COMPUTED, IN_RETURN, IN_HEAD, NEAR)
"""Places that a line says better."""
PAIRS = (
    (EQUAL_TOO, NOT_EQUAL),
    (TOO_SMALL, TOO_LARGE),
    BEGINS,
    ENDS,
    (ONE_TOO_SMALL, ONE_TOO_LARGE),
    (noop("{loop} begins one turn too early"), noop("{loop} begins one turn too late")),
    (noop("{loop} ends one turn too early"), noop("{loop} ends one turn too late")),
    (
        noop("something is subtracted that is to be added{about}{place}"),
        noop("something is added that is to be subtracted{about}{place}"),
    ),
    (
        noop("something is divided that is to be multiplied{about}{place}"),
        noop("something is multiplied that is to be divided{about}{place}"),
    ),
    (noop("a quotient loses its fraction{about}{place}"), noop("a quotient keeps its fraction{about}{place}")),
)
SAME = (
    TURNED,
    A_NAME,
    noop("a condition{about} is turned round"),
    noop("a difference is turned round{place}"),
    noop("a power is turned round{place}"),
    noop("a quotient is turned round{place}"),
    noop("a sign is turned{place}"),
    noop("two arguments of {name} are exchanged{about}"),
    noop("two indices{about} are exchanged"),
    noop("two of several values are exchanged{about}{place}"),
    noop("the first two of four values and the last two are exchanged{place}"),
    noop("{one} and {other} are exchanged"),
    noop("two names are exchanged"),
    noop("the two cases{about} are exchanged{place}"),
    noop("two lines{about} are in the other order"),
    noop("two checks{about} are in the other order"),
)
SWAPPED = {
    EXCHANGED: ("word", "other"),
    STANDS: ("one", "other"),
    noop("{one} stands where {other} belongs{about}{place}"): ("one", "other"),
    noop("{one} stands where {other} belongs, in the condition{about}"): ("one", "other"),
    noop("{one} and {two} stand where {three} and {four} belong"): ("one", "three", "two", "four"),
}
"""Messages that stay, with pairs of their fields exchanged."""
TURNED_TO = {  # what is wrong where a change mends
    **{one: other for pair in PAIRS for one, other in (pair, pair[::-1])},
    **{same: same for same in (*SAME, *SWAPPED)},
    noop("a quotient is rounded up, and should be rounded down{place}"): noop(
        "a quotient is rounded down, and should be rounded up{place}"
    ),
    noop("a term{which} is not added{place}"): noop("a term{which} is added that should not be{place}"),
    noop("a term{which} is not subtracted{place}"): noop("a term{which} is subtracted that should not be{place}"),
    noop("a factor{which} is left out{place}"): noop("a factor{which} is too many{place}"),
    noop("the division{divisor} is left out{place}"): noop("a division{divisor} is too many{place}"),
    noop("a part of a condition is left out: the one{which}"): noop("a condition asks for too much: the part{which}"),
    noop("a comparison{about} does not ask for one of its two borders{border}"): noop(
        "a comparison{about} asks for a border too many{border}"
    ),
    noop("a check is missing: nothing refuses the case{about}"): noop("a check refuses what it should not{about}"),
    noop("the case{about} is not treated{place}"): noop("the case{about} is treated apart, and should not be{place}"),
    noop("`if` stands where `elif` belongs{about}"): noop("`elif` stands where `if` belongs{about}"),
    LEFT_OUT: CALLED,
    noop("{argument} is left out where {name} is called{place}"): noop(
        "{argument} is given where {name} is called{place}, and should not be"
    ),
    noop("a minus sign is missing{place}"): noop("a minus sign is too many{place}"),
    noop("a `not` is missing{place}"): noop("a `not` is too many{place}"),
    NOT_SET: noop("{what} is set where it should not be"),
    NOT_CHANGED: noop("{what} is changed where it should not be"),
    noop("{what} is set anew each time: `=` stands where an operation with `=` belongs"): noop(
        "something is added to {what}, or taken from it, and it is to be set"
    ),
    noop("something is added to {what}, which is to be set"): noop(
        "{what} is set anew each time, and should be added to"
    ),
    SUM: noop("{what} becomes a product where it should become a sum"),
    PRODUCT: noop("{what} becomes a sum where it should become a product"),
    noop("{what} becomes less where it should not"): noop("{what} becomes more where it should become less"),
    noop("{what} becomes more where it should not"): noop("{what} becomes less where it should become more"),
    NO_BEGINNING: noop("a part{about} is cut off where it begins, and should not be"),
    NO_END: noop("a part{about} is cut off where it ends, and should not be"),
    noop("{loop} runs backwards"): noop("{loop} runs forwards, and should run backwards"),
    noop("counting begins at 1{place}"): noop("counting begins at 0, and should begin at 1{place}"),
    noop("one of several values is missing{place}{value}"): noop("one of several values is too many{place}{value}"),
    noop("brackets are missing{place}"): noop("brackets are too many{place}"),
    noop("brackets are too many{place}"): noop("brackets are missing{place}"),
    noop("{name} is handed on to {called}"): noop("{name} is not handed on to {called}"),
    noop("another number stands"): noop("another number belongs"),
    noop("a {word} ends an `if`"): noop("a {word} is missing at the end of what belongs to the `if`"),
    noop("{name} is turned round"): noop("{name} should be turned round, and is not"),
    noop("another text stands"): noop("another text belongs"),
    noop("{name} is asked for its {attribute}"): noop("{name} itself stands where its {attribute} belongs"),
    noop("{name} stands alone, without its {attribute}"): noop(
        "the {attribute} of {name} stands where {name} itself belongs"
    ),
    noop("{name} is used"): noop("{name} is not used: it belongs"),
    noop("an argument of {name} is left out{place}"): noop("an argument of {name} is too many{place}"),
    SET_ONCE: SET_ANEW,
    ALL_ANEW: noop("{one} and {other} are set once, before {loop}, and not in each turn"),
    SET_ANEW: noop("{what} is set once, before {loop}, and not in each turn"),
    noop("the last line in {loop}{which} stands behind it, and is reached only once"): noop(
        "the last line in {loop} belongs behind it"
    ),
    noop("the line behind {loop} stands in it{about}"): noop("the line behind {loop} belongs into it"),
}


def repairs(tree: ast.Module, text: str, function: str, solution: str = "") -> Iterator[Mutant]:
    """The changes of a student's file: first those in ``function``, the most natural first; ``wrong`` has the words.

    Numbers become those of the text of the ``solution``, too.
    """
    numbers = [float(word) if re.search(r"[.e]", word) else int(word) for word in sorted(_numbers(solution))]
    known = [*names_in(text), *RELATIVES]  # what belongs there may stand nowhere in the file
    others = partial(put_in, numbers, Parts.of(solution))
    return mutants(tree, text, known, function, others, _order)


def _order(mutant: Mutant) -> int:
    """Those that have words come first: for the others there may be no time left."""
    return mutant.rank + (LAST if _turned(mutant.words) is None else 0)


def unread(tree: ast.Module, function: str) -> dict[str, int]:
    """The parameters of a function that it never reads, and the line of the function."""
    node = function_named(tree, function)
    if node is None:
        return {}
    read = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
    return {argument.arg: node.lineno for argument in node.args.args if argument.arg not in read}


def _numbers(text: str) -> set[str]:
    """The numbers in the code of a text, as they are written."""
    code = re.sub(r'(?s)""".*?"""|#[^\n]*', " ", text)
    return set(re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])", code))


def is_removal(words: str) -> bool:
    """Whether the words of ``wrong`` are of a change that leaves something of the student's out."""
    what = words.fields.get("what") if isinstance(words, Phrase) else None
    template = what.template if isinstance(what, Phrase) else ""
    return "too many" in template or "should not be" in template


def undoes(words: str, other: str) -> bool:
    """Whether a change of a call's argument only does what to leave out the call does, as ``swapaxes(1, 1)``."""
    if not isinstance(words, Phrase) or not isinstance(other, Phrase):
        return False
    inner, outer = words.fields.get("what"), other.fields.get("what")
    if not isinstance(inner, Phrase) or not isinstance(outer, Phrase) or outer.template != CALLED:
        return False
    is_argument = inner.fields.get("what") == phrase(ARGUMENT, name=outer.fields["name"])
    return is_argument and words.fields["line"] == other.fields["line"]


def wrong(mutant: Mutant) -> Phrase:
    """What is wrong in a file that this change makes right. The change is not made yet."""
    place, key, _ = mutant.edits[0]
    old = getattr(place, key) if isinstance(place, ast.AST) else place[key]
    what = _turned(mutant.words) or phrase(ELSE)
    text = " ".join(ast.unparse(old).split()) if isinstance(old, ast.expr) else ""
    if 0 < len(text) <= MAX_CODE and not MADE.search(text):
        return phrase("{what} in line {line}, at {code}", what=what, line=mutant.line, code=code(text))
    return phrase("{what} in line {line}", what=what, line=mutant.line)


def _turned(words: str) -> Phrase | None:
    """The words of a change turned round; None where nobody has said them so."""
    assert isinstance(words, Phrase)
    if words.template == TOGETHER:
        slip = _turned(words.fields["slip"])
        return slip and phrase(TOGETHER, slip=slip)
    turned = TURNED_TO.get(words.template)
    if turned is None:
        return None
    fields = dict(words.fields)
    if isinstance(fields.get("place"), Phrase) and fields["place"].template in STRIPPED:
        fields["place"] = ""
    names = SWAPPED.get(words.template, ())
    for one, other in zip(names[::2], names[1::2], strict=True):
        fields[one], fields[other] = fields[other], fields[one]
    return Phrase(turned, fields)

"""Exercise 3.1."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling


def made_by(impl, registered, wanted):
    """Register each type with a factory of its own that tells what it was called with; create one layer."""
    known = impl.Registry()
    for type_name in registered:
        known.register(type_name)(lambda op, type_name=type_name: (type_name, op.name, op.type))
    return known.create(impl.Operator("op7", wanted))


def test_create(impl):
    calling(made_by, impl, ["nn.ReLU"], "nn.ReLU").gives(("nn.ReLU", "op7", "nn.ReLU"))


@pytest.mark.parametrize("wanted", ["nn.Conv2d", "nn.Linear", "nn.ReLU"])
def test_create_one_of_three(impl, wanted):
    calling(made_by, impl, ["nn.Linear", "nn.ReLU", "nn.Conv2d"], wanted).gives((wanted, "op7", wanted))


def decorated(impl):
    """What stands below the decorator is still the class, and its layers know their operators."""
    known = impl.Registry()

    @known.register("nn.ReLU")
    class ReLU:
        def __init__(self, op):
            self.op = op

    first, second = (known.create(impl.Operator(name, "nn.ReLU")) for name in ("a", "b"))
    return type(ReLU).__name__, type(first).__name__, len({id(first), id(second)}), first.op.name, second.op.name


def test_register_as_decorator(impl):
    calling(decorated, impl).gives(("type", "ReLU", 2, "a", "b"))


def types_of(impl, *groups):
    known = impl.Registry()
    for types in groups:
        known.register(*types)(lambda op: "layer")
    return known.types(), [known.create(impl.Operator("x", name)) for types in groups for name in types]


def test_register_several_types_at_once(impl):
    expected = ["F.relu", "nn.ReLU", "torch.relu"], ["layer"] * 3
    calling(types_of, impl, ["nn.ReLU", "torch.relu", "F.relu"]).gives(expected)


def test_types_in_alphabetical_order(impl):
    expected = ["F.relu", "nn.Conv2d", "nn.Linear"], ["layer"] * 3
    calling(types_of, impl, ["nn.Linear"], ["nn.Conv2d", "F.relu"]).gives(expected)


def test_types_of_an_empty_registry(impl):
    calling(types_of, impl).gives(([], []))


def two_registries(impl):
    one, other = impl.Registry(), impl.Registry()
    one.register("nn.ReLU")(lambda op: "mine")
    other.register("nn.ReLU")(lambda op: "yours")
    other.register("nn.SiLU")(lambda op: "yours")
    return one.types(), one.create(impl.Operator("a", "nn.ReLU")), other.create(impl.Operator("a", "nn.ReLU"))


def test_registries_are_independent(impl):
    calling(two_registries, impl).gives((["nn.ReLU"], "mine", "yours"))


def register_twice(impl, first, second):
    known = impl.Registry()
    known.register(*first)(lambda op: "first")
    known.register(*second)(lambda op: "second")


@pytest.mark.parametrize("second", [["nn.ReLU"], ["nn.SiLU", "nn.ReLU"]])
def test_register_a_known_type(impl, second):
    calling(register_twice, impl, ["F.relu", "nn.ReLU"], second).raises(ValueError, "nn.ReLU")


def after_the_second(impl):
    import contextlib

    known = impl.Registry()
    known.register("nn.ReLU")(lambda op: "first")
    with contextlib.suppress(ValueError):
        known.register("nn.ReLU")(lambda op: "second")
    return known.create(impl.Operator("a", "nn.ReLU"))


def test_the_first_one_stays(impl):
    calling(after_the_second, impl).gives("first")


def create_unknown(impl, type_name):
    known = impl.Registry()
    known.register("nn.ReLU", "nn.Linear", "F.relu")(lambda op: "layer")
    known.create(impl.Operator("layer2.conv1", type_name))


@pytest.mark.parametrize("words", ["layer2.conv1", "nn.Relu", "F.relu, nn.Linear, nn.ReLU"])
def test_create_unknown_type(impl, words):
    calling(create_unknown, impl, "nn.Relu").raises(LookupError, words)


def overrides(impl, known_before):
    """Before, in a block, in a block within it, in the outer one again, after; then what an error leaves behind."""
    known = impl.Registry()
    known.register("nn.SiLU")(lambda op: "silu")
    if known_before:
        known.register("nn.ReLU")(lambda op: "old")

    def now():
        try:
            return known.create(impl.Operator("a", "nn.ReLU"))
        except LookupError:
            return "unknown"

    seen = [now()]
    with known.override("nn.ReLU", lambda op: "new " + op.name):
        seen.append(now())
        with known.override("nn.ReLU", lambda op: "newest"):
            seen += [now(), known.types()]
        seen.append(now())
    seen.append(now())
    try:
        with known.override("nn.ReLU", lambda op: "new"):
            raise RuntimeError("the block fails")
    except RuntimeError as error:
        seen += [str(error), now()]
    return seen, known.types()


def test_override_of_a_known_type(impl):
    seen = ["old", "new a", "newest", ["nn.ReLU", "nn.SiLU"], "new a", "old", "the block fails", "old"]
    calling(overrides, impl, True).gives((seen, ["nn.ReLU", "nn.SiLU"]))


def test_override_of_an_unknown_type(impl):
    seen = ["unknown", "new a", "newest", ["nn.ReLU", "nn.SiLU"], "new a", "unknown", "the block fails", "unknown"]
    calling(overrides, impl, False).gives((seen, ["nn.SiLU"]))


def neighbours(impl):
    """An override changes one type, in one registry."""
    known, other = impl.Registry(), impl.Registry()
    for registry in (known, other):
        registry.register("nn.ReLU", "F.relu")(lambda op: "old")
    with known.override("nn.ReLU", lambda op: "new"):
        places = (known, "nn.ReLU"), (known, "F.relu"), (other, "nn.ReLU")
        return [registry.create(impl.Operator("a", type_name)) for registry, type_name in places]


def test_override_leaves_the_others_alone(impl):
    calling(neighbours, impl).gives(["new", "old", "old"])


def your_sigmoid(impl, type_name, x):
    op = impl.Operator("act", type_name)
    layer = impl.layers.create(op)
    return impl.Sigmoid.__name__, layer.op.name, layer.forward(x)


def list_of_types_is_a_copy(impl):
    known = impl.Registry()
    known.register("nn.ReLU")(lambda op: "layer")
    known.types().append("nn.SiLU")
    return known.types()


def test_types_is_a_new_list(impl):
    calling(list_of_types_is_a_copy, impl).gives(["nn.ReLU"])


def made_after_an_override(impl):
    """A layer that another type gets inside of the block stays; an override may be used again and again."""
    known = impl.Registry()
    known.register("nn.ReLU")(lambda op: "old")
    seen = []
    for word in ("first", "second"):
        with known.override("nn.ReLU", lambda op, word=word: word):
            if word == "first":
                known.register("nn.SiLU")(lambda op: "silu")
            seen.append(known.create(impl.Operator("a", "nn.ReLU")))
        seen.append(known.create(impl.Operator("a", "nn.ReLU")))
    return seen, known.types()


def test_override_again_and_again(impl):
    calling(made_after_an_override, impl).gives((["first", "old", "second", "old"], ["nn.ReLU", "nn.SiLU"]))


def registered_again(impl):
    """After an override of an unknown type has ended, the type is free."""
    known = impl.Registry()
    with known.override("nn.ReLU", lambda op: "new"):
        pass
    known.register("nn.ReLU")(lambda op: "registered")
    return known.create(impl.Operator("a", "nn.ReLU"))


def test_type_is_free_after_an_override(impl):
    calling(registered_again, impl).gives("registered")


def sigmoid_of(impl, x):
    """The result; and the input, after something was written into the result."""
    y = impl.layers.create(impl.Operator("act", "nn.Sigmoid")).forward(x)
    kept = y.copy()
    y[...] = -1
    return kept, x


@pytest.mark.parametrize("shape", [(0,), (1,), (2, 0, 3), (2, 3, 1, 4)])
def test_sigmoid_of_any_shape(impl, shape):
    x = np.linspace(-4, 4, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    expected = (1 / (1 + np.exp(-x.astype(np.float64)))).astype(np.float32)
    calling(sigmoid_of, impl, x).gives((expected, x), tolerance=1e-6)


@pytest.mark.parametrize("type_name", ["nn.Sigmoid", "F.sigmoid"])
def test_sigmoid(impl, type_name):
    x = np.array([[-1, 0, 1], [2, -3, 4]], np.float32)
    expected = np.array([[0.26894143, 0.5, 0.7310586], [0.880797, 0.04742587, 0.98201376]], np.float32)
    calling(your_sigmoid, impl, type_name, x).gives(("Sigmoid", "act", expected), tolerance=1e-6)

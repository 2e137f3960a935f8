"""Exercise 2.4."""

from __future__ import annotations

import math

import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st

PARAMS = {
    "stride": ("INT_LIST", [2, 1]),
    "padding": ("INT", 3),
    "kernel": ("INT_LIST", [5]),
    "none": ("NULL", None),
    "slope": ("FLOAT", 0.25),
    "bias": ("BOOL", True),
    "mode": ("STRING", "same"),
    "scales": ("FLOAT_LIST", [0.5, 2.0]),
    "three": ("INT_LIST", [1, 2, 3]),
    "high": ("STRING", "inf"),
    "low": ("STRING", "-inf"),
    "hole": ("STRING", "nan"),
    "words": ("STRING_LIST", ["ij", "jk"]),
    "empty": ("INT_LIST", []),
    "off": ("BOOL", False),
    "zero": ("INT", 0),
}


def init(impl, params):
    """Give these (type, value) pairs as pnnx.Parameters, and return what comes back as pairs."""
    from kuiper.graph.pnnx import Parameter, ParameterType

    made = impl.init_graph_params({k: Parameter(ParameterType[t], v, "text") for k, (t, v) in params.items()})
    return {key: (param.type.name, param.value) for key, param in made.items()}


def pair(impl, params, key, *default):
    from kuiper.graph.pnnx import ParameterType
    from kuiper.graph.runtime_operator import RuntimeParameter

    return impl.pair_param({k: RuntimeParameter(ParameterType[t], v) for k, (t, v) in params.items()}, key, *default)


def number(impl, params, key, *default):
    from kuiper.graph.pnnx import ParameterType
    from kuiper.graph.runtime_operator import RuntimeParameter

    return impl.float_param({k: RuntimeParameter(ParameterType[t], v) for k, (t, v) in params.items()}, key, *default)


def only(key):
    return {key: PARAMS[key]}


def test_init_one(impl):
    calling(init, impl, {"stride": ("INT_LIST", [2, 1])}).gives({"stride": ("INT_LIST", [2, 1])})


@pytest.mark.parametrize("key", PARAMS)
def test_init_type(impl, key):
    calling(init, impl, only(key)).gives(only(key))


def test_init_complex(impl):
    calling(complex_numbers, impl).gives([("COMPLEX", "(1-2j)"), ("COMPLEX_LIST", "[3j]")])


def complex_numbers(impl):
    from kuiper.graph.pnnx import Parameter, ParameterType

    params = {"a": Parameter(ParameterType.COMPLEX, 1 - 2j), "b": Parameter(ParameterType.COMPLEX_LIST, [3j])}
    return [(param.type.name, str(param.value)) for param in impl.init_graph_params(params).values()]


def test_init_all_in_order(impl):
    params = {key: PARAMS[key] for key in ("stride", "none", "bias", "mode")}
    calling(in_order, impl, params).gives(["stride", "none", "bias", "mode"])
    calling(init, impl, params).gives(params)


def in_order(impl, params):
    from kuiper.graph.pnnx import Parameter, ParameterType

    return list(impl.init_graph_params({k: Parameter(ParameterType[t], v) for k, (t, v) in params.items()}))


def test_init_none(impl):
    calling(impl.init_graph_params, {}).gives({})


def test_init_makes_runtime_parameters(impl):
    calling(kinds, impl).gives(["RuntimeParameter", "RuntimeParameter"])


def kinds(impl):
    from kuiper.graph.pnnx import Parameter, ParameterType

    params = {"a": Parameter(ParameterType.INT, 3), "b": Parameter(ParameterType.NULL, None)}
    return [type(param).__name__ for param in impl.init_graph_params(params).values()]


def test_init_copies_lists(impl):
    calling(after_a_change, impl).gives(([2, 1], ["ij"], {"file": [2, 1]}))


@pytest.mark.parametrize("key", ["stride", "scales", "words", "empty"])
def test_init_copies_any_list(impl, key):
    calling(lengths_after_append, impl, *PARAMS[key]).gives((len(PARAMS[key][1]), len(PARAMS[key][1]) + 1))


def lengths_after_append(impl, type_name, values):
    """The lengths of the file's list and of the graph's, once the graph's has grown."""
    from kuiper.graph.pnnx import Parameter, ParameterType

    file = {"key": Parameter(ParameterType[type_name], values)}
    made = impl.init_graph_params(file)["key"].value
    made.append(values[0] if values else 3)
    return len(file["key"].value), len(made)


def after_a_change(impl):
    """Change the lists of the running graph; what the file says must stay."""
    from kuiper.graph.pnnx import Parameter, ParameterType

    file = {"n": Parameter(ParameterType.INT_LIST, [2, 1]), "w": Parameter(ParameterType.STRING_LIST, ["ij"])}
    made = impl.init_graph_params(file)
    made["n"].value[0] = 7
    made["w"].value.append("jk")
    made["n"].type = ParameterType.OTHER
    again = impl.init_graph_params(file)
    return file["n"].value, file["w"].value, {"file": again["n"].value}


def test_init_refuses_other(impl):
    calling(init, impl, {"stride": ("INT", 2), "thing": ("OTHER", "?")}).raises(ValueError, "thing")


def test_pair(impl):
    calling(pair, impl, only("stride"), "stride").gives((2, 1))


def test_pair_from_one_number(impl):
    calling(pair, impl, only("padding"), "padding").gives((3, 3))
    calling(pair, impl, only("kernel"), "kernel").gives((5, 5))
    calling(pair, impl, {"padding": ("INT", 0)}, "padding", (4, 6)).gives((0, 0))


def test_pair_default(impl):
    calling(pair, impl, only("stride"), "dilation", (1, 4)).gives((1, 4))
    calling(pair, impl, only("none"), "none", (0, 0)).gives((0, 0))
    calling(pair, impl, {}, "none", (2, 3)).gives((2, 3))


def test_pair_given_beats_default(impl):
    calling(pair, impl, only("stride"), "stride", (7, 7)).gives((2, 1))


@pytest.mark.parametrize("key", ["dilation", "none"])
def test_pair_missing(impl, key):
    calling(pair, impl, {**only("stride"), **only("none")}, key).raises(ValueError, key)


@pytest.mark.parametrize("key", ["slope", "bias", "off", "mode", "scales", "three", "words", "empty"])
def test_pair_of_another_type(impl, key):
    calling(pair, impl, only(key), key).raises(ValueError, key)
    calling(pair, impl, only(key), key, (1, 1)).raises(ValueError, key)


def test_number(impl):
    calling(number, impl, only("slope"), "slope").gives(0.25)


def test_number_from_a_whole_one(impl):
    calling(number, impl, only("padding"), "padding").gives(3.0)
    calling(kind_of_number, impl).gives("float")


def kind_of_number(impl):
    from kuiper.graph.pnnx import ParameterType
    from kuiper.graph.runtime_operator import RuntimeParameter

    return type(impl.float_param({"max": RuntimeParameter(ParameterType.INT, 6)}, "max")).__name__


def test_number_that_is_spelled(impl):
    calling(number, impl, only("high"), "high").gives(math.inf)
    calling(number, impl, only("low"), "low").gives(-math.inf)
    calling(number, impl, only("hole"), "hole").gives(math.nan)


def test_number_default(impl):
    calling(number, impl, only("slope"), "eps", 0.0).gives(0.0)
    calling(number, impl, only("none"), "none", 0.5).gives(0.5)
    calling(number, impl, only("none"), "none", 0.0).gives(0.0)


def test_number_given_beats_default(impl):
    calling(number, impl, {"slope": ("FLOAT", 0.0)}, "slope", 0.75).gives(0.0)


@pytest.mark.parametrize("key", ["eps", "none"])
def test_number_missing(impl, key):
    calling(number, impl, {**only("slope"), **only("none")}, key).raises(ValueError, key)


@pytest.mark.parametrize("key", ["bias", "off", "mode", "scales", "stride", "kernel", "empty"])
def test_number_of_another_type(impl, key):
    calling(number, impl, only(key), key).raises(ValueError, key)
    calling(number, impl, only(key), key, 1.0).raises(ValueError, key)


def test_number_that_is_a_word_for_python_only(impl):
    calling(number, impl, {"eps": ("STRING", "1e-5")}, "eps").raises(ValueError, "eps")
    calling(number, impl, {"eps": ("STRING", "infinity")}, "eps").raises(ValueError, "eps")
    calling(number, impl, {"eps": ("STRING", "NaN")}, "eps").raises(ValueError, "eps")
    calling(number, impl, {"eps": ("STRING", "+inf")}, "eps").raises(ValueError, "eps")
    calling(number, impl, {"eps": ("STRING", "")}, "eps").raises(ValueError, "eps")


@given(values=st.lists(st.integers(-9, 9), min_size=0, max_size=4))
def test_any_pair(impl, values):
    call = calling(pair, impl, {"key": ("INT_LIST", values)}, "key")
    if len(values) in (1, 2):
        call.gives((values[0], values[-1]))
    else:
        call.raises(ValueError, "key")

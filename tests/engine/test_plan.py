"""What plans promise: the numbers of the readable layers, whatever the shapes and threads, and steady memory."""

from __future__ import annotations

import gc
import sys
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import numpy as np
import pytest

import kuiper
from kuiper.engine.engine import Engine
from kuiper.errors import GraphStateError, ShapeError
from kuiper.layers import Layer, override, registry
from kuiper.models import bundled
from tests.engine.models import algorithms, assert_close, both, numbers, plan_of
from tests.graph.pass_graphs import INPUT, OUTPUT, conv, expression, relu

SPLIT = "torch.chunk split 1 2 x a b chunks=2 dim=1"


def test_run_gives_the_numbers_of_the_layers() -> None:
    lines = (conv("x 1"), relu("1 2"), conv("2 3", "second"), expression("add(@0,@1)", "2 3 y"))
    fast, plain = both(INPUT, *lines, OUTPUT)
    for shape in ((2, 4, 6, 5), (1, 4, 1, 1), (3, 4, 33, 17)):
        assert_close(fast(numbers(*shape)), plain(numbers(*shape)))


def test_a_convolution_adds_an_input_of_the_graph() -> None:
    weight = "bias=False @weight=(4,3,3,3)f32"
    few = f"nn.Conv2d c 1 1 x 1 in_channels=3 out_channels=4 kernel_size=(3,3) padding=(1,1) {weight}"
    inputs = ("pnnx.Input a 0 1 x #x=(2,3,6,5)f32", "pnnx.Input b 0 1 r #r=(2,4,6,5)f32")
    fast, plain = both(*inputs, few, expression("add(@0,@1)", "1 r y"), OUTPUT)
    x, r = numbers(2, 3, 6, 5), numbers(2, 4, 6, 5, seed=1)
    assert_close(fast(x, r), plain(x, r))
    assert algorithms(plan_of(fast, [x, r])).count("direct") == 1


def test_a_view_costs_no_step() -> None:
    views = ("Tensor.permute p 1 1 1 2 dims=(0,2,3,1)", "Tensor.reshape r 1 1 2 y shape=(2,30,4)")
    fast, plain = both(INPUT, conv("x 1"), *views, OUTPUT)
    x = numbers(2, 4, 6, 5)
    assert_close(fast(x), plain(x))
    assert algorithms(plan_of(fast, [x]))[2:] == ["export"]


def test_a_layer_that_writes_to_its_input_is_called() -> None:
    class InPlace(Layer):
        def forward(self, x: np.ndarray) -> np.ndarray:
            np.maximum(x, 0, out=x)
            return x

    with override("nn.ReLU", InPlace):
        fast, plain = both(INPUT, conv("x 1"), relu("1 2"), conv("2 y", "second"), OUTPUT)
    assert_close(fast(numbers(2, 4, 6, 5)), plain(numbers(2, 4, 6, 5)))


def test_packed_weights_are_kept_once_for_all_batch_sizes() -> None:
    linear = "nn.Linear l 1 1 x y in_features=8 out_features=40 bias=False @weight=(40,8)f32"
    fast, _ = both("pnnx.Input in 0 1 x #x=(1,8)f32", linear, OUTPUT)
    for batch in range(1, 40):
        fast(numbers(batch, 8))
    assert isinstance(fast._execution.executor, Engine)
    assert len(fast._execution.executor._packed) <= 3


def test_taps_outside_of_an_image_of_many_channels_see_zeros() -> None:
    geometry = "kernel_size=(1,3) stride=(1,1) padding=(0,1) dilation=(1,1)"
    many = f"nn.Conv2d c 1 1 x 1 in_channels=9000 out_channels=2 groups=1 bias=False {geometry} @weight=(2,9000,1,3)f32"
    few = f"nn.Conv2d d 1 1 1 y in_channels=2 out_channels=3 groups=1 bias=False {geometry} @weight=(3,2,1,3)f32"
    fast, plain = both("pnnx.Input in 0 1 x #x=(1,9000,1,2)f32", many, few, OUTPUT)
    assert_close(fast(numbers(1, 9000, 1, 2)), plain(numbers(1, 9000, 1, 2)))


def test_shapes_are_computed_once_per_plan() -> None:
    lines = (
        "pnnx.Input in 0 1 x #x=(?,?,?,?)f32",
        "pnnx.Expression shape 1 1 x 1 expr=[size(@0,0),-1]",
        "Tensor.reshape flat 2 1 x 1 y $input=x $shape=1",
        OUTPUT,
    )
    fast, plain = both(*lines)
    for shape in ((2, 4, 6, 5), (3, 1, 2, 2)):
        assert_close(fast(numbers(*shape)), plain(numbers(*shape)))


def test_a_layer_between_programs_gets_its_views() -> None:
    cumsum = "torch.cumsum sums 1 1 1 2 dim=1"
    fast, plain = both(INPUT, conv("x 1"), cumsum, conv("2 y", "second"), OUTPUT)
    x = numbers(2, 4, 6, 5)
    assert_close(fast(x), plain(x))
    assert "layer" in algorithms(plan_of(fast, [x]))


def test_the_time_of_a_layer_is_a_part_of_the_run() -> None:
    fast, _ = both(INPUT, conv("x 1"), "torch.cumsum sums 1 1 1 y dim=1", OUTPUT)
    x, spent = numbers(2, 4, 6, 5), {}
    begun = perf_counter()
    plan_of(fast, [x]).run([x], 1, lambda step, seconds: spent.update({step.op.name: seconds}))
    assert 0 < spent["sums"] < perf_counter() - begun


def test_a_students_layer_is_called() -> None:
    calls = []

    class Loud(Layer):
        def forward(self, x: np.ndarray) -> np.ndarray:
            calls.append(x.shape)
            return np.maximum(x, 0)

    with override("nn.ReLU", Loud):
        fast, plain = both(INPUT, conv("x 1"), relu("1 2"), conv("2 y", "second"), OUTPUT)
    x = numbers(2, 4, 6, 5)
    expected = plain(x)
    calls.clear()
    assert_close(fast(x), expected)
    assert (2, 4, 6, 5) in calls


def test_shapes_that_depend_on_the_data_are_left_to_the_layers() -> None:
    with override("doc.Positive", _Positive):
        fast, plain = both(INPUT, conv("x 1"), "doc.Positive some 1 1 1 y", OUTPUT)
    x = numbers(2, 4, 6, 5)
    assert_close(fast(x), plain(x))
    assert_close(fast(-x), plain(-x))


class _Positive(Layer):
    def forward(self, x: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(x[x > 0])


def test_errors_are_those_of_the_layers() -> None:
    fast, _ = both(INPUT, conv("x 1"), conv("1 y", "second"), OUTPUT)
    with pytest.raises(ShapeError, match=r"expected input \(n, 4, h, w\), got \(1, 3, 6, 5\)"):
        fast(numbers(1, 3, 6, 5))


def test_inputs_may_have_any_strides() -> None:
    fast, plain = both(INPUT, conv("x y"), OUTPUT)
    x = numbers(2, 6, 5, 8).transpose(0, 3, 1, 2)[:, ::2]
    assert_close(fast(x), plain(np.ascontiguousarray(x)))


def test_inputs_are_not_written_to_and_outputs_are_the_callers() -> None:
    fast, _ = both(INPUT, relu("x y"), OUTPUT)
    x = numbers(2, 4, 6, 5)
    kept = x.copy()
    first = np.asarray(fast(x))
    copied = first.copy()
    fast(-x)
    np.testing.assert_array_equal(x, kept)
    np.testing.assert_array_equal(first, copied)


def test_empty_batches_give_empty_outputs() -> None:
    fast, plain = both(INPUT, conv("x 1"), relu("1 y"), OUTPUT)
    assert np.asarray(fast(np.zeros((0, 4, 6, 5), np.float32))).shape == plain(np.zeros((0, 4, 6, 5))).shape


@pytest.mark.usefixtures("restore_threads")
def test_results_do_not_depend_on_the_number_of_threads() -> None:
    model = kuiper.load(bundled("cifar_resnet20"))
    x = numbers(3, 3, 32, 32)
    results = []
    for threads in (1, 2, 3, 5):
        kuiper.set_num_threads(threads)
        results.append(np.asarray(model(x)).view(np.int32).copy())
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def test_threads_may_share_a_model() -> None:
    model = kuiper.load(bundled("cifar_resnet20"))
    inputs = [numbers(1 + seed % 2, 3, 32, 32, seed=seed) for seed in range(16)]
    expected = [np.asarray(model(x)).copy() for x in inputs]
    with ThreadPoolExecutor(4) as pool:
        for got, want in zip(pool.map(lambda x: np.asarray(model(x)), inputs * 4), expected * 4, strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.thorough
def test_memory_stays_flat_over_many_shapes() -> None:
    resource = pytest.importorskip("resource")
    fast, _ = both(INPUT, conv("x 1"), relu("1 2"), conv("2 y", "second"), OUTPUT)

    def run(rounds: int) -> None:
        for i in range(rounds):
            fast(np.ones((1, 4, 40 + i % 23, 40 + i % 17), np.float32))

    run(400)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run(800)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < (2 << 10) * (1 if sys.platform != "darwin" else 1024)  # 2 MB; a leak of one arena per run is 60


def test_a_plan_keeps_scratch_memory_for_the_most_threads_only(restore_threads: None) -> None:
    model, x = kuiper.load(bundled("cifar_resnet20")), numbers(1, 3, 32, 32)
    expected, kept = np.asarray(kuiper.load(bundled("cifar_resnet20"))(x)), []
    for threads in (1, 2, 4, 3, 2, 1):
        kuiper.set_num_threads(threads)
        np.testing.assert_array_equal(np.asarray(model(x)), expected)
        (workspace,) = plan_of(model, [x])._pool
        kept.append(workspace.scratch.size)
    assert kept[0] > 0
    assert kept == [threads * kept[0] for threads in (1, 2, 4, 4, 4, 4)]


def test_plan_reports_every_step() -> None:
    fast, plain = both(INPUT, conv("x 1"), relu("1 y"), OUTPUT)
    text = str(fast.plan(numbers(2, 4, 6, 5), runs=2))
    assert "direct 3x" in text  # 3x1 where the image is imported with its border
    assert "export" in text
    assert "kuiper.FusedConv2d" in str(fast.plan())
    with pytest.raises(GraphStateError, match="optimize=True"):
        plain.plan()


def test_lowerings_exist_only_for_kuipers_own_classes() -> None:
    from kuiper.engine.lowering.registry import find_lowering

    layer_class = type(registry.create(both(INPUT, relu("x y"), OUTPUT)[1].order[1]))
    assert find_lowering(layer_class.__new__(layer_class)) is not None
    assert find_lowering(type("Own", (layer_class,), {}).__new__(layer_class)) is not None
    assert find_lowering(object()) is None


@pytest.mark.parametrize("cut", [
    "aten::Int number 1 1 n k\nTensor.slice s 2 1 2 k y dim=1 start=0 $input=2 $end=k",
    "Tensor.select first 1 1 n k dim=0 index=0\nTensor.slice s 2 1 2 k y dim=1 start=0 $input=2 $end=k",
    "Tensor.select first 1 1 n k dim=0 index=0\ntorch.narrow s 2 1 2 k y dim=1 length=2 $input=2 $start=k",
    "aten::Int number 1 1 n k\npnnx.Expression e 2 1 2 k y expr=mul(@0,@1)",
])  # fmt: skip
def test_a_number_among_the_inputs_may_change_from_call_to_call(cut: str) -> None:
    lines = (INPUT, "pnnx.Input number_in 0 1 n #n=(1)i64", relu("x 2"), *cut.split("\n"), OUTPUT)
    fast, plain = both(*lines)
    x = numbers(2, 4, 6, 5)
    for number in (1, 2, 1):
        n = np.array([number])
        np.testing.assert_array_equal(fast(x, n), plain(x, n))


def test_a_list_of_tensors_outlives_their_memory() -> None:
    sums = [f"torch.sum {name} 1 1 x {name} dim=(0,{axis},3) #{name}=(4)f32" for name, axis in (("a", 1), ("b", 2))]
    lines = (
        INPUT, *sums, expression("mul(@0,2)", "a 1", shape="(4)f32"), expression("mul(@0,3)", "b 2", shape="(4)f32"),
        expression("[@0,@1]", "1 2 list", shape=""), conv("x 3"), conv("3 4", "second"),
        expression("ij", "word", shape=""), "aten::meshgrid grid 2 1 list word 5", "prim::ListUnpack parts 1 2 5 6 7",
        expression("add(@0,mul(@1,@2))", "4 6 7 y"), OUTPUT,
    )  # fmt: skip
    fast, plain = both(*lines)
    assert_close(fast(numbers(2, 4, 4, 4)), plain(numbers(2, 4, 4, 4)))


def test_what_depends_on_shapes_only_is_computed_once() -> None:
    lines = (
        INPUT, expression("size(@0,2)", "x rows"), expression("size(@0,3)", "x columns"),
        "torch.arange a 1 1 rows 1 dtype=torch.float $end=rows",
        "torch.arange b 1 1 columns 2 dtype=torch.float $end=columns",
        expression("add(@0,0.5)", "1 3"), expression("add(@0,0.5)", "2 4"), expression("[@0,@1]", "3 4 5"),
        "torch.meshgrid m 1 2 5 6 7 indexing=ij", expression("mul(@0,add(@1,@2))", "x 6 7 y"), OUTPUT,
    )  # fmt: skip
    fast, plain = both(*lines)
    for shape in ((2, 4, 6, 5), (1, 4, 3, 7)):
        assert_close(fast(numbers(*shape)), plain(numbers(*shape)))
        assert algorithms(plan_of(fast, [numbers(*shape)])) == ["import", "add", "export"]


@pytest.mark.parametrize(("channels", "groups"), [(64, 2), (64, 8), (96, 6), (24, 3)])
def test_every_group_of_a_convolution_sees_zeros_beyond_the_border(channels: int, groups: int) -> None:
    line = (
        f"nn.Conv2d c 1 1 x y in_channels={channels} out_channels={channels} kernel_size=(3,3) padding=(1,1) "
        f"groups={groups} bias=False @weight=({channels},{channels // groups},3,3)f32"
    )
    fast, plain = both(f"pnnx.Input in 0 1 x #x=(1,{channels},6,5)f32", line, OUTPUT)
    x = numbers(2, channels, 6, 5)
    assert_close(fast(x), plain(x))


def test_a_plan_without_enough_memory_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    fast, plain = both(INPUT, conv("x 1"), relu("1 y"), OUTPUT)
    x = numbers(2, 4, 6, 5)

    def fails(floats: int) -> np.ndarray:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("kuiper.engine.runner.aligned", fails)
        assert_close(fast(x), plain(x))
    assert isinstance(fast._execution.executor, Engine)
    assert not fast._execution.executor._plans
    assert isinstance(fast._execution.executor.run([x]), tuple)

"""The contract of docs/inside/engine.md: bits do not depend on what runs beside them, or on how the work is cut."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kuiper
from kuiper.errors import ParameterError
from kuiper.machine import REPRODUCIBLE, build, this_machine
from kuiper.models import bundled
from tests.hashes import CONVOLUTIONS, convolution, decoder, fractions

MACHINES = {
    "this": {},
    "one core, 256 KiB": {"l2": 256 << 10, "cores": 1},
    "sixteen cores, 2 MiB": {"l2": 2 << 20, "cores": 16},
}


WEIGHTS = pytest.mark.parametrize(("bits", "group"), [(32, None), (8, None), (8, 32), (4, None)])


@pytest.mark.parametrize("stated", MACHINES.values(), ids=MACHINES)
@pytest.mark.parametrize(("name", "side"), [("cifar_resnet20", 32), ("digits_yolo", 320), ("shapes_unet", 64)])
def test_an_image_has_the_bits_of_its_own_in_a_batch(name: str, side: int, stated: dict[str, int]) -> None:
    model = kuiper.load(bundled(name), machine=replace(this_machine(), **stated))
    batch = fractions(3, 3, side, side)
    together = np.asarray(model(batch))
    for image, found in zip(batch, together, strict=True):
        np.testing.assert_array_equal(np.asarray(model(image[None]))[0], found)


@pytest.mark.parametrize("sizes", CONVOLUTIONS, ids=lambda sizes: "_".join(map(str, sizes)))
def test_a_convolution_has_the_same_bits_in_a_batch(sizes: tuple[int, ...]) -> None:
    model = kuiper.load(convolution(*sizes, seed=1))
    batch = fractions(8, sizes[0], sizes[-1], sizes[-1])
    together = np.asarray(model(batch))
    for image, found in zip(batch, together, strict=True):
        np.testing.assert_array_equal(np.asarray(model(image[None]))[0], found)


@WEIGHTS
@pytest.mark.parametrize("pieces", [(1,) * 23, (23,), (2,) * 11 + (1,), (5, 1, 9, 8), (3, 20), (16, 7), (13, 1, 1, 8)])
def test_a_text_has_the_same_bits_however_it_is_cut(pieces: tuple[int, ...], bits: int, group: int | None) -> None:
    model, tokens = kuiper.load(decoder(bits, group)), np.arange(1, 24)[None] % 29
    session, found, first = model.start(max_length=32), [], 0
    whole = np.asarray(model.start(max_length=32)(tokens))
    for count in pieces:
        found.append(np.asarray(session(tokens[:, first : first + count])))
        first += count
    np.testing.assert_array_equal(np.concatenate(found, axis=1), whole)


@WEIGHTS
def test_texts_have_the_same_bits_side_by_side(bits: int, group: int | None) -> None:
    model, tokens = kuiper.load(decoder(bits, group)), np.arange(1, 46).reshape(3, 15) % 29
    together = np.asarray(model(tokens))
    for text, found in zip(tokens, together, strict=True):
        np.testing.assert_array_equal(np.asarray(model(text[None]))[0], found)


@pytest.mark.skipif(not build.FUSES or build.LANES == 1, reason="no vectors with fused multiply-adds here")
@pytest.mark.parametrize("stated", MACHINES.values(), ids=MACHINES)
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_reproducible_bits_do_not_depend_on_the_machine(stated: dict[str, int], threads: int) -> None:
    x, before = fractions(2, 3, 32, 32), kuiper.get_num_threads()
    expected = np.asarray(kuiper.load(bundled("cifar_resnet20"), reproducible=True)(x))
    kuiper.set_num_threads(threads)
    try:
        model = kuiper.load(bundled("cifar_resnet20"), machine=replace(this_machine(), **stated))
        model.execution.executor._choices = REPRODUCIBLE  # type: ignore[union-attr]
        np.testing.assert_array_equal(np.asarray(model(x)), expected)
    finally:
        kuiper.set_num_threads(before)


@pytest.mark.parametrize(("fact", "value"), [("FUSES", False), ("LANES", 1)])
def test_load_refuses_to_be_reproducible_on_a_build_that_cannot(
    fact: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, fact, value)
    with pytest.raises(ParameterError, match="load: expected a build with fused multiply-adds of vectors"):
        kuiper.load(bundled("cifar_resnet20"), reproducible=True)

"""Run by the runtime: whether an installed kuiper works. Prints a line for each thing that does."""

import sys
from time import perf_counter

import numpy as np

began = perf_counter()
import kuiper  # noqa: E402

print(f"import kuiper: {perf_counter() - began:.2f} s after NumPy")

from kuiper.machine import build, facts_of, this_machine  # noqa: E402
from kuiper.models import Classifier, bundled, bundled_photo  # noqa: E402

info = kuiper.build_info()
assert (build.LANES, info["cores"], info["threads"]) == (4, 1, 1), info
assert info["level"] == sys.argv[1], f"expected the level {sys.argv[1]}, got {info['level']}"
print(f"level: {info['level']} of {', '.join(info['levels'])}; {facts_of(this_machine())}")

label, probability = Classifier(bundled("cifar_resnet20"))(bundled_photo())[0]
assert label == "cat", label
print(f"classify: {label} {probability:.1%}")

model = kuiper.load(bundled("cifar_resnet20"))
x = np.random.default_rng(0).standard_normal((2, 3, 32, 32), dtype=np.float32)
engine, layers = (np.asarray(kuiper.load(bundled("cifar_resnet20"), optimize=way)(x)) for way in (True, False))
difference = np.abs(engine - layers).max() / np.abs(layers).max()
assert difference <= 1e-5, difference
assert not model.fallbacks, model.fallbacks
print(f"engine and layers: equal within {difference:.1e}")

x, y = (np.random.default_rng(seed).standard_normal((3, 5, 7), dtype=np.float32) for seed in (1, 2))
assert np.array_equal(kuiper.tensor.add(x, y), x + y)
print("add: NumPy's bits")

from kuiper.layers.kernels import activations  # noqa: E402

undefined, kept = np.full(9, np.nan, np.float32), np.zeros(9, np.float32)
activations.apply("clip", undefined, kept, 0.0, 6.0, 1)
assert np.isnan(kept).all(), kept
print("a bound keeps NaN")

from kuiper.cli import main  # noqa: E402

for words in (["doctor"], ["generate", "ROMEO:", "--max-tokens", "20", "--seed", "1"]):
    began = perf_counter()
    assert main(words) == 0, words
    print(f"kuiper {words[0]}: {perf_counter() - began:.2f} s")

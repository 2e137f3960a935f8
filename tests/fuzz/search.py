"""One target under atheris, in a process of its own: ``python -m tests.fuzz.search TARGET [options of libFuzzer]``."""

import sys

import atheris

READERS = [
    "kuiper.expression",
    "kuiper.graph.pnnx",
    "kuiper.onnx",
    "kuiper.tensor.csv",
    "kuiper.models",
    "kuiper.course",
    "tomllib",
]

with atheris.instrument_imports(include=[*READERS, "zipfile", "tests.fuzz.targets"]):
    from tests.fuzz.targets import TARGETS

if __name__ == "__main__":
    atheris.Setup(sys.argv[1:], TARGETS[sys.argv[1]])
    atheris.Fuzz()

"""Models that mean harm: sizes that no machine has, weights that contradict their parameters, words for numbers.

Whatever a file says, the answer is a result or one KuiperError that names an operator, within a limit of memory and of
time, and the engine and the layers answer alike.

    python -m tests.hostile.sweep             every number of every graph in tests/fixtures/operators (some minutes)
    python -m tests.hostile.sweep --every 50  each fiftieth of them, as the tests do
"""

"""The one place that loads the classroom's pytest plugin, and what pytest must not import where PyTorch is missing."""

import importlib.util

pytest_plugins = ["kuiper.course.pytest_plugin"]

# --doctest-modules imports every module that it finds.
NEED_TORCH = [
    "kuiper/models/zoo/*",
    "tests/fixtures/*",
    "benchmarks/architectures/*",
    "benchmarks/operator_modules.py",
]
collect_ignore_glob = [] if importlib.util.find_spec("torch") else NEED_TORCH

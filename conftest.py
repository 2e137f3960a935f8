"""The one place that loads the classroom's pytest plugin, and what pytest must not import where PyTorch is missing."""

import importlib.util

pytest_plugins = ["kuiper.course.pytest_plugin"]

# --doctest-modules imports every module that it finds.
collect_ignore_glob = [] if importlib.util.find_spec("torch") else ["kuiper/models/zoo/*", "tests/fixtures/*"]

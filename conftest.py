"""The one place that loads the classroom's pytest plugin."""

pytest_plugins = ["kuiper.course.pytest_plugin"]

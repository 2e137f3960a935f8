"""Loads the classroom: whose file a test meets, failures in words, progress at the end."""

pytest_plugins = ["kuiper.course.pytest_plugin"]

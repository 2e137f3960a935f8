"""The classroom: exercises generated from their solutions, and everything that runs around them.

Nothing in the engine imports it. Students meet three names: ``load_exercise`` in notebooks and in exercises that stand
on earlier ones, ``calling`` and ``same`` in tests.
"""

from kuiper.course.importer import load_exercise
from kuiper.course.testing import calling, same

__all__ = ["calling", "load_exercise", "same"]

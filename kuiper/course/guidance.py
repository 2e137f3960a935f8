"""What a manifest says to the student: hints for each function, words behind a course's last exercise, short paths."""

from __future__ import annotations

from dataclasses import dataclass, field

from kuiper.language import _, translate


@dataclass(frozen=True)
class Ladder:
    """The hints for one function or class of an exercise, each of which tells more than the one before.

    ``tests`` has beginnings of the names of its tests, besides those that begin with the function's own name; an empty
    one is the beginning of every name. ``first`` has beginnings of the names of those that the first hint is about: of
    all, if there are none.
    """

    function: str
    rungs: tuple[str, ...]
    tests: tuple[str, ...] = ()
    first: tuple[str, ...] = ()

    @property
    def short(self) -> str:
        """The name without the class, ``create`` of ``Registry.create``."""
        return self.function.rpartition(".")[2]

    def fits(self, test: str) -> int:
        """How many signs of a test's name, behind ``test_``, are a beginning of this ladder's; -1 if none fits."""
        name = test.partition("[")[0].removeprefix("test_")
        beginnings = (self.short.strip("_").lower(), *self.tests)
        return max((len(words) for words in beginnings if name.startswith(words)), default=-1)

    def begins_with(self, test: str) -> bool:
        """Whether the first hint is about what a test looks at."""
        return not self.first or test.removeprefix("test_").startswith(self.first)


@dataclass(frozen=True)
class Afterwards:
    """What a student reads behind the last exercise of a course.

    ``race`` is the word by which ``kuiper race`` runs what the student's engine can do now: the course's ``engine.py``,
    which uses the exercises in ``parts``. A course may have none. ``speed`` has rising ratios to the reference's speed
    for races, by the model's name; each that is reached is a point for speed.
    """

    built: str
    engines: str
    tries: tuple[str, ...]
    race: str = ""
    parts: tuple[str, ...] = ()
    speed: dict[str, tuple[float, ...]] = field(default_factory=dict, hash=False)

    def lines(self) -> list[str]:
        """The parts, for the report of a test run."""
        run = [_("Run it: {command}").format(command=f"kuiper race {self.race}")] if self.race else []
        steps = [f"  {number}. {translate(words, 'hints')}" for number, words in enumerate(self.tries, 1)]
        built = _("You built: {text}").format(text=translate(self.built, "hints"))
        engines = _("Real engines: {text}").format(text=translate(self.engines, "hints"))
        return [built, *run, engines, _("Things to try:"), *steps]


@dataclass(frozen=True)
class ShortPath:
    """Some exercises, across the courses, that lead to one thing; a ``[[path]]`` of a manifest.

    ``goal`` says what a student has at the end. ``answers`` has, for some or all of the exercises, the question of an
    interview that the exercise answers.
    """

    name: str
    title: str
    goal: str
    exercises: tuple[str, ...]
    answers: dict[str, str] = field(default_factory=dict, hash=False)

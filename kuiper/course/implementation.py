"""What a test gets as ``impl``: the functions of one exercise's file, in this process or in a worker."""

from __future__ import annotations

import inspect
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kuiper.course.importer import load
from kuiper.course.observation import Observation, Raised, observe
from kuiper.course.selection import Selection, selected
from kuiper.course.worker import member

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.course.in_place import InPlace
    from kuiper.course.manifest import Exercise
    from kuiper.course.remote import Worker


class StudentError(Exception):
    """A student's function raised; ``raised`` says what and where, ``function`` which one was called."""

    def __init__(self, raised: Raised, function: str = "") -> None:
        super().__init__(str(raised))
        self.raised, self.function = raised, function


@dataclass(frozen=True)
class Function:
    """A function of the implementation: call it, or hand it to ``calling``."""

    implementation: Implementation
    name: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        seen = self.implementation.observe(self.name, args, kwargs)
        if seen.raised:
            raise StudentError(seen.raised, self.name)
        return seen.value


class Implementation:
    """The file that stands for an exercise. ``impl.im2col`` is its function im2col, wherever that runs.

    ``seconds`` is how long one call may take in a worker; by default what the manifest says.
    """

    def __init__(
        self,
        exercise: Exercise,
        selection: Selection,
        worker: Worker | InPlace | None = None,
        seconds: float | None = None,
    ) -> None:
        self._exercise, self._selection, self._worker = exercise, selection, worker
        self._seconds = exercise.timeout if seconds is None else seconds

    def __getattr__(self, name: str) -> Function:
        if name.startswith("_"):
            raise AttributeError(name)
        return Function(self, name)

    def observe(self, function: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Observation:
        """Call a function of the exercise."""
        if self._worker:
            return self._remote(function, "", args, kwargs)
        return self._local(lambda module: member(module, function), args, kwargs)

    def observe_probe(self, probe: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Observation:
        """Call a test's own function beside the student's code: the exercise's module is its first argument."""
        if self._worker:
            source = textwrap.dedent(inspect.getsource(probe))
            return self._remote(probe.__name__, source, args, kwargs)
        return self._local(lambda module: lambda *rest, **named: probe(module, *rest, **named), args, kwargs)

    def _local(
        self, find: Callable[[Any], Callable[..., Any]], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Observation:
        with selected(self._selection):
            try:
                function = find(load(self._selection, self._exercise, self._selection.mode))
            except (Exception, SystemExit) as error:
                return Observation(raised=Raised.of(error))
            return observe(function, args, kwargs)

    def _remote(self, function: str, probe: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Observation:
        assert self._worker is not None
        return self._worker.call(self._request(function, probe, args, kwargs), self._seconds)

    def _request(self, function: str, probe: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        return {
            "root": str(self._selection.worker_root),
            "paths": self._selection.all_paths,
            "exercise": self._exercise.id,
            "mode": self._selection.mode,
            "function": function,
            "probe": probe,
            "args": args,
            "kwargs": kwargs,
        }


class Trier(Implementation):
    """Stands for many variants of a solution at once: what each answers to a call is in ``found`` afterwards."""

    def __init__(
        self, exercise: Exercise, selection: Selection, worker: Worker | InPlace, asked: dict[str, Any], seconds: float
    ) -> None:
        super().__init__(exercise, selection, worker, seconds)
        self._asked = asked
        self.found: Any = None

    def _remote(self, function: str, probe: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Observation:
        assert self._worker is not None
        request = {**self._request(function, probe, args, kwargs), "trial": self._asked}
        self.found = self._worker.trial(request, self._seconds)
        return Observation()


class Recorded(Implementation):
    """Answers each call with what was seen before."""

    def __init__(self, exercise: Exercise, selection: Selection, seen: Observation) -> None:
        super().__init__(exercise, selection)
        self._seen = seen

    def observe(self, function: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Observation:
        return self._seen

    def observe_probe(self, probe: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Observation:
        return self._seen

"""A lecture's cells: each runs in the names of those before it, and its last expression is shown as notebooks do."""

from __future__ import annotations

import ast
import base64
import linecache
import sys
import traceback
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kuiper.course.cells import CellFilter

if TYPE_CHECKING:
    from collections.abc import Callable

RICH = {
    "_repr_html_": "text/html",
    "_repr_svg_": "image/svg+xml",
    "_repr_png_": "image/png",
    "_repr_jpeg_": "image/jpeg",
    "_repr_markdown_": "text/markdown",
}
FOR_CHARTS = frozenset({"cycler", "matplotlib", "matplotlib.figure"})
"""What kuiper/course/pictures/chart.py imports: a page may be without it, and has the pictures that are stored."""
LONGEST = 20_000  # characters of a plain text


class Lecture:
    """The names of one lecture, and how its cells run."""

    def __init__(self, show: Callable[[dict[str, str]], object], compile_something: Callable[[], object]) -> None:
        self._show = show
        self._filter = CellFilter(compile_something)
        self._names: dict[str, Any] = {"__name__": "__main__", "display": self.display}
        self._offer_display()

    def run(self, source: str, name: str) -> dict[str, str] | None:
        """Run one cell; None, or what it raised: type, message, traceback from the cell on, and what it lacks."""
        file = f"<{name}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        try:
            tree = self._filter.visit(ast.parse(source, file))
            last = tree.body[-1] if tree.body else None
            if not isinstance(last, ast.Expr) or source.rstrip().endswith(";"):
                exec(compile(tree, file, "exec"), self._names)
                return None
            exec(compile(ast.Module(tree.body[:-1], []), file, "exec"), self._names)
            value = eval(compile(ast.Expression(last.value), file, "eval"), self._names)
            if value is not None:
                self._names["_"] = value
                self.display(value)
        except (Exception, SystemExit) as error:
            lines = traceback.format_exception(type(error), error, _from_cell(error, file))
            lacking = error.name if isinstance(error, ModuleNotFoundError) and error.name in FOR_CHARTS else ""
            kind = type(error).__name__
            return {"type": kind, "message": str(error), "traceback": "".join(lines), "lacking": str(lacking)}
        return None

    def display(self, *values: object) -> None:
        """Show values as IPython's ``display`` does."""
        for value in values:
            self._show(mime_bundle(value))

    def _offer_display(self) -> None:
        """``from IPython.display import Markdown`` works without IPython, which is 3 MB for that."""
        if "IPython" in sys.modules and hasattr(sys.modules["IPython"], "get_ipython"):
            return
        package, module = ModuleType("IPython"), ModuleType("IPython.display")
        # matplotlib reads the version of any IPython that it finds.
        vars(package).update(get_ipython=lambda: None, display=module, version_info=(0, 0), __path__=[])
        texts = {"Markdown": "_repr_markdown_", "HTML": "_repr_html_", "SVG": "_repr_svg_"}
        kinds = {name: type(name, (_Shown,), {method: lambda self: self.data}) for name, method in texts.items()}
        vars(module).update(kinds, display=self.display)
        sys.modules.update({"IPython": package, "IPython.display": module})


class _Shown:
    """A text that says how it is to be shown."""

    def __init__(self, data: str) -> None:
        self.data = data


def mime_bundle(value: object) -> dict[str, str]:
    """How a value may be shown, by MIME type; bytes as base64. ``text/plain`` is always there.

    >>> mime_bundle(3)
    {'text/plain': '3'}
    """
    bundle: dict[str, Any] = {}
    many = getattr(type(value), "_repr_mimebundle_", None)
    if many is not None:
        found = many(value)
        bundle.update(found[0] if isinstance(found, tuple) else found or {})
    for method, kind in RICH.items():
        made = getattr(value, method)() if kind not in bundle and hasattr(type(value), method) else None
        if made is not None:
            bundle[kind] = made[0] if isinstance(made, tuple) else made
    bundle.setdefault("text/plain", repr(value)[:LONGEST])
    return {
        kind: base64.b64encode(data).decode() if isinstance(data, bytes) else str(data) for kind, data in bundle.items()
    }


def _from_cell(error: BaseException, file: str) -> Any:
    """The traceback from the cell's own line on."""
    place = error.__traceback__
    while place is not None and place.tb_frame.f_code.co_filename != file:
        place = place.tb_next
    return place

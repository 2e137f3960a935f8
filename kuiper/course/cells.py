"""A notebook's cells where there is no C compiler: those that compile, and those that use what these make, say so.

They are not run. So a lecture comes to its end there, and "run all" does not stop half-way.
"""

from __future__ import annotations

import ast
import symtable
import sys
from typing import TYPE_CHECKING, Any

from kuiper.course.errors import BuildError
from kuiper.language import _

if TYPE_CHECKING:
    from collections.abc import Callable

COMPILING = frozenset({"cython", "yellow_lines"})  # the functions of lectures that compile


class CellFilter:
    """What IPython shows every cell to before it runs it.

    ``compile_something`` raises BuildError where nothing can be compiled.
    """

    def __init__(self, compile_something: Callable[[], object]) -> None:
        self._compile_something = compile_something
        self._reason: str | None = None
        self._missing: set[str] = set()

    def visit(self, cell: ast.Module) -> ast.Module:
        """The cell as it is to be run: all of it, or what it imports and a line that says why."""
        needed, made = _names(cell)
        compiles = any(isinstance(node, ast.Name) and node.id in COMPILING for node in ast.walk(cell))
        if compiles and self._why_not():
            words = _("not run: {reason}").format(reason=self._why_not())
        elif needed & self._missing:
            lacking = ", ".join(sorted(needed & self._missing))
            words = _("not run: it needs {names} from a cell above that was not run").format(names=lacking)
        else:
            self._missing -= made
            return cell
        imports = [node for node in cell.body if isinstance(node, (ast.Import, ast.ImportFrom))]
        imported = {alias.asname or alias.name.split(".")[0] for node in imports for alias in node.names}
        self._missing = (self._missing | made) - imported
        return ast.Module([*imports, *ast.parse(f"print({words!r})").body], [])

    def _why_not(self) -> str:
        """Why nothing can be compiled; empty if it can."""
        if self._reason is None:
            try:
                self._compile_something()
                self._reason = ""
            except BuildError as error:
                self._reason = " ".join(str(error).split())
        return self._reason


def _names(cell: ast.Module) -> tuple[set[str], set[str]]:
    """What a cell takes from the cells above (or from Python), and what it makes."""
    needed: set[str] = set()
    made: set[str] = set()
    for statement in cell.body:
        table = symtable.symtable(ast.unparse(statement), "cell", "exec")
        stored = {name.get_name() for name in table.get_symbols() if name.is_assigned() or name.is_imported()}
        read = {name.get_name() for name in table.get_symbols() if name.is_referenced()}
        # What a loop stores, it mostly reads later in its own body; an assignment reads before it stores.
        own = stored if isinstance(statement, (ast.For, ast.While, ast.If, ast.With, ast.Try)) else set()
        needed |= (read | _globals_below(table)) - own - made
        made |= stored
    return needed, made


def _globals_below(table: symtable.SymbolTable) -> set[str]:
    """What functions, lambdas and comprehensions read from the notebook."""
    found: set[str] = set()
    for inner in table.get_children():
        found |= {name.get_name() for name in inner.get_symbols() if name.is_global() and name.is_referenced()}
        found |= _globals_below(inner)
    return found


def filter_cells(compile_something: Callable[[], object]) -> None:
    """Let the notebook that runs in this process, if one does, go round what cannot be compiled."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is not None and not any(isinstance(each, CellFilter) for each in shell.ast_transformers):
        shell.ast_transformers.append(CellFilter(compile_something))

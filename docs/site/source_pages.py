"""Source files and folders as pages of the site, so that a link that works in the repository leads somewhere here too.

All of the package is there, and what else a document links to: ``../course1_tensor/course.toml`` becomes
``source/course1_tensor/course.toml.html``. A folder is a list of what is in it, each with the first line that it says
of itself. The reference's "[source]" links lead to the same pages.
"""

from __future__ import annotations

import importlib
import inspect
import re
from functools import reduce
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from languages import to_english
from pygments.lexers import find_lexer_class_for_filename
from sphinx.addnodes import download_reference, pending_xref

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "kuiper"
LISTED = {".py", ".pyx", ".pxd"}


def page_of(path: Path) -> str:
    """The name of the page that shows a file or folder."""
    name = "source/" + path.relative_to(ROOT).as_posix()
    return f"{name}/index" if path.is_dir() else name


def link_to_pages(app: Sphinx, document: nodes.document) -> None:
    """Lead a document's links to source files and folders to their pages."""
    linked, root = set(), to_english(app, app.env.docname)
    links: list[Any] = [*document.findall(download_reference), *document.findall(pending_xref)]
    for link in links:
        path = Path(app.env.relfn2path(link["reftarget"], app.env.docname)[1])
        if link["reftype"] == "myst" and path.is_relative_to(ROOT) and not is_document(app, path) and is_text(path):
            linked.add(path)
            link.replace_self(nodes.reference("", "", *link.children, refuri=f"{root}{page_of(path)}.html"))
    linked_files(app)[app.env.docname] = linked


def is_document(app: Sphinx, path: Path) -> bool:
    """Whether the path is a page of its own right."""
    return app.env.path2doc(path) in app.env.found_docs


def is_text(path: Path) -> bool:
    """Whether a page can show it; weights and photos are left to be downloaded."""
    return path.is_dir() or (path.is_file() and b"\0" not in path.read_bytes())


def linked_files(app: Sphinx) -> dict[str, set[Path]]:
    """What each document links to; the environment keeps it from one build to the next."""
    return vars(app.env).setdefault("kuiper_linked_files", {})


def source_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The pages, as Sphinx wants them: a name, what fills the template, the template. Only English has them."""
    if app.config.language != "en":
        return
    paths = {PACKAGE, *inside(PACKAGE)}.union(*linked_files(app).values())
    paths |= {below for path in set(paths) if path.is_dir() for below in inside(path)}
    for path in sorted(paths):
        body = folder(path) if path.is_dir() else code(app, path)
        context = {"title": path.relative_to(ROOT).as_posix(), "body": heading(path, paths) + body}
        # Furo would fill the sidebar with the whole table of contents, which takes longer than all the rest.
        yield page_of(path), {**context, "toctree": lambda **options: ""}, "page.html"


def heading(path: Path, paths: set[Path]) -> str:
    """The path, with a link to each folder on the way that has a page."""
    steps = [step for step in [*reversed(path.parents), path] if ROOT in step.parents]
    parts = []
    for above, step in zip(range(len(steps) - 1, -1, -1), steps, strict=True):
        address = "../" * (above - path.is_file()) + "index.html"
        linked = above and step in paths
        parts.append(f'<a href="{address}">{escape(step.name)}</a>' if linked else escape(step.name))
    return f"<h1>{'/<wbr>'.join(parts)}</h1>"


def inside(path: Path) -> list[Path]:
    """The source files below a folder, and the folders on the way to them."""
    files = [file for file in sorted(path.rglob("*")) if file.suffix in LISTED]
    return [*files, *{parent for file in files for parent in file.parents if path in parent.parents}]


def folder(path: Path) -> str:
    """The list of what is in a folder: its own words first, then folders and files."""
    entries = [entry for entry in inside(path) if entry.parent == path and entry.name != "__init__.py"]
    rows = []
    for entry in sorted(entries, key=lambda entry: (entry.is_file(), entry.name)):
        address, name = (f"{entry.name}/index", f"{entry.name}/") if entry.is_dir() else (entry.name, entry.name)
        link = f'<a href="{address}.html"><code>{escape(name)}</code></a>'
        rows.append(f"<tr><td>{link}</td><td>{first_line(entry)}</td></tr>")
    return f'<p>{first_line(path)}</p><div class="table-wrapper container"><table>{"".join(rows)}</table></div>'


def first_line(path: Path) -> str:
    """What a module, or a package, says of itself first, as HTML."""
    file = path / "__init__.py" if path.is_dir() else path
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    found = re.match(r'(?:#.*\n)*"""(.+?)(?:"""|\n)', text)
    return re.sub(r"``(.+?)``", r"<code>\1</code>", escape(found[1])) if found else ""


def code(app: Sphinx, path: Path) -> str:
    """A file with colours, and an anchor at each line."""
    lexer = find_lexer_class_for_filename(path.name)
    language = lexer.aliases[0] if lexer else "text"
    text = path.read_text(encoding="utf-8")
    return app.builder.highlighter.highlight_block(text, language, lineanchors="line")


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """The address of the line where something of the reference begins, seen from ``docs/site/reference/``."""
    try:
        thing = reduce(getattr, info["fullname"].split("."), importlib.import_module(info["module"]))
        thing = inspect.unwrap(thing.fget if isinstance(thing, property) else thing)
        file, (_, line) = Path(inspect.getsourcefile(thing) or ""), inspect.getsourcelines(thing)
    except (AttributeError, TypeError, OSError):  # a value, or compiled
        return None
    return f"../../../{page_of(file)}.html#line-{max(line, 1)}" if file.is_relative_to(PACKAGE) else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx. Our links go first: afterwards Sphinx copies what is still to be downloaded."""
    app.connect("doctree-read", link_to_pages, priority=400)
    app.connect("html-collect-pages", source_pages)
    return {"parallel_read_safe": False}

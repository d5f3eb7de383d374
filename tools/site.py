"""Builds the documentation as a site, build/site: the pages of docs/, the notebooks run, docstrings, search.

    python tools/site.py            # runs the notebooks whose sources or package changed since the last time
    python tools/site.py --quick    # leaves notebooks as they were run last, or not run at all

docs/ is as GitHub shows it; here it is copied into build/site-source, with the navigation that docs/index.md's sections
say, links to files of the repository turned into pages of the site, notebooks made of docs/notebooks/*.py, and
reference pages made of the package's docstrings. Sphinx (myst-nb, furo) makes HTML of it; a warning, such as a link
that leads nowhere, ends the build. Nothing is fetched from another host, when it is built or when it is looked at.
"""

import argparse
import ast
import hashlib
import inspect
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DOCS, SOURCE, SITE = ROOT / "docs", ROOT / "build" / "site-source", ROOT / "build" / "site"
KEPT = ROOT / "build" / "notebooks"  # that were run, by the digest of what they were made of
PROJECT = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
BUDGET = 60.0  # processor time of all notebooks together, kernels compiled [s]
CONF = """
project = "Impulsar"
html_title = "Impulsar {version}"
extensions = ["myst_nb", "sphinx_copybutton"]
exclude_patterns = []
html_theme = "furo"
html_static_path = []
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_show_search_summary = False  # which asks for pages again, and from a disk cannot
html_theme_options = {{"navigation_with_keys": True}}
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
nb_execution_mode = "off"
nb_merge_streams = True
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
maximum_signature_line_length = 100
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
html_permalinks_icon = "#"
pygments_style = "friendly"
pygments_dark_style = "github-dark"
"""
# What the reference is made of: titles, modules and what of each (None: what its __all__ or its own file defines).
SHAPES = "Box Capsule Cone ConvexHull Cylinder HeightField Mesh Plane Sphere"
STEPPING = "Direct Projected Simgc Simmc Baumgarte GeneralizedAlpha LinearImplicit Variational"
REFERENCE: tuple[tuple[str, str, str | None], ...] = (
    ("Models", "impulsar", f"Model Motor Event Visual {SHAPES}"),
    ("Profiles", "impulsar", "Formula Harmonic Ramp Smooth Table"),
    ("Worlds", "impulsar", "World LargeWorld DomainWorld History ModelError StepError EditError"),
    ("Methods", "impulsar", STEPPING),
    ("Files", "impulsar", "load load_model save_model scene to_python compare sweep"),
    ("Results", "impulsar.accessor", "Accessor"),
    ("Results: files and pictures", "impulsar.results", "save load plot"),
    ("Pictures", "impulsar.render", "draw_motion draw_run draw_demo draw_pose draw_points"),
    ("Edits", "impulsar.edits", None),
    ("Analysis", "impulsar.analysis", None),
    ("Optimise", "impulsar.optimise", None),
    ("Sensors", "impulsar.sensors", None),
    ("Control", "impulsar.control", None),
    ("Lock step", "impulsar.lockstep", None),
    ("Environments", "impulsar.envs", None),
    ("Measured data", "impulsar.measured", "read_log Comparison Deviation Log"),
    ("Tracks", "impulsar.tracks", "track write plot Track"),
    ("Reports", "impulsar.reports", None),
    ("Studio from Python", "impulsar.studio.client", "StudioClient"),
    ("Widget", "impulsar.studio.widget", "WorldWidget"),
)


# pages ------------------------------------------------------------------------------------------------


def copy_pages() -> None:
    """The Markdown of docs/ and the project, with links that stay inside."""
    for path in [*DOCS.rglob("*.md"), *(ROOT / name for name in PROJECT)]:
        inside = DOCS in path.parents
        target = SOURCE / (path.relative_to(DOCS) if inside else Path("project") / path.name.lower())
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(relinked(path, target), encoding="utf-8")
    for folder in ("images", "notebooks"):
        if (DOCS / folder).is_dir():
            shutil.copytree(
                DOCS / folder, SOURCE / folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.py", "*.md")
            )
    for picture in DOCS.glob("*.png"):
        shutil.copy(picture, SOURCE)


def relinked(path: Path, target: Path) -> str:
    """A page's text with its links as the site has them; one to what does not exist ends the build."""

    def link(found: re.Match) -> str:
        mark, words, where = found[1], found[2], found[3]
        if re.match(r"[a-z]+:|#", where):
            return found[0]
        name, _, anchor = where.partition("#")
        led = (path.parent / name).resolve()
        if not led.exists():
            raise SystemExit(f"{path.relative_to(ROOT)}: the link to {where} leads nowhere")
        there = placed(led)
        if there is None:
            return f"`{led.relative_to(ROOT)}`" if words.strip("`") == name else f"{words} (`{led.relative_to(ROOT)}`)"
        relative = os.path.relpath(there, target.parent)
        words = "" if words.strip("`") == Path(name).name and not mark else words  # the page's title takes its place
        return f"{mark}[{words}]({relative}{'#' + anchor if anchor else ''})"

    text = path.read_text(encoding="utf-8")
    parts = re.split(r"(^```.*?^```|`[^`\n]*`(?!\]))", text, flags=re.MULTILINE | re.DOTALL)
    parts[::2] = [re.sub(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)", link, part) for part in parts[::2]]
    return "".join(parts)


def placed(led: Path) -> Path | None:
    """Where the site has a file of the repository; None: nowhere."""
    if led == ROOT / "examples" or led.parent == ROOT / "examples":
        return SOURCE / "examples.md"
    if led.name in PROJECT and led.parent == ROOT:
        return SOURCE / "project" / led.name.lower()
    if DOCS not in led.parents:
        return None
    inside = led.relative_to(DOCS)
    return SOURCE / (inside.with_suffix(".ipynb") if inside.suffix == ".py" else inside)


def write_navigation() -> None:
    """Sections of docs/index.md as the site's, and those that only the site has."""
    index = SOURCE / "index.md"
    text = index.read_text(encoding="utf-8")
    trees = []
    for title, body in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL):
        pages = re.findall(r"^\| \[[^\]]*\]\(([^)]+?)(?:\.md)?\)", body, re.MULTILINE)
        if title == "Reference":
            pages = ["reference/index", *pages, "examples"]
        trees.append((title, pages))
    trees.append(("Project", [f"project/{Path(name).stem.lower()}" for name in PROJECT]))
    text += "".join(
        f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{chr(10).join(pages)}\n```\n" for title, pages in trees
    )
    index.write_text(text, encoding="utf-8")
    gallery = SOURCE / "notebooks" / "index.md"
    names = "\n".join(path.stem for path in notebooks())
    gallery.write_text(
        f"{gallery.read_text(encoding='utf-8')}\n```{{toctree}}\n:hidden:\n\n{names}\n```\n", encoding="utf-8"
    )


def write_examples() -> None:
    """The examples as one page: their docstrings as text, then their code."""
    parts = ["# Examples\n\nShort scripts; `python examples/01_pendulum.py` runs one.\n"]
    for path in sorted((ROOT / "examples").glob("[0-9]*.py")):
        tree = ast.parse(text := path.read_text(encoding="utf-8"))
        words = ast.get_docstring(tree) or ""
        head, _, rest = words.partition("\n")
        code = text.split('"""', 2)[2].strip()
        parts.append(f"## {path.stem[:2]} {head.rstrip('.')}\n\n{rest.strip()}\n\n```python\n{code}\n```\n")
    (SOURCE / "examples.md").write_text("\n".join(parts), encoding="utf-8")


# notebooks --------------------------------------------------------------------------------------------


def notebooks() -> list[Path]:
    return sorted((DOCS / "notebooks").glob("[0-9]*.py"))


def run_notebooks(quick: bool) -> float:
    """Put the notebooks, run, beside the pages; the processor time that all of them took [s]."""
    import jupytext
    import nbformat
    from nbclient import NotebookClient
    from traitlets.config import Config

    KEPT.mkdir(parents=True, exist_ok=True)
    package = hashlib.sha256()
    for path in sorted((ROOT / "src").rglob("*.py")):
        package.update(path.read_bytes())
    total = 0.0
    for path in notebooks():
        digest = hashlib.sha256(path.read_bytes() + package.digest()).hexdigest()
        kept, stamp = KEPT / f"{path.stem}.ipynb", KEPT / f"{path.stem}.json"
        told = json.loads(stamp.read_text()) if stamp.is_file() else {}
        if told.get("digest") != digest and not (quick and kept.is_file()):
            notebook = jupytext.read(path)
            notebook.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}
            if not quick:
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                where = {"metadata": {"path": str(KEPT)}}
                with tempfile.TemporaryDirectory() as folder:  # of a socket, which no other user reaches
                    line = Config(AsyncKernelManager={"transport": "ipc", "ip": f"{folder}/line"})
                    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=where, config=line).execute()
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                told = {
                    "digest": digest,
                    "seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
                }
                stamp.write_text(json.dumps(told))
            nbformat.write(notebook, kept)
        shutil.copy(kept, SOURCE / "notebooks" / f"{path.stem}.ipynb")
        total += told.get("seconds", 0.0)
        print(f"{path.stem:30s}{told.get('seconds', 0.0):7.1f} s of processor time")
    return total


# reference --------------------------------------------------------------------------------------------


def write_reference() -> None:
    """A page for each entry of REFERENCE, from docstrings and signatures."""
    sys.path.insert(0, str(ROOT / "src"))
    folder = SOURCE / "reference"
    folder.mkdir()
    names, done = [], set[int]()
    for title, module, wanted in REFERENCE:
        page = re.sub(r"[^a-z]+", "-", title.lower())
        names.append(page)
        (folder / f"{page}.md").write_text(reference_page(title, module, wanted, done), encoding="utf-8")
    text = "# Reference\n\nClasses and functions with their docstrings. [api.md](../api.md) has them at a glance.\n\n"
    text += f"```{{toctree}}\n\n{chr(10).join(names)}\n```\n"
    (folder / "index.md").write_text(text, encoding="utf-8")


def reference_page(title: str, module: str, wanted: str | None, done: set[int]) -> str:
    from importlib import import_module

    parent, _, leaf = module.rpartition(".")
    known = import_module("impulsar")._MODULES
    found = getattr(import_module(parent), leaf) if leaf in known and parent == "impulsar" else import_module(module)
    names = (
        wanted.split()
        if wanted
        else getattr(found, "__all__", None) or [n for n, v in vars(found).items() if is_own(found, n, v)]
    )
    parts = [f"# {title}\n", f"`{module}`\n\n{prose(inspect.getdoc(found)) if wanted is None else ''}\n"]
    if not wanted:
        names = sorted(names, key=lambda name: (not inspect.isclass(getattr(found, name)), name.lower()))
    for name in names:
        value = getattr(found, name)
        if callable(value) and id(value) not in done:
            done.add(id(value))
            parts.append(entry(f"{module}.{name}", value))
    return "\n".join(parts)


def is_own(module: Any, name: str, value: Any) -> bool:
    return not name.startswith("_") and callable(value) and getattr(value, "__module__", "") == module.__name__


def entry(name: str, value: Any) -> str:
    """A class with its methods, or a function."""
    if not inspect.isclass(value):
        return f":::{{py:function}} {name}{signature(value)}\n\n{prose(inspect.getdoc(value))}\n:::\n"
    inner = []
    for own, member in inspect.getmembers_static(value):
        text = inspect.getdoc(getattr(member, "func", member))
        if own.startswith("_") or own not in own_names(value) or not text:
            continue
        if isinstance(member, property) or type(member).__name__ == "cached_property":
            inner.append(f":::{{py:property}} {own}\n\n{prose(text)}\n:::\n")
        elif inspect.isfunction(member) or isinstance(member, classmethod | staticmethod):
            function, is_static = getattr(member, "__func__", member), isinstance(member, staticmethod)
            kind = ":classmethod:\n" if isinstance(member, classmethod) else ":staticmethod:\n" if is_static else ""
            inner.append(f":::{{py:method}} {own}{signature(function, is_static)}\n{kind}\n{prose(text)}\n:::\n")
    words = inspect.getdoc(value) or ""
    words = "" if words.startswith(f"{value.__name__}(") else words  # a dataclass's own
    return f"::::{{py:class}} {name}{signature(value, True)}\n\n{prose(words)}\n\n{''.join(inner)}\n::::\n"


def own_names(value: type) -> set[str]:
    """Names that the class or its bases of this package define."""
    return {name for base in value.__mro__ if base.__module__.startswith("impulsar") for name in vars(base)}


def signature(value: Any, whole: bool = False) -> str:
    """Names and defaults, without annotations: units and kinds are in the text."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "()"
    parameters = [one.replace(annotation=inspect.Parameter.empty) for one in found.parameters.values()]
    if not whole and parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    text = str(inspect.Signature(parameters))
    try:
        ast.parse(f"def f{text}: ...")
    except SyntaxError:
        text = "(" + ", ".join(one.name for one in parameters) + ")"
    return text


def prose(text: str | None) -> str:
    """A docstring as Markdown: pages of docs/ become links, and colons do not end a block."""
    text = re.sub(r"^:::", r"\\:::", text or "", flags=re.MULTILINE)
    text = re.sub(r"(?<![\w/`])(?<!\]\()docs/([a-z0-9-]+)\.md", r"[\1.md](../\1.md)", text)
    return re.sub(r"(?<!`)<(?=[A-Za-z/])", "&lt;", text)


# the site ---------------------------------------------------------------------------------------------


def foreign(site: Path) -> list[str]:
    """What pages would ask another host for when they are looked at."""
    found = []
    for path in [*site.rglob("*.html"), *site.rglob("*.css")]:
        text = re.sub(r'srcdoc="[^"]*"', "", path.read_text(encoding="utf-8"))
        pattern = r"""<(?:script|img|iframe|source|video)\b[^>]*\bsrc=["']https?://[^"']+|<link\b[^>]*rel=["']stylesheet["'][^>]*https?://[^"']+|url\(["']?https?://[^)]+|@import[^;]*https?:"""
        found += [f"{path.relative_to(site)}: {one[:160]}" for one in re.findall(pattern, text)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="do not run notebooks")
    quick = parser.parse_args().quick
    shutil.rmtree(SOURCE, ignore_errors=True)
    SOURCE.mkdir(parents=True)
    copy_pages()
    write_navigation()
    write_examples()
    seconds = run_notebooks(quick)
    print(f"all notebooks: {seconds:.0f} s of processor time, budget {BUDGET:g} s")
    write_reference()
    version = re.search(r'= "(.+)"', (ROOT / "src" / "impulsar" / "version.py").read_text())
    (SOURCE / "conf.py").write_text(CONF.format(version=version[1] if version else ""), encoding="utf-8")
    shutil.rmtree(SITE, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", str(SOURCE), str(SITE)]
    if subprocess.run(command).returncode:
        raise SystemExit("docs: Sphinx warned; see above")
    if outside := foreign(SITE):
        raise SystemExit("docs: pages ask other hosts:\n" + "\n".join(outside[:20]))
    print(f"the site is in {SITE.relative_to(ROOT)}/index.html, {len(list(SITE.rglob('*.html')))} pages")


if __name__ == "__main__":
    main()

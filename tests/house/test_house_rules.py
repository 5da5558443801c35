"""The rules of CONTRIBUTING.md that no linter knows, checked on the whole tree."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = ("src", "tests", "scripts", "bench", "clients")
TEXT = {".py", ".md", ".toml", ".cfg", ".ini", ".json", ".jsonl", ".txt", ".sh", ".yml", ".yaml", ".jinja"}
GENERATED = {"__pycache__", "build", "dist", "node_modules"}

MAX_FILE = 400
MAX_FUNCTION = 60
BROAD = {"Exception", "BaseException"}
BROAD_ALLOWED = {"api": 1, "schedule": 1}
"""One at the request boundary, one at the engine-step boundary."""
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "misc"}

# In pieces, so that this file passes its own check.
MACHINE_WORDS = (
    ("shared", r"\.\./sha" r"red\b"),
    ("work/", r"(?<![\w.])/wo" r"rk/"),
    ("root/", r"(?<![\w.])/ro" r"ot/"),
    ("pypi", r"/opt/py" r"pi"),
    ("pypi", r"\bpy" r"pi\.org\b"),
    ("npmjs", r"\bregistry\.npm" r"js\b"),
    ("issue", r"\bissue[ _-]?#?\d"),
)
"""Each with a part that it cannot match without, which is found much sooner."""


def python_files() -> list[Path]:
    return sorted(path for folder in CODE for path in (ROOT / folder).rglob("*.py"))


def text_files(folder: Path = ROOT) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        hidden = path.name.startswith(".") and path.name != ".ci"
        if hidden or path.name in GENERATED or path.name.endswith(".egg-info"):
            continue
        if path.is_dir():
            yield from text_files(path)
        elif path.suffix in TEXT or not path.suffix:
            yield path


def where(path: Path, line: int | None = None) -> str:
    return f"{path.relative_to(ROOT)}{f':{line}' if line else ''}"


def is_broad(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(kind, ast.Name) and kind.id in BROAD for kind in kinds)


def is_long(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return (function.end_lineno or 0) - function.lineno >= MAX_FUNCTION


@dataclass(frozen=True)
class Findings:
    """Lines of one file. The tree is not kept: all trees together are larger than all else in a run."""

    broad_handlers: list[int] = field(default_factory=list)
    global_statements: list[int] = field(default_factory=list)
    long_functions: list[int] = field(default_factory=list)


_STATEMENTS = re.compile(r"\b(?:except|global)\b")
"""Without one of these words, and with no room for a long function, there is nothing to be found."""


def statements(node: ast.AST) -> Iterator[ast.stmt | ast.ExceptHandler]:
    """Those within `node`, and not the expressions: these are ten times as many."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        below = getattr(node, name, ())
        for each in below if isinstance(below, list) else ():
            if isinstance(each, ast.stmt | ast.ExceptHandler):
                yield each
            yield from statements(each)


@cache
def findings(path: Path) -> Findings:
    found = Findings()
    text = path.read_text(encoding="utf-8")
    if text.count("\n") < MAX_FUNCTION and not _STATEMENTS.search(text):
        return found
    for node in statements(ast.parse(text, filename=str(path))):
        match node:
            case ast.ExceptHandler() if is_broad(node):
                found.broad_handlers.append(node.lineno)
            case ast.Global():
                found.global_statements.append(node.lineno)
            case ast.FunctionDef() | ast.AsyncFunctionDef() if is_long(node):
                found.long_functions.append(node.lineno)
    return found


def machine_words(text: str) -> list[str]:
    text = text.lower()
    patterns = [pattern for part, pattern in MACHINE_WORDS if part in text]
    return [match.group() for pattern in patterns for match in re.finditer(pattern, text)]


def test_the_walk_finds_the_code() -> None:
    names = {where(path) for path in python_files()}
    assert {"src/ds4/core/errors.py", "tests/house/test_house_rules.py", "scripts/setup.py"} <= names
    assert {"README.md", ".ci/run", "Makefile"} <= {where(path) for path in text_files()}


def test_no_long_file() -> None:
    lengths = {where(path): len(path.read_text(encoding="utf-8").splitlines()) for path in python_files()}
    assert {name: length for name, length in lengths.items() if length > MAX_FILE} == {}


def test_no_long_function() -> None:
    assert [where(path, line) for path in python_files() for line in findings(path).long_functions] == []


def test_broad_excepts_only_at_the_two_boundaries() -> None:
    found = Counter[str]()
    places = []
    for path in python_files():
        for line in findings(path).broad_handlers:
            places.append(where(path, line))
            parts = path.relative_to(ROOT).parts
            found[parts[2] if parts[:2] == ("src", "ds4") else "outside src"] += 1
    assert all(count <= BROAD_ALLOWED.get(package, 0) for package, count in found.items()), places


def test_no_global_statements() -> None:
    assert [where(path, line) for path in python_files() for line in findings(path).global_statements] == []


def test_all_server_tests_are_marked() -> None:
    """Runs that leave the mark out do not look into their folder."""
    files = (ROOT / "tests" / "server").glob("test_*.py")
    marked = re.compile(r"^pytestmark = .*\bpytest\.mark\.server\b", re.MULTILINE)
    assert [where(path) for path in files if not marked.search(path.read_text(encoding="utf-8"))] == []


def test_no_vague_module_names() -> None:
    # An idea has a name; a drawer has not.
    found = [where(path) for path in python_files() if VAGUE_NAMES & {path.stem, path.parent.name}]
    assert found == []


def test_the_tree_stands_alone() -> None:
    """No paths of one machine, no numbers of a tracker that a reader cannot open."""
    found = {where(path): machine_words(path.read_text(encoding="utf-8")) for path in text_files()}
    assert {name: words for name, words in found.items() if words} == {}


def test_architecture_names_every_package() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    package = ROOT / "src" / "ds4"
    packages = {path.parent.name for path in package.glob("*/__init__.py")}
    modules = {path.name for path in package.glob("*.py")} - {"__init__.py", "__main__.py"}
    assert {name for name in packages if f"`{name}/`" not in page} == set()
    assert {name for name in modules if f"`{name}`" not in page} == set()


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("try:\n    x = 1\nexcept (ValueError, Exception):\n    pass\n", "broad_handlers"),
        ("try:\n    x = 1\nexcept:\n    pass\n", "broad_handlers"),
        ("def f() -> None:\n    global x\n    x = 1\n", "global_statements"),
        ("def f() -> None:\n" + "    pass\n" * MAX_FUNCTION, "long_functions"),
    ],
)
def test_the_checks_see_what_they_forbid(tmp_path: Path, code: str, kind: str) -> None:
    path = tmp_path / "sample.py"
    path.write_text(code)
    assert {name for name, lines in vars(findings(path)).items() if lines} == {kind}


@pytest.mark.parametrize(
    "text",
    [
        *("see ../Sha" + "red/x", "in /wo" + "rk/main", "in /ro" + "ot/x", "as Iss" + "ue 12 says"),
        *("in /opt/py" + "pi/x", "from py" + "pi.org", "from registry.npm" + "js.org"),
    ],
)
def test_machine_words_are_seen(text: str) -> None:
    assert machine_words(text)

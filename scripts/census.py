"""Count what makes the code hard to read: `make census`, or `python scripts/census.py --list` for the places.

It reads the sources and runs nothing. A count that should be zero is a debt, not an error: the tests hold the ones that
are paid.
"""

import argparse
import ast
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "greenroom"
WEB = ROOT / "web" / "src"
TESTS = ROOT / "tests"
FREE_JSON = PACKAGE / "json_types.py"
BORDERS = ("doors", "gateway", "link", "node", "cli", "runtimes")
NOUNS_IN_ING = {"settings", "testing", "string", "thing", "spring", "ping"}
CLOSED_SETS = {"kind", "state", "status", "verdict", "risk", "role", "scope", "level", "right"}
"""Names that hold one of a few words. `reason` and `what` are not among them: they hold sentences for people, and where
they do not, they are Literals."""
OTHERS_WORDS = ("runtimes/agents", "runtimes/drivers", "testing/fake_llm", "doors/compat", "rules/*/commands.py")
"""Where such a word is what another program or a caller has said. It is text until it is read: the rule that reads it
refuses one that it does not know."""
ERRORS = {
    "Refused": 0,
    "Unavailable": 0,
    "build_bad_request": 0,
    "GuardRefused": 1,
    "CredentialRefused": 1,
    "HttpRefused": 1,
}
"""What makes an error, and which of its arguments is the key of its sentence, which begins with its code."""


class Module(NamedTuple):
    path: Path
    tree: ast.Module
    lines: int

    def at(self, node: ast.expr | ast.stmt | ast.keyword) -> str:
        return f"{self.path.relative_to(ROOT)}:{node.lineno}"


class Count(NamedTuple):
    name: str
    places: list[str]


def read_modules() -> list[Module]:
    modules = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text()
        if not path.name.endswith("_pb2.py"):
            modules.append(Module(path, ast.parse(text), len(text.splitlines())))
    return modules


def count_lines(paths: Iterable[Path]) -> int:
    return sum(len(path.read_text().splitlines()) for path in paths)


def find_files(folder: Path, *suffixes: str) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.suffix in suffixes and path.is_file()]


def find_double_classes(modules: list[Module]) -> list[str]:
    places: dict[str, list[str]] = defaultdict(list)
    for module in modules:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(module.at(node))
    return [f"{name}: {', '.join(at)}" for name, at in sorted(places.items()) if len(at) > 1]


def find_activity_modules(modules: list[Module]) -> list[str]:
    def is_activity(word: str) -> bool:
        return word.endswith("ing") and word not in NOUNS_IN_ING

    return [str(one.path.relative_to(ROOT)) for one in modules if any(map(is_activity, one.path.stem.split("_")))]


def find_copies(modules: list[Module]) -> Iterator[str]:
    """Keyword arguments of the form `x=obj.x`."""
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.keyword) and isinstance(node.value, ast.Attribute) and node.value.attr == node.arg:
                yield f"{module.at(node)} {node.arg}"


def name_module(module: Module) -> str:
    parts = ("greenroom", *module.path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(part for part in parts if part != "__init__")


def find_aliases(module: Module) -> set[str]:
    """Names that a module gives to `dict[str, Any]`, which tell a reader no more than that does."""
    return {
        target.id
        for node in module.tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.value) == "dict[str, Any]"
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def find_free_dicts(modules: list[Module]) -> Iterator[str]:
    """Where a shape is not said. The names in `json_types` say whose it is, and are not counted."""
    aliases = {name_module(one): find_aliases(one) for one in modules if one.path != FREE_JSON}
    for module in modules:
        if module.path.relative_to(PACKAGE).parts[0] not in BORDERS:
            continue
        froms = [node for node in module.tree.body if isinstance(node, ast.ImportFrom)]
        known = {one.name for node in froms for one in node.names if one.name in aliases.get(node.module or "", ())}
        known |= aliases[name_module(module)]
        for node in ast.walk(module.tree):
            is_alias = isinstance(node, ast.Name) and node.id in known and isinstance(node.ctx, ast.Load)
            if is_alias or (isinstance(node, ast.Subscript) and ast.unparse(node) == "dict[str, Any]"):
                yield module.at(node)


def find_open_kinds(modules: list[Module]) -> Iterator[str]:
    """Fields and parameters that hold one of a few words, and are typed `str`."""
    for module in modules:
        path = module.path.relative_to(PACKAGE)
        if any(path.match(place) or path.is_relative_to(place) for place in OTHERS_WORDS):
            continue
        for node in ast.walk(module.tree):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                name, annotation = node.target.id, node.annotation
            elif isinstance(node, ast.arg) and node.annotation is not None:
                name, annotation = node.arg, node.annotation
            else:
                continue
            if name in CLOSED_SETS and ast.unparse(annotation) in ("str", "str | None"):
                yield f"{module.at(node)} {name}"


def find_error_key(call: ast.Call) -> str | None:
    made = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "in_words" else call.func
    at = ERRORS.get(made.id) if isinstance(made, ast.Name) else None
    key = call.args[at] if at is not None and len(call.args) > at else None
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None


def find_strings(tree: ast.AST) -> Iterator[str]:
    """The strings of a module that are values: not its docstrings."""
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def find_untested_codes(modules: list[Module]) -> list[str]:
    """Codes that no string of a test names: one in a comment or a docstring does not count."""
    codes: dict[str, str] = {}
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and (key := find_error_key(node)):
                codes.setdefault(key.partition(".")[0], module.at(node))
    tested = [text for path in find_files(TESTS, ".py") for text in find_strings(ast.parse(path.read_text()))]
    words = {
        word
        for text in [*tested, *(path.read_text() for path in find_files(TESTS, ".mjs"))]
        for word in re.findall(r"\w+", text)
    }
    return [f"{code} ({at})" for code, at in sorted(codes.items()) if code not in words]


def find_long_lines(paths: Iterable[Path], limit: int) -> Iterator[str]:
    for path in paths:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if len(line) > limit:
                yield f"{path.relative_to(ROOT)}:{number}"


def describe_sizes(values: list[int]) -> str:
    ordered = sorted(values)
    return f"{statistics.median_low(ordered)} / {ordered[len(ordered) * 95 // 100]} / {ordered[-1]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument(
        "--list", metavar="WORD", nargs="?", const="", help="print the places of each count, or of some"
    )
    options = parser.parse_args()
    modules = read_modules()
    page = [path for path in find_files(WEB, ".ts", ".vue") if not path.name.endswith(".test.ts")]
    tests = [*find_files(TESTS, ".py", ".mjs"), *sorted(WEB.rglob("*.test.ts"))]
    functions = [
        (node.end_lineno or node.lineno) - node.lineno + 1
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    sizes = {
        "lines of Python in the package": f"{sum(one.lines for one in modules):,}",
        "lines of the page": f"{count_lines(page):,}",
        "lines of tests": f"{count_lines(tests):,}",
        "lines of a file, median / p95 / max": describe_sizes([one.lines for one in modules]),
        "lines of a function, median / p95 / max": describe_sizes(functions),
    }
    counts = [
        Count("class names in more than one file", find_double_classes(modules)),
        Count("modules named by an activity", find_activity_modules(modules)),
        Count("arguments of the form x=obj.x", list(find_copies(modules))),
        Count("dict[str, Any] at borders", list(find_free_dicts(modules))),
        Count("kinds and states typed str", list(find_open_kinds(modules))),
        Count("error codes without a test", find_untested_codes(modules)),
        Count("page lines over 140 characters", list(find_long_lines(page, 140))),
        Count(
            "files over 300 lines", [f"{one.path.relative_to(ROOT)} {one.lines}" for one in modules if one.lines > 300]
        ),
    ]
    for name, size in sizes.items():
        print(f"{name:<44}{size:>18}")
    for count in counts:
        print(f"{count.name:<44}{len(count.places):>18,}")
        if options.list is not None and options.list in count.name:
            print(*count.places, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

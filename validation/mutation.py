"""Mutation testing of selection rules, events and omission probabilities: `make mutate`.

Each mutant is one small change to one of the modules below: another comparison, another operator,
another constant, a condition negated, a value not returned, a statement left out. The quick tests
of that module (without the mark ``slow``) run against it until one fails. A mutant that no test
notices has survived; one whose tests take far more time than without a change has timed out, and
is counted apart. Known survivors are listed with the reason in mutation.toml.

Left alone are docstrings, annotations, decorators, assertions (for the type checker) and the text
of errors. Every mutant runs in a fork of one process that has loaded numpy, scipy and
scikit-learn, and none of the library but its compiled loops. Random examples are the same for all.

    python validation/mutation.py [part of a module's name ...]
    python validation/mutation.py --sample 400 --seed 1

All mutants take long. A sample is drawn from those of all modules alike.
"""

import argparse
import ast
import importlib.machinery
import importlib.util
import json
import os
import platform
import random
import resource
import signal
import sys
import time
import tomllib
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # some take longer to load than tests to run
os.environ["UNSELECTED_TEST_EXAMPLES"] = "mutation"  # see tests/conftest.py
for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_threads] = "1"  # mutants run side by side; read when numpy is loaded

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "unselected"

# Of each module, the files that test it, the quickest to fail first.
TESTS = {
    "selection/rules.py": ["selection/test_rules.py"],
    "selection/events.py": ["selection/test_events.py"],
    "selection/correlation.py": ["selection/test_correlation.py", "selection/test_scores.py"],
    "selection/streaming.py": ["selection/test_streaming.py"],
    "selection/explained.py": ["selection/test_explained.py"],
    "selection/scores.py": ["selection/test_scores.py", "selection/test_rules.py"],
    "selection/count_scores.py": [
        "selection/test_count_scores.py",
        "selection/test_scores.py",
        "selection/test_rules.py",
    ],
    "selection/real_scores.py": ["selection/test_scores.py", "selection/test_rules.py"],
    "omission/binary.py": ["omission/test_binary.py", "omission/test_reference.py"],
    "omission/count_tables.py": ["omission/test_count_tables.py"],
    "omission/several_classes.py": ["omission/test_several_classes.py"],
    "omission/many_cases.py": ["omission/test_many_cases.py", "models/test_count_terms.py"],
    "omission/real.py": ["omission/test_real.py"],
    "omission/factor.py": ["omission/test_factor.py"],
    "omission/mixture.py": ["omission/test_mixture.py"],
    "numerics/chi_squared_ratio.py": [
        "numerics/test_chi_squared_ratio.py",
        "omission/test_real.py",
        "omission/test_factor.py",
    ],
}

_COMPARISONS: dict[type[ast.cmpop], list[type[ast.cmpop]]] = {
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


@dataclass(frozen=True)
class Mutant:
    """One change: the node of the tree, by its place, and what stands there instead."""

    module: str
    line: int
    node: int
    instead: ast.AST
    name: str

    def code(self) -> CodeType:
        """Return the module with the change made, compiled."""
        path = SOURCE / self.module
        tree = ast.parse(path.read_text())
        target = list(ast.walk(tree))[self.node]
        _Exchange(target, self.instead).visit(tree)
        return compile(ast.fix_missing_locations(tree), str(path), "exec")


class _Exchange(ast.NodeTransformer):
    def __init__(self, target: ast.AST, instead: ast.AST) -> None:
        self._target, self._instead = target, instead

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self._target:
            return ast.copy_location(self._instead, node)
        return self.generic_visit(node)


def mutants_of(module: str) -> list[Mutant]:
    """Return all mutants of a module. Their names are the same wherever the lines stand."""
    source = (SOURCE / module).read_text()
    lines, tree = source.splitlines(), ast.parse(source)
    left_alone = {id(node) for start in _left_alone(tree) for node in ast.walk(start)}
    function_of = dict(_functions(tree, ""))
    found: list[Mutant] = []
    names: dict[str, int] = {}
    for place, node in enumerate(ast.walk(tree)):
        if id(node) in left_alone or not isinstance(node, ast.expr | ast.stmt):
            continue
        for instead in _changes(node):
            before, after = _short(node), _short(instead)
            text = " ".join(lines[node.lineno - 1].split())
            name = f"{module} {function_of.get(id(node), '')}: {text} | {before} -> {after}"
            names[name] = names.get(name, 0) + 1
            if names[name] > 1:
                name += f" ({names[name]})"
            found.append(Mutant(module, node.lineno, place, instead, name))
    return found


def _short(node: ast.AST) -> str:
    if isinstance(node, ast.Return):
        return "its value" if not isinstance(node.value, ast.Constant) else "return None"
    return " ".join(ast.unparse(node).split())


def _functions(node: ast.AST, name: str) -> Iterator[tuple[int, str]]:
    for child in ast.iter_child_nodes(node):
        inner = name
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            inner = f"{name}.{child.name}" if name else child.name
        yield id(child), inner
        yield from _functions(child, inner)


def _left_alone(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield docstrings, annotations, decorators, assertions and what is raised."""
    for node in ast.walk(tree):
        match node:
            case ast.Assert() | ast.Raise() | ast.Import() | ast.ImportFrom():
                yield node
            case ast.Expr(ast.Constant()):
                yield node
            case ast.ClassDef():
                yield from (*node.decorator_list, *node.bases)
            case ast.FunctionDef():
                yield from (*node.decorator_list, *filter(None, [node.returns]))
            case (
                ast.AnnAssign(annotation=ast.expr() as annotation)
                | ast.arg(annotation=ast.expr() as annotation)
            ):
                yield annotation
            case ast.Assign(value=value) if _short(value).startswith(("TypeVar", "Literal")):
                yield node


def _changes(node: ast.expr | ast.stmt) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(left, [operator], right):
            for other in _COMPARISONS[type(operator)]:
                yield ast.Compare(left, [other()], right)
        case ast.BinOp(left, operator, right) if type(operator) in _OPERATORS:
            yield ast.BinOp(left, _OPERATORS[type(operator)](), right)
        case ast.AugAssign(target, operator, value) if type(operator) in _OPERATORS:
            yield ast.AugAssign(target, _OPERATORS[type(operator)](), value)
        case ast.UnaryOp(_, operand):
            yield operand
        case ast.BoolOp(ast.And(), values):
            yield ast.BoolOp(ast.Or(), values)
        case ast.BoolOp(ast.Or(), values):
            yield ast.BoolOp(ast.And(), values)
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(float(value)):
            yield ast.Constant(2.0 * value if value else 1.0)
        case ast.Constant(str(value)):
            yield ast.Constant(f"{value}?")
        case ast.If(test, body, orelse) if not isinstance(test, ast.Compare | ast.UnaryOp):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.IfExp(test, body, orelse) if not isinstance(test, ast.Compare | ast.UnaryOp):
            yield ast.IfExp(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.Return(value) if value is not None:
            yield ast.Return(ast.Constant(None))
        case ast.Expr() | ast.Assign([ast.Subscript()]):
            yield ast.Pass()
        case ast.Break():
            yield ast.Continue()


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads one module as its mutant."""

    def __init__(self, mutant: Mutant) -> None:
        name = "unselected." + mutant.module.removesuffix(".py").replace("/", ".")
        super().__init__(name, str(SOURCE / mutant.module))
        self._code = mutant.code()

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        return self._code

    def find_spec(self, fullname: str, *_: object) -> importlib.machinery.ModuleSpec | None:
        """Say that the module is here: a loader that is its own finder."""
        if fullname != self.name:
            return None
        return importlib.util.spec_from_file_location(fullname, self.path, loader=self)


def _load_what_is_never_mutated() -> None:
    for name in ("hypothesis", "pytest", "scipy.stats", "scipy.integrate", "sklearn.utils"):
        importlib.import_module(name)
    for name in ("sklearn.base", "sklearn.model_selection", "sklearn.feature_selection"):
        importlib.import_module(name)
    compiled = importlib.import_module("unselected.numerics.compiled_contour")
    numpy = importlib.import_module("numpy")
    compiled.log_by_contour(numpy.array([[1.0, -1.0]]), numpy.array([[1.0, 9.0]]), 0.1)


def _fork(module: str, mutant: Mutant | None, limit: int = resource.RLIM_INFINITY) -> int:
    """Run the tests of a module in a fork, for `limit` seconds at most; return its process."""
    if process := os.fork():
        return process
    status = 70
    try:
        if mutant is not None:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            sys.meta_path.insert(0, _Loader(mutant))
        # Seconds of the processor, so that a busy machine lets no mutant time out.
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        status = _run_tests(module)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


def _run_tests(module: str) -> int:
    pytest = importlib.import_module("pytest")
    files = [str(ROOT / "tests" / name) for name in TESTS[module]]
    options = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "--tb=no"]
    return int(pytest.main([*options, "-o", "addopts=--import-mode=importlib", *files]))


def _judge(mutants: list[Mutant], limits: dict[str, int], jobs: int) -> Iterator[tuple[str, str]]:
    """Yield the name of each mutant, and whether it survived, was killed or timed out."""
    waiting, running = list(reversed(mutants)), dict[int, Mutant]()
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            running[_fork(mutant.module, mutant, limits[mutant.module])] = mutant
        process, status = os.wait()
        mutant, code = running.pop(process), os.waitstatus_to_exitcode(status)
        if code > 2:  # pytest's own trouble proves nothing
            raise SystemExit(f"the tests could not be run (exit {code}) for {mutant.name}")
        outcomes = {0: "survived", -signal.SIGXCPU: "timed out"}
        yield mutant.name, outcomes.get(code, "killed")


def _limits(modules: list[str]) -> dict[str, int]:
    """Return the time limit of each module's mutants; its tests must pass without a change."""
    limits = {}
    for module in modules:
        _, status, used = os.wait4(_fork(module, None), 0)
        seconds = used.ru_utime + used.ru_stime
        if os.waitstatus_to_exitcode(status):
            raise SystemExit(f"the tests of {module} fail without any change: {TESTS[module]}")
        limits[module] = int(10.0 + 5.0 * seconds)
        print(f"{module}: the tests take {seconds:.1f} s", file=sys.stderr, flush=True)
    return limits


def _known_survivors() -> dict[str, str]:
    """Return what mutants that are known to survive are, equivalent or tuning, by their names."""
    kinds = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
    return {
        name: kind for kind, groups in kinds.items() for one in groups for name in one["mutants"]
    }


def _table(outcomes: dict[str, str], known: dict[str, str]) -> Iterator[str]:
    versions = (
        f"{name} {importlib.import_module(name).__version__}" for name in ("numpy", "scipy")
    )
    yield f"{time.strftime('%Y-%m-%d')}; Python {platform.python_version()}, {', '.join(versions)}"
    yield ""
    yield "| module | mutants | killed | timed out | equivalent | tuning | other survivors |"
    yield "|---|---|---|---|---|---|---|"

    def row(title: str, start: str) -> str:
        found = {name: outcomes[name] for name in outcomes if name.startswith(start)}
        told = [known.get(n, "other") if found[n] == "survived" else found[n] for n in found]
        kinds = ("killed", "timed out", "equivalent", "tuning", "other")
        cells = [len(found), *map(told.count, kinds)]
        return f"| {title} | {' | '.join(map(str, cells))} |"

    for module in TESTS:
        yield row(f"`{module}`", f"{module} ")
    yield row("all", "")


def main() -> None:
    """Run the mutants and print a table; fail where a survivor is not known to be equivalent."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", help="parts of names of modules; all by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--record", type=Path, help="a JSON file that keeps what became of each")
    parser.add_argument("--again", action="store_true", help="only those that did survive there")
    parser.add_argument("--sample", type=int, help="how many mutants; all by default")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    arguments = parser.parse_args()
    modules = [
        module
        for module in TESTS
        if not arguments.modules or any(part in module for part in arguments.modules)
    ]
    known: dict[str, str] = {}
    if arguments.record is not None and arguments.record.exists():
        known = json.loads(arguments.record.read_text())
    mutants = [mutant for module in modules for mutant in mutants_of(module)]
    if arguments.sample is not None:
        mutants = random.Random(arguments.seed).sample(mutants, arguments.sample)
        modules = [module for module in modules if any(m.module == module for m in mutants)]
    outcomes = {mutant.name: known[mutant.name] for mutant in mutants if mutant.name in known}
    if arguments.again:
        mutants = [mutant for mutant in mutants if outcomes.get(mutant.name) in (None, "survived")]
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
    _load_what_is_never_mutated()
    line_of = {mutant.name: mutant.line for mutant in mutants}
    expected = _known_survivors()
    for name, outcome in _judge(mutants, _limits(modules), arguments.jobs):
        outcomes[name] = outcome
        if outcome == "survived" and name not in expected:
            print(f"survived, line {line_of[name]}: {name}", flush=True)
        if arguments.record is not None:
            arguments.record.write_text(json.dumps(known | outcomes, indent=0))
    print("\n".join(_table(outcomes, expected)))
    new = [n for n, outcome in outcomes.items() if outcome == "survived" and n not in expected]
    stale = [name for name in expected if outcomes.get(name) == "killed"]
    for name in stale:
        print(f"killed, although mutation.toml says that it survives: {name}")
    sys.exit(1 if new or stale else 0)


if __name__ == "__main__":
    main()

"""One change to one expression of a file, such as a slip of the hand would make."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

COMPARISONS = [(ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq)]
COMPARISONS += [(ast.In, ast.NotIn), (ast.Is, ast.IsNot)]
ARITHMETIC = [(ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.BitAnd, ast.BitOr), (ast.And, ast.Or)]
FUNCTIONS = [("min", "max"), ("any", "all")]
METHODS = [*FUNCTIONS, ("minimum", "maximum"), ("argmin", "argmax"), ("floor", "ceil")]
METHODS += [("mean", "sum"), ("zeros", "ones"), ("add", "subtract")]
# clip(x, low, high) is min(max(x, low), high): the first two may change places.
COMMUTE = {
    "hypot",
    "min",
    "max",
    "minimum",
    "maximum",
    "multiply",
    "isclose",
    "array_equal",
    "clip",
}
# Left alone: types and decorators, and how large a thing is drawn.
UNTOUCHED = {"annotation", "returns", "decorator_list"}
SIZES = {"height", "width", "size", "thickness", "opacity", "line_width", "l", "r", "t", "b"}


def _both_ways(pairs):
    return {old: new for pair in pairs for old, new in (pair, pair[::-1])}


OPERATORS = _both_ways(COMPARISONS + ARITHMETIC)
OPERATORS |= {ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.Pow: ast.Mult}
FUNCTIONS, METHODS = _both_ways(FUNCTIONS), _both_ways(METHODS)


@dataclass(frozen=True)
class Mutant:
    """A file with one expression changed."""

    path: str
    place: int  # among the mutants of its file
    line: int
    reached_by: range  # a test that runs one of these lines has run the change
    code: str  # the line as it stands
    change: str

    @property
    def name(self) -> tuple[str, str, str]:
        """What stays when lines are added above it."""
        return self.path, self.code, self.change


def mutants(top: Path, path: str) -> list[Mutant]:
    """Every mutant of one file."""
    text = (top / path).read_text(encoding="utf-8")
    made = []
    for statement, node, before in _broken(ast.parse(text)):
        change = f"{before}  ->  {ast.unparse(node)}".split("\n")[0]
        code = text.splitlines()[node.lineno - 1].strip()
        made.append(Mutant(path, len(made), node.lineno, _own_lines(statement), code, change))
    return made


def source_of(top: Path, mutant: Mutant) -> str:
    """The whole file with the one change made."""
    tree = ast.parse((top / mutant.path).read_text(encoding="utf-8"))
    next(islice(_broken(tree), mutant.place, None))
    return ast.unparse(tree)


def probed(top: Path, path: str, reached: Callable[[int], str]) -> str:
    """The whole file, in which every statement first runs `reached` of its line."""
    tree = ast.parse((top / path).read_text(encoding="utf-8"))
    for node in list(ast.walk(tree)):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                setattr(node, field, [part for one in block for part in _told(one, reached)])
    return ast.unparse(tree)


def _told(statement: ast.stmt, reached: Callable[[int], str]) -> list[ast.stmt]:
    match statement:
        case ast.Expr(value=ast.Constant()) | ast.ImportFrom(module="__future__"):
            return [statement]  # these must come first
    return [*ast.parse(reached(statement.lineno)).body, statement]


def _broken(tree) -> Iterator[tuple[ast.stmt, ast.AST, str]]:
    """Make one change to the tree after the other: the statement, the node, what it said."""
    for statement, node in _expressions(tree, tree):
        before = ast.unparse(node).split("\n")[0]
        for field, value in _alternatives(node):
            original = getattr(node, field)
            setattr(node, field, value)
            yield statement, node, before
            setattr(node, field, original)


def _expressions(node, statement) -> Iterator[tuple[ast.stmt, ast.AST]]:
    """Every node below this one that may be changed, with the statement it stands in."""
    for child in _children(node):
        inside = child if isinstance(child, ast.stmt) else statement
        if hasattr(child, "lineno"):
            yield inside, child
        yield from _expressions(child, inside)


def _children(node) -> Iterator[ast.AST]:
    for field, value in ast.iter_fields(node):
        if field in UNTOUCHED:
            continue
        children = value if isinstance(value, list) else [value]
        if isinstance(node, ast.Dict) and field == "values":
            pairs = zip(node.keys, node.values, strict=True)
            children = [child for key, child in pairs if getattr(key, "value", None) not in SIZES]
        for child in children:
            if isinstance(child, ast.AST) and getattr(child, "arg", None) not in SIZES:
                yield child


def _own_lines(statement) -> range:
    """The lines of a statement without those of the block that it opens."""
    body = getattr(statement, "body", None)
    end = max(body[0].lineno - 1, statement.lineno) if body else statement.end_lineno
    return range(statement.lineno, end + 1)


def _alternatives(node) -> Iterator[tuple[str, object]]:
    """Pairs (field, another value) by which this node would say something else."""
    match node:
        case ast.Compare(ops=ops):
            for place, op in enumerate(ops):
                yield "ops", [*ops[:place], OPERATORS[type(op)](), *ops[place + 1 :]]
        case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.BoolOp(op=op):
            if type(op) in OPERATORS:
                yield "op", OPERATORS[type(op)]()
        case ast.UnaryOp(op=op, operand=operand):
            yield "operand", ast.UnaryOp(op, operand)  # twice is not at all
        case ast.Constant(value=bool(value)):
            yield "value", not value
        case ast.Constant(value=int(value) | float(value)):
            yield "value", value + 1
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield "test", ast.UnaryOp(ast.Not(), test)
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield "value", ast.Constant(None)
        case ast.Expr(value=ast.Call()):
            yield "value", ast.Constant(None)
        case ast.Call(func=func, args=args):
            yield from (("func", other) for other in _opposites(func))
            if _order_matters(func, args):
                yield "args", [args[1], args[0], *args[2:]]


def _order_matters(func, args) -> bool:
    if len(args) < 2 or any(isinstance(arg, ast.Starred) for arg in args[:2]):
        return False
    name = getattr(func, "attr", getattr(func, "id", None))
    return name not in COMMUTE and ast.dump(args[0]) != ast.dump(args[1])


def _opposites(func) -> Iterator[ast.expr]:
    match func:
        case ast.Name(id=name) if name in FUNCTIONS:
            yield ast.Name(FUNCTIONS[name])
        case ast.Attribute(value=value, attr=name) if name in METHODS:
            yield ast.Attribute(value, METHODS[name])

"""How a guard of the source tree is removed: what its marker stands for, and what becomes of it.

`protections.py` describes markers and entries.
"""

from __future__ import annotations

import ast
import copy
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

_MARKER = re.compile(r"(.*?)\s*(?:#|//) guards: ([a-z0-9]+(?:-[a-z0-9]+)*(?:, [a-z0-9-]+)*)$")
_COMMENT = re.compile(r"\s*(?:#|//|$)")


class MutationError(ValueError):
    """A guard cannot be removed in the way that its entry says."""


@dataclass(frozen=True)
class Change:
    """What removes a guard; nothing but the marked piece, if all is None."""

    drop: str | None = None
    unwrap: str | None = None
    becomes: str | None = None
    swap: tuple[str, str] | None = None


def markers(text: str) -> Iterator[tuple[str, int]]:
    """The names of the guards in a text, each with the number of the line that it marks."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if (found := _MARKER.fullmatch(line)) is None:
            continue
        if not found[1].strip():
            while number <= len(lines) and _COMMENT.match(lines[number - 1]):
                number += 1
        for name in found[2].split(", "):
            yield name, number


def without(text: str, lines: Sequence[int], change: Change, *, is_python: bool = True) -> str:
    """A text without the guard that some lines are marked with."""
    return (_without_in_python if is_python else _without_in_text)(text, lines, change)


def _without_in_python(text: str, marked: Sequence[int], change: Change) -> str:
    lines = text.splitlines(keepends=True)
    tree = ast.parse(text)
    statements = {_statement(tree, line): None for line in marked}
    for statement in sorted(statements, key=_first_line, reverse=True):
        first, last = _first_line(statement), statement.end_lineno or 0
        mutation = _Mutation(statement)
        for line in marked:
            if first <= line <= last:
                mutation.make(change, line)
        margin = lines[first - 1][: len(lines[first - 1]) - len(lines[first - 1].lstrip())]
        lines[first - 1 : last] = textwrap.indent(mutation.text, margin) + "\n"
    return "".join(lines)


def _without_in_text(text: str, marked: Sequence[int], change: Change) -> str:
    lines = text.splitlines(keepends=True)
    for line in marked:
        old = lines[line - 1]
        lines[line - 1] = old.replace(change.drop, "", 1) if change.drop else ""
        if lines[line - 1] == old:
            raise MutationError(f"line {line} has no {change.drop}")
    return "".join(lines)


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def _statement(tree: ast.AST, line: int) -> ast.stmt:
    """The innermost statement of a line which has lines of its own: no `elif`."""
    found: ast.stmt | None = None
    pending: list[tuple[ast.AST, bool]] = [(tree, False)]
    while pending:
        node, is_elif = pending.pop()
        if isinstance(node, ast.stmt):
            if not _first_line(node) <= line <= (node.end_lineno or 0):
                continue
            if not is_elif:
                found = node
        for child in ast.iter_child_nodes(node):
            pending.append((child, isinstance(node, ast.If) and node.orelse == [child]))
    if found is None:
        raise MutationError(f"line {line} has no statement")
    return found


class _Mutation:
    """A copy of one statement, of which a piece is changed."""

    def __init__(self, statement: ast.stmt) -> None:
        self._body = ast.Module([copy.deepcopy(statement)], [])
        self._parents = {
            child: node for node in ast.walk(self._body) for child in ast.iter_child_nodes(node)
        }
        self._line = 0
        self._scope: list[ast.AST] = []

    @property
    def text(self) -> str:
        """The statement as it is now."""
        return ast.unparse(ast.fix_missing_locations(self._body))

    def make(self, change: Change, line: int) -> None:
        """Make a change to what is marked on a line."""
        before = ast.dump(self._body)
        self._line = line
        self._scope = [*self._nodes_at_marker()]
        if change.drop is not None:
            self._drop(change.drop)
        elif change.unwrap is not None:
            self._replace(call := self._only(_is_call_of(change.unwrap)), _wrapped(call))
        elif change.swap is not None:
            self._swap(*change.swap)
        elif change.becomes is not None:
            self._become(_expression(change.becomes))
        else:
            self._leave_out(self._marked())
        if ast.dump(self._body) == before:
            raise MutationError(f"line {self._line} is the same after {change}")

    def _nodes_at_marker(self) -> Iterator[ast.AST]:
        """The nodes of the innermost statement, handler or case at the line, without its body."""
        root: ast.AST = self._body
        for node in ast.walk(self._body):
            if isinstance(node, _BLOCK):
                first, last = _lines(node)
                if first <= self._line <= last:
                    root = node  # ast.walk finds outer ones first
        pending = [root]
        while pending:
            yield (node := pending.pop(0))
            pending += [each for each in ast.iter_child_nodes(node) if not isinstance(each, _BLOCK)]

    def _marked(self) -> ast.AST:
        for node in self._scope:
            inside_f_string = any(isinstance(each, ast.JoinedStr) for each in self._above(node))
            if _lines(node)[0] == self._line and not inside_f_string:
                return node
        raise MutationError(f"nothing begins on line {self._line}")

    def _only(self, is_wanted: Callable[[ast.AST], bool]) -> ast.AST:
        found = [node for node in self._scope if is_wanted(node)]
        found = [node for node in found if _lines(node)[0] == self._line] or found
        if len(found) != 1:
            raise MutationError(f"line {self._line} has {len(found)} such pieces, not one")
        return found[0]

    def _above(self, node: ast.AST) -> Iterator[ast.AST]:
        while node in self._parents:
            yield (node := self._parents[node])

    def _drop(self, name: str) -> None:
        pieces: list[ast.AST] = []
        for node in self._scope:
            if _mentions(node, name):
                while not self._can_go(node) and not isinstance(node, _BLOCK):
                    node = self._parents[node]
                if node not in pieces and not isinstance(node, _BLOCK):
                    pieces.append(node)
        if pieces:
            self._leave_out(self._only(pieces.__contains__))
        else:
            self._swap(name, "")

    def _can_go(self, node: ast.AST) -> bool:
        match self._parents[node]:
            case ast.BoolOp() | ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
                return True
            case ast.BinOp(op=ast.BitOr() | ast.BitAnd() | ast.Add() | ast.Sub()):
                return True
            case ast.Call(func=func):
                return node is not func
            case ast.IfExp(test=test):
                return node is not test
            case ast.comprehension(ifs=kept) | ast.FunctionDef(decorator_list=kept):
                return node in kept
            case ast.Subscript(slice=ast.Slice() as part):
                return node is part
            case ast.With(items=items) | ast.AsyncWith(items=items):
                return node in items and len(items) > 1
            case ast.match_case(guard=guard):
                return node is guard
        return False

    def _leave_out(self, node: ast.AST) -> None:
        parent = self._parents[node]
        match node, parent:
            case (ast.If() as condition, _):
                condition.test = ast.Constant(False)
            case (ast.With(body=body) | ast.AsyncWith(body=body), _):
                self._replace(node, *body)
            case (ast.stmt(), _):
                self._replace(node, ast.Pass())
            case (ast.ExceptHandler(), ast.Try(handlers=handlers, body=body)):
                handlers.remove(node)
                if not handlers and not parent.finalbody:
                    self._replace(parent, *body, *parent.orelse)
            case (_, ast.BoolOp(values=[left, right])):
                self._replace(parent, left if node is right else right)
            case (_, ast.BinOp(left=left, right=right)):
                self._replace(parent, left if node is right else right)
            case (_, ast.IfExp(body=chosen, orelse=other)):
                self._replace(parent, chosen if node is other else other)
            case (_, ast.Subscript(value=value)):
                self._replace(parent, value)
            case (_, ast.match_case()):
                parent.guard = None
            case (_, ast.Dict(keys=keys, values=values)):
                index = [node in pair for pair in zip(keys, values, strict=True)].index(True)
                del keys[index], values[index]
            case _:
                self._replace(node)

    def _become(self, value: ast.expr) -> None:
        match node := self._marked():
            case ast.If() | ast.While():
                node.test = value
            case ast.For() | ast.AsyncFor():
                node.iter = value
            case ast.With(items=[first, *_]) | ast.AsyncWith(items=[first, *_]):
                first.context_expr = value
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Return() | ast.keyword():
                node.value = value
            case ast.Expr():
                node.value = value
            case ast.ExceptHandler():
                node.type = value
            case ast.expr() if isinstance(pairs := self._parents[node], ast.Dict):
                pairs.values[pairs.keys.index(node)] = value
            case ast.Starred():
                node.value = value
            case ast.expr():
                self._replace(node, value)
            case _:
                raise MutationError(f"what begins on line {self._line} has no value")

    def _swap(self, old: str, new: str) -> None:
        texts = [each for each in self._scope if isinstance(each, ast.Constant)]
        texts = [each for each in texts if isinstance(each.value, str) and old in each.value]
        for text in texts:
            text.value = str(text.value).replace(old, new)
        if texts:
            return
        found = self._only(lambda node: _mentions(node, old) and not isinstance(node, ast.keyword))
        if isinstance(found, ast.Attribute) and found.attr == old:
            found.attr = new
        else:
            self._replace(found, _expression(new))

    def _replace(self, node: ast.AST, *new: ast.AST) -> None:
        parent = self._parents[node]
        for field, value in ast.iter_fields(parent):
            if value is node:
                setattr(parent, field, *new)
            elif isinstance(value, list) and node in value:
                index = value.index(node)
                value[index : index + 1] = new


_BLOCK = (ast.stmt, ast.ExceptHandler, ast.match_case)


def _lines(node: ast.AST) -> tuple[int, int]:
    """The first and the last line of a node; zeros if it has none."""
    if isinstance(node, ast.match_case):
        return node.pattern.lineno, node.body[-1].end_lineno or 0
    return getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _mentions(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Name(id=found) | ast.Attribute(attr=found) | ast.keyword(arg=found):
            return found == name or (isinstance(node, ast.Attribute) and ast.unparse(node) == name)
        case ast.Constant(value=str() as found):
            return found == name
        case ast.Constant(value=int() as number) if name[:2] == "0o":
            return number == int(name, 8)
        case ast.expr():
            return ast.unparse(node) == name
    return False


def _is_call_of(name: str) -> Callable[[ast.AST], bool]:
    return lambda node: isinstance(node, ast.Call) and _mentions(node.func, name)


def _wrapped(call: ast.AST) -> ast.AST:
    """What a function is given."""
    assert isinstance(call, ast.Call)
    return call.args[0]

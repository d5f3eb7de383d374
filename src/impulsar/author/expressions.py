"""Expressions of parameters: "2*a + 0.05" as text, read by a grammar of our own and never run as Python.

sum     = product (("+" | "-") product)*
product = signed (("*" | "/") signed)*
signed  = ("+" | "-") signed | power
power   = atom (("^" | "**") signed)?
atom    = number | name | function "(" sum ("," sum)* ")" | "(" sum ")"
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from .checks import show
from .errors import ModelError

LONGEST = 200  # characters
DEEPEST = 30  # parentheses, signs and powers inside each other
NAME = r"[^\W\d]\w*"
NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
TOKEN = re.compile(rf"\s*(?:({NUMBER})|({NAME})|(\*\*|[-+*/^(),]))")
WORD = re.compile(rf"{NUMBER}|({NAME})")
CONSTANTS = {"pi": math.pi, "deg": math.pi / 180.0}
FUNCTIONS: dict[str, tuple[Callable[..., float], int | None]] = {  # how many arguments, None: one or more
    "sin": (math.sin, 1),
    "cos": (math.cos, 1),
    "tan": (math.tan, 1),
    "asin": (math.asin, 1),
    "acos": (math.acos, 1),
    "atan": (math.atan, 1),
    "atan2": (math.atan2, 2),
    "hypot": (math.hypot, 2),
    "sqrt": (math.sqrt, 1),
    "exp": (math.exp, 1),
    "log": (math.log, 1),
    "abs": (abs, 1),
    "sign": (lambda value: float((value > 0) - (value < 0)), 1),
    "floor": (math.floor, 1),
    "mod": (lambda value, by: value - by * math.floor(value / by), 2),
    "min": (lambda *values: min(values), None),
    "max": (lambda *values: max(values), None),
}
Values = Mapping[str, float]
Node = Callable[[Values], float]


@dataclass(frozen=True)
class Expression:
    """A text that was read: the names in it, and how its value is found."""

    text: str
    names: frozenset[str]  # of parameters
    node: Node

    def value(self, owner: str, values: Values) -> float:
        """The number that it gives; raises `ModelError` where it gives none. `owner` is whose it is."""
        try:
            value = self.node(values)
        except ZeroDivisionError as error:
            raise ModelError(f"{owner}: '{self.text}' divides by zero") from error
        except (ValueError, OverflowError) as error:
            raise ModelError(f"{owner}: '{self.text}' is no number ({error})") from error
        if isinstance(value, complex) or not math.isfinite(value):
            raise ModelError(f"{owner}: '{self.text}' is no finite number")
        return float(value)


def has_text(value: object) -> bool:
    """Whether a value is a text with a name in it, as expressions are, or one of several is."""
    if isinstance(value, str):
        return any(found[1] for found in WORD.finditer(value[:LONGEST]))
    return isinstance(value, tuple | list) and any(has_text(item) for item in value if isinstance(item, str))


def is_name(name: object) -> bool:
    """Whether a text can be the name of a parameter: a word that stands for nothing else."""
    return (
        isinstance(name, str)
        and re.fullmatch(NAME, name) is not None
        and name not in FUNCTIONS
        and name not in CONSTANTS
    )


def read_expression(owner: str, text: object) -> Expression:
    """The expression of a text; raises `ModelError` with what is wrong in it."""
    if not isinstance(text, str) or not text.strip():
        raise ModelError(f"{owner}: expression is {show(text)}, expected text such as '2*a + 0.05'")
    if len(text) > LONGEST:
        raise ModelError(
            f"{owner}: expression has {len(text)} characters, expected at most {LONGEST}; name parts of it"
        )
    try:
        return _read(text.strip())
    except ModelError as error:
        raise ModelError(f"{owner}: {error}") from error


@lru_cache(maxsize=1024)
def _read(text: str) -> Expression:
    reader = _Reader(text)
    node = reader.sum(0)
    if reader.token is not None:
        raise reader.unexpected("an operator such as + or *")
    return Expression(text, frozenset(reader.names), node)


class _Reader:
    """Reads a text from left to right, one token ahead."""

    def __init__(self, text: str):
        self.text, self.place = text, 0
        self.names: set[str] = set()
        self.token: str | None = None
        self.kind = 0  # 1: number, 2: name, 3: sign
        self.next()

    def next(self) -> None:
        """Go on to the next token, None at the end."""
        if not self.text[self.place :].strip():
            self.token, self.kind = None, 0
            return
        found = TOKEN.match(self.text, self.place)
        if found is None:
            wrong = self.text[self.place :].strip()[0]
            raise ModelError(f"'{self.text}' has {wrong!r}, which no expression has; see + - * / ^ ( )")
        self.kind = found.lastindex or 0
        self.token, self.place = found[self.kind], found.end()

    def unexpected(self, expected: str) -> ModelError:
        """The error of what stands where something else should."""
        there = "ends" if self.token is None else f"has '{self.token}'"
        return ModelError(f"'{self.text}' {there} where {expected} is expected")

    def take(self, *signs: str) -> str | None:
        """One of some signs, if it comes next."""
        if self.kind != 3 or self.token not in signs:
            return None
        sign = self.token
        self.next()
        return sign

    def close(self) -> None:
        """A parenthesis that must come."""
        if self.take(")") is None:
            raise self.unexpected("')'")

    def sum(self, depth: int) -> Node:
        """Terms added."""
        left = self.product(depth)
        while sign := self.take("+", "-"):
            left = _two(left, self.product(depth), sign)
        return left

    def product(self, depth: int) -> Node:
        """Factors."""
        left = self.signed(depth)
        while sign := self.take("*", "/"):
            left = _two(left, self.signed(depth), sign)
        return left

    def signed(self, depth: int) -> Node:
        """A factor and the signs before it: -a^2 is -(a^2)."""
        if depth > DEEPEST:
            raise ModelError(f"'{self.text}' is nested more than {DEEPEST} deep; name parts of it")
        sign = self.take("+", "-")
        if sign is None:
            return self.power(depth)
        inner = self.signed(depth + 1)
        return inner if sign == "+" else lambda values: -inner(values)

    def power(self, depth: int) -> Node:
        """An atom, maybe to a power: a^b^c is a^(b^c)."""
        base = self.atom(depth)
        return _two(base, self.signed(depth + 1), "^") if self.take("^", "**") else base

    def atom(self, depth: int) -> Node:
        """What has no parts, or is in parentheses."""
        token, kind = self.token, self.kind
        if kind == 1:
            self.next()
            number = float(token or "")
            return lambda values: number
        if kind == 2:
            self.next()
            return self.function(str(token), depth) if token in FUNCTIONS else self.name(str(token))
        if self.take("("):
            inner = self.sum(depth + 1)
            self.close()
            return inner
        raise self.unexpected("a number, a parameter or '('")

    def name(self, name: str) -> Node:
        """A constant or a parameter."""
        if name in CONSTANTS:
            return lambda values: CONSTANTS[name]
        self.names.add(name)
        return lambda values: values[name]

    def function(self, name: str, depth: int) -> Node:
        """A function of its arguments."""
        call, count = FUNCTIONS[name]
        if self.take("(") is None:
            raise self.unexpected(f"'(' after {name}")
        arguments = [self.sum(depth + 1)]
        while self.take(","):
            arguments.append(self.sum(depth + 1))
        self.close()
        if count is not None and len(arguments) != count:
            raise ModelError(f"'{self.text}': {name} takes {count}, not {len(arguments)}")
        return lambda values: call(*(argument(values) for argument in arguments))


def _two(left: Node, right: Node, sign: str) -> Node:
    """Two values joined by an operator."""
    match sign:
        case "+":
            return lambda values: left(values) + right(values)
        case "-":
            return lambda values: left(values) - right(values)
        case "*":
            return lambda values: left(values) * right(values)
        case "/":
            return lambda values: left(values) / right(values)
    return lambda values: left(values) ** right(values)


def renamed_in(text: str, name: str, to: str) -> str:
    """A text in which a parameter has another name."""
    return WORD.sub(lambda found: to if found[1] == name else found[0], text)

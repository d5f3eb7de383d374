"""TypeScript of messages and edits: `python -m impulsar.studio.typescript` writes them into client/src."""

import dataclasses
import inspect
import sys
import types
import typing
from pathlib import Path

from . import messages
from .edit_types import comment, edit_types

FOLDER = Path(__file__).parents[3] / "client" / "src"
PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null", typing.Any: "unknown"}
BLOCKS = ("books", "poses", "hands", "loads", "contacts", "signals")  # of a frame
VIEWS = {"I": ("getUint32", 4), "d": ("getFloat64", 8)}

DECODER = """
/** Reads a binary frame; throws where it is not one. The arrays are views into the buffer. */
export function decodeFrame(buffer: ArrayBuffer): Frame {
  if (buffer.byteLength < HEADER_BYTES) throw new Error(`frame of ${buffer.byteLength} bytes`);
  const view = new DataView(buffer);
  const header: FrameHeader = {
%(fields)s
  };
  if (header.magic !== MAGIC) throw new Error("not a frame of this protocol");
  let offset = HEADER_BYTES;
  const take = (count: number): Float32Array => {
    const block = new Float32Array(buffer, offset, count);
    offset += 4 * count;
    return block;
  };
  const books = take(header.books);
  const poses = take(7 * header.bodies);
  const hands = take(9 * header.hands);
  const loads = take(6 * header.loads);
  const contacts = take(7 * header.contacts);
  const signals = take(header.signals);
  const marks = new Uint8Array(buffer, offset, header.signals);
  return { ...header, books, poses, hands, loads, contacts, signals, marks };
}
"""


def files() -> dict[str, str]:
    """What is generated, by file name."""
    return {"messages.ts": message_types(), "edits.ts": edit_types()}


def message_types() -> str:
    """The whole file of the messages."""
    parts = [
        "// Generated from src/impulsar/studio/messages.py by `python -m impulsar.studio.typescript`. Do not edit.",
        'import type { ApplyLoad, ConvexHull, Edit, SetMotor, Value } from "./edits";',
    ]
    found: list[type] = [
        cls for _, cls in inspect.getmembers(messages, inspect.isclass) if dataclasses.is_dataclass(cls)
    ]
    found.sort(key=lambda cls: inspect.getsourcelines(cls)[1])
    parts += [_interface(cls) for cls in found]
    for name, members in (("ServerMessage", messages.SENT), ("ClientMessage", messages.RECEIVED)):
        parts.append(f"export type {name} = {' | '.join(cls.__name__ for cls in members)};")
    parts.append(_frame())
    return "\n\n".join(parts)


def _interface(cls: type) -> str:
    hints = typing.get_type_hints(cls, include_extras=True)
    lines = [f"  {item.name}{_mark(cls, item)}: {_type(hints[item.name])};" for item in dataclasses.fields(cls)]
    about = "" if (cls.__doc__ or "").startswith(f"{cls.__name__}(") else comment(cls.__doc__)
    return f"{about}export interface {cls.__name__} {{\n" + "\n".join(lines) + "\n}"


def _mark(cls: type, item: dataclasses.Field) -> str:
    """What a client may leave out of what it sends; the server sends every field."""
    has_default = item.default is not dataclasses.MISSING or item.default_factory is not dataclasses.MISSING
    return "?" if cls in messages.RECEIVED and has_default and item.name != "type" else ""


def _type(hint: typing.Any) -> str:
    if hint in PLAIN:
        return PLAIN[hint]
    if dataclasses.is_dataclass(hint):
        return hint.__name__  # type: ignore[union-attr]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return arguments[1]  # what the page calls it
    if origin is typing.Literal:
        return " | ".join(f'"{value}"' for value in arguments)
    if origin in (typing.Union, types.UnionType):
        return " | ".join(_type(argument) for argument in arguments)
    if origin is list:
        inner = _type(arguments[0])
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if origin is dict:
        return f"Record<string, {_type(arguments[1])}>"
    raise TypeError(f"{hint}: no TypeScript for it")


def _frame() -> str:
    fields, offset = [], 0
    for name, code in messages.HEADER:
        read, size = VIEWS[code]
        fields.append(f"    {name}: view.{read}({offset}, true),")
        offset += size
    header = "\n".join(f"  {name}: number;" for name, _ in messages.HEADER)
    flags = ", ".join(f"{name}: {bit}" for name, bit in messages.FLAGS.items())
    books = ", ".join(f'"{name}"' for name, _ in messages.BOOKS)
    units = ", ".join(f'{name}: "{unit}"' for name, unit in messages.BOOKS)
    blocks = "".join(f"  {name}: Float32Array;\n" for name in BLOCKS)
    counted = " | ".join(f'"{name}"' for name in ("bodies", "hands", "loads", "contacts", "signals", "books"))
    return (
        f"export const LONGEST_SIGNAL = {messages.LONGEST_SIGNAL};\n"
        f"export const MAGIC = 0x{messages.MAGIC:x};\nexport const HEADER_BYTES = {offset};\n"
        f"export const FLAGS = {{ {flags} }} as const;\n"
        f"export const BOOKS = [{books}] as const;\n"
        f"export const BOOK_UNITS: Record<(typeof BOOKS)[number], string> = {{ {units} }};\n\n"
        f"export interface FrameHeader {{\n{header}\n}}\n\n"
        f"export interface Frame extends Omit<FrameHeader, {counted}> {{\n"
        f"{blocks}  marks: Uint8Array;\n}}\n" + DECODER % {"fields": "\n".join(fields)}
    )


if __name__ == "__main__":
    for name, text in files().items():
        (FOLDER / name).write_text(text)
        print(f"wrote {FOLDER / name}", file=sys.stderr)

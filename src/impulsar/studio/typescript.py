"""TypeScript of messages and edits: `python -m impulsar.studio.typescript` writes them into client/src."""

import dataclasses
import inspect
import sys
import types
import typing
from pathlib import Path

from . import acting_messages, analysis_messages, ar_messages, large_messages, messages, sensor_messages
from .edit_types import comment, edit_types

FOLDER = Path(__file__).parents[3] / "client" / "src"
PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null", typing.Any: "unknown"}
ROWS_DECODER = """
/** Reads a binary message of rows, or null where it is none. */
export function decodeRows(buffer: ArrayBuffer): Rows | null {
  const view = new DataView(buffer);
  if (buffer.byteLength < ROWS_HEADER_BYTES || view.getUint32(0, true) !== ROWS_MAGIC) return null;
  const header: RowsHeader = {
%(fields)s
  };
  const { rows, columns } = header;
  const times = new Float64Array(buffer, ROWS_HEADER_BYTES, rows);
  const values = new Float64Array(buffer, ROWS_HEADER_BYTES + 8 * rows, rows * columns);
  return { ...header, times, values };
}
"""
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
%(blocks)s
  const marks = new Uint8Array(buffer, offset, header.signals);
  return { ...header, %(names)s, marks };
}
"""


SIGHT_DECODER = """
/** Reads a picture and where the marker is in it, or null where it is none. */
export function decodeSight(buffer: ArrayBuffer): Sight | null {
  const view = new DataView(buffer);
  if (buffer.byteLength < %(size)d || view.getUint32(0, true) !== SIGHT_MAGIC) return null;
  const header = {
%(fields)s
  };
  const depths = header.columns * header.rows;
  return {
    ...header,
    depth: new Uint16Array(buffer, %(size)d, depths),
    jpeg: new Uint8Array(buffer, %(size)d + 2 * depths),
  };
}
"""


LARGE_DECODER = """
/** Reads a frame of a large world; throws where it is not one. The arrays are views into the buffer. */
export function decodeLarge(buffer: ArrayBuffer): LargeFrame {
  if (buffer.byteLength < %(size)d) throw new Error(`frame of ${buffer.byteLength} bytes`);
  const view = new DataView(buffer);
  const header = {
%(fields)s
  };
  if (header.magic !== LARGE_MAGIC) throw new Error("not a frame of a large world");
  const { blocks, bodies } = header;
  return {
    ...header,
    which: new Uint32Array(buffer, %(size)d, blocks),
    places: new Uint32Array(buffer, %(size)d + 4 * blocks, 2 * bodies),
    turns: new Uint32Array(buffer, %(size)d + 4 * blocks + 8 * bodies, bodies),
  };
}
"""


def files() -> dict[str, str]:
    """What is generated, by file name."""
    return {"messages.ts": message_types(), "edits.ts": edit_types()}


def message_types() -> str:
    """The whole file of the messages."""
    parts = [
        "// Generated from src/impulsar/studio/*messages.py by `python -m impulsar.studio.typescript`. Do not edit.",
        'import type { ApplyLoad, ConvexHull, Edit, SetMotor, Value } from "./edits";',
    ]
    found: list[type] = []
    for module in (messages, acting_messages, sensor_messages, analysis_messages, ar_messages, large_messages):
        own = [cls for _, cls in inspect.getmembers(module, inspect.isclass) if cls.__module__ == module.__name__]
        found += sorted(filter(dataclasses.is_dataclass, own), key=lambda cls: inspect.getsourcelines(cls)[1])
    parts += [_interface(cls) for cls in found]
    unions = {
        "ServerMessage": messages.SENT,
        "ClientMessage": messages.RECEIVED,
        "LargeServerMessage": large_messages.LARGE_SENT,
        "LargeClientMessage": large_messages.LARGE_RECEIVED,
    }
    for name, members in unions.items():
        parts.append(f"export type {name} = {' | '.join(cls.__name__ for cls in members)};")
    parts += [_frame(), _rows(), _sight(), _large()]
    return "\n\n".join(parts)


def _interface(cls: type) -> str:
    hints = typing.get_type_hints(cls, include_extras=True)
    lines = [f"  {item.name}{_mark(cls, item)}: {_type(hints[item.name])};" for item in dataclasses.fields(cls)]
    about = "" if (cls.__doc__ or "").startswith(f"{cls.__name__}(") else comment(cls.__doc__)
    return f"{about}export interface {cls.__name__} {{\n" + "\n".join(lines) + "\n}"


def _mark(cls: type, item: dataclasses.Field) -> str:
    """What a client may leave out of what it sends; the server sends every field."""
    has_default = item.default is not dataclasses.MISSING or item.default_factory is not dataclasses.MISSING
    received = (*messages.RECEIVED, *large_messages.LARGE_RECEIVED)
    return "?" if cls in received and has_default and item.name != "type" else ""


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


def _reads(header: tuple[tuple[str, str], ...]) -> tuple[str, int]:
    """Lines that read the numbers of a header, and how many bytes it has."""
    lines, offset = [], 0
    for name, code in header:
        read, size = VIEWS[code]
        lines.append(f"    {name}: view.{read}({offset}, true),")
        offset += size
    return "\n".join(lines), offset


def _frame() -> str:
    fields, offset = _reads(messages.HEADER)
    header = "\n".join(f"  {name}: number;" for name, _ in messages.HEADER)
    flags = ", ".join(f"{name}: {bit}" for name, bit in messages.FLAGS.items())
    books = ", ".join(f'"{name}"' for name, _ in messages.BOOKS)
    units = ", ".join(f'{name}: "{unit}"' for name, unit in messages.BOOKS)
    blocks = "".join(f"  {name}: Float32Array;\n" for name, _, _ in messages.BLOCKS)
    counted = " | ".join(f'"{name}"' for name in dict.fromkeys(count for _, count, _ in messages.BLOCKS))
    takes = [
        f"  const {name} = take({f'{size} * ' if size > 1 else ''}header.{count});"
        for name, count, size in messages.BLOCKS
    ]
    parts = {
        "fields": fields,
        "blocks": "\n".join(takes),
        "names": ", ".join(name for name, _, _ in messages.BLOCKS),
    }
    return (
        f"export const LONGEST_SIGNAL = {messages.LONGEST_SIGNAL};\n"
        f"export const MAGIC = 0x{messages.MAGIC:x};\nexport const HEADER_BYTES = {offset};\n"
        f"export const FLAGS = {{ {flags} }} as const;\n"
        f"export const BOOKS = [{books}] as const;\n"
        f"export const BOOK_UNITS: Record<(typeof BOOKS)[number], string> = {{ {units} }};\n\n"
        f"export interface FrameHeader {{\n{header}\n}}\n\n"
        f"export interface Frame extends Omit<FrameHeader, {counted}> {{\n"
        f"{blocks}  marks: Uint8Array;\n}}\n" + DECODER % parts
    )


def _rows() -> str:
    """What is read step by step."""
    names = [name for name, _ in messages.ROWS_HEADER]
    header = "\n".join(f"  {name}: number;" for name in names)
    fields = "\n".join(f"    {name}: view.getUint32({4 * k}, true)," for k, name in enumerate(names))
    return (
        f"export const ROWS_MAGIC = 0x{messages.ROWS_MAGIC:x};\n"
        f"export const ROWS_HEADER_BYTES = {4 * len(names)};\n\n"
        f"export interface RowsHeader {{\n{header}\n}}\n\n"
        "export interface Rows extends RowsHeader {\n  times: Float64Array;\n  values: Float64Array;\n}\n"
        + ROWS_DECODER
        % {"fields": fields}
    )


def _sight() -> str:
    """Pictures and where the marker is in them."""
    fields, size = _reads(ar_messages.SIGHT_HEADER)
    names = "\n".join(f"  {name}: number;" for name, _ in ar_messages.SIGHT_HEADER)
    return (
        f"export const SIGHT_MAGIC = 0x{ar_messages.SIGHT_MAGIC:x};\n"
        f"export const DEPTH_UNIT = {ar_messages.DEPTH_UNIT};\n"
        f"export const PICTURE_MAGIC = 0x{ar_messages.PICTURE_MAGIC:x};\n"
        f"export const PICTURE_HEADER_BYTES = {_reads(ar_messages.PICTURE_HEADER)[1]};\n"
        f"export const PHONE_MAGIC = 0x{ar_messages.PHONE_MAGIC:x};\n"
        f"export const PHONE_HEADER_BYTES = {_reads(ar_messages.PHONE_HEADER)[1]};\n\n"
        f"export interface Sight {{\n{names}\n  depth: Uint16Array<ArrayBuffer>;\n"
        f"  jpeg: Uint8Array<ArrayBuffer>;\n}}\n" + SIGHT_DECODER % {"fields": fields, "size": size}
    )


def _large() -> str:
    """Poses of blocks of bodies."""
    fields, size = _reads(large_messages.LARGE_HEADER)
    names = "\n".join(f"  {name}: number;" for name, _ in large_messages.LARGE_HEADER)
    return (
        f"export const LARGE_MAGIC = 0x{large_messages.LARGE_MAGIC:x};\n\n"
        f"export interface LargeFrame {{\n{names}\n"
        f"  which: Uint32Array; // blocks\n  places: Uint32Array;\n  turns: Uint32Array;\n}}\n"
        + LARGE_DECODER
        % {"fields": fields, "size": size}
    )


if __name__ == "__main__":
    for name, text in files().items():
        (FOLDER / name).write_text(text)
        print(f"wrote {FOLDER / name}", file=sys.stderr)

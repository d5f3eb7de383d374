/** How numbers are read, rounded and shown. */

import type { Real } from "./edits";

export type Vec3 = [number, number, number];

const SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** A number with `digits` significant digits, plainly where it is short and with a power of ten else. */
export function show(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e5) return String(Number(value.toPrecision(digits))).replace("-", "−");
  const [mantissa, exponent] = value.toExponential(Math.min(digits, 3) - 1).split("e");
  const power = String(Math.abs(Number(exponent)))
    .split("")
    .map((digit) => SUPERSCRIPT[Number(digit)])
    .join("");
  return `${Number(mantissa)}·10${Number(exponent) < 0 ? "⁻" : ""}${power}`.replace("-", "−");
}

const NOISE = 1e-12; // of the largest of some numbers: what is less is rounding
const LEAST = 1e-15; // of a number by itself

/** Numbers of one quantity without what is rounding in them. */
export function quiet(values: number[]): number[] {
  const size = Math.max(...values.map(Math.abs).filter(Number.isFinite), 0);
  return values.map((value) => (Math.abs(value) <= Math.max(NOISE * size, LEAST) ? 0 : value));
}

/** A text of a number with at most 12 digits; those behind are rounding, and stay where they are not typed over. */
export function brief(text: string): string {
  const value = text.trim() === "" ? NaN : Number(text);
  if (!Number.isFinite(value)) return text;
  const short = String(Number(value.toPrecision(12)));
  return short.length < text.length ? short : text;
}

/** A number for an input field: what is written is what is meant, to the last bit. */
export function exact(value: number): string {
  if (Number.isNaN(value)) return "";
  return Number.isFinite(value) ? String(value) : value > 0 ? "inf" : "-inf";
}

/** What a user typed, or pasted as it is shown here; null where it is no number that can be held. */
export function parseNumber(text: string): number | null {
  const plain = text
    .trim()
    .replaceAll("−", "-")
    .replace(",", ".")
    .replace(/[·×]10(⁻?)([⁰¹²³⁴⁵⁶⁷⁸⁹]+)$/, (_, sign: string, power: string) => {
      return `e${sign && "-"}${[...power].map((digit) => SUPERSCRIPT.indexOf(digit)).join("")}`;
    });
  if (/^[+-]?(inf|∞|infinity)$/i.test(plain)) return plain.startsWith("-") ? -Infinity : Infinity;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) return null;
  const value = Number(plain);
  return Number.isFinite(value) ? value : null; // 1e999 is not infinity
}

/** The number that was typed for something; throws in words where it is none. */
export function readNumber(text: string, what: string): number {
  const value = parseNumber(text);
  if (value === null) throw new Error(`${what}: ${text.trim() === "" ? "nothing" : `'${text}'`} is not a number`);
  return value;
}

/** The finite number that was typed. */
export function readFinite(text: string, what: string): number {
  const value = readNumber(text, what);
  if (!Number.isFinite(value)) throw new Error(`${what}: '${text}' is not finite`);
  return value;
}

/** As JSON has it: no infinity there. */
export function plain(value: number): Real {
  return Number.isFinite(value) ? value : value > 0 ? "inf" : "-inf";
}

/** The number that was typed, as it is sent. */
export function readReal(text: string, what: string): Real {
  return plain(readNumber(text, what));
}

/** Three numbers; null where a value is something else. */
export function asVector(value: unknown): Vec3 | null {
  return Array.isArray(value) && value.length === 3 && value.every((item) => typeof item === "number")
    ? (value as Vec3)
    : null;
}

/** A vector rounded to `digits` digits of its length: short to show and to send, the same in both. */
export function roundVector(v: Vec3, digits = 4): Vec3 {
  const size = Math.hypot(...v);
  if (size === 0 || !Number.isFinite(size)) return [0, 0, 0];
  const decimals = digits - 1 - Math.floor(Math.log10(size));
  return v.map((x) => roundTo(x, decimals)) as Vec3;
}

/** A number rounded to `digits` significant digits. */
export function roundNumber(x: number, digits = 4): number {
  return x === 0 ? 0 : Number(x.toPrecision(digits));
}

/** Rounded by its decimal digits, so that the number is the one that is shown, whatever its size. */
function roundTo(x: number, decimals: number): number {
  return shifted(Math.round(shifted(x, decimals)), -decimals) + 0; // no -0
}

/** x·10ⁿ, exactly as its digits say. */
function shifted(x: number, n: number): number {
  const [mantissa, exponent = "0"] = String(x).split("e");
  return Number(`${mantissa}e${Number(exponent) + n}`);
}

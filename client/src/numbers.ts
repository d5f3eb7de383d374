/** How numbers are read, rounded and shown. */

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

/** A number for an input field: what is written is what is meant, to the last bit. */
export function exact(value: number): string {
  return Number.isFinite(value) ? String(value) : value > 0 ? "inf" : "-inf";
}

/** What a user typed, or null where it is no number. */
export function parseNumber(text: string): number | null {
  const plain = text.trim().replace("−", "-").replace(",", ".");
  if (/^[+-]?(inf|∞|infinity)$/i.test(plain)) return plain.startsWith("-") ? -Infinity : Infinity;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) return null;
  return Number(plain);
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

function roundTo(x: number, decimals: number): number {
  const text =
    decimals >= 0 ? x.toFixed(Math.min(decimals, 20)) : String(Math.round(x / 10 ** -decimals) * 10 ** -decimals);
  return Number(text) + 0;
}

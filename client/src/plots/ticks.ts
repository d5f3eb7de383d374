/** Round numbers along an axis, and how they are written. */

import { show } from "../numbers";

export interface Ticks {
  at: number[];
  labels: string[];
  power: string; // by which labels are to be multiplied, "" where by none
}

/** A range that holds low to high with some air, and is never empty; what is rounding is not spread over the plot. */
export function spread(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high)) return [-1, 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  const least = Math.max(1e-9 * size, 1e-12);
  if (size === 0) return [-1, 1];
  if (high - low < least) {
    const half = Math.max(0.1 * size, least);
    return [0.5 * (low + high) - half, 0.5 * (low + high) + half];
  }
  const air = 0.06 * (high - low);
  return [low - air, high + air];
}

/** Ticks at multiples of 1, 2 or 5 times a power of ten, at most `most` of them. */
export function ticks(low: number, high: number, most: number): Ticks {
  const rough = (high - low) / Math.max(1, most);
  if (!(rough > 0) || !Number.isFinite(rough)) return { at: [], labels: [], power: "" };
  const decade = 10 ** Math.floor(Math.log10(rough));
  const step = decade * ([1, 2, 5].find((part) => part * decade >= rough * (1 - 1e-9)) ?? 10);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  const counts = Array.from({ length: Math.max(0, Math.min(last - first + 1, 1000)) }, (_, k) => first + k);
  const at = counts.map((count) => count * step);
  const size = Math.max(...at.map(Math.abs), step);
  const exponent = Math.floor(Math.log10(size) + 1e-9);
  const shift = exponent >= 5 || exponent < -3 ? exponent : 0;
  const decimals = Math.min(20, Math.max(0, shift - Math.floor(Math.log10(step) + 1e-9)));
  return {
    at,
    labels: counts.map((count) => ((count * step) / 10 ** shift + 0).toFixed(decimals).replace("-", "−")),
    power: shift === 0 ? "" : show(10 ** shift, 1).replace("1·", "×"),
  };
}

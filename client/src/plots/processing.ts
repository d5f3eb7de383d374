/**
 * Functions of whole curves: rates, integrals, filters and spectra of samples at any times. A value that is NaN ends
 * a stretch; nothing is computed across it, since the mechanism came to the next one by other than motion.
 */

type Values = ArrayLike<number>;

/** First and last index of every stretch without a gap. */
function stretches(values: Values): [number, number][] {
  const found: [number, number][] = [];
  let first = -1;
  for (let k = 0; k <= values.length; k++) {
    const isValue = k < values.length && Number.isFinite(values[k]);
    if (isValue && first < 0) first = k;
    if (!isValue && first >= 0) {
      found.push([first, k - 1]);
      first = -1;
    }
  }
  return found;
}

function at(values: Values, k: number): number {
  return values[k] ?? NaN;
}

/**
 * Rate of change: that of the parabola through a sample and its neighbours (of second order at any spacing), of the
 * nearest three at an end. Two samples have the slope of a line, one has none.
 */
export function derivative(times: Values, values: Values): Float64Array {
  const found = new Float64Array(values.length).fill(NaN);
  for (const [first, last] of stretches(values)) {
    if (last === first + 1) found[first] = found[last] = slope(times, values, first);
    for (let k = first; last > first + 1 && k <= last; k++) {
      const j = Math.min(Math.max(k, first + 1), last - 1); // the middle of the three
      const [before, after] = [slope(times, values, j - 1), slope(times, values, j)];
      const bend = (after - before) / (at(times, j + 1) - at(times, j - 1));
      found[k] = before + bend * (2 * at(times, k) - at(times, j - 1) - at(times, j));
    }
  }
  return found;
}

function slope(times: Values, values: Values, k: number): number {
  return (at(values, k + 1) - at(values, k)) / (at(times, k + 1) - at(times, k));
}

/** Integral over time by the trapezoidal rule, 0 at the first sample; it goes on behind a gap as it was before. */
export function integral(times: Values, values: Values): Float64Array {
  const found = new Float64Array(values.length).fill(NaN);
  let sum = 0;
  for (const [first, last] of stretches(values)) {
    found[first] = sum;
    for (let k = first + 1; k <= last; k++) {
      sum += 0.5 * (at(times, k) - at(times, k - 1)) * (at(values, k) + at(values, k - 1));
      found[k] = sum;
    }
  }
  return found;
}

/**
 * Low pass of second order (Butterworth, -3 dB at a frequency [Hz]): y'' + √2 ω y' + ω² y = ω² x, at rest at the first
 * sample of a stretch and exact between samples for lines, whatever their spacing.
 */
export function lowPass(times: Values, values: Values, frequency: number): Float64Array {
  const found = new Float64Array(values.length).fill(NaN);
  const omega = 2 * Math.PI * frequency;
  const a = omega / Math.SQRT2; // poles are at -a ± i a
  for (const [first, last] of stretches(values)) {
    let y = at(values, first);
    let rate = 0;
    found[first] = y;
    for (let k = first + 1; k <= last; k++) {
      const h = at(times, k) - at(times, k - 1);
      const s = slope(times, values, k - 1);
      const lag = (Math.SQRT2 * s) / omega; // behind a line y runs late by so much
      const p = y - (at(values, k - 1) - lag); // free motion beside y = x - lag: e^(-a τ) (p cos a τ + q sin a τ)
      const q = (rate - s) / a + p;
      const [decay, c, d] = [Math.exp(-a * h), Math.cos(a * h), Math.sin(a * h)];
      y = at(values, k) - lag + decay * (p * c + q * d);
      rate = s + a * decay * ((q - p) * c - (p + q) * d);
      found[k] = y;
    }
  }
  return found;
}

/** Mean over the last `span` [s], of lines between samples; over what there is where a stretch is younger. */
export function movingMean(times: Values, values: Values, span: number): Float64Array {
  const found = new Float64Array(values.length).fill(NaN);
  const sums = integral(times, values);
  for (const [first, last] of stretches(values)) {
    let j = first; // the sample at or before the begin of the span
    found[first] = at(values, first);
    for (let k = first + 1; k <= last; k++) {
      const begin = Math.max(at(times, first), at(times, k) - span);
      while (at(times, j + 1) <= begin) j += 1;
      const part = begin - at(times, j);
      const before = at(sums, j) + part * (at(values, j) + 0.5 * part * slope(times, values, j));
      found[k] = (at(sums, k) - before) / (at(times, k) - begin);
    }
  }
  return found;
}

/** Those that expressions have by name. */
export const HISTORIC = { ddt: derivative, integral, filter: lowPass, mean: movingMean };

export const WINDOWS = {
  Hann: [0.5, -0.5],
  "flat top": [0.21557895, -0.41663158, 0.277263158, -0.083578947, 0.006947368], // amplitudes to 0.1 % between lines
  none: [1],
};
export type WindowName = keyof typeof WINDOWS;

export interface Spectrum {
  frequencies: Float64Array; // [Hz], up to half the rate
  amplitudes: Float64Array; // of a sine, in the unit of the values
  rate: number; // samples a second
  uniform: boolean; // the samples were even; else they were read from lines between them
}

const LONGEST = 1 << 16;

/**
 * Amplitudes over frequencies of the last stretch without a gap, its mean taken off, at the mean spacing of its
 * samples (coarser where there are more than 65,536). A sine of amplitude A has a line of height A.
 */
export function spectrum(times: Values, values: Values, name: WindowName = "Hann"): Spectrum | null {
  const [first, last] = stretches(values).at(-1) ?? [0, 0];
  const span = at(times, last) - at(times, first);
  const count = Math.min(last - first + 1, LONGEST);
  if (count < 8 || !(span > 0)) return null;
  const step = span / (count - 1);
  let uniform = count === last - first + 1;
  const data = new Float64Array(count);
  for (let k = 0, j = first; k < count; k++) {
    const time = at(times, first) + k * step;
    while (j < last - 1 && at(times, j + 1) <= time) j += 1;
    data[k] = at(values, j) + slope(times, values, j) * (time - at(times, j));
    uniform &&= Math.abs(at(times, first + k) - time) < 1e-3 * step;
  }
  const mean = data.reduce((sum, value) => sum + value, 0) / count;
  const size = 2 ** (1 + Math.ceil(Math.log2(count))); // padded, so that a line between two others is seen
  const real = new Float64Array(size);
  const terms: number[] = WINDOWS[name];
  let gain = 0;
  for (let k = 0; k < count; k++) {
    const weight = terms.reduce((sum, term, n) => sum + term * Math.cos((2 * Math.PI * n * k) / count), 0);
    gain += weight;
    real[k] = weight * ((data[k] ?? 0) - mean);
  }
  const imaginary = new Float64Array(size);
  transform(real, imaginary);
  const half = size / 2;
  return {
    frequencies: Float64Array.from({ length: half }, (_, k) => k / (size * step)),
    amplitudes: Float64Array.from({ length: half }, (_, k) => (2 * Math.hypot(real[k] ?? 0, imaginary[k] ?? 0)) / gain),
    rate: 1 / step,
    uniform,
  };
}

/** The discrete Fourier transform in place, of 2ⁿ values (Cooley and Tukey 1965). */
export function transform(real: Float64Array, imaginary: Float64Array): void {
  const n = real.length;
  for (let k = 1, j = 0; k < n; k++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (k >= j) continue;
    [real[k], real[j]] = [real[j] ?? 0, real[k] ?? 0];
    [imaginary[k], imaginary[j]] = [imaginary[j] ?? 0, imaginary[k] ?? 0];
  }
  for (let size = 2; size <= n; size *= 2) {
    const half = size / 2;
    for (let m = 0; m < half; m++) {
      const [c, s] = [Math.cos((-2 * Math.PI * m) / size), Math.sin((-2 * Math.PI * m) / size)];
      for (let k = m; k < n; k += size) {
        const [a, b] = [real[k + half] ?? 0, imaginary[k + half] ?? 0];
        const [x, y] = [a * c - b * s, a * s + b * c];
        const [u, v] = [real[k] ?? 0, imaginary[k] ?? 0];
        real[k] = u + x;
        imaginary[k] = v + y;
        real[k + half] = u - x;
        imaginary[k + half] = v - y;
      }
    }
  }
}

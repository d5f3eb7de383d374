import assert from "node:assert/strict";
import { test } from "node:test";
import { derivative, integral, lowPass, movingMean, spectrum, transform } from "../src/plots/processing";

/** Times that are nowhere even: steps of 0.5 to 1.5 times h. */
function uneven(h: number, end: number): number[] {
  const times = [0];
  for (let k = 1; (times.at(-1) ?? 0) < end; k++) times.push((times.at(-1) ?? 0) + h * (1 + 0.5 * Math.sin(7 * k)));
  return times;
}
const worst = (values: ArrayLike<number>, expected: (k: number) => number, from = 0): number =>
  Math.max(...Array.from(values, (value, k) => (k < from ? 0 : Math.abs(value - expected(k)))));

test("the rate of a parabola is exact at any spacing, ends too, and that of a sine is of second order", () => {
  const times = uneven(0.1, 3);
  const square = times.map((t) => 2 * t * t - 3 * t + 1);
  assert(worst(derivative(times, square), (k) => 4 * (times[k] ?? 0) - 3) < 1e-12);
  const errors = [0.02, 0.01].map((h) => {
    const at = uneven(h, 3);
    return worst(derivative(at, at.map(Math.sin)), (k) => Math.cos(at[k] ?? 0));
  });
  assert((errors[0] ?? 0) / (errors[1] ?? 1) > 3.3 && (errors[1] ?? 1) < 1.5 * 0.015 ** 2);
});

test("nothing is computed across a gap", () => {
  const times = [0, 1, 2, 3, 4, 5, 6];
  const values = [0, 1, 2, NaN, 50, 52, 54];
  assert.deepEqual([...derivative(times, values)], [1, 1, 1, NaN, 2, 2, 2]);
  assert.deepEqual([...integral(times, values)], [0, 0.5, 2, NaN, 2, 53, 106]);
  assert.equal(lowPass(times, values, 1)[4], 50);
  assert.equal(movingMean(times, values, 10)[5], 51);
  assert.deepEqual([...derivative([0, 1], [3, 5])], [2, 2]);
  assert(Number.isNaN(derivative([0], [3])[0]));
});

test("the integral of lines is exact, that of a sine of second order", () => {
  const times = uneven(0.1, 3);
  assert(worst(integral(times, times), (k) => (times[k] ?? 0) ** 2 / 2) < 1e-12);
  const fine = uneven(0.01, 3);
  assert(worst(integral(fine, fine.map(Math.sin)), (k) => 1 - Math.cos(fine[k] ?? 0)) < (3 / 12) * 0.015 ** 2);
});

test("the low pass answers a step, and a line, as its closed forms", () => {
  // y'' + √2 ω y' + ω² y = ω² t from rest: y = t - √2/ω + e^(-a t) (√2/ω cos a t), a = ω/√2
  const f = 2;
  const omega = 2 * Math.PI * f;
  const a = omega / Math.SQRT2;
  for (const times of [uneven(0.01, 1), uneven(0.2, 2)]) {
    const ramp = (t: number): number =>
      t - Math.SQRT2 / omega + Math.exp(-a * t) * (Math.SQRT2 / omega) * Math.cos(a * t);
    assert(worst(lowPass(times, times, f), (k) => ramp(times[k] ?? 0)) < 1e-12);
  }
});

test("the low pass lets 1/√2 through at its frequency and a hundredth at ten times of it", () => {
  const times = uneven(0.0005, 4);
  for (const [times_f, share] of [
    [1, Math.SQRT1_2],
    [10, 1 / Math.sqrt(1 + 10 ** 4)],
    [0.1, 1 / Math.sqrt(1 + 0.1 ** 4)],
  ] as const) {
    const y = lowPass(
      times,
      times.map((t) => Math.sin(2 * Math.PI * 5 * times_f * t)),
      5,
    );
    const late = y.filter((_, k) => (times[k] ?? 0) > 1.9);
    assert(Math.abs(Math.max(...late) - share) < 2e-3 * Math.max(share, 0.1), `${times_f}: ${Math.max(...late)}`);
  }
});

test("the moving mean of a line lags by half its span, and that of a sine over its period is 0", () => {
  const times = uneven(0.05, 4);
  const mean = movingMean(times, times, 0.7);
  const late = times.findIndex((t) => t > 0.7);
  assert(worst(mean, (k) => (times[k] ?? 0) - 0.35, late) < 1e-12);
  assert(worst(mean.slice(0, late), (k) => (times[k] ?? 0) / 2) < 1e-12);
  const fine = uneven(0.002, 4);
  const sine = movingMean(
    fine,
    fine.map((t) => Math.sin(2 * Math.PI * t)),
    1,
  );
  assert(
    worst(
      sine,
      () => 0,
      fine.findIndex((t) => t > 1),
    ) < 1e-4,
  );
});

test("a transform and its conjugate are each other's inverse; that of a pulse is even", () => {
  const n = 64;
  const real = Float64Array.from({ length: n }, (_, k) => Math.sin(k * k));
  const imaginary = Float64Array.from({ length: n }, (_, k) => Math.cos(3 * k));
  const [a, b] = [real.slice(), imaginary.slice()];
  transform(a, b);
  transform(b, a); // of exchanged parts: the inverse times n
  assert(worst(a, (k) => n * (real[k] ?? 0)) < 1e-11 && worst(b, (k) => n * (imaginary[k] ?? 0)) < 1e-11);
  const pulse = new Float64Array(n);
  pulse[0] = 1;
  transform(pulse, new Float64Array(n));
  assert(worst(pulse, () => 1) === 0);
});

test("a sine of amplitude A has a line of height A at its frequency, between two lines and with an offset too", () => {
  const [A, f, h] = [0.3, 7.31, 0.001];
  const even = Array.from({ length: 3000 }, (_, k) => k * h);
  for (const [name, close] of [
    ["Hann", 0.01],
    ["flat top", 1e-3],
  ] as const) {
    const found = spectrum(
      even,
      even.map((t) => 5 + A * Math.sin(2 * Math.PI * f * t)),
      name,
    );
    assert(found?.uniform && Math.abs(found.rate - 1000) < 1e-6);
    const top = found.amplitudes.indexOf(Math.max(...found.amplitudes));
    assert(Math.abs((found.amplitudes[top] ?? 0) - A) < close * A);
    assert(Math.abs((found.frequencies[top] ?? 0) - f) < 0.2);
    assert((found.amplitudes[0] ?? 1) < 0.01 * A); // without its mean
    assert((found.frequencies.at(-1) ?? 0) < 500);
  }
});

test("samples that are not even are read from lines between them, and said to be", () => {
  const times = uneven(0.001, 2);
  const found = spectrum(
    times,
    times.map((t) => Math.sin(2 * Math.PI * 20 * t)),
    "flat top",
  );
  assert(found && !found.uniform);
  assert(Math.abs(Math.max(...found.amplitudes) - 1) < 0.005); // lines cut (2π f h)²/12 off
  assert.equal(spectrum([0, 1, 2], [1, 2, 3]), null);
});

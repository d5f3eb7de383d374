import assert from "node:assert/strict";
import { test } from "node:test";
import { type Node, parse } from "../src/expression";
import { alike, extent, Frame, pixels } from "../src/plots/chart";
import { Data, drawn, TIME } from "../src/plots/data";
import { type Pen, SvgPen } from "../src/plots/pen";
import { spread, ticks } from "../src/plots/ticks";
import type { Batch } from "../src/signals";
import { shownIn } from "../src/units";

const RULER: Pen = {
  line: () => {},
  box: () => {},
  dot: () => {},
  text: () => {},
  measure: (text) => 6 * text.length,
  within: (_x, _y, _w, _h, draw) => draw(),
};

test("a plot's range holds its values and is never empty", () => {
  for (const [low, high] of [
    [0, 1],
    [-3, 5],
    [2, 2],
    [-2, -2],
    [0, 0],
    [1e-300, 1e-300],
    [-1e300, 1e300],
  ] as const) {
    const [from, to] = spread(low, high);
    assert(from < to && from <= low && high <= to && Number.isFinite(to - from), `${low} to ${high}: ${from} to ${to}`);
  }
  for (const [low, high] of [
    [null, null],
    [Number.NaN, 1],
    [0, Infinity],
  ] as const)
    assert.deepEqual(spread(low, high), [-1, 1]);
});

test("a range of rounding is not spread over the plot", () => {
  const [from, to] = spread(1 - 1e-15, 1 + 1e-15);
  assert(to - from > 0.1);
  const [low, high] = spread(-3e-15, 2e-15);
  assert(high - low > 1e-12 && low < -3e-15 && high > 2e-15);
});

test("ticks are round, few, and written shortly", () => {
  assert.deepEqual(ticks(0, 1, 5).labels, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
  assert.deepEqual(ticks(6.176, 6.1769, 4).labels, ["6.1760", "6.1765"]);
  assert.deepEqual(ticks(-3, 3, 3).labels, ["−2", "0", "2"]);
  const large = ticks(0, 2.5e7, 5);
  assert.deepEqual([large.labels.at(-1), large.power], ["2.5", "×10⁷"]);
  const small = ticks(-2e-6, 2e-6, 4);
  assert.deepEqual([small.labels, small.power], [["−2", "−1", "0", "1", "2"], "×10⁻⁶"]);
  for (let k = -12; k < 12; k++)
    for (const most of [2, 5, 9]) {
      const { at, labels } = ticks(-1.3 * 10 ** k, 2.9 * 10 ** k, most);
      assert(at.length <= most + 1 && at.length >= 1 && labels.every((label) => label.length <= 7), `${k} ${labels}`);
    }
  assert.deepEqual(ticks(1, 1, 5).at, []);
});

test("pixels and values are each other's inverse", () => {
  const frame = new Frame(RULER, 400, 200, [2, 7], [-1, 3], 0);
  for (const x of [2, 3.3, 7]) assert(Math.abs(frame.xAt(frame.px(x)) - x) < 1e-12);
  for (const y of [-1, 0.2, 3]) assert(Math.abs(frame.yAt(frame.py(y)) - y) < 1e-12);
  assert(frame.py(3) === frame.top && frame.py(-1) === frame.bottom && frame.px(7) === frame.right);
});

test("a curve of a million points has few pixels, and its peaks", () => {
  const xs = Float64Array.from({ length: 1_000_000 }, (_, k) => k / 1e6);
  const ys = xs.map((x, k) => (k === 123_456 ? 5 : k === 700_000 ? NaN : Math.sin(2000 * x)));
  const frame = new Frame(RULER, 500, 200, [0, 1], [-6, 6], 0);
  const [px, py] = pixels({ label: "", xs, ys, colour: "" }, frame, true);
  assert(px.length < 4 * 500 + 20 && px.length === py.length);
  assert.equal(Math.min(...py.filter(Number.isFinite)), frame.py(5));
  assert.equal(py.filter(Number.isNaN).length > 0, true); // the gap stays one
  const [low, high] = extent([{ label: "", xs, ys, colour: "" }], [0.1, 0.2]);
  assert(high === 5 && Math.abs((low ?? 0) + 1) < 1e-6);
});

test("curves of one unit have the same scale to both sides", () => {
  const [x, y] = alike([0, 2], [0, 1], 400, 100);
  assert(Math.abs((x[1] - x[0]) / 400 - (y[1] - y[0]) / 100) < 1e-15);
  assert(x[0] <= 0 && x[1] >= 2 && y[0] <= 0 && y[1] >= 1);
});

test("units are shown as chosen, whatever they stand beside", () => {
  const chosen = { angle: "deg", length: "mm", turning: "rpm" };
  for (const [unit, shown, of, value] of [
    ["rad", "deg", Math.PI, 180],
    ["rad/s", "rpm", 2 * Math.PI, 60],
    ["rad/s²", "deg/s²", Math.PI, 180],
    ["m", "mm", 0.25, 250],
    ["m/s", "mm/s", 2, 2000],
    ["m/s²", "mm/s²", 9.81, 9810],
    ["N m", "N m", 3, 3],
    ["J", "J", 1, 1],
    ["", "", 1, 1],
  ] as const) {
    const { unit: found, factor } = shownIn(unit, chosen);
    assert.equal(found, shown);
    assert(Math.abs(factor * of - value) < 1e-12 * value, unit);
  }
  assert.deepEqual(shownIn("rad", { angle: "rad", length: "m", turning: "rad/s" }), { unit: "rad", factor: 1 });
});

/** Rows of signals as the session sends them. */
function batch(times: number[], of: Record<string, (t: number) => number>, options: Partial<Batch> = {}): Batch {
  const value = (row: number, name: string): number => of[name]?.(times[row] ?? NaN) ?? NaN;
  return { times, value, leapt: false, follows: false, stride: 1, places: () => null, ...options };
}

const series = (text: string): { label: string; name: string; node: Node } => ({
  label: text,
  name: text,
  node: parse(text),
});
const SIGNALS = { x: Math.cos, y: Math.sin };
const TIMES = Array.from({ length: 200 }, (_, k) => 0.05 * k);

test("one signal against another is a curve, row by row", () => {
  const data = new Data([series("y")], { kind: "signal", series: series("x") });
  assert.deepEqual(data.names, ["y", "x"]);
  data.take(batch(TIMES, SIGNALS));
  const { curves, times, unit, xUnit } = drawn(data, [1, 3], () => "m");
  assert.deepEqual([unit, xUnit], ["m", "m"]);
  const [{ xs, ys } = { xs: [], ys: [] }] = curves;
  assert(xs.length > 35 && xs.length === times.length);
  for (let k = 0; k < xs.length; k++) assert(Math.abs(Math.hypot(xs[k] ?? 0, ys[k] ?? 0) - 1) < 1e-12);
});

test("steps that are taken again are not taken twice, and steps of another course replace what was there", () => {
  for (const of of ["y", "ddt(y)"]) {
    const data = new Data([series(of)], TIME);
    data.take(batch(TIMES, SIGNALS));
    data.take(batch([1, 1.05, 1.1], { y: () => 7 }, { follows: true, leapt: true }));
    assert.deepEqual(data.curves.times, TIMES);
    data.take(batch([9.95, 10], SIGNALS, { follows: true }));
    assert.equal(data.curves.last, 10);
    data.take(batch([1.05, 1.1], { y: () => 7 }));
    assert.equal(data.curves.last, 1.1);
    assert.equal(data.curves.times.length, 21 + 2);
  }
});

test("what is recorded goes before what has come since", () => {
  const data = new Data([series("ddt(y) - x")], TIME);
  data.take(batch(TIMES.slice(100), SIGNALS));
  data.fill(TIMES, (row, name) => SIGNALS[name as "x" | "y"](TIMES[row] ?? NaN));
  assert.deepEqual(data.curves.times, TIMES);
  const [difference = new Float64Array()] = data.columns();
  assert(Math.max(...difference.map(Math.abs)) < 0.05 ** 2);
});

test("a drawing says what it shows, and no name is markup in it", () => {
  const pen = new SvgPen(RULER);
  pen.text('a < b & "c"', 1, 2, "red");
  pen.line([0, 1, NaN, 3], [0, 1, NaN, 3], "blue", 1);
  const text = pen.file(100, 50);
  assert(text.includes("a &lt; b &amp; &quot;c&quot;") && text.includes("M0.00 0.00L1.00 1.00M3.00 3.00"));
});

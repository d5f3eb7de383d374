/** What a plot shows and what it is computed from. */

import { evaluate, evaluateAll, isHistoric, type Node, signalsOf, unitOf } from "../expression";
import { Curves } from "../series";
import type { Batch } from "../signals";
import { shownIn } from "../units";
import type { Curve, Range } from "./chart";
import { lowerBound } from "./chart";
import { HISTORIC, spectrum, type WindowName } from "./processing";

export interface Series {
  label: string;
  name: string; // signal or expression, as a column of the CSV
  node: Node;
}

/** What is to the right: time, frequency, or a signal or expression. */
export type Axis = { kind: "time" } | { kind: "frequency"; window: WindowName } | { kind: "signal"; series: Series };

export const TIME: Axis = { kind: "time" };
const MOST_ROWS = 60_000; // of signals that are computed with, 60 s of steps of 1 ms

/** Samples of a pane: values of its series, or, where these need more than one row, the signals that they are of. */
export class Data {
  readonly names: string[]; // signals
  readonly curves: Curves;
  private readonly byRow: boolean; // series are computed row by row as they come

  constructor(
    readonly series: Series[],
    readonly axis: Axis,
  ) {
    const nodes = [...series, ...(axis.kind === "signal" ? [axis.series] : [])].map(({ node }) => node);
    this.names = [...new Set(nodes.flatMap(signalsOf))];
    this.byRow = axis.kind === "time" && !nodes.some(isHistoric);
    this.curves = this.byRow ? new Curves(series.length) : new Curves(this.names.length, MOST_ROWS, "rows");
  }

  /** What was read step by step since the last time. */
  take(batch: Batch): void {
    for (let row = 0; row < batch.times.length; row++) {
      const time = batch.times[row] ?? NaN;
      const { last } = this.curves;
      if (batch.follows && last !== undefined && time <= last) continue; // it is there already
      const values = this.row(time, (name) => batch.value(row, name));
      if (values.length && values.every((value) => value === null)) continue; // of the subscription before
      if (row === 0 && batch.leapt) this.curves.breakAt(time);
      this.curves.push(time, values);
    }
  }

  /** What the recording has of the time before the plot was there. */
  fill(times: number[], read: (row: number, name: string) => number): void {
    const rows = times.map((time, row) => this.row(time, (name) => read(row, name)));
    const columns = this.curves.values.map((_, k) => rows.map((row) => row[k] ?? null));
    this.curves.fill(times, columns);
  }

  private row(time: number, read: (name: string) => number): (number | null)[] {
    const values = this.byRow
      ? this.series.map(({ node }) => evaluate(node, read, time))
      : this.names.map((name) => read(name));
    return values.map((value) => (Number.isFinite(value) ? value : null));
  }

  /** Values of the series at all times there are, in SI. */
  columns(): Float64Array[] {
    return this.byRow
      ? this.curves.values.map((values) => Float64Array.from(values, (value) => value ?? NaN))
      : this.series.map(({ node }) => this.evaluated(node));
  }

  evaluated(node: Node): Float64Array {
    const columns = new Map(this.names.map((name, k) => [name, this.curves.values[k] ?? []]));
    return evaluateAll(node, this.curves.times, (name) => columns.get(name) ?? [], HISTORIC);
  }
}

/** What there is to draw, in the units that were chosen. */
export interface Drawn {
  curves: Omit<Curve, "colour">[];
  times: Float64Array; // of the points of curves; none of a spectrum
  unit: string;
  xUnit: string;
  xLabel: string;
  note: string; // what a reader ought to know
}

/** Curves of the times in a range, in chosen units. */
export function drawn(data: Data, span: Range, units: (name: string) => string): Drawn {
  const { series, axis, curves } = data;
  const measured = series.map(({ node }) => unitOf(node, units));
  const common = measured.every((unit) => unit === measured[0]) ? (measured[0] ?? "") : "";
  const { unit, factor } = common ? shownIn(common) : { unit: common, factor: 1 };
  const first = Math.max(0, lowerBound(curves.times, span[0]) - 1);
  const end = Math.min(curves.times.length, lowerBound(curves.times, span[1]) + 1);
  const times = Float64Array.from(curves.times.slice(first, end));
  const columns = data.columns().map((column) => column.slice(first, end).map((value) => factor * value));
  const over = (xs: Float64Array): Drawn["curves"] =>
    series.map(({ label }, k) => ({ label, xs, ys: columns[k] ?? new Float64Array() }));
  if (axis.kind === "time") return { curves: over(times), times, unit, xUnit: "s", xLabel: "t", note: "" };
  if (axis.kind === "signal") {
    const shown = shownIn(unitOf(axis.series.node, units));
    const xs = data
      .evaluated(axis.series.node)
      .slice(first, end)
      .map((value) => shown.factor * value);
    return { curves: over(xs), times, unit, xUnit: shown.unit, xLabel: axis.series.label, note: "" };
  }
  const found = columns.map((column) => spectrum(times, column, axis.window));
  const known = found.find((one) => one !== null);
  const about = known ? `${Math.round(known.rate)} Hz${known.uniform ? "" : ", resampled"}` : "more samples are wanted";
  return {
    curves: found.map((one, k) => ({
      label: series[k]?.label ?? "",
      xs: one?.frequencies ?? new Float64Array(),
      ys: one?.amplitudes ?? new Float64Array(),
    })),
    times: new Float64Array(),
    unit,
    xUnit: "Hz",
    xLabel: "f",
    note: axis.window === "none" ? about : `${axis.window}, ${about}`,
  };
}

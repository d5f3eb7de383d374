/** Series of plots: tables of them, and what a mistyped signal may have meant. */

export interface Column {
  name: string;
  unit: string;
  times: number[];
  values: (number | null)[]; // null: not at that time
}

/** Columns over all their times; a cell is empty where a column has no value. */
export function csvOf(columns: Column[]): string {
  const times = [...new Set(columns.flatMap((column) => column.times))].sort((a, b) => a - b);
  const cells = columns.map(({ times, values }) => new Map(times.map((time, k) => [time, values[k]])));
  const head = ["time [s]", ...columns.map(({ name, unit }) => quoted(unit ? `${name} [${unit}]` : name))];
  const rows = times.map((time) => [time, ...cells.map((at) => at.get(time) ?? "")].join(","));
  return `${[head.join(","), ...rows].join("\n")}\n`;
}

/** A text as a cell of a table. */
export function quoted(text: string): string {
  // What begins like a formula is one to a spreadsheet, whatever it means here.
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** The known name that has most words in common with one that is not known. */
export function nearest(name: string, known: string[]): string | undefined {
  const words = name
    .toLowerCase()
    .split(/[.\s]+/)
    .filter(Boolean);
  const score = (other: string): number => words.filter((word) => other.toLowerCase().includes(word)).length;
  let best: { other: string | undefined; score: number } = { other: known[0], score: 0 };
  for (const other of known) if (score(other) > best.score) best = { other, score: score(other) };
  return best.other;
}

/**
 * Values over shared times, few enough to draw: where there are too many, the older half is thinned, to the extremes of
 * each curve, or by every second row where curves belong together.
 */
export class Curves {
  times: number[] = [];
  values: (number | null)[][];

  constructor(
    readonly count: number,
    private readonly most = 20_000,
    private readonly keep: "extremes" | "rows" = "extremes",
  ) {
    this.values = Array.from({ length: count }, () => []);
  }

  get last(): number | undefined {
    return this.times.at(-1);
  }

  /** A row behind the others; one of the same time takes the place of the last, and none goes back in time. */
  push(time: number, row: (number | null)[]): void {
    if (this.last !== undefined && time <= this.last) this.cut(time, true);
    this.times.push(time);
    for (const [k, values] of this.values.entries()) values.push(row[k] ?? null);
    if (this.times.length > this.most) this.thin();
  }

  /** A place across which no line is drawn. */
  breakAt(time: number): void {
    if (this.last !== undefined && time > this.last) this.push(time, []);
  }

  /** Forget what came after a time, with `at` also what is there. */
  cut(time: number, at = false): void {
    let count = this.times.length;
    while (count > 0 && ((this.times[count - 1] ?? time) > time || (at && this.times[count - 1] === time))) count -= 1;
    this.times.length = count;
    for (const values of this.values) values.length = count;
  }

  /** Rows of before, in front of the first there is. */
  fill(times: number[], values: (number | null)[][]): void {
    const first = this.times[0] ?? Infinity;
    const found = times.findIndex((time) => time >= first);
    const count = found < 0 ? times.length : found;
    this.times = [...times.slice(0, count), ...this.times];
    this.values = this.values.map((own, k) => [...(values[k] ?? []).slice(0, count), ...own]);
    while (this.times.length > this.most) this.thin();
  }

  private thin(): void {
    if (this.keep === "rows") this.thinRows();
    else this.thinToExtremes();
  }

  /** Every second row of the older half, and every gap. */
  private thinRows(): void {
    const half = this.times.length / 2;
    const isGap = (k: number): boolean => this.values.every((values) => values[k] === null);
    const kept = this.times.flatMap((_, k) => (k >= half || k % 2 === 0 || isGap(k) ? [k] : []));
    this.times = kept.map((k) => this.times[k] ?? 0);
    this.values = this.values.map((values) => kept.map((k) => values[k] ?? null));
  }

  /** Four rows of the older half become two: of each curve its least and its greatest value, in their order. */
  private thinToExtremes(): void {
    const half = Math.floor(this.times.length / 8) * 4;
    const times: number[] = [];
    for (let k = 0; k < half; k += 4) times.push(this.times[k + 1] ?? 0, this.times[k + 2] ?? 0);
    this.values = this.values.map((values) => {
      const kept: (number | null)[] = [];
      for (let k = 0; k < half; k += 4) kept.push(...extremes(values.slice(k, k + 4)));
      return [...kept, ...values.slice(half)];
    });
    this.times = [...times, ...this.times.slice(half)];
  }
}

/** The least and the greatest of some values, in their order; null where one of them is, so that gaps stay. */
function extremes(values: (number | null)[]): [number | null, number | null] {
  let low = 0;
  let high = 0;
  for (const [k, value] of values.entries()) {
    if (value === null) return [values[0] ?? null, null];
    if (value < (values[low] ?? value)) low = k;
    if (value > (values[high] ?? value)) high = k;
  }
  const ends: [number | null, number | null] = [values[low] ?? null, values[high] ?? null];
  return low <= high ? ends : [ends[1], ends[0]];
}

/** Series of plots: ranges, tables of them, and what a mistyped signal may have meant. */

export interface Column {
  name: string;
  unit: string;
  times: number[];
  values: (number | null)[]; // null: not at that time
}

/** A range that holds low to high with some air, and is never empty. */
export function spread(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high)) return [-1, 1];
  const air = 0.06 * (high - low) || 0.1 * Math.abs(high) || 1e-12;
  return [low - air, high + air];
}

/** Columns over all their times; a cell is empty where a column has no value. */
export function csvOf(columns: Column[]): string {
  const times = [...new Set(columns.flatMap((column) => column.times))].sort((a, b) => a - b);
  const cells = columns.map(({ times, values }) => new Map(times.map((time, k) => [time, values[k]])));
  const head = ["time [s]", ...columns.map(({ name, unit }) => quoted(unit ? `${name} [${unit}]` : name))];
  const rows = times.map((time) => [time, ...cells.map((at) => at.get(time) ?? "")].join(","));
  return `${[head.join(","), ...rows].join("\n")}\n`;
}

function quoted(text: string): string {
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

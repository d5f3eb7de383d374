/** Values over time as motors and loads have them: what they are at a time, others to begin with, and drawn curves. */

import type { Profile, Value } from "./edits";
import { evaluate, type Node, parse } from "./expression";
import { readFinite, roundNumber } from "./numbers";

export const KINDS = ["constant", "ramp", "smooth", "sine", "table", "formula"] as const;
export type Kind = (typeof KINDS)[number];
/** One component of a value. */
export type One = number | Profile;

const TURN = 2 * Math.PI;

export function isProfile(value: unknown): value is Profile {
  return typeof value === "object" && value !== null && "profile" in value;
}

export function kindOf(value: One): Kind {
  if (!isProfile(value)) return "constant";
  return value.profile === "harmonic" ? "sine" : value.profile;
}

/** Components of a value that is one, or three; null where they are not known (a callable's). */
export function componentsOf(value: Value | null): One[] | null {
  const list = Array.isArray(value) ? value : [value];
  return list.every((item) => typeof item === "number" || isProfile(item)) ? (list as One[]) : null;
}

/** The value that something goes to and keeps; null where there is no such one. */
export function aimOf(value: Value | null): number | null {
  if (typeof value === "number") return value;
  const goes = isProfile(value) && (value.profile === "smooth" || value.profile === "ramp");
  return goes && typeof value.end === "number" ? value.end : null;
}

let known: { text: string; node: Node | null } = { text: "", node: null };

/** The tree of a formula of time; null where it is none. */
function treeOf(text: string): Node | null {
  if (known.text !== text) {
    try {
      known = { text, node: parse(text) };
    } catch {
      known = { text, node: null };
    }
  }
  return known.node;
}

/** The value at a time [s], as the engine has it; NaN where it has none. */
export function valueAt(value: One, t: number): number {
  if (!isProfile(value)) return value;
  switch (value.profile) {
    case "ramp":
    case "smooth": {
      const [t0, t1] = [Number(value.t0), Number(value.t1)];
      const u = Math.min(Math.max((t - t0) / (t1 - t0), 0), 1);
      const s = value.profile === "ramp" ? u : u ** 3 * (10 - u * (15 - 6 * u));
      return (1 - s) * Number(value.start) + s * Number(value.end);
    }
    case "harmonic":
      return (
        Number(value.mean ?? 0) + Number(value.amplitude) * Math.sin(Number(value.omega) * t + Number(value.phase ?? 0))
      );
    case "table": {
      const times = value.times.map(Number);
      const after = times.findIndex((time) => time > t);
      if (after === 0) return Number(value.values[0]);
      if (after < 0) return Number(value.values.at(-1));
      const [t0, t1] = [times[after - 1] ?? 0, times[after] ?? 1];
      const s = (t - t0) / (t1 - t0);
      return (1 - s) * Number(value.values[after - 1]) + s * Number(value.values[after]);
    }
    case "formula": {
      const node = treeOf(value.text);
      return node ? evaluate(node, () => NaN, t) : NaN;
    }
  }
}

/** A value of another kind that goes on from what one is now; `size` is what a value of 0 is replaced by. */
export function changed(value: One, kind: Kind, now: number, size: number): One {
  const at = roundNumber(valueAt(value, now) || 0, 6);
  const far = at || size;
  const t0 = roundNumber(now, 6);
  switch (kind) {
    case "constant":
      return aimOf(value) ?? at;
    case "ramp":
    case "smooth":
      return { profile: kind, start: at, end: at === 0 ? size : roundNumber(2 * at, 6), t0, t1: t0 + 1 };
    case "sine": // begins at its top, or where it was 0 there
      return { profile: "harmonic", amplitude: far, omega: TURN, phase: phaseAt(t0, at === 0 ? 0 : 0.25), mean: 0 };
    case "table":
      return { profile: "table", times: [t0, t0 + 1, t0 + 2], values: [at, at === 0 ? size : 2 * at, at] };
    case "formula":
      return { profile: "formula", text: `${far}*${at === 0 ? "sin" : "cos"}(2*pi*(t - ${t0}))` };
  }
}

/** The phase that a wave of 1 Hz has so many turns on at a time. */
function phaseAt(time: number, turns: number): number {
  return roundNumber(TURN * (turns - (time - Math.floor(time))), 12);
}

/** A number of a profile as it is typed: its name, its unit, and how it goes into the profile. */
export interface Field {
  name: string;
  unit: string;
  text: string;
  put: (text: string) => Profile;
}

/** What of a profile can be typed, where its value has a unit. */
export function fieldsOf(value: Profile, unit: string): Field[] {
  const number = (name: string, key: string, of: string, factor = 1): Field => ({
    name,
    unit: of,
    text: String(Number((value as unknown as Record<string, number>)[key] ?? 0) / factor),
    put: (text) => ({ ...value, [key]: factor * readFinite(text, name) }) as Profile,
  });
  switch (value.profile) {
    case "ramp":
    case "smooth":
      return [
        number("from", "start", unit),
        number("to", "end", unit),
        number("begins", "t0", "s"),
        number("ends", "t1", "s"),
      ];
    case "harmonic":
      return [
        number("mean", "mean", unit),
        number("amplitude", "amplitude", unit),
        number("frequency", "omega", "Hz", TURN),
        number("phase", "phase", "deg", Math.PI / 180),
      ];
    case "table":
      return (["times", "values"] as const).map((key) => ({
        name: key,
        unit: key === "times" ? "s" : unit,
        text: value[key].join(" "),
        put: (text) =>
          ({
            ...value,
            [key]: text
              .trim()
              .split(/[\s;]+/)
              .map((one) => readFinite(one, key)),
          }) as Profile,
      }));
    case "formula":
      return [{ name: "formula", unit: "of t", text: value.text, put: (text) => ({ ...value, text: text.trim() }) }];
  }
}

/** A curve that is drawn by hand: heights 0 to 1 at even places, the newest stroke holding. */
export class Drawing {
  readonly heights: number[];
  private isDrawn: boolean[];
  private last: { k: number; y: number } | null = null;

  constructor(readonly count = 240) {
    this.heights = new Array(count).fill(0.5);
    this.isDrawn = new Array(count).fill(false);
  }

  /** The pen is up. */
  lift(): void {
    this.last = null;
  }

  /** The pen is at a place from 0 to 1, at a height. */
  stroke(x: number, y: number): void {
    const k = Math.min(Math.max(Math.round(x * (this.count - 1)), 0), this.count - 1);
    const now = { k, y: Math.min(Math.max(y, 0), 1) };
    const from = this.last ?? now;
    const steps = Math.abs(now.k - from.k);
    for (let step = 0; step <= steps; step++) {
      const share = steps ? step / steps : 1;
      const at = from.k + Math.sign(now.k - from.k) * step;
      this.heights[at] = from.y + share * (now.y - from.y);
      this.isDrawn[at] = true;
    }
    this.last = now;
    this.hold();
  }

  /** What is not drawn lies on lines between what is, and goes on evenly beside it. */
  private hold(): void {
    const drawn = this.isDrawn.flatMap((isDrawn, k) => (isDrawn ? [k] : []));
    for (let k = 0; k < this.count; k++) {
      if (this.isDrawn[k]) continue;
      const after = drawn.find((other) => other > k);
      const before = drawn.findLast((other) => other < k);
      const [a, b] = [this.heights[before ?? after ?? k] ?? 0.5, this.heights[after ?? before ?? k] ?? 0.5];
      const share = before !== undefined && after !== undefined ? (k - before) / (after - before) : 0;
      this.heights[k] = a + share * (b - a);
    }
  }

  /** Smoothed, as a table of `points` over a span of time, for heights from `low` to `high`. */
  table(t0: number, span: number, low: number, high: number, points = 41): Profile {
    let heights = this.heights;
    for (let round = 0; round < 4; round++) heights = smoothed(heights);
    const at = Array.from({ length: points }, (_, k) => k / (points - 1));
    const values = at.map((x) => {
      const place = x * (this.count - 1);
      const k = Math.min(Math.floor(place), this.count - 2);
      const height = (heights[k] ?? 0) + (place - k) * ((heights[k + 1] ?? 0) - (heights[k] ?? 0));
      return roundNumber(low + height * (high - low), 5);
    });
    return { profile: "table", times: at.map((x) => roundNumber(t0 + x * span, 9)), values };
  }
}

/** Each of some numbers as a mean of it and its neighbours by 1 4 6 4 1; the ends stay, and lines stay lines. */
function smoothed(values: number[]): number[] {
  const at = (k: number): number => {
    const last = values.length - 1;
    if (k < 0) return 2 * (values[0] ?? 0) - (values[-k] ?? 0);
    return k > last ? 2 * (values[last] ?? 0) - (values[2 * last - k] ?? 0) : (values[k] ?? 0);
  };
  return values.map((_, k) => (at(k - 2) + 4 * at(k - 1) + 6 * at(k) + 4 * at(k + 1) + at(k + 2)) / 16);
}

/** Units that values are shown in, by choice and remembered; the session has SI and radians throughout. */

import { recall, remember } from "./memory";

interface Shown {
  unit: string;
  factor: number; // what is shown over what is measured
}

/** What there is to choose from, the unit of the session first. */
export const CHOICES = {
  angle: ["rad", "deg"],
  length: ["m", "mm"],
  turning: ["rad/s", "deg/s", "rpm"],
} as const;
export type Dimension = keyof typeof CHOICES;
type Chosen = Record<Dimension, string>;

const DEGREES = 180 / Math.PI;
const FACTORS: Record<string, number> = { deg: DEGREES, mm: 1000, "deg/s": DEGREES, rpm: 30 / Math.PI };
const KEY = "units";
const listeners: (() => void)[] = [];
let chosen: Chosen = read();

function read(): Chosen {
  const kept = recall<Partial<Chosen>>(KEY, {});
  const one = (of: Dimension): string => CHOICES[of].find((unit) => unit === kept[of]) ?? CHOICES[of][0];
  return { angle: one("angle"), length: one("length"), turning: one("turning") };
}

export function unitFor(dimension: Dimension): string {
  return chosen[dimension];
}

export function choose(dimension: Dimension, unit: string): void {
  chosen = { ...chosen, [dimension]: unit };
  remember(KEY, chosen);
  for (const listener of listeners) listener();
}

export function onUnits(listener: () => void): void {
  listeners.push(listener);
}

/** How values of a unit are shown: angles, lengths and speeds as chosen, all else as it is. */
export function shownIn(unit: string, by: Chosen = chosen): Shown {
  const [of, ...per] = unit.split("/");
  const rest = per.length ? `/${per.join("/")}` : "";
  if (unit === "rad/s") return { unit: by.turning, factor: FACTORS[by.turning] ?? 1 };
  if (of === "rad") return { unit: `${by.angle}${rest}`, factor: FACTORS[by.angle] ?? 1 };
  if (of === "m") return { unit: `${by.length}${rest}`, factor: FACTORS[by.length] ?? 1 };
  return { unit, factor: 1 };
}

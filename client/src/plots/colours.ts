/** Colours of plots, of the theme. */

import { colour } from "../theme";
import type { Colours } from "./chart";

const HUES = 6;

/** The colour of the k-th curve of a plot. */
export function hue(k: number): string {
  return colour(`s${(k % HUES) + 1}`);
}

export function colours(): Colours {
  const [text, muted, line, accent, mark] = ["text", "muted", "line", "accent", "warn"].map(colour);
  return { text, muted, line, accent, mark } as Colours;
}

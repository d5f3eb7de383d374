/** Which of many small texts in a picture can be read. */

const WIDE = 7; // pixels of a letter, about: to measure each would have the page laid out for every picture
const EDGES = 14; // pixels beside the letters
const HIGH = 20; // pixels of a label

/** A text in the picture: its corner in pixels, and whether others may have its place. */
export interface Place {
  x: number;
  y: number;
  text: string;
  rank: number; // 0: it is shown whatever is there; of the others the lower ones come first
}

/** Which of the texts can be read, each in its place: one that gives way is left out where it would cover another. */
export function readable(places: Place[]): Set<Place> {
  const shown = new Set<Place>();
  for (const place of [...places].sort((a, b) => a.rank - b.rank)) {
    if (place.rank === 0 || [...shown].every((other) => areApart(place, other))) shown.add(place);
  }
  return shown;
}

function areApart(a: Place, b: Place): boolean {
  const [left, right] = a.x < b.x ? [a, b] : [b, a];
  return Math.abs(a.y - b.y) >= HIGH || right.x - left.x >= WIDE * left.text.length + EDGES;
}

/** A curve that was drawn by hand, as points evenly along it. */

import type { Vec3 } from "../numbers";

const NEAR = 0.15; // of its length: ends that are nearer to each other meet

/** Do the ends of a line meet, as they were meant to? */
export function isClosed(points: Vec3[]): boolean {
  const [first, last] = [points[0], points[points.length - 1]];
  return first !== undefined && last !== undefined && away(first, last) < NEAR * length(points);
}

/** So many points evenly along a line; of one whose ends meet, once round. */
export function evenlyAlong(points: Vec3[], count: number): Vec3[] {
  const closed = isClosed(points);
  const line = closed && points[0] ? [...points, points[0]] : points;
  const step = length(line) / (closed ? count : count - 1);
  if (!(step > 0)) return [];
  const found: Vec3[] = [];
  let before = 0; // length up to the piece
  for (let k = 0; k + 1 < line.length && found.length < count; k++) {
    const [a, b] = [line[k] as Vec3, line[k + 1] as Vec3];
    const own = away(a, b);
    while (found.length < count && found.length * step <= before + own * (1 + 1e-9)) {
      const share = own > 0 ? (found.length * step - before) / own : 0;
      found.push(a.map((value, axis) => value + share * ((b[axis] ?? value) - value)) as Vec3);
    }
    before += own;
  }
  const last = line[line.length - 1];
  if (!closed && last && found.length < count) found.push(last); // rounding
  return found;
}

function away(a: Vec3, b: Vec3): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

function length(points: Vec3[]): number {
  return points.slice(1).reduce((sum, point, k) => sum + away(points[k] ?? point, point), 0);
}

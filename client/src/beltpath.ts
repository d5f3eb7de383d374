/** The way of a belt over two wheels, in their plane: x from the first to the second, an angle grows towards y. */

import type { Flat } from "./build/plane";

const ARC = 32; // sides of an arc

/**
 * Corners of the closed way over wheels of radii a and b, d apart, that the belt goes while the first turns clockwise;
 * null where one wheel is in the way of the other. A crossed belt touches the second wheel on the other side.
 */
export function beltPath(a: number, b: number, d: number, isCrossed: boolean): Flat[] | null {
  const share = (isCrossed ? a + b : a - b) / d;
  if (!(Math.abs(share) < 1) || !(d > 0)) return null;
  const beta = Math.acos(share); // of the points where the belt leaves the wheels, from x
  const second = isCrossed ? beta - Math.PI : beta;
  return [...arc(0, a, 2 * Math.PI - beta, beta), ...arc(d, b, second, -second)];
}

/** From one angle to another, about a point of x. */
function arc(x: number, r: number, from: number, to: number): Flat[] {
  return Array.from({ length: ARC + 1 }, (_, k): Flat => {
    const angle = from + ((to - from) * k) / ARC;
    return [x + r * Math.cos(angle), r * Math.sin(angle)];
  });
}

/** Points so far along a closed way from its first corner, and on by equal distances near `spacing`. */
export function along(corners: Flat[], start: number, spacing: number): Flat[] {
  const ring = [...corners, corners[0] ?? ([0, 0] as Flat)];
  const sides = corners.map((corner, k) => distance(corner, ring[k + 1] ?? corner));
  const length = sides.reduce((sum, side) => sum + side, 0);
  const count = Math.max(1, Math.round(length / spacing));
  const wanted = Array.from({ length: count }, (_, k) => modulo(start + (k * length) / count, length));
  return wanted.map((at) => {
    let left = at;
    for (const [k, side] of sides.entries()) {
      const [p, q] = [ring[k] as Flat, ring[k + 1] as Flat];
      if (left <= side && side > 0) return [p[0] + ((q[0] - p[0]) * left) / side, p[1] + ((q[1] - p[1]) * left) / side];
      left -= side;
    }
    return ring[0] as Flat;
  });
}

function distance(a: Flat, b: Flat): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}

function modulo(x: number, by: number): number {
  return ((x % by) + by) % by;
}

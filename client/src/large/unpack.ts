/** Poses of bodies as frames of a large world have them; src/impulsar/studio/large_messages.py has the layout. */

import type { LargeFrame } from "../messages";

export const PLACES = 2 ** 21 - 1; // of a place along one side of a frame's box
const TURNS = 2 ** 10 - 1; // of a component of an orientation
const MASK = 2 ** 21 - 1;

/** A sphere around some places. */
export interface Ball {
  x: number;
  y: number;
  z: number;
  radius: number;
}

/** Place of a body, written into `out`. */
export function place(frame: LargeFrame, k: number, out: Float32Array | number[], at = 0): void {
  const low = frame.places[2 * k] as number;
  const high = frame.places[2 * k + 1] as number;
  out[at] = frame.low_x + (frame.span_x * (low & MASK)) / PLACES;
  out[at + 1] = frame.low_y + (frame.span_y * (((low >>> 21) | (high << 11)) & MASK)) / PLACES;
  out[at + 2] = frame.low_z + (frame.span_z * ((high >>> 10) & MASK)) / PLACES;
}

/** Unit quaternion xyzw of a body, written into `out`. */
export function turn(frame: LargeFrame, k: number, out: Float32Array | number[], at = 0): void {
  const packed = frame.turns[k] as number;
  const left = packed >>> 30;
  let sum = 0;
  for (let i = 0, j = 0; i < 4; i++) {
    if (i === left) continue;
    const value = (((packed >>> (10 * j)) & TURNS) / TURNS - 0.5) * Math.SQRT2;
    out[at + i] = value;
    sum += value * value;
    j += 1;
  }
  out[at + left] = Math.sqrt(Math.max(0, 1 - sum));
}

const q = [0, 0, 0, 1];
const p = [0, 0, 0];

/** Matrices of bodies `from` to `from + count` of a frame, column by column, and the ball around their places. */
export function matrices(frame: LargeFrame, from: number, count: number, out: Float32Array): Ball {
  let [x0, y0, z0, x1, y1, z1] = [Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity];
  for (let k = 0; k < count; k++) {
    place(frame, from + k, p);
    turn(frame, from + k, q);
    compose(p, q, out, 16 * k);
    const [x, y, z] = p as [number, number, number];
    if (x < x0) x0 = x;
    if (y < y0) y0 = y;
    if (z < z0) z0 = z;
    if (x > x1) x1 = x;
    if (y > y1) y1 = y;
    if (z > z1) z1 = z;
  }
  return {
    x: (x0 + x1) / 2,
    y: (y0 + y1) / 2,
    z: (z0 + z1) / 2,
    radius: 0.5 * Math.hypot(x1 - x0, y1 - y0, z1 - z0),
  };
}

function compose(at: number[], turned: number[], out: Float32Array, o: number): void {
  const [x, y, z, w] = turned as [number, number, number, number];
  out[o] = 1 - 2 * (y * y + z * z);
  out[o + 1] = 2 * (x * y + z * w);
  out[o + 2] = 2 * (x * z - y * w);
  out[o + 3] = 0;
  out[o + 4] = 2 * (x * y - z * w);
  out[o + 5] = 1 - 2 * (x * x + z * z);
  out[o + 6] = 2 * (y * z + x * w);
  out[o + 7] = 0;
  out[o + 8] = 2 * (x * z + y * w);
  out[o + 9] = 2 * (y * z - x * w);
  out[o + 10] = 1 - 2 * (x * x + y * y);
  out[o + 11] = 0;
  out[o + 12] = at[0] as number;
  out[o + 13] = at[1] as number;
  out[o + 14] = at[2] as number;
  out[o + 15] = 1;
}

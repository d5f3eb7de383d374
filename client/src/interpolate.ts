/**
 * Between frames: cubics through the poses of two moments that have their velocities at both ends (Hermite).
 *
 * Positions: p(s) = p0 + s·h·v0 + s²·(3d - h·(2·v0 + v1)) + s³·(h·(v0 + v1) - 2d) with d = p1 - p0, s from 0 to 1, h [s]
 * the time between. Turns the same way, by the rotation vector r(s) from the first orientation on, in its axes: r(0) = 0,
 * r(1) = log(q0⁻¹ q1), with h·w as its rate at the start and at the end what gives the body's w there, h·J⁻¹(r)·w.
 * The error is of fourth order: |d⁴p/dt⁴|·h⁴/384.
 */

export const CONTACT = 7; // numbers of a contact: place, force, whether it slides
export const POSE = 7; // numbers of a body: position, orientation xyzw
export const TWIST = 6; // angular velocity, velocity; world axes

/** A moment of all bodies. */
export interface Moment {
  time: number; // [s]
  poses: Float32Array;
  twists: Float32Array;
}

/** Poses at a share `s` of the time between two moments, written into `out`. */
export function between(a: Moment, b: Moment, s: number, out: Float32Array): void {
  const h = b.time - a.time;
  const [s2, s3] = [s * s, s * s * s];
  const ends = 3 * s2 - 2 * s3; // of the way, and of the rates at both ends
  const [first, last] = [h * (s - 2 * s2 + s3), h * (s3 - s2)];
  const count = a.poses.length / POSE;
  for (let k = 0; k < count; k++) {
    const [p, t] = [POSE * k, TWIST * k];
    for (let j = 0; j < 3; j++) {
      const start = at(a.poses, p + j);
      out[p + j] =
        start + ends * (at(b.poses, p + j) - start) + first * at(a.twists, t + 3 + j) + last * at(b.twists, t + 3 + j);
    }
    turn(a, b, k, h, ends, first, last, out);
  }
}

function at(values: Float32Array, k: number): number {
  return values[k] as number;
}

/** The orientation of one body, in place. */
function turn(
  a: Moment,
  b: Moment,
  k: number,
  h: number,
  ends: number,
  first: number,
  last: number,
  out: Float32Array,
): void {
  const [p, t] = [POSE * k + 3, TWIST * k];
  const [x, y, z, w] = [at(a.poses, p), at(a.poses, p + 1), at(a.poses, p + 2), at(a.poses, p + 3)];
  const [X, Y, Z, W] = [at(b.poses, p), at(b.poses, p + 1), at(b.poses, p + 2), at(b.poses, p + 3)];
  // q0⁻¹ q1, the rates at both ends in the axes of the body there
  let [dx, dy, dz, dw] = [
    w * X - x * W - y * Z + z * Y,
    w * Y - y * W - z * X + x * Z,
    w * Z - z * W - x * Y + y * X,
    w * W + x * X + y * Y + z * Z,
  ];
  if (dw < 0) [dx, dy, dz, dw] = [-dx, -dy, -dz, -dw];
  const start = inverse(x, y, z, w, at(a.twists, t), at(a.twists, t + 1), at(a.twists, t + 2));
  const end = inverse(X, Y, Z, W, at(b.twists, t), at(b.twists, t + 1), at(b.twists, t + 2));
  const sine = Math.hypot(dx, dy, dz);
  let angle = 2 * Math.atan2(sine, dw);
  let axis: [number, number, number] = [0, 0, 0];
  if (sine > 1e-12) axis = [dx / sine, dy / sine, dz / sine];
  const mean = (h / 2) * (dot(start, axis) + dot(end, axis)); // tells whole turns, which orientations do not
  angle += 2 * Math.PI * Math.round((mean - angle) / (2 * Math.PI));
  const r: [number, number, number] = [angle * axis[0], angle * axis[1], angle * axis[2]];
  const rate = rateOf(r, end);
  const v: [number, number, number] = [
    ends * r[0] + first * start[0] + last * rate[0],
    ends * r[1] + first * start[1] + last * rate[1],
    ends * r[2] + first * start[2] + last * rate[2],
  ];
  const size = Math.hypot(...v);
  const f = size > 1e-9 ? Math.sin(size / 2) / size : 0.5;
  const [ex, ey, ez, ew] = [f * v[0], f * v[1], f * v[2], Math.cos(size / 2)];
  out[p] = w * ex + x * ew + y * ez - z * ey;
  out[p + 1] = w * ey + y * ew + z * ex - x * ez;
  out[p + 2] = w * ez + z * ew + x * ey - y * ex;
  out[p + 3] = w * ew - x * ex - y * ey - z * ez;
}

function dot(a: readonly number[], b: readonly number[]): number {
  return (a[0] ?? 0) * (b[0] ?? 0) + (a[1] ?? 0) * (b[1] ?? 0) + (a[2] ?? 0) * (b[2] ?? 0);
}

function cross(a: readonly [number, number, number], b: readonly [number, number, number]): [number, number, number] {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

/** A vector of the world in the axes of a body. */
function inverse(
  x: number,
  y: number,
  z: number,
  w: number,
  a: number,
  b: number,
  c: number,
): [number, number, number] {
  const [tx, ty, tz] = [2 * (b * z - c * y), 2 * (c * x - a * z), 2 * (a * y - b * x)];
  return [a + w * tx + ty * z - tz * y, b + w * ty + tz * x - tx * z, c + w * tz + tx * y - ty * x];
}

/** Rate of the rotation vector r of a body that turns by w in its own axes: w + r×w/2 + c·r×(r×w). */
function rateOf(r: [number, number, number], w: [number, number, number]): [number, number, number] {
  const size = Math.hypot(...r);
  const once = cross(r, w);
  const twice = cross(r, once);
  const half = size / 2;
  // (1 - half/tan(half))/size²; near whole turns that has a pole, where the second term is all there is to say
  const c = size < 1e-4 ? 1 / 12 : Math.abs(Math.sin(half)) < 0.05 ? 0 : (1 - half / Math.tan(half)) / (size * size);
  return [
    w[0] + 0.5 * once[0] + c * twice[0],
    w[1] + 0.5 * once[1] + c * twice[1],
    w[2] + 0.5 * once[2] + c * twice[2],
  ];
}

/** The contacts of a frame. */
export interface Touching {
  time: number; // [s]
  contacts: Float32Array;
}

/**
 * Contacts at a time between frames, in order of time: bodies are shown a little late, and what they touch with them.
 * Points of frames that have equally many go evenly from one to the other; else they are those of the nearer frame.
 */
export function contactsAt(frames: Touching[], time: number): Float32Array {
  const after = frames.findIndex((frame) => frame.time >= time);
  const b = frames[after] ?? frames.at(-1);
  const a = frames[after - 1];
  if (!b) return new Float32Array();
  if (!a || after < 0) return b.contacts;
  const share = (time - a.time) / (b.time - a.time);
  const nearer = share < 0.5 ? a.contacts : b.contacts;
  if (a.contacts.length !== b.contacts.length) return nearer;
  return nearer.map((value, k) =>
    k % CONTACT < 3 ? (a.contacts[k] ?? 0) * (1 - share) + (b.contacts[k] ?? 0) * share : value,
  );
}

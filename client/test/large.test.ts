import assert from "node:assert/strict";
import { test } from "node:test";
import * as THREE from "three";
import { within } from "../src/large/box";
import { levelFor } from "../src/large/geometry";
import { matrices, PLACES, place, turn } from "../src/large/unpack";
import { decodeLarge, LARGE_MAGIC } from "../src/messages";

const HEADER = 96;

/** A frame of block 5 with three bodies, in a box from (-1, 0, 2) with sides 2, 4 and 0. */
function packed(): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(HEADER + 4 + 3 * 12));
  view.setUint32(0, LARGE_MAGIC, true);
  view.setUint32(4, 3, true);
  for (const [k, value] of [0.5, 7, -1, 0, 2, 2, 4, 0].entries()) view.setFloat64(8 + 8 * k, value, true);
  for (const [k, value] of [11, 2, 9, 1, 3, 3].entries()) view.setUint32(72 + 4 * k, value, true);
  view.setUint32(HEADER, 5, true);
  const places = [
    [0, 0, 0],
    [PLACES, PLACES, PLACES],
    [PLACES, 1, 0],
  ] as const;
  for (const [k, [x, y, z]] of places.entries())
    view.setBigUint64(HEADER + 4 + 8 * k, BigInt(x) | (BigInt(y) << 21n) | (BigInt(z) << 42n), true);
  const half = Math.round((0.5 + Math.SQRT1_2 * Math.sin(Math.PI / 8)) * 1023); // 45 degrees about z: z = sin(22.5°)
  const zero = [512, 512, 512];
  for (const [k, [a, b, c, left]] of [
    [...zero, 3],
    [512, 512, half, 3],
    [...zero, 0],
  ].entries() as IterableIterator<[number, [number, number, number, number]]>)
    view.setUint32(HEADER + 28 + 4 * k, (a | (b << 10) | (c << 20) | (left << 30)) >>> 0, true);
  return view.buffer;
}

const near = (found: ArrayLike<number>, wanted: number[], by: number): void => {
  const off = wanted.map((value, k) => Math.abs((found[k] as number) - value));
  assert.equal(Math.max(...off) <= by, true, `${Array.from(found).join(" ")}, expected ${wanted.join(" ")}`);
};

test("a frame of a large world is read body by body", () => {
  const frame = decodeLarge(packed());
  assert.deepEqual([frame.generation, frame.time, frame.step, frame.number, [...frame.which]], [3, 0.5, 11, 9, [5]]);
  const at = [0, 0, 0];
  place(frame, 0, at);
  assert.deepEqual(at, [-1, 0, 2]);
  place(frame, 1, at);
  assert.deepEqual(at, [1, 4, 2]);
  place(frame, 2, at);
  near(at, [1, 4 / PLACES, 2], 1e-12);
  const q = [0, 0, 0, 0];
  turn(frame, 1, q);
  near(q, [0, 0, Math.sin(Math.PI / 8), Math.cos(Math.PI / 8)], 2e-3);
  turn(frame, 2, q);
  near(q, [1, 0, 0, 0], 2e-3);
});

test("matrices turn and shift, and the ball is around all places", () => {
  const out = new Float32Array(48);
  const ball = matrices(decodeLarge(packed()), 0, 3, out);
  near(
    out.subarray(16, 32),
    [Math.SQRT1_2, Math.SQRT1_2, 0, 0, -Math.SQRT1_2, Math.SQRT1_2, 0, 0, 0, 0, 1, 0, 1, 4, 2, 1],
    5e-3,
  );
  near([ball.x, ball.y, ball.z, ball.radius], [0, 2, 2, Math.sqrt(5)], 1e-6);
});

test("what is no frame of a large world is refused", () => {
  assert.throws(() => decodeLarge(new ArrayBuffer(10)), /frame of 10 bytes/);
  assert.throws(() => decodeLarge(new ArrayBuffer(200)), /not a frame/);
});

test("what is small in the picture is coarse", () => {
  assert.deepEqual([1, 15, 16, 59, 60, 500].map(levelFor), [2, 2, 1, 1, 0, 0]);
});

test("the box ends at planes along its axes", () => {
  const box = new THREE.Box3(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1));
  const planes = [
    [0, 0, 1, -2],
    [1, 0, 0, 0],
    [-1, 0, 0, -3],
    [0.6, 0.8, 0, 0],
  ];
  const found = within(planes, box);
  assert.deepEqual([found.min.x, found.max.x, found.min.z, found.max.z], [0, 3, -2, 1]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import * as THREE from "three";
import {
  byThreePoints,
  carried,
  facing,
  foot,
  matrixOf,
  type Placed,
  scaled,
  standing,
  stretched,
} from "../src/xr/placement";

const V = (x: number, y: number, z: number): THREE.Vector3 => new THREE.Vector3(x, y, z);
const yaw = (angle: number): THREE.Quaternion => new THREE.Quaternion().setFromAxisAngle(V(0, 1, 0), angle);
const near = (a: THREE.Vector3, b: THREE.Vector3): boolean => a.distanceTo(b) < 1e-12;
const room = (placed: Placed, point: THREE.Vector3): THREE.Vector3 => point.clone().applyMatrix4(matrixOf(placed));
const some: Placed = standing(
  V(0.1, 0.2, 0.3),
  V(1, 0.8, -2),
  facing({ up: V(0, 0, 1), front: V(0, -1, 0) }, V(1, 0, 1)),
  2,
);

test("a world with z up stands with its front towards who looks", () => {
  const q = facing({ up: V(0, 0, 1), front: V(0, -1, 0) }, V(3, 1, 0));
  assert(near(V(0, 0, 1).applyQuaternion(q), V(0, 1, 0)));
  assert(near(V(0, -1, 0).applyQuaternion(q), V(1, 0, 0)));
});

test("what stands has its foot where it was put, at any scale", () => {
  const points = [V(-1, 0, -3), V(1, 4, 2)];
  const low = foot(points, V(0, 0, 1));
  assert(near(low, V(0, 2, -3)));
  const placed = standing(low, V(0.5, 0.7, -1), facing({ up: V(0, 0, 1), front: V(1, 0, 0) }, V(0, 0, 1)), 0.25);
  assert(near(room(placed, low), V(0.5, 0.7, -1)));
  assert(near(room(scaled(placed, 3, V(0.5, 0.7, -1)), low), V(0.5, 0.7, -1)));
});

test("one hand carries the whole rigidly, upright, and turns it about itself", () => {
  const [from, to] = [
    { p: V(0, 1, 0), q: yaw(0.2) },
    { p: V(0.3, 1.2, -0.4), q: yaw(1.0).multiply(new THREE.Quaternion().setFromAxisAngle(V(0, 1, 0), 0.1)) },
  ];
  const next = carried(some, from, to);
  const point = V(0.4, -0.2, 0.9);
  const wish = room(some, point).sub(from.p).applyQuaternion(yaw(0.9)).add(to.p);
  assert(near(room(next, point), wish));
  assert(near(V(0, 0, 1).applyQuaternion(next.q), V(0, 1, 0)));
});

test("points between two hands stay between them", () => {
  const [from, to]: [THREE.Vector3, THREE.Vector3][] = [
    [V(-0.2, 1, -0.5), V(0.2, 1, -0.5)],
    [V(-0.1, 1.1, -0.7), V(0.1, 1.1, 0.9)],
  ];
  const next = stretched(some, from as never, to as never);
  const held = (end: THREE.Vector3) => end.clone().applyMatrix4(matrixOf(some).invert());
  for (const k of [0, 1]) assert(near(room(next, held(from?.[k] as THREE.Vector3)), to?.[k] as THREE.Vector3));
});

test("three touched points are origin, +x and level, whichever way the third was touched", () => {
  for (const side of [1, -1])
    for (const up of [V(0, 0, 1), V(0, 1, 0), V(1, 0, 0)]) {
      const placed = byThreePoints([V(1, 0.7, -1), V(1, 0.7, -1.5), V(1 + 0.3 * side, 0.7, -1.2)], up, 1);
      assert(near(room(placed, V(0, 0, 0)), V(1, 0.7, -1)));
      const first = up.x ? V(0, 1, 0) : V(1, 0, 0);
      assert(near(room(placed, first.multiplyScalar(0.5)), V(1, 0.7, -1.5)));
      assert(near(up.clone().applyQuaternion(placed.q), V(0, 1, 0)));
    }
});

test("points that tell no plane are refused in words", () => {
  const up = V(0, 0, 1);
  assert.throws(() => byThreePoints([V(0, 0, 0), V(0.005, 0, 0), V(0, 0, 1)], up, 1), /5\.0 mm from the first/);
  assert.throws(() => byThreePoints([V(0, 0, 0), V(1, 0, 0), V(2, 0, 0.004)], up, 1), /4\.0 mm from the line/);
});

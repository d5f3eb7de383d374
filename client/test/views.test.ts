import assert from "node:assert/strict";
import { test } from "node:test";
import * as THREE from "three";
import { gridText, roundLength } from "../src/lengths";
import type { Body, Joint, Scene } from "../src/messages";
import { Hues } from "../src/parts3d";
import { basisOf, direction, firstView, framing, NAMED, nearBoxes } from "../src/views";

const V = (x: number, y: number, z: number): THREE.Vector3 => new THREE.Vector3(x, y, z);
const body = (name: string): Body => ({
  name,
  mass: 1,
  shapes: [],
  visuals: [],
  link: null,
  material: null,
  colour: null,
  parameters: [],
});
const joint = (joint_type: string, axis: THREE.Vector3, at = [0, 0, 0]): Joint => ({
  name: "j",
  joint_type,
  first: "ground",
  second: "a",
  p_PF: at,
  q_PF: new THREE.Quaternion().setFromUnitVectors(V(0, 0, 1), axis).toArray(),
  p_CM: [0, 0, 0],
  q_CM: [0, 0, 0, 1],
  length: null,
  pitch: null,
  groups: [],
  loop: false,
  closed: null,
});
const scene = (gravity: number[], joints: Joint[], bodies = [body("a")]): Scene =>
  ({ gravity, size: 1, joints, bodies }) as unknown as Scene;
const still = () => ({ p: [0, 0, 0], q: [0, 0, 0, 1] });

test("a mechanism in one plane is seen from the front, along its pins, without perspective", () => {
  const planar = [joint("revolute", V(0, 0, 1)), joint("prismatic", V(1, 0, 0)), joint("revolute", V(0, 0, -1))];
  const basis = basisOf(scene([0, -9.81, 0], planar), still);
  assert(basis.isPlanar);
  assert.equal(firstView(basis), "front");
  assert(direction("front", basis).distanceTo(V(0, 0, 1)) < 1e-12);
  assert(direction("right", basis).distanceTo(V(1, 0, 0)) < 1e-12);
});

test("what leaves the plane is seen from aside", () => {
  for (const [name, joints] of [
    ["two planes", [joint("revolute", V(0, 0, 1)), joint("revolute", V(0, 0, 1), [0, 0, 0.4])]],
    ["axes that cross", [joint("revolute", V(0, 0, 1)), joint("revolute", V(1, 0, 0))]],
    ["a slide along the pins", [joint("revolute", V(0, 0, 1)), joint("prismatic", V(0, 0, 1))]],
    ["a ball", [joint("revolute", V(0, 0, 1)), joint("spherical", V(0, 0, 1))]],
    ["a body without a joint", [joint("revolute", V(0, 0, 1))]],
  ] as const) {
    const bodies = name === "a body without a joint" ? [body("a"), body("b")] : [body("a")];
    const basis = basisOf(scene([0, -9.81, 0], [...joints], bodies), still);
    assert(!basis.isPlanar, name);
    assert.equal(firstView(basis), "isometric", name);
  }
});

test("a mechanism that lies flat is seen from above, y up", () => {
  const basis = basisOf(scene([0, 0, -9.81], [joint("revolute", V(0, 0, 1))]), still);
  assert.equal(firstView(basis), "top");
  const away = direction("top", basis);
  const up = V(0, 0, 1);
  const over = away.clone().cross(up.clone().cross(away));
  assert(over.y > 0, "the picture's up is y");
});

test("opposite views are opposite, and all are unit vectors", () => {
  const basis = basisOf(scene([0, 0, -9.81], []), still);
  for (const named of NAMED) assert(Math.abs(direction(named, basis).length() - 1) < 1e-12);
  for (const [a, b] of [
    ["front", "back"],
    ["left", "right"],
  ] as const)
    assert(direction(a, basis).add(direction(b, basis)).length() < 1e-12);
  assert(direction("front", basis).distanceTo(V(0, -1, 0)) < 1e-12);
});

test("what is framed is in the picture, whatever its shape", () => {
  const margin = { side: 0.1, top: 0.05, bottom: 0.15 };
  for (const points of [
    [V(0, 0, 0), V(10, 0, 1)],
    [V(0, 0, -5), V(0.1, 0, 5)],
    [V(1, 2, 3), V(1, 2, 3)],
  ])
    for (const away of [V(0, -1, 0), V(1, -1, 1).normalize()])
      for (const aspect of [0.5, 2]) {
        const up = V(0, 0, 1);
        const { target, half } = framing(points, away, up, aspect, margin);
        const right = up.clone().cross(away).normalize();
        const over = away.clone().cross(right);
        for (const point of points) {
          const from = point.clone().sub(target);
          assert(Math.abs(from.dot(right)) <= half * aspect * (1 - 2 * margin.side) + 1e-9);
          assert(from.dot(over) <= half * (1 - 2 * margin.top) + 1e-9);
          assert(from.dot(over) >= -half * (1 - 2 * margin.bottom) - 1e-9);
        }
      }
});

test("a body that fell far away is left out, and named", () => {
  const box = (z: number) => new THREE.Box3(V(0, 0, z), V(0.1, 0.1, z + 0.1));
  const boxes = [0, 0.2, 0.4, -47].map((z, k) => ({ name: `link${k}`, box: box(z) }));
  const { near, away } = nearBoxes(boxes, 0.5);
  assert.deepEqual(away, ["link3"]);
  assert.equal(near.length, 3);
});

test("colours stay with names when others go, and neighbours differ", () => {
  const hues = new Hues(6);
  const names = ["crank", "coupler", "rocker", "link1", "link2"];
  const joints = names.slice(1).map((second, k) => ({ first: names[k] as string, second }));
  hues.take(names, joints);
  const before = names.map((name) => hues.of(name));
  for (const { first, second } of joints) assert(hues.of(first) !== hues.of(second));
  hues.take(names.slice(1), joints.slice(1));
  assert.deepEqual(
    names.map((name) => hues.of(name)),
    before,
  );
});

test("grids have round lengths, said in the unit that is shorter", () => {
  for (const [wish, round] of [
    [0.013, 0.01],
    [0.02, 0.02],
    [0.36, 0.5],
    [0.9, 1],
    [7, 5],
  ] as const)
    assert(Math.abs(roundLength(wish) - round) < 1e-12, `${wish}`);
  assert.equal(gridText(-0.05, 0.05), "−50 mm");
  assert.equal(gridText(0.3, 0.1), "0.3 m");
  assert.equal(gridText(0, 0.02), "0 mm");
});

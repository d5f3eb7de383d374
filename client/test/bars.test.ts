import assert from "node:assert/strict";
import { test } from "node:test";
import * as THREE from "three";
import { barGeometry, barKey, bars, hull } from "../src/bars";
import type { Body, Joint, Scene, Shape } from "../src/messages";

const rod = (length: number, radius: number): Shape => ({
  kind: "capsule",
  offset: [0, 0, 0],
  orientation: [0, 0, 0, 1],
  size: null,
  radius,
  length,
  points: null,
  digest: null,
  triangles: null,
  heights: null,
  material: null,
  colour: null,
});
const body = (name: string, ...shapes: Shape[]): Body => ({
  name,
  mass: 1,
  shapes,
  visuals: [],
  link: null,
  material: null,
  colour: null,
  parameters: [],
});
const Y = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), new THREE.Vector3(0, 1, 0)).toArray();
const MINUS_Y = new THREE.Quaternion()
  .setFromUnitVectors(new THREE.Vector3(0, 0, 1), new THREE.Vector3(0, -1, 0))
  .toArray();
/** A pin along y of bodies whose rods lie along z, at their ends. */
const pin = (first: string, second: string, q = Y, type = "revolute"): Joint => ({
  name: `${first}-${second}`,
  joint_type: type,
  first,
  second,
  p_PF: [0, 0, 0.5],
  q_PF: q,
  p_CM: [0, 0, -0.5],
  q_CM: q,
  length: null,
  pitch: null,
  groups: [],
  loop: false,
  closed: null,
});
const scene = (bodies: Body[], joints: Joint[]): Scene =>
  ({ bodies, joints, springs: [], size: 2 }) as unknown as Scene;

test("rods that are pinned are bars, and those that meet lie in different layers", () => {
  const names = ["a", "b", "c"];
  const found = bars(
    scene(
      names.map((name) => body(name, rod(1, 0.02))),
      [pin("ground", "a"), pin("a", "b", MINUS_Y), pin("b", "c")],
    ),
  );
  assert.deepEqual([...found.keys()], names);
  assert(found.get("a")?.layer !== found.get("b")?.layer);
  assert(found.get("b")?.layer !== found.get("c")?.layer);
  const [a, b] = [found.get("a"), found.get("b")];
  assert(a && b);
  assert(Math.abs(a.depth - b.depth) >= a.thickness, "they pass each other");
  assert.equal(a.eyes.length, 2);
  assert.equal(found.get("c")?.eyes.length, 1);
});

test("three bars at one pin have three layers", () => {
  const joints = [pin("a", "b"), pin("a", "c")];
  const found = bars(
    scene(
      ["a", "b", "c"].map((name) => body(name, rod(1, 0.02))),
      joints,
    ),
  );
  assert.equal(new Set([...found.values()].map(({ layer }) => layer)).size, 3);
});

test("what touches, is stout, or turns about its own length is drawn as it is", () => {
  const drawn = (one: Body, joint: Joint) => bars(scene([one], [joint])).size;
  const joint = pin("ground", "a");
  assert.equal(drawn(body("a", rod(1, 0.02)), joint), 1);
  assert.equal(drawn(body("a", rod(1, 0.4)), joint), 0);
  assert.equal(drawn({ ...body("a", rod(1, 0.02)), material: "steel" }, joint), 0);
  assert.equal(drawn(body("a", rod(1, 0.02)), pin("ground", "a", [0, 0, 0, 1])), 0);
  assert.equal(drawn(body("a", rod(1, 0.02)), pin("ground", "a", Y, "prismatic")), 0);
  assert.equal(drawn(body("a", { ...rod(1, 0.02), kind: "sphere" }), joint), 0);
});

test("a bar's plate has its width, length and thickness, and equal bars share a key", () => {
  const found = bars(
    scene(
      ["a", "b", "c"].map((name) => body(name, rod(1, 0.02))),
      [pin("ground", "a"), pin("a", "b"), pin("b", "c")],
    ),
  );
  const [a, b] = [found.get("a"), found.get("b")];
  assert(a && b);
  assert.equal(barKey(a), barKey(b));
  for (const isPlain of [false, true]) {
    const geometry = barGeometry(a, isPlain);
    geometry.computeBoundingBox();
    const size = geometry.boundingBox?.getSize(new THREE.Vector3()) ?? new THREE.Vector3();
    assert(Math.abs(size.x - (1 + 2 * a.radius)) < 2e-3, `${size.x}`);
    assert(Math.abs(size.y - 2 * a.radius) < 2e-3, `${size.y}`);
    assert(Math.abs(size.z - a.thickness) < 1e-6, `${size.z}`);
    assert([...geometry.getAttribute("position").array].every(Number.isFinite));
  }
});

test("a hull has its corners in order, also of points on a line and of one", () => {
  assert.deepEqual(
    hull([
      [0, 0],
      [1, 0],
      [0.5, 0.2],
      [1, 1],
      [0, 1],
    ]),
    [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 1],
    ],
  );
  assert.equal(
    hull([
      [0, 0],
      [2, 0],
      [1, 0],
    ]).length,
    2,
  );
  assert.equal(hull([[3, 4]]).length, 1);
});

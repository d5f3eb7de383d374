import assert from "node:assert/strict";
import { test } from "node:test";
import * as THREE from "three";
import { coil, jointGlyph } from "../src/glyphs";
import { across } from "../src/icons3d";
import type { Group, Joint, Shape } from "../src/messages";
import { bar, geometryOf, holds, shapeObject } from "../src/shapes";
import { angleAxes, reachOf, slideAxis, track } from "../src/spheres";

const V = (x: number, y: number, z: number): THREE.Vector3 => new THREE.Vector3(x, y, z);
const AXES = [V(1, 0, 0), V(0, 1, 0), V(0, 0, 1), V(0, 0, -1), V(1, 2, -3).normalize(), V(1e-9, 0, 1).normalize()];

function point(points: Float32Array, k: number): THREE.Vector3 {
  return new THREE.Vector3().fromArray(points, 3 * k);
}

test("a coil goes from end to end and stays within its radius, in every direction", () => {
  const radius = 0.1;
  for (const along of AXES) {
    const a = V(1, -2, 3);
    const b = a.clone().addScaledVector(along, 2);
    const points = new Float32Array(3 * 140);
    coil(points, a, b, radius, 12);
    assert(point(points, 0).distanceTo(a) < 1e-6);
    assert(point(points, 139).distanceTo(b) < 1e-6);
    let widest = 0;
    for (let k = 0; k < 140; k++) {
      const arm = point(points, k).sub(a);
      widest = Math.max(widest, arm.addScaledVector(along, -arm.dot(along)).length());
    }
    assert(widest < radius * 1.001 && widest > 0.99 * radius, `${along.toArray()}: ${widest}`);
  }
});

test("a coil of no length is a point, not a hole", () => {
  const points = new Float32Array(3 * 140);
  coil(points, V(1, 2, 3), V(1, 2, 3), 0.1, 12);
  assert(points.every(Number.isFinite));
});

test("a direction across an axis is a unit vector square to it, whatever was wished for", () => {
  for (const axis of AXES)
    for (const wish of [...AXES, axis.clone().negate(), V(0, 0, 0)]) {
      const found = across(axis, wish);
      assert(Math.abs(found.length() - 1) < 1e-12 && Math.abs(found.dot(axis)) < 1e-7, `${axis.toArray()}`);
    }
  assert(across(V(0, 0, 1), V(1, 0, 1)).distanceTo(V(1, 0, 0)) < 1e-12);
});

test("a bar lies between its ends", () => {
  for (const along of AXES) {
    const a = V(0.1, 0.2, 0.3);
    const b = a.clone().addScaledVector(along, 0.7);
    const geometry = bar(a, b, 0.01);
    geometry.computeBoundingBox();
    const box = (geometry.boundingBox ?? new THREE.Box3()).expandByScalar(1e-6);
    assert(box.containsPoint(a) && box.containsPoint(b));
    assert(box.getSize(V(0, 0, 0)).length() < 0.75);
  }
});

const KINDS = [
  ...["fixed", "revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "screw"],
  ...["pin-slot", "point-on-line", "point-on-plane", "distance", "free"],
];
const joint = (joint_type: string): Joint => ({
  name: "hinge",
  joint_type,
  first: "ground",
  second: "arm",
  p_PF: [1, 0, 0],
  q_PF: [0, 0, 0, 1],
  p_CM: [0, 1, 0],
  q_CM: [0, 0, 0, 1],
  length: null,
  pitch: null,
  groups: [],
  loop: false,
  closed: null,
});

test("every type of joint is drawn, finite, in the halves that move", () => {
  for (const kind of KINDS) {
    const glyph = jointGlyph(kind, 0.01, 0.2, [-0.02, 0.03]);
    const halves = Object.values(glyph);
    assert(halves.length > 0, kind);
    for (const geometry of halves) {
      assert([...(geometry.attributes.position?.array ?? [Number.NaN])].every(Number.isFinite), kind);
      assert.equal(geometry.getAttribute("normal").count, geometry.getAttribute("position").count);
    }
  }
  const pin = jointGlyph("revolute", 0.01, 0.2, [-0.02, 0.03]).second;
  pin?.computeBoundingBox();
  assert((pin?.boundingBox?.min.z ?? 0) < -0.02 && (pin?.boundingBox?.max.z ?? 0) > 0.03);
});

test("joints and springs hold a body at their own points of it", () => {
  const spring = { name: "s", first: "arm", second: "arm", at_first: [2, 0, 0], at_second: [3, 0, 0], parameters: [] };
  const found = holds("arm", [joint("revolute")], [spring]).map((p) => p.toArray());
  assert.deepEqual(found, [
    [0, 1, 0],
    [2, 0, 0],
    [3, 0, 0],
  ]);
  assert.deepEqual(holds("other", [joint("revolute")], [spring]), []);
});

const group = (kind: Group["kind"], name: string): Group => ({
  name,
  kind,
  unit: "",
  force_unit: "",
  coordinates: ["hinge"],
  features: [],
});
const F = { p: V(1, -2, 0.5), q: new THREE.Quaternion(0.1, -0.5, 0.3, 0.8).normalize() };

test("a motor's sphere says the value it was put at, over many turns", () => {
  for (const [type, entry] of [
    ["revolute", group("angle", "angle")],
    ["universal", group("angle", "second")],
    ["prismatic", group("slide", "slide")],
    ["planar", group("slide", "y")],
    ["pin-slot", group("slide", "slide")],
  ] as const)
    for (const reach of [0, 0.3, -3, 3.2, Math.PI, -7, 40]) {
      const sphere = track(joint(type), entry, F, reach, 0.2).at(-1) ?? F.p;
      assert(Math.abs(reachOf(joint(type), entry, F, sphere, reach) - reach) < 1e-10, `${type} ${reach}`);
    }
});

test("a sphere that is turned on goes on counting past half a turn", () => {
  const entry = group("angle", "angle");
  let reach = 0;
  for (let k = 1; k <= 100; k++) {
    const sphere = track(joint("revolute"), entry, F, 0.2 * k, 0.2).at(-1) ?? F.p;
    reach = reachOf(joint("revolute"), entry, F, sphere, reach);
  }
  assert(Math.abs(reach - 20) < 1e-10, String(reach));
});

test("freedoms lie along the axes of the joint's frame", () => {
  const along = (x: number, y: number, z: number): THREE.Vector3 => V(x, y, z).applyQuaternion(F.q);
  const slide = (type: string, name: string): THREE.Vector3 => slideAxis(joint(type), group("slide", name), F);
  assert(slide("prismatic", "slide").distanceTo(along(0, 0, 1)) < 1e-15);
  assert(slide("planar", "x").distanceTo(along(1, 0, 0)) < 1e-15);
  assert(slide("planar", "y").distanceTo(along(0, 1, 0)) < 1e-15);
  assert(slide("pin-slot", "slide").distanceTo(along(1, 0, 0)) < 1e-15);
  for (const name of ["angle", "second"]) {
    const { axis, zero } = angleAxes(group("angle", name), F);
    assert(Math.abs(axis.dot(zero)) < 1e-15);
  }
});

const shape = (kind: Shape["kind"], sizes: Partial<Shape>): Shape => ({
  kind,
  offset: [0, 0, 0],
  orientation: [0, 0, 0, 1],
  size: null,
  radius: null,
  length: null,
  points: null,
  digest: null,
  triangles: null,
  heights: null,
  material: null,
  colour: null,
  ...sizes,
});
const corners = (geometry: THREE.BufferGeometry): THREE.Vector3[] => {
  const flat = geometry.index ? geometry.toNonIndexed() : geometry;
  const points = flat.getAttribute("position");
  return Array.from({ length: points.count }, (_, k) => new THREE.Vector3().fromBufferAttribute(points, k));
};

test("a cone stands on its base at -length/2 and points up", () => {
  const points = corners(geometryOf(shape("cone", { radius: 0.2, length: 0.6 }), 1));
  const top = points.filter((p) => p.z > 0.3 - 1e-6);
  assert(top.length > 0 && top.every((p) => Math.hypot(p.x, p.y) < 1e-6));
  assert(Math.abs(Math.min(...points.map((p) => p.z)) + 0.3) < 1e-6);
  assert(Math.abs(Math.max(...points.map((p) => Math.hypot(p.x, p.y))) - 0.2) < 1e-6);
});

test("a height field has its heights over its size and faces up", () => {
  const heights = [
    [0, 1, 2],
    [3, 4, 5],
  ];
  const points = corners(geometryOf(shape("height-field", { size: [2, 4], heights }), 1));
  assert.equal(points.length, 12);
  for (const p of points) assert.equal(p.z, heights[Math.round(p.x / 2 + 0.5)]?.[Math.round(p.y / 2 + 1)]);
  for (let k = 0; k < points.length; k += 3) {
    const [a, b, c] = points.slice(k, k + 3) as [THREE.Vector3, THREE.Vector3, THREE.Vector3];
    assert(b.clone().sub(a).cross(c.clone().sub(a)).z > 0);
  }
});

test("a plane is a patch of so many sizes of the scene, with a grid", () => {
  const line = new THREE.LineBasicMaterial();
  const mesh = shapeObject(shape("plane", { offset: [1, 2, 3] }), new THREE.MeshBasicMaterial(), line, 0.5);
  assert.deepEqual(mesh.position.toArray(), [1, 2, 3]);
  assert.equal(mesh.children.length, 1);
  const widest = Math.max(...corners(mesh.geometry).map((p) => Math.max(Math.abs(p.x), Math.abs(p.y))));
  assert.equal(widest, 1);
});

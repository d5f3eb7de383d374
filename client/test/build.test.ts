import assert from "node:assert/strict";
import { test } from "node:test";
import * as THREE from "three";
import { gridStep, toGrid, WorkPlane } from "../src/build/plane";
import { Sketch } from "../src/build/sketch";
import { aligned, cornersOf } from "../src/build/snap";
import { readTyped } from "../src/build/typed";

test("lengths, angles and points are read as typed", () => {
  assert.deepEqual(readTyped(""), {});
  assert.deepEqual(readTyped("0.1"), { length: 0.1 });
  assert.deepEqual(readTyped("0,1"), { length: 0.1 });
  assert.deepEqual(readTyped("0.1 < 60"), { length: 0.1, angle: Math.PI / 3 });
  assert.deepEqual(readTyped("0.1<-90°"), { length: 0.1, angle: -Math.PI / 2 });
  assert.deepEqual(readTyped("< 30"), { angle: Math.PI / 6 });
  for (const text of ["0.25, 0", "0.25 0", "0.25; 0", "0,25; 0", "0,25 0"])
    assert.deepEqual(readTyped(text), { at: [0.25, 0] }, text);
  assert.deepEqual(readTyped("0.2 to 0.25, 0"), { length: 0.2, at: [0.25, 0] });
});

test("what is none of these is said", () => {
  for (const text of ["a", "0.1 <", "<", "0.1 < 2 < 3", "1 2 3", "0.2 to", "0.2 to 1", "inf"])
    assert.throws(() => readTyped(text), /type a length|above 0/);
  for (const text of ["0", "-0.1", "-1 < 30"]) assert.throws(() => readTyped(text), /above 0/);
});

test("the grid has round steps and exact points", () => {
  assert.equal(gridStep(0.0013), 0.05);
  assert.equal(gridStep(0.0002), 0.005);
  assert.equal(gridStep(1e-5), 0.0005);
  assert.deepEqual(toGrid([0.2987, -0.0312], 0.05), [0.3, -0.05]);
  assert.deepEqual(toGrid([0.01, -0.01], 0.05), [0, 0]);
});

test("the plane is the one that faces the viewer", () => {
  const plane = new WorkPlane();
  const along = plane.u.clone();
  plane.face(along.set(0.2, 0.9, -0.3));
  assert.equal(plane.name, "x-z");
  assert.deepEqual(plane.normal.toArray(), [0, -1, 0]);
  plane.face(along.set(0, 0.1, -1));
  assert.equal(plane.name, "x-y");
  assert.deepEqual(plane.down(plane.up([0.3, -0.2])), [0.3, -0.2]);
});

test("a chain closes over typed lengths on the side that was pointed at", () => {
  const sketch = new Sketch();
  const free = (flat: [number, number]) => ({ flat, mark: null, by: "free" as const });
  sketch.add(sketch.meant({}, free([0, 0])));
  sketch.add(sketch.meant({ length: 3 }, free([0, 1])));
  sketch.add(sketch.meant({ length: 4, at: [5, 0] }, null));
  const [, b] = sketch.points;
  assert(b);
  assert(Math.abs(b[0] - 1.8) < 1e-15 && Math.abs(b[1] - 2.4) < 1e-15); // 3, 4, 5
  assert.deepEqual(sketch.ends[2], { at: [5, 0], length: 4 });
});

test("a length alone goes on as before", () => {
  const sketch = new Sketch();
  sketch.add(sketch.meant({ at: [0, 0] }, null));
  sketch.add(sketch.meant({ length: 1, angle: Math.PI / 2 }, null));
  sketch.add(sketch.meant({ length: 1 }, null));
  assert.deepEqual(
    sketch.last?.map((x) => Math.round(1e12 * x) / 1e12),
    [0, 2],
  );
  assert.throws(() => new Sketch().meant({}, null), /point at a place/);
});

test("a plane is put across a direction, by three points, and shifted", () => {
  const plane = new WorkPlane();
  plane.across(new THREE.Vector3(0, 0, 2), new THREE.Vector3(1e-7, 0, 3), "on a");
  assert.deepEqual(
    [plane.u.toArray(), plane.v.toArray()],
    [
      [1, 0, 0],
      [0, 1, 0],
    ],
  );
  plane.face(new THREE.Vector3(0, 1, 0)); // it stays where it was put
  assert.equal(plane.name, "on a");
  plane.shift(0.5);
  assert.deepEqual(plane.up([1, 2]).toArray(), [1, 2, 2.5]);
  const [a, b, c] = [new THREE.Vector3(1, 1, 1), new THREE.Vector3(1, 3, 1), new THREE.Vector3(1, 2, 5)];
  assert(plane.by(a, b, c));
  assert.deepEqual(plane.down(c), [1, 4]);
  assert(!plane.by(a, b, new THREE.Vector3(1, 9, 1)));
});

test("a plate has its corners and the midpoints of its sides as marks", () => {
  const points = [-0.1, 0.1].flatMap((z) =>
    [
      [0, 0],
      [2, 0],
      [0, 2],
    ].map(([x = 0, y = 0]) => [x, y, z]),
  );
  const shape = { kind: "hull" as const, points, offset: [1, 0, 0], orientation: [0, 0, 0, 1] };
  const found = cornersOf({
    ...shape,
    size: null,
    radius: null,
    length: null,
    digest: null,
    triangles: [],
    heights: null,
    material: null,
    colour: null,
  });
  const of = (kind: string) =>
    found
      .filter((mark) => mark.kind === kind)
      .map(({ at }) => at.join(" "))
      .sort();
  assert.deepEqual(of("corner"), ["1 0 0", "1 2 0", "3 0 0"]);
  assert.deepEqual(of("midpoint"), ["1 1 0", "2 0 0", "2 1 0"]);
});

test("points are brought onto lines through marks that are nearer than the grid", () => {
  assert.deepEqual(aligned([0.101, 0.2], [0.1, 0.2], [[0.1012, 0.33]], 0.005), [0.1012, 0.2]);
  assert.deepEqual(aligned([0.1, 0.2], [0.1, 0.2], [[0.1012, 0.33]], 0.005), [0.1, 0.2]); // the grid is meant
  assert.deepEqual(aligned([0.13, 0.2], [0.1, 0.2], [[0.1012, 0.33]], 0.005), [0.1, 0.2]); // too far
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { evenly, knobs } from "../src/analyse/knobs";
import { evenlyAlong, isClosed } from "../src/analyse/outline";
import type { Live, Scene } from "../src/messages";

test("values of a sweep have both ends, to the bit", () => {
  assert.deepEqual(evenly(0.1, 0.7, 3), [0.1, 0.1 + (0.7 - 0.1) / 2, 0.7]);
  assert.equal(evenly(0.1, 0.7, 8).at(-1), 0.7);
  assert.deepEqual(evenly(2, 5, 1), [2]);
});

test("numbers that can be set are knobs, and motors that hold one", () => {
  const parameters = [
    { name: "mass", value: 2, unit: "kg", path: "arm.mass" },
    { name: "inertia", value: [1, 2, 3], unit: "kg m²", path: "arm.inertia" },
    { name: "type", value: 1, unit: "", path: "arm.type", set_by: "ChangeJoint" },
    { name: "length", value: null, unit: "m", path: "arm.length" },
  ];
  const scene = {
    parameters: [],
    bodies: [{ parameters }],
    springs: [],
    couplings: [],
    elements: [],
    joints: [{ name: "pin", groups: [{ name: "angle", features: [] }] }],
  } as unknown as Scene;
  const motor = { joint: "pin", group: "angle", quantity: "speed", value: 3, unit: "rad/s" };
  const live = { motors: [motor, { ...motor, value: { profile: "harmonic" } }] } as unknown as Live;
  assert.deepEqual(
    knobs(scene, live).map(({ name, value, of, path }) => [name, value, of, path]),
    [
      ["speed of the motor in pin", 3, "motor", "pin"],
      ["arm.mass", 2, "parameter", "arm.mass"],
    ],
  );
});

test("a drawn line becomes points evenly along it, once round where its ends meet", () => {
  const open: [number, number, number][] = [
    [0, 0, 0],
    [1, 0, 0],
    [1, 2, 0],
  ];
  assert.equal(isClosed(open), false);
  assert.deepEqual(evenlyAlong(open, 4), [
    [0, 0, 0],
    [1, 0, 0],
    [1, 1, 0],
    [1, 2, 0],
  ]);
  const square: [number, number, number][] = [...open.slice(0, 2), [1, 1, 0], [0, 1, 0], [0, 0.1, 0]];
  assert.equal(isClosed(square), true);
  assert.deepEqual(evenlyAlong(square, 4), [
    [0, 0, 0],
    [1, 0, 0],
    [1, 1, 0],
    [0, 1, 0],
  ]);
  assert.deepEqual(evenlyAlong([[1, 1, 1]], 4), []);
});

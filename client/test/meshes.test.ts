import assert from "node:assert/strict";
import { test } from "node:test";
import { likelyUnit, meshBody } from "../src/meshes";

const shape = { shape: "convex-hull" as const, points: [[10, 0, 0] as [number, number, number]] };
const solid = {
  vertices: [[10, 20, 30]],
  triangles: [[0, 0, 0]],
  volume: 6000,
  inertia: [
    [1e5, 0, 0],
    [0, 1e5, 0],
    [0, 0, 1e5],
  ],
};

test("a mesh in millimetres has grams, not tonnes", () => {
  const body = meshBody({ shape, solid }, 1e-3, 1000, true) as unknown as {
    mass: number;
    inertia: number[][];
    shape: { vertices: number[][] };
  };
  assert(Math.abs(body.mass - 6e-3) < 1e-15); // 6000 mm³ of water
  assert(Math.abs((body.inertia[0]?.[0] ?? 0) - 1e-7) < 1e-19);
  assert.deepEqual(body.shape.vertices, [[0.01, 0.02, 0.03]]);
});

test("a hull has its density, whatever stands in the file", () => {
  const body = meshBody({ shape, solid: null }, 0.0254, 500, true) as unknown as {
    density: number;
    shape: { points: number[][] };
  };
  assert.equal(body.density, 500);
  assert.deepEqual(body.shape.points, [[0.254, 0, 0]]);
});

test("what is larger than two units is taken to be in millimetres", () => {
  assert.equal(likelyUnit([50, 20, 1]), "mm");
  assert.equal(likelyUnit([0.5, 0.2, 0.1]), "m");
});

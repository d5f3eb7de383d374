/** The way of a belt, and how fast the other wheel turns. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as THREE from "three";
import { along, beltPath } from "../src/beltpath";
import { ratioOf } from "../src/build/assembled";
import type { Flat } from "../src/build/plane";
import type { Joint } from "../src/messages";

function lengthOf(corners: Flat[]): number {
  return corners.reduce((sum, [x, y], k) => {
    const [nextX, nextY] = corners[(k + 1) % corners.length] as Flat;
    return sum + Math.hypot(nextX - x, nextY - y);
  }, 0);
}

test("a belt is as long as the closed forms say", () => {
  const [a, b, d] = [0.05, 0.02, 0.2];
  for (const isCrossed of [false, true]) {
    const path = beltPath(a, b, d, isCrossed);
    assert(path);
    const s = isCrossed ? a + b : a - b;
    const beta = Math.acos(s / d);
    const round = isCrossed ? 2 * (Math.PI - beta) * (a + b) : 2 * (Math.PI - beta) * a + 2 * beta * b;
    const wanted = round + 2 * Math.sqrt(d * d - s * s);
    assert(Math.abs(lengthOf(path) - wanted) < 2e-3 * wanted); // arcs are of 32 sides
    for (const [x, y] of path) assert(Math.hypot(x, y) > 0.999 * a && Math.hypot(x - d, y) > 0.999 * b);
  }
  assert.equal(beltPath(0.05, 0.02, 0.02, false), null); // one lies in the other
  assert.equal(beltPath(0.05, 0.02, 0.06, true), null); // they overlap
});

test("marks are evenly spaced and run on", () => {
  const path = beltPath(0.05, 0.02, 0.2, false) ?? [];
  const [marks, later] = [along(path, 0, 0.03), along(path, 0.01, 0.03)];
  assert.equal(marks.length, Math.round(lengthOf(path) / 0.03));
  marks.forEach(([x, y], k) => {
    const [nextX, nextY] = later[k] as Flat;
    const way = Math.hypot(nextX - x, nextY - y);
    assert(way > 0.0095 && way < 0.010001); // along arcs a chord
  });
});

test("wheels turn as gears, open and crossed belts turn them, racks go as the rim", () => {
  const wheel = (radius: number | null, axis: number[], at: number[]) => {
    return { joint: {} as Joint, radius, axis: new THREE.Vector3(...axis), at: new THREE.Vector3(...at) };
  };
  const [z, back] = [
    [0, 0, 1],
    [0, 0, -1],
  ];
  const big = wheel(0.06, z, [0, 0, 0]);
  assert.equal(ratioOf("gear", big, wheel(0.02, z, [0.08, 0, 0])), -3);
  assert.equal(ratioOf("gear", big, wheel(0.02, back, [0.08, 0, 0])), 3);
  assert.equal(ratioOf("belt", big, wheel(0.02, z, [0.3, 0, 0])), 3);
  assert.equal(ratioOf("crossed belt", big, wheel(0.02, z, [0.3, 0, 0])), -3);
  assert.equal(ratioOf("belt", big, wheel(0.02, back, [0.3, 0, 0])), -3);
  const rack = (y: number) => wheel(null, [1, 0, 0], [0.3, y, 0]);
  assert.equal(ratioOf("gear", big, rack(-0.06)), 0.06); // below: the rim goes along x there
  assert.equal(ratioOf("gear", big, rack(0.06)), -0.06);
  assert.equal(ratioOf("gear", rack(0.06), big), -1 / 0.06);
});

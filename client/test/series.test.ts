import assert from "node:assert/strict";
import { test } from "node:test";
import { csvOf, nearest, spread } from "../src/series";

test("a plot's range holds its values and is never empty", () => {
  for (const [low, high] of [
    [0, 1],
    [-3, 5],
    [2, 2],
    [-2, -2],
    [0, 0],
    [1e-300, 1e-300],
    [-1e300, 1e300],
  ] as const) {
    const [from, to] = spread(low, high);
    assert(from < to && from <= low && high <= to && Number.isFinite(to - from), `${low} to ${high}: ${from} to ${to}`);
  }
  for (const [low, high] of [
    [null, null],
    [Number.NaN, 1],
    [0, Infinity],
  ] as const)
    assert.deepEqual(spread(low, high), [-1, 1]);
});

test("columns of different times share one table", () => {
  const text = csvOf([
    { name: "a", unit: "m", times: [0, 1, 2], values: [1, null, 0] },
    { name: "b", unit: "", times: [1, 0.5], values: [1e-7, -2] },
  ]);
  assert.equal(text, "time [s],a [m],b\n0,1,\n0.5,,-2\n1,,1e-7\n2,0,\n");
  assert.equal(csvOf([]), "time [s]\n");
});

test("a name is never a formula or a second cell to a spreadsheet", () => {
  const head = (name: string): string => csvOf([{ name, unit: "", times: [], values: [] }]).split("\n")[0] ?? "";
  assert.equal(head("=1+1"), "time [s],'=1+1");
  assert.equal(head("-a"), "time [s],'-a");
  assert.equal(head("a, b"), 'time [s],"a, b"');
  assert.equal(head('the "arm"'), 'time [s],"the ""arm"""');
  assert.equal(head('@a,"b"'), `time [s],"'@a,""b"""`);
});

test("a mistyped signal is answered by the one with most words in common", () => {
  const known = ["energy.total", "body.link3.velocity.x", "body.link3.position.x", "joint.hinge.reaction.force.norm"];
  assert.equal(nearest("link3.velocity", known), "body.link3.velocity.x");
  assert.equal(nearest("Hinge.Force", known), "joint.hinge.reaction.force.norm");
  assert.equal(nearest("velocity.", known), "body.link3.velocity.x");
  assert.equal(nearest("nonsense", known), "energy.total");
  assert.equal(nearest("anything", []), undefined);
});

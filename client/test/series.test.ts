import assert from "node:assert/strict";
import { test } from "node:test";
import { Curves, csvOf, nearest } from "../src/series";

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

test("curves keep their extremes, however much they are thinned", () => {
  const curves = new Curves(2, 100);
  const peak = 37;
  for (let k = 0; k < 1000; k++) curves.push(k, [k === peak ? 5 : Math.sin(k), k === 500 ? null : -k]);
  assert(curves.times.length <= 100);
  assert.equal(Math.max(...(curves.values[0] ?? []).map(Number)), 5);
  assert.equal(curves.values[1]?.at(-1), -999);
  assert(curves.times.every((time, k) => k === 0 || time >= (curves.times[k - 1] ?? 0)));
  assert(curves.values.every((values) => values.length === curves.times.length));
});

test("a row of the same time takes the place of the last, and time that goes back cuts", () => {
  const curves = new Curves(1);
  for (const time of [0, 1, 2, 2]) curves.push(time, [10 * time]);
  curves.push(2, [7]);
  assert.deepEqual([curves.times, curves.values], [[0, 1, 2], [[0, 10, 7]]]);
  curves.push(1, [3]);
  assert.deepEqual([curves.times, curves.values], [[0, 1], [[0, 3]]]);
  curves.breakAt(4);
  curves.push(5, [6]);
  assert.deepEqual(curves.values, [[0, 3, null, 6]]);
  curves.fill([-2, -1, 0.5], [[8, 9, 1]]);
  assert.deepEqual(
    [curves.times.slice(0, 3), curves.values[0]?.slice(0, 3)],
    [
      [-2, -1, 0],
      [8, 9, 0],
    ],
  );
});

test("curves that belong together keep whole rows when they are thinned, and their gaps", () => {
  const curves = new Curves(2, 100, "rows");
  for (let k = 0; k < 1000; k++) curves.push(k, k === 501 ? [null, null] : [k, -k]);
  assert(curves.times.length <= 100);
  const [a = [], b = []] = curves.values;
  assert(curves.times.every((time, k) => a[k] === null || (a[k] === time && b[k] === -time)));
  assert.equal(a.filter((value) => value === null).length, 1);
  assert.equal(a.at(-1), 999);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Parameter } from "../src/messages";
import { formOf } from "../src/parameters";

const form = (name: string, value: unknown, optional = false) =>
  formOf({ name, value, unit: "", path: null, set_by: "SetParameter", optional } satisfies Parameter, name);

test("every shape of parameter comes back as it was", () => {
  for (const [name, value] of [
    ["mass", 1.25],
    ["gravity", [0, 0, -9.81]],
    [
      "inertia",
      [
        [1, 0.1, 0],
        [0.1, 2, 0],
        [0, 0, 3],
      ],
    ],
    ["limits", [-1, 1]],
    ["limits", null],
    ["limits", { swing: 0.5, twist: [-1, 1] }],
    ["limits", { swing: 0.5, twist: null }],
  ] as const) {
    const { texts, names, read } = form(name, value);
    assert.equal(texts.length, names.length, name);
    const expected = value && typeof value === "object" && "twist" in value && !value.twist ? { swing: 0.5 } : value;
    assert.deepEqual(read(texts), expected, name);
  }
});

test("what is not given is an empty field, and an empty field takes it away", () => {
  assert.deepEqual(form("static", null, true).texts, [""]);
  const { texts, read } = form("static", 0.5, true);
  assert.equal(read(texts), 0.5);
  assert.equal(read([""]), null);
  assert.throws(() => read(["x"]));
});

test("a diagonal tensor has three fields and is sent as three values", () => {
  const { texts, names, read } = form("inertia", [
    [1, 0, 0],
    [0, 2, 0],
    [0, 0, 3],
  ]);
  assert.deepEqual(names, ["xx", "yy", "zz"]);
  assert.deepEqual(texts, ["1", "2", "3"]);
  assert.deepEqual(read(["4", "5", "6"]), [4, 5, 6]);
});

test("no bound is inf, and comes from the wire as null", () => {
  const { texts, read } = form("max_torque", null);
  assert.deepEqual(texts, ["inf"]);
  assert.equal(read(["inf"]), "inf");
  assert.equal(read(["−∞"]), "-inf");
});

test("a limit that is left empty is none", () => {
  const { texts, read } = form("limits", [null, 1]);
  assert.deepEqual(texts, ["", "1"]);
  assert.deepEqual(read(["", "1"]), ["-inf", 1]);
  assert.deepEqual(read(["-1", ""]), [-1, "inf"]);
  assert.equal(read(["", ""]), null);
  const ball = form("limits", { swing: null, twist: null });
  assert.deepEqual(ball.texts, ["", "", ""]);
  assert.equal(ball.read(["", "", ""]), null);
  assert.deepEqual(ball.read(["", "", "2"]), { twist: ["-inf", 2] });
  assert.deepEqual(ball.read(["1", "", ""]), { swing: 1 });
});

test("a text that is no number is refused with the parameter's name", () => {
  assert.throws(() => form("mass", 1).read(["heavy"]), /mass: 'heavy' is not a number/);
  assert.throws(() => form("mass", 1).read([""]), /mass: nothing is not a number/);
  assert.throws(() => form("gravity", [0, 0, 0]).read(["0", "0", ""]), /gravity: nothing/);
  assert.throws(() => form("limits", null).read(["a", ""]), /limits: 'a'/);
  assert.throws(() => form("mass", 1).read(["1e400"]), /mass: '1e400'/);
});

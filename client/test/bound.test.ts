import assert from "node:assert/strict";
import { test } from "node:test";
import { type Binds, isExpression, pathsOf, rangeOf, sendBound, shownTexts } from "../src/bound";
import type { Bind } from "../src/edits";

const NAMES = new Set(["a", "b", "λ"]);

test("numbers are numbers, names are expressions", () => {
  for (const text of ["=2", "2*a", "a", " = a + 1", "sin(a)", "λ"]) assert(isExpression(text, NAMES), text);
  for (const text of ["2", "-1e-3", "0,5", "inf", "-∞", "heavy", "sin(2)", "", "1·10⁻³"])
    assert(!isExpression(text, NAMES), text);
});

test("inputs have the paths of what they show", () => {
  assert.deepEqual(pathsOf("arm.mass", "mass", [""]), ["arm.mass"]);
  assert.deepEqual(pathsOf("box.size", "size", ["x", "y", "z"]), ["box.size.x", "box.size.y", "box.size.z"]);
  assert.deepEqual(pathsOf("pin.limits", "limits", ["lower", "upper"]), ["pin.lower", "pin.upper"]);
  assert.deepEqual(pathsOf("j.slide.limit_restitution", "limit_restitution", [""]), ["j.slide.restitution"]);
  assert.deepEqual(pathsOf("arm.inertia", "inertia", ["xx", "yy", "zz"]), ["", "", ""]);
  assert.deepEqual(pathsOf("", "mass", [""]), [""]);
});

async function sent(typed: string[], texts: string[], expressions: Record<string, string>): Promise<unknown[]> {
  const found: unknown[] = [];
  const paths = ["p.x", "p.y", "p.z"].slice(0, texts.length);
  const binds: Binds = {
    expressions,
    names: NAMES,
    paths,
    bind: async ({ path, expression }: Bind) => found.push([path, expression]),
  };
  await sendBound(typed, texts, binds, async (numbers) => found.push(numbers));
  return found;
}

test("what is typed is bound, released or sent as numbers", async () => {
  const bound = { "p.x": "a" };
  const binds: Binds = { expressions: bound, names: NAMES, paths: ["p.x", "p.y"], bind: async () => {} };
  assert.deepEqual(shownTexts(["0.1", "0.2"], binds), ["=a", "0.2"]);
  assert.deepEqual(await sent(["=2*a", "0.2"], ["0.1", "0.2"], bound), [["p.x", "2*a"]]);
  assert.deepEqual(await sent(["=a", "0.3"], ["0.1", "0.2"], bound), [["0.1", "0.3"]], "the other is as it is");
  assert.deepEqual(await sent(["=a", "b"], ["0.1", "0.2"], bound), [["p.y", "b"]]);
  assert.deepEqual(await sent(["0.5", "0.2"], ["0.1", "0.2"], bound), [["0.5", "0.2"]], "a number takes its place");
  assert.deepEqual(await sent(["0.1", "0.2"], ["0.1", "0.2"], bound), [["p.x", null]], "the same number, by itself");
  assert.deepEqual(await sent(["", "0.2"], ["0.1", "0.2"], bound), [["p.x", null]]);
});

test("a slider has room about a value without a range", () => {
  const variable = { name: "a", value: 0.1, minimum: null, maximum: null, unit: "", expression: null };
  assert.deepEqual(rangeOf(variable), [0, 0.2]);
  assert.deepEqual(rangeOf({ ...variable, value: -1 }), [-2, 0]);
  assert.deepEqual(rangeOf({ ...variable, minimum: 0.05, maximum: 0.3 }), [0.05, 0.3]);
  assert.deepEqual(rangeOf({ ...variable, value: 0 }), [0, 1]);
});

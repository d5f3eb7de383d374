import assert from "node:assert/strict";
import { test } from "node:test";
import type { Scene } from "../src/messages";
import { type Course, fitted, freedomKey, freedomsOf, goOn, inOrder, shaped } from "../src/pads/mapping";

const group = (name: string, kind: string) => ({ name, kind, unit: "", force_unit: "", coordinates: [], features: [] });
const scene = {
  joints: [
    { name: "a", groups: [group("angle", "angle")] },
    { name: "b", groups: [group("slide", "slide"), group("angle", "angle")] },
    { name: "c", groups: [group("rotation", "ball")] },
  ],
} as unknown as Scene;

test("nothing happens within the dead zone, all at the stop, and it is even and odd in between", () => {
  for (const value of [0, 0.1, -0.12, Number.NaN]) assert.equal(Math.abs(shaped(value, 0.12)), 0);
  assert.equal(shaped(1, 0.12), 1);
  assert.equal(shaped(-1.0001, 0.12), -1);
  for (const value of [0.2, 0.5, 0.9]) {
    assert.equal(shaped(-value, 0.12), -shaped(value, 0.12));
    assert(shaped(value, 0.12) > shaped(value - 0.05, 0.12));
  }
  assert(shaped(0.1201, 0.12) < 1e-6, "it begins without a jump");
});

test("freedoms of one number, those with motors first", () => {
  const driven = [{ joint: "b", group: "angle" }];
  const found = freedomsOf(scene, driven).map(({ key }) => key);
  assert.deepEqual(found, [freedomKey("b", "angle"), freedomKey("a", "angle"), freedomKey("b", "slide")]);
});

test("axes go to motors in order, and those that are left over do nothing", () => {
  const axes = inOrder(4, freedomsOf(scene, []), ({ isSlide }) => (isSlide ? 0.1 : 1));
  assert.deepEqual(
    axes.map(({ to, most }) => [to, most]),
    [
      [freedomKey("a", "angle"), 1],
      [freedomKey("b", "slide"), 0.1],
      [freedomKey("b", "angle"), 1],
      ["", 1],
    ],
  );
});

test("what a browser kept is made to fit, whatever it is", () => {
  const strange = { dead: "x", grab: null, axes: [{ to: 3, most: "fast" }] } as never;
  assert.deepEqual(fitted(strange, 2), {
    dead: 0.12,
    grab: 0,
    axes: [
      { to: "", most: 1, isTurned: false },
      { to: "", most: 1, isTurned: false },
    ],
  });
  assert.equal(fitted({ dead: 5 }, 0).dead, 0.9);
});

test("a course goes on without a jump, whenever until its next bend the session hears of it", () => {
  const at = (course: Course, t: number): number => {
    const k = course.findIndex(([time]) => time >= t);
    if (k <= 0) return (k === 0 ? course[0] : course.at(-1))?.[1] ?? 0;
    const [[a, v], [b, w]] = [course[k - 1], course[k]] as [Course[0], Course[0]];
    return v + ((w - v) * (t - a)) / (b - a);
  };
  let course = goOn([[1, 0.3]], 1, 0);
  for (const [from, speed] of [
    [1.05, 1],
    [1.4, -0.5],
    [1.45, 0],
  ] as const) {
    const next = goOn(course, from, speed);
    const bend = next.at(-2)?.[0] ?? 0;
    assert(bend >= from);
    for (const t of [from - 0.04, from - 0.01, from, bend])
      assert(Math.abs(at(next, t) - at(course, t)) < 1e-12, `${t} of ${JSON.stringify(next)}`);
    assert.equal(at(next, bend + 1), speed);
    course = next;
  }
});

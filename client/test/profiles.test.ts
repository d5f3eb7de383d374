import assert from "node:assert/strict";
import { test } from "node:test";
import { costOf } from "../src/costs";
import type { Edit } from "../src/edits";
import type { Reply } from "../src/messages";
import { aimOf, changed, Drawing, fieldsOf, isProfile, KINDS, kindOf, valueAt } from "../src/profiles";

test("a value over time is what the engine has at each time", () => {
  const near = (a: number, b: number): void => assert(Math.abs(a - b) < 1e-12, `${a} ${b}`);
  near(valueAt(3, 7), 3);
  for (const [t, ramp, smooth] of [
    [0, 1, 1],
    [2, 1, 1],
    [3, 2, 2],
    [2.5, 1.5, 1 + 2 * 0.25 ** 3 * (10 - 15 * 0.25 + 6 * 0.25 ** 2)],
    [4, 3, 3],
    [9, 3, 3],
  ] as const) {
    near(valueAt({ profile: "ramp", start: 1, end: 3, t0: 2, t1: 4 }, t), ramp);
    near(valueAt({ profile: "smooth", start: 1, end: 3, t0: 2, t1: 4 }, t), smooth);
  }
  near(valueAt({ profile: "harmonic", amplitude: 2, omega: 3, phase: 0.5, mean: 1 }, 0.7), 1 + 2 * Math.sin(2.6));
  const table = { profile: "table", times: [0, 1, 1, 2], values: [0, 4, 6, 8] } as const;
  for (const [t, value] of [
    [-1, 0],
    [0.5, 2],
    [1, 6], // a jump: the later value holds
    [1.5, 7],
    [3, 8],
  ] as const)
    near(valueAt({ ...table, times: [...table.times], values: [...table.values] }, t), value);
  near(valueAt({ profile: "formula", text: "2*sin(3*t)^2" }, 0.4), 2 * Math.sin(1.2) ** 2);
  assert(Number.isNaN(valueAt({ profile: "formula", text: "2*(" }, 1)));
});

test("a value of another kind goes on from where it is, and is never nothing", () => {
  for (const before of [0, 2.5, { profile: "harmonic", amplitude: 3, omega: 2 } as const])
    for (const kind of KINDS) {
      const now = 12.34;
      const after = changed(before, kind, now, 0.7);
      assert.equal(kindOf(after), kind);
      assert(Math.abs(valueAt(after, now) - valueAt(before, now)) < 1e-4, `${kind} ${JSON.stringify(after)}`);
      if (kind === "constant") continue;
      const later = [0.1, 0.25, 0.5, 0.75, 1].map((s) => Math.abs(valueAt(after, now + s)));
      assert(Math.max(...later) > 0.3, kind);
    }
  assert.equal(aimOf(changed(0, "smooth", 1, 0.7)), 0.7);
  assert.equal(changed(changed(0, "smooth", 1, 0.7), "constant", 1, 9), 0.7);
  assert.equal(aimOf({ profile: "formula", text: "t" }), null);
});

test("what is typed goes into the profile, in the units that are shown", () => {
  const sine = changed(2, "sine", 0, 1);
  assert(isProfile(sine));
  const field = (name: string) => fieldsOf(sine, "rad/s").find((one) => one.name === name);
  assert.equal(field("frequency")?.text, "1");
  assert.deepEqual(field("frequency")?.put("0.5"), { ...sine, omega: Math.PI });
  assert.deepEqual(field("phase")?.put("90"), { ...sine, phase: Math.PI / 2 });
  assert.throws(() => field("amplitude")?.put("abc"), /amplitude/);
  const [times, values] = fieldsOf({ profile: "table", times: [0, 1], values: [2, 3] }, "N");
  assert.deepEqual([times?.text, values?.text], ["0 1", "2 3"]);
  assert.deepEqual(times?.put("0; 2  4"), { profile: "table", times: [0, 2, 4], values: [2, 3] });
});

test("a drawn line stays a line, a trembling one is smoothed, and what is not drawn is held", () => {
  const straight = new Drawing();
  straight.stroke(0, 0);
  straight.stroke(1, 1);
  const table = straight.table(5, 2, -3, 3);
  assert(table.profile === "table");
  assert.equal(table.times.length, 41);
  assert.deepEqual([table.times[0], table.times.at(-1)], [5, 7]);
  table.values.forEach((value, k) => {
    assert(Math.abs(Number(value) - (-3 + (6 * k) / 40)) < 1e-3);
  });
  const rough = new Drawing();
  for (let k = 0; k < 240; k++) rough.stroke(k / 239, 0.5 + (k % 2 ? 0.1 : -0.1));
  const calm = rough.table(0, 1, 0, 1);
  assert(calm.profile === "table" && calm.values.slice(2, -2).every((value) => Math.abs(Number(value) - 0.5) < 0.02));
  const part = new Drawing();
  part.stroke(0.4, 0.2);
  part.stroke(0.5, 0.2);
  part.lift();
  part.stroke(0.8, 0.8);
  assert(part.heights[0] === 0.2 && part.heights.at(-1) === 0.8);
  assert(Math.abs((part.heights[155] ?? 0) - 0.5) < 0.02); // half way between the strokes
});

test("what an edit cost or moved is told in numbers, and nothing where it is nothing", () => {
  const reply = { text: "joint 'O' is now fixed", moved: 0, energy: 0 } as Reply;
  const edit = { edit: "ChangeJoint", joint: "O", changes: {} } as Edit;
  assert.equal(costOf(edit, reply, 0.3, 1), null);
  assert.equal(
    costOf(edit, { ...reply, moved: 0.003, energy: -0.27 }, 0.3, 1),
    "joint 'O' is now fixed: moved bodies by up to 3 mm; took away 0.27 J",
  );
  assert.equal(costOf(edit, { ...reply, moved: 1e-12, energy: 1e-8 }, 0.3, 1), null);
  assert((costOf(edit, { ...reply, energy: 0.2 }, 0.3, 1) ?? "").endsWith(": added 0.2 J"));
  assert.equal(costOf({ edit: "Reset" } as Edit, { ...reply, energy: 5 }, 0.3, 1), null);
});

/** What the compiler takes for an edit, and what it refuses: `tsc` is the test. */

import type { Edit } from "../src/edits";

export const right: Edit[] = [
  { edit: "Grab", hand: "h", body: "b", at: [0, 0, 0], stiffness: 10 },
  { edit: "Move", hand: "h", target: { profile: "ramp", start: null, end: [0, 0, 1], t0: 0, t1: 1 } },
  { edit: "SetMotor", joint: "j", motor: { motor: "speed", value: 1, max_torque: "inf" } },
  { edit: "Add", kind: "body", name: "b", options: { shape: { shape: "sphere", radius: 1 }, density: 1000 } },
  { edit: "ChangeJoint", joint: "j", changes: { type: "screw", pitch: 0.1 } },
  { edit: "SetState", bodies: { b: { position: [0, 0, 0] } } },
];
export const wrong: Edit[] = [
  // @ts-expect-error no such edit
  { edit: "Grap", hand: "h", body: "b" },
  // @ts-expect-error no such field
  { edit: "Grab", hand: "h", body: "b", stifness: 10 },
  // @ts-expect-error a field is missing
  { edit: "Grab", hand: "h" },
  // @ts-expect-error two numbers are no point
  { edit: "Move", hand: "h", target: [0, 1] },
  // @ts-expect-error a text is no number, but for inf
  { edit: "SetStep", dt: "0.01" },
  // @ts-expect-error a motor has a value
  { edit: "SetMotor", joint: "j", motor: { motor: "speed" } },
  // @ts-expect-error a sphere has a radius
  { edit: "Add", kind: "body", name: "b", options: { shape: { shape: "sphere", length: 2 } } },
  // @ts-expect-error a spring has two ends
  { edit: "Add", kind: "spring", name: "s", options: { first: "a", second: "b", at_a: [0, 0, 0], stiffness: 1 } },
  // @ts-expect-error there is no such option of a joint
  { edit: "ChangeJoint", joint: "j", changes: { kind: "screw" } },
];

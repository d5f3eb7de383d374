import assert from "node:assert/strict";
import { test } from "node:test";
import type { Body, Frame, Joint, Live, Patch, Scene } from "../src/messages";
import { Store } from "../src/store";

const body = (name: string, mass = 1): Body => ({
  name,
  mass,
  shapes: [],
  visuals: [],
  link: null,
  material: null,
  colour: null,
  parameters: [],
});
const joint = (name: string): Joint => ({
  name,
  joint_type: "revolute",
  first: "ground",
  second: "a",
  p_PF: [0, 0, 0],
  q_PF: [0, 0, 0, 1],
  p_CM: [0, 0, 0],
  q_CM: [0, 0, 0, 1],
  length: null,
  pitch: null,
  groups: [],
  loop: false,
  closed: null,
});
const scene = (...bodies: Body[]): Scene => ({
  generation: 1,
  topology: 1,
  name: "test",
  gravity: [0, 0, -9.81],
  size: 1,
  reference_energy: null,
  ground: [],
  bodies,
  joints: [joint("hinge")],
  springs: [],
  probes: [{ name: "probe 1", body: "a", at: [0, 0, 0] }],
  couplings: [
    {
      name: "gear 1",
      joint_a: "a",
      joint_b: "b",
      ratio: 1,
      belt: null,
      coordinate_a: "hinge",
      coordinate_b: "hinge",
      more: [],
      parameters: [],
    },
  ],
  obstacles: [],
  elements: [
    { name: "damper 1", kind: "dashpot", refers: { first: "a" }, parts: [], points: [], parameters: [], channels: [] },
  ],
  parameters: [],
  variables: [],
  expressions: {},
  joint_kinds: [],
  methods: [],
  quantities: [],
  scenes: [],
  materials: [],
  suffixes: [],
  type: "scene",
});
const patch = (changes: Partial<Patch>): Patch => ({
  generation: 2,
  topology: 1,
  size: 1,
  gravity: [0, 0, 0],
  parameters: [],
  variables: [],
  expressions: {},
  bodies: [],
  joints: [],
  springs: [],
  probes: [],
  couplings: [],
  obstacles: [],
  elements: [],
  order: {},
  type: "patch",
  ...changes,
});
const frame = (time: number, poses: number[] = []): Frame => ({
  magic: 0,
  generation: 1,
  time,
  wall: 0,
  step: 0,
  flags: 0,
  revision: 0,
  applied: 0,
  subscription: 0,
  leaps: 0,
  books: new Float32Array(),
  poses: new Float32Array(poses),
  twists: new Float32Array((6 * poses.length) / 7),
  hands: new Float32Array(),
  loads: new Float32Array(),
  contacts: new Float32Array(),
  reactions: new Float32Array(),
  motors: new Float32Array(),
  accelerations: new Float32Array(),
  signals: new Float32Array(),
  marks: new Uint8Array(),
});
const opened = (...bodies: Body[]): Store => {
  const store = new Store();
  store.setScene(scene(...bodies));
  return store;
};

test("a patch changes parts in their places and leaves the others the same objects", () => {
  const store = opened(body("a"), body("b"), body("c"));
  const before = store.body("a");
  store.setPatch(patch({ bodies: [body("b", 5)] }));
  assert.deepEqual(
    store.scene?.bodies.map(({ name, mass }) => [name, mass]),
    [
      ["a", 1],
      ["b", 5],
      ["c", 1],
    ],
  );
  assert.equal(store.body("a"), before);
  assert.equal(store.scene?.generation, 2);
});

test("parts come, go and change places by the order of names", () => {
  const store = opened(body("a"), body("b"));
  store.setPatch(patch({ topology: 2, bodies: [body("c")], order: { bodies: ["c", "a"] } }));
  assert.deepEqual(
    store.scene?.bodies.map(({ name }) => name),
    ["c", "a"],
  );
  store.setFrame({ ...frame(0, [1, 2, 3, 0, 0, 0, 1, 4, 5, 6, 0, 0, 0, 1]), generation: 2 });
  assert.deepEqual(store.pose("a")?.p, [4, 5, 6]);
  assert.equal(store.pose("b"), null);
});

test("a topology is told once, where parts came, went or the scene is another", () => {
  const store = opened(body("a"));
  let count = 0;
  store.on("topology", () => count++);
  store.setPatch(patch({ bodies: [body("a", 2)] }));
  assert.equal(count, 0);
  store.setPatch(patch({ topology: 2, order: { bodies: ["a"] } }));
  assert.equal(count, 1);
  store.setScene({ ...scene(body("a")), topology: 2, name: "another" });
  assert.equal(count, 2);
});

test("a part that goes is no longer picked", () => {
  const store = opened(body("a"), body("b"));
  store.setPick({ kind: "body", name: "b" });
  store.setPatch(patch({ topology: 2, order: { bodies: ["a"] } }));
  assert.equal(store.pick, null);
});

test("a load is there while it acts or is kept for switching on", () => {
  const store = opened(body("a"));
  const live: Live = { revision: 1, hands: [], loads: [], motors: [], off: [], type: "live" };
  store.setLive({ ...live, off: [{ edit: "ApplyLoad", name: "force 1", body: "a" }] });
  store.setPick({ kind: "load", name: "force 1" });
  store.setLive({ ...live, off: [{ edit: "ApplyLoad", name: "force 1", body: "a" }] });
  assert.equal(store.pick?.name, "force 1");
  assert.equal(store.freeName("force"), "force 2");
  store.setLive({ ...live, off: [{ edit: "SetMotor", joint: "force 1", motor: null }] });
  assert.equal(store.pick, null);
});

test("a new name is taken by no part of any kind", () => {
  const store = opened(body("a"), body("body 1"), body("body 3"));
  assert.equal(store.freeName("body"), "body 2");
  assert.equal(store.freeName("probe"), "probe 2");
  assert.equal(store.freeName("gear"), "gear 2");
  assert.equal(store.freeName("joint"), "joint 1");
});

test("poses are those of the frame; what it does not have has none", () => {
  const store = opened(body("a"), body("b"));
  assert.equal(store.pose("a"), null);
  store.setFrame(frame(0, [1, 2, 3, 0, 0, 0, 1]));
  assert.deepEqual(store.pose("a"), { p: [1, 2, 3], q: [0, 0, 0, 1] });
  assert.equal(store.pose("b"), null); // a frame of the scene before
  assert.deepEqual(store.pose("ground"), { p: [0, 0, 0], q: [0, 0, 0, 1] });
});

test("time that goes back is a jump", () => {
  const store = opened(body("a"));
  const jumps: number[] = [];
  store.on("jump", (time) => jumps.push(time));
  for (const time of [0, 1, 1, 0.5, 2]) store.setFrame(frame(time));
  assert.deepEqual(jumps, [0.5]);
});

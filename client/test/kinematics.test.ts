import assert from "node:assert/strict";
import { test } from "node:test";
import * as THREE from "three";
import {
  type Axle,
  chainTo,
  composed,
  denavitHartenberg,
  eulerAngles,
  matrixRows,
  nextJoints,
  type Pose,
  type Row,
  relative,
  SEQUENCES,
} from "../src/kinematics";
import type { Joint } from "../src/messages";

const D = Math.PI / 180;
const AXES: Record<string, THREE.Vector3> = {
  x: new THREE.Vector3(1, 0, 0),
  y: new THREE.Vector3(0, 1, 0),
  z: new THREE.Vector3(0, 0, 1),
};
const axis = (name: string): THREE.Vector3 => AXES[name] as THREE.Vector3;
const still = (): Pose => ({ p: new THREE.Vector3(), q: new THREE.Quaternion() });
const turn = (name: string, angle: number): Pose => ({
  p: new THREE.Vector3(),
  q: new THREE.Quaternion().setFromAxisAngle(axis(name), angle),
});
const shift = (name: string, way: number): Pose => ({
  p: axis(name).clone().multiplyScalar(way),
  q: new THREE.Quaternion(),
});
const product = (...poses: Pose[]): Pose => poses.reduce(composed, still());

function assertSame(one: Pose, other: Pose, most = 1e-12): void {
  assert(one.p.distanceTo(other.p) < most, `${one.p.toArray()} and ${other.p.toArray()}`);
  assert(Math.abs(Math.abs(one.q.dot(other.q)) - 1) < most);
}

/** A random number in [-1, 1), the same in every run. */
function dice(): () => number {
  let seed = 7;
  return () => {
    seed = (48271 * seed) % 2147483647;
    return (2 * seed) / 2147483647 - 1;
  };
}

function anyTurn(next: () => number): THREE.Quaternion {
  return new THREE.Quaternion(next(), next(), next(), next()).normalize();
}

test("the angles of every sequence make the rotation again, locked or not", () => {
  const next = dice();
  const turns = Array.from({ length: 40 }, () => anyTurn(next));
  for (const name of ["x", "y", "z"]) for (const angle of [0, 90, 180, -90]) turns.push(turn(name, angle * D).q);
  for (const sequence of SEQUENCES)
    for (const q of turns) {
      const { angles } = eulerAngles(q, sequence);
      const [a, b, c] = [...sequence].map((name, k) => turn(name, angles[k] ?? NaN)) as [Pose, Pose, Pose];
      assertSame(product(a, b, c), { p: new THREE.Vector3(), q }, 1e-9);
    }
});

test("angles are those that were turned by, and a lock is told", () => {
  const given = [0.3, -0.7, 1.1] as const;
  const q = product(turn("z", given[0]), turn("y", given[1]), turn("x", given[2])).q;
  const { angles, isLocked } = eulerAngles(q, "zyx");
  for (const [k, angle] of given.entries()) assert(Math.abs((angles[k] ?? NaN) - angle) < 1e-12);
  assert(!isLocked);
  const proper = product(turn("z", 0.3), turn("x", 0.7), turn("z", 1.1)).q;
  for (const [k, angle] of [0.3, 0.7, 1.1].entries())
    assert(Math.abs((eulerAngles(proper, "zxz").angles[k] ?? NaN) - angle) < 1e-12);
  assert(eulerAngles(product(turn("x", 0.4), turn("y", Math.PI / 2)).q, "xyz").isLocked);
  assert(eulerAngles(turn("z", 0.4).q, "zxz").isLocked);
});

test("a matrix has the frame's axes as columns and its origin behind them", () => {
  const rows = matrixRows(product(shift("y", 2), turn("z", Math.PI / 2)));
  const wanted = [
    [0, -1, 0, 0],
    [1, 0, 0, 2],
    [0, 0, 1, 0],
    [0, 0, 0, 1],
  ];
  for (const [r, row] of wanted.entries())
    for (const [c, value] of row.entries()) assert(Math.abs((rows[r]?.[c] ?? NaN) - value) < 1e-15);
});

/** [theta, d, a, alpha], with the lengths in m, the angles in degrees, and which joints slide. */
type Robot = { table: [number, number, number, number][]; slides?: number[] };
const ROBOTS: Record<string, Robot> = {
  puma560: {
    table: [
      [20, 0, 0, 90],
      [-30, 0, 0.4318, 0],
      [50, 0.15005, 0.0203, -90],
      [15, 0.4318, 0, 90],
      [-65, 0, 0, -90],
      [35, 0, 0, 0],
    ],
  },
  stanford: {
    table: [
      [10, 0.412, 0, -90],
      [40, 0.154, 0, 90],
      [-90, 0.3, 0, 0],
      [25, 0, 0, -90],
      [70, 0, 0, 90],
      [5, 0, 0, 0],
    ],
    slides: [2],
  },
  scara: {
    table: [
      [30, 0.4, 0.3, 0],
      [-50, 0, 0.25, 180],
      [0, 0.12, 0, 0],
      [80, 0, 0, 0],
    ],
    slides: [2],
  },
  generic: {
    table: [
      [30, 0.1, 0.2, 35],
      [-50, -0.3, 0.25, -70],
      [70, 0.12, 0.4, 110],
      [80, 0.3, 0.15, -20],
      [10, 0, 0, 0],
    ],
  },
};

/** A chain whose frames are shifted along and turned about their axes, as an author may put them. */
function chain({ table, slides = [] }: Robot): { axles: Axle[]; whole: Pose } {
  const next = dice();
  const axles: Axle[] = [];
  let before = still();
  let whole = still();
  table.forEach(([theta, d, a, alpha], k) => {
    const odd = k + 1 < table.length ? product(shift("z", next()), turn("z", 3 * next())) : still();
    const now = product(turn("z", theta * D), shift("z", d), odd);
    // a joint that turns has M's origin at F's: what is along the axis belongs to the links
    const slid = slides.includes(k);
    const along = slid ? 0 : now.p.z;
    const off = shift("z", -along);
    axles.push({ joint: `j${k}`, before, after: product(odd, off), now: product(now, off), slides: slid });
    before = product(shift("x", a), turn("x", alpha * D));
    whole = product(whole, turn("z", theta * D), shift("z", d), shift("x", a), turn("x", alpha * D));
  });
  return { axles, whole };
}

/** Where the last frame M is in the first F. */
function reached(axles: Axle[]): Pose {
  const [first] = axles;
  assert(first);
  const base = relative(first.before, still());
  return axles.reduce((pose, { before, after, now }, k) => {
    const on = product(pose, before, now);
    return k + 1 < axles.length ? product(on, relative(after, still())) : on;
  }, base);
}

test("the parameters of known robots are theirs, and both conventions lead to the tool", () => {
  for (const [name, robot] of Object.entries(ROBOTS)) {
    const { axles, whole } = chain(robot);
    assertSame(reached(axles), whole, 1e-12);
    const rows = denavitHartenberg(axles, 1);
    rows.forEach((row, k) => {
      const [, , a, alpha] = robot.table[k] as [number, number, number, number];
      assert(Math.abs(row.a - a) < 1e-12, `${name} a${k}: ${row.a}`);
      assert(Math.abs(Math.abs(row.alpha) - Math.abs(alpha * D)) < 1e-12, `${name} alpha${k}: ${row.alpha}`);
      if (a > 0) assert(Math.abs(Math.sin(row.alpha - alpha * D)) < 1e-12, `${name} alpha${k}: ${row.alpha}`);
    });
    const standard = rows.map((row: Row) =>
      product(turn("z", row.theta), shift("z", row.d), shift("x", row.a), turn("x", row.alpha)),
    );
    const modified = rows.map((row: Row) =>
      product(shift("x", row.aBefore), turn("x", row.alphaBefore), turn("z", row.theta), shift("z", row.d)),
    );
    assertSame(product(...standard), whole, 1e-12);
    assertSame(product(...modified), whole, 1e-12);
  }
});

test("where all normals are unique, all four parameters are those of the table", () => {
  const robot = ROBOTS.generic as Robot;
  const rows = denavitHartenberg(chain(robot).axles, 1);
  rows.forEach((row, k) => {
    const [theta, d, a, alpha] = robot.table[k] as [number, number, number, number];
    for (const [found, wanted] of [
      [row.theta, theta * D],
      [row.d, d],
      [row.a, a],
      [row.alpha, alpha * D],
    ] as const)
      assert(Math.abs(found - wanted) < 1e-12, `row ${k}: ${found}, not ${wanted}`);
  });
});

function joint(name: string, first: string, second: string, at: [number, number, number], type = "revolute"): Joint {
  return {
    name,
    joint_type: type,
    first,
    second,
    p_PF: at,
    q_PF: [0, 0, 0, 1],
    p_CM: [0, 0, 0],
    q_CM: [0, 0, 0, 1],
    length: null,
    pitch: null,
    groups: [],
    loop: false,
    closed: null,
  };
}

test("a chain is found from the ground, also against a joint's sense and over a fixed one", () => {
  const joints = [
    joint("a", "ground", "one", [0, 0, 0]),
    joint("weld", "one", "two", [0.1, 0, 0], "fixed"),
    { ...joint("b", "three", "two", [0, 0, 0]), p_CM: [0.2, 0, 0] }, // the second body is the nearer one
    joint("c", "three", "four", [0.5, 0, 0]),
  ];
  const [a, , b, c] = joints as [Joint, Joint, Joint, Joint];
  assert.deepEqual(
    nextJoints(joints, b).map(({ name }) => name),
    ["c"],
  );
  const axles = chainTo(joints, b, c, still);
  assert(typeof axles !== "string");
  assert.deepEqual(
    axles.map(({ joint: name }) => name),
    ["a", "b", "c"],
  );
  const rows = denavitHartenberg(axles, 1);
  assert(Math.abs((rows[0]?.a ?? NaN) - 0.3) < 1e-15); // over the weld
  assert(Math.abs((rows[1]?.a ?? NaN) - 0.5) < 1e-15);
  const odd = { ...a, joint_type: "spherical" };
  assert(String(chainTo([odd, ...joints.slice(1)], b, c, still)).includes("no single axis"));
});

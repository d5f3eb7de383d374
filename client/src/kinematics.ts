/**
 * Relative poses in numbers: Euler angles of every sequence, and Denavit-Hartenberg parameters of a chain of joints.
 *
 * A chain is a list of joints from its base on; link k lies between axis k and axis k + 1. x of a link is the common
 * normal of its two axes, which is known in its own frame, whatever the pose:
 *
 *     a, alpha    along and about that normal, from axis k to axis k + 1; the link's own
 *     d, theta    along and about axis k, from the normal of link k - 1 to that of link k; what the joint changes
 *
 * Standard (Denavit and Hartenberg 1955): joint k with (theta, d) and its own link's (a, alpha).
 * Modified (Craig): joint k with the (a, alpha) of the link before it and (theta, d).
 *
 * Where a normal is not unique: of intersecting axes it is their cross product; of parallel ones it goes through where
 * the normal before meets the axis (d = 0), or through M's origin where the joint slides; on one and the same line it is
 * M's x. Before the first axis it is F's x through F's origin, after the last M's x through M's origin.
 */

import * as THREE from "three";
import type { Joint } from "./messages";

const TINY = 1e-7; // of a sine, and of the mechanism's size: axes that are parallel, or meet
const LOCKED = 1e-6; // of a sine: only a sum or difference of two angles is left

export interface Pose {
  p: THREE.Vector3;
  q: THREE.Quaternion;
}

/** Pose of B in A from both in a third frame. */
export function relative(A: Pose, B: Pose): Pose {
  const back = A.q.clone().invert();
  return { p: B.p.clone().sub(A.p).applyQuaternion(back), q: back.multiply(B.q) };
}

/** Pose of C in A from that of B in A and of C in B. */
export function composed(AB: Pose, BC: Pose): Pose {
  return { p: BC.p.clone().applyQuaternion(AB.q).add(AB.p), q: AB.q.clone().multiply(BC.q) };
}

/** The homogeneous matrix of a pose, row by row. */
export function matrixRows({ p, q }: Pose): number[][] {
  const e = new THREE.Matrix4().compose(p, q, new THREE.Vector3(1, 1, 1)).elements;
  return [0, 1, 2, 3].map((row) => [0, 1, 2, 3].map((column) => e[4 * column + row] ?? 0));
}

export const SEQUENCES = "xyz xzy yxz yzx zxy zyx xyx xzx yxy yzy zxz zyz".split(" ");

/** Angles about the axes of a sequence, each turned by those before it: R = R_i(α) R_j(β) R_k(γ) [rad]. */
export function eulerAngles(q: THREE.Quaternion, sequence: string): { angles: number[]; isLocked: boolean } {
  const [i, j, last] = [...sequence].map((axis) => "xyz".indexOf(axis)) as [number, number, number];
  const rows = matrixRows({ p: new THREE.Vector3(), q });
  const R = (row: number, column: number): number => rows[row]?.[column] ?? 0;
  const isProper = i === last; // first and third about one axis
  const k = 3 - i - j;
  const e = (j - i + 3) % 3 === 1 ? 1 : -1; // sign of the permutation (i, j, k)
  if (isProper) {
    const sine = Math.hypot(R(i, j), R(i, k));
    const beta = Math.atan2(sine, R(i, i));
    if (sine < LOCKED) return { angles: [Math.atan2(e * R(k, j), R(j, j)), beta, 0], isLocked: true };
    return { angles: [Math.atan2(R(j, i), -e * R(k, i)), beta, Math.atan2(R(i, j), e * R(i, k))], isLocked: false };
  }
  const cosine = Math.hypot(R(i, i), R(i, j));
  const beta = Math.atan2(e * R(i, k), cosine);
  if (cosine < LOCKED) return { angles: [Math.atan2(e * R(k, j), R(j, j)), beta, 0], isLocked: true };
  return { angles: [Math.atan2(-e * R(j, k), R(k, k)), beta, Math.atan2(-e * R(i, j), R(i, i))], isLocked: false };
}

/** A joint of a chain: where its axis is on the links before and after it, and how these are to each other now. */
export interface Axle {
  joint: string;
  before: Pose; // frame F, in the link before
  after: Pose; // frame M, in the link after
  now: Pose; // M in F
  slides: boolean;
}

export interface Row {
  joint: string;
  theta: number; // [rad]
  d: number; // [m]
  a: number; // of the link after the joint [m]
  alpha: number; // [rad]
  aBefore: number; // of the link before it
  alphaBefore: number;
}

/** The common normal of a link's two axes: its direction, and how far along each of them it is. */
interface Normal {
  x: THREE.Vector3;
  onFirst: number; // from the first frame's origin along its z [m]
  onSecond: number;
  a: number;
  alpha: number;
}

/** Rows of a chain, from its base on. */
export function denavitHartenberg(axles: Axle[], size: number): Row[] {
  const rows: Row[] = [];
  let before = { x: new THREE.Vector3(1, 0, 0), at: 0, a: 0, alpha: 0 }; // in frame F, and along its z
  axles.forEach(({ joint, after, now, slides }, k) => {
    const next = axles[k + 1];
    const z = now.p.z; // of M's origin along F's axis
    const inM: Normal = next
      ? normal(relative(after, next.before), slides ? null : before.at - z, size)
      : { x: new THREE.Vector3(1, 0, 0), onFirst: 0, onSecond: 0, a: 0, alpha: 0 };
    const x = inM.x.clone().applyQuaternion(now.q);
    const theta = Math.atan2(before.x.x * x.y - before.x.y * x.x, before.x.x * x.x + before.x.y * x.y);
    const { a, alpha } = inM;
    rows.push({ joint, theta, d: z + inM.onFirst - before.at, a, alpha, aBefore: before.a, alphaBefore: before.alpha });
    if (!next) return;
    const turned = inM.x.clone().applyQuaternion(relative(after, next.before).q.invert());
    before = { x: turned, at: inM.onSecond, a, alpha };
  });
  return rows;
}

/** The normal from z of a frame to z of another that is given in it; `wished`: where it is where any place would do. */
function normal(other: Pose, wished: number | null, size: number): Normal {
  const w = new THREE.Vector3(0, 0, 1).applyQuaternion(other.q);
  const { p } = other;
  const sine = Math.hypot(w.x, w.y);
  if (sine < TINY) {
    const alpha = w.z > 0 ? 0 : Math.PI;
    const a = Math.hypot(p.x, p.y);
    const isOne = a < TINY * size;
    const onFirst = isOne ? 0 : (wished ?? 0);
    const x = isOne ? new THREE.Vector3(1, 0, 0) : new THREE.Vector3(p.x / a, p.y / a, 0);
    return { x, onFirst, onSecond: (onFirst - p.z) * Math.sign(w.z), a: isOne ? 0 : a, alpha };
  }
  // |p + s w - r z| least: its derivatives by r and s vanish
  const s = -(p.x * w.x + p.y * w.y) / (sine * sine);
  const foot = p.clone().addScaledVector(w, s);
  const across = new THREE.Vector3(-w.y, w.x, 0).divideScalar(sine); // z × w
  const along = across.x * p.x + across.y * p.y; // signed distance
  const isMeeting = Math.abs(along) < TINY * size;
  const x = across.multiplyScalar(!isMeeting && along < 0 ? -1 : 1);
  const alpha = Math.atan2(x.x * -w.y + x.y * w.x, w.z); // from z to w, about x
  return { x, onFirst: foot.z, onSecond: s, a: isMeeting ? 0 : Math.abs(along), alpha };
}

export const WITH_AXIS = new Set(["revolute", "prismatic", "cylindrical", "screw"]);
const SLIDING = new Set(["prismatic", "cylindrical", "screw"]);

type Poses = (joint: Joint) => Pose | null; // M in F as it is now

/**
 * The chain from where a joint's bodies hang to the joint, with one joint after it: its axles, or in words why it has
 * none. Fixed joints make one link of two bodies.
 */
export function chainTo(joints: Joint[], picked: Joint, next: Joint | null, poses: Poses): Axle[] | string {
  const up = upward(joints);
  const isTurned = leads(up, picked.first, picked.name);
  const path: Joint[] = [picked];
  let body = isTurned ? picked.second : picked.first;
  for (let way = up.get(body); way && path.length <= joints.length; way = up.get(body)) {
    path.unshift(way);
    body = way.first === body ? way.second : way.first;
  }
  if (next) path.push(next);
  const odd = path.find(({ joint_type }) => joint_type !== "fixed" && !WITH_AXIS.has(joint_type));
  if (odd) return `'${odd.name}' in the chain is a ${odd.joint_type} joint: it has no single axis`;
  const axles: Axle[] = [];
  let link: Pose = { p: new THREE.Vector3(), q: new THREE.Quaternion() }; // of the body in its link
  for (const joint of path) {
    const isBack = joint.first !== body;
    const [F, M] = isBack ? [frameM(joint), frameF(joint)] : [frameF(joint), frameM(joint)];
    const found = poses(joint);
    if (!found) return "no pose has come yet";
    const now = isBack ? inverse(found) : found;
    body = isBack ? joint.first : joint.second;
    const before = composed(link, F);
    if (joint.joint_type === "fixed") {
      link = composed(before, composed(now, inverse(M)));
      continue;
    }
    link = { p: new THREE.Vector3(), q: new THREE.Quaternion() };
    axles.push({ joint: joint.name, before, after: M, now, slides: SLIDING.has(joint.joint_type) });
  }
  return axles;
}

/** Joints that go on from a joint's far body; which of them is the next axis is a choice. */
export function nextJoints(joints: Joint[], picked: Joint): Joint[] {
  const far = leads(upward(joints), picked.first, picked.name) ? picked.first : picked.second;
  return joints.filter(
    ({ name, first, second, joint_type }) =>
      name !== picked.name && far !== "ground" && (first === far || second === far) && WITH_AXIS.has(joint_type),
  );
}

/** The joint by which each body hangs, breadth first from the ground, then from bodies that do not hang on it. */
function upward(joints: Joint[]): Map<string, Joint> {
  const found = new Map<string, Joint>();
  const seen = new Set<string>();
  for (const root of ["ground", ...joints.map(({ first }) => first)]) {
    if (seen.has(root)) continue;
    seen.add(root);
    const queue = [root];
    for (let body = queue.shift(); body !== undefined; body = queue.shift())
      for (const joint of joints) {
        const other = joint.first === body ? joint.second : joint.second === body ? joint.first : null;
        if (other === null || seen.has(other)) continue;
        seen.add(other);
        found.set(other, joint);
        queue.push(other);
      }
  }
  return found;
}

/** Does the way up from a body pass a joint? */
function leads(up: Map<string, Joint>, from: string, name: string): boolean {
  let body = from;
  for (let way = up.get(body); way; way = up.get(body)) {
    if (way.name === name) return true;
    body = way.first === body ? way.second : way.first;
  }
  return false;
}

function frameF({ p_PF, q_PF }: Joint): Pose {
  return { p: new THREE.Vector3().fromArray(p_PF), q: new THREE.Quaternion().fromArray(q_PF) };
}

function frameM({ p_CM, q_CM }: Joint): Pose {
  return { p: new THREE.Vector3().fromArray(p_CM), q: new THREE.Quaternion().fromArray(q_CM) };
}

function inverse({ p, q }: Pose): Pose {
  const back = q.clone().invert();
  return { p: p.clone().negate().applyQuaternion(back), q: back };
}

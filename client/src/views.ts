/** From where a scene is looked at: which way is up and front, the named views, and what has to be in the picture. */

import * as THREE from "three";
import type { Joint, Scene } from "./messages";

export const NAMED = ["front", "back", "left", "right", "top", "bottom", "isometric"] as const;
export type Named = (typeof NAMED)[number];

const PARALLEL = 1e-3; // sine between axes that count as parallel
const FLAT = 0.02; // of the size: joints no farther apart along the axis lie in one plane
const FAR = 6; // sizes of the mechanism from its middle, beyond which a body has left
const TURNING = new Set(["revolute", "pin-slot", "planar"]); // about z of their frames
const SLIDING = new Set(["prismatic", "point-on-line"]); // along it

/** How a scene stands. */
export interface Basis {
  up: THREE.Vector3;
  front: THREE.Vector3; // towards the viewer of the front view
  isPlanar: boolean; // it moves in planes across `front`
  turns: boolean; // `front` is the axis of its joints
}

type PoseOf = (body: string) => { p: readonly number[]; q: readonly number[] } | null;

/** Up against gravity, front along the axes that joints turn about. */
export function basisOf(scene: Pick<Scene, "gravity" | "size" | "joints" | "bodies">, pose: PoseOf): Basis {
  const gravity = new THREE.Vector3().fromArray(scene.gravity);
  const up = gravity.length() > 0 ? gravity.negate().normalize() : new THREE.Vector3(0, 0, 1);
  const axes = scene.joints.flatMap((joint) => axisOf(joint, pose) ?? []);
  const turning = axes.filter(({ type }) => TURNING.has(type));
  const normal = new THREE.Vector3();
  for (const { axis } of turning) normal.addScaledVector(axis, axis.dot(normal) < 0 ? -1 : 1);
  if (normal.lengthSq() < 1e-12)
    return { up, front: defaultFront(up), isPlanar: scene.bodies.length === 0, turns: false };
  normal.normalize();
  if (normal.dot(new THREE.Vector3(1, -0.3, 0.2)) < 0) normal.negate();
  const isAlong = (axis: THREE.Vector3) => axis.clone().cross(normal).length() < PARALLEL;
  const isAcross = (axis: THREE.Vector3) => Math.abs(axis.dot(normal)) < PARALLEL;
  const heights = axes.map(({ at }) => at.dot(normal));
  const held = new Set(scene.joints.flatMap(({ first, second }) => [first, second]));
  const isPlanar =
    axes.length === scene.joints.length &&
    axes.every(({ type, axis }) => (TURNING.has(type) ? isAlong(axis) : SLIDING.has(type) && isAcross(axis))) &&
    Math.max(...heights) - Math.min(...heights) < FLAT * scene.size &&
    scene.bodies.every(({ name }) => held.has(name));
  return { up, front: normal, isPlanar, turns: true };
}

function axisOf(joint: Joint, pose: PoseOf): { type: string; axis: THREE.Vector3; at: THREE.Vector3 } | null {
  const found = pose(joint.first);
  if (!found) return null;
  const turn = new THREE.Quaternion().fromArray(found.q);
  const at = new THREE.Vector3()
    .fromArray(joint.p_PF)
    .applyQuaternion(turn)
    .add(new THREE.Vector3().fromArray(found.p));
  const axis = new THREE.Vector3(0, 0, 1).applyQuaternion(new THREE.Quaternion().fromArray(joint.q_PF));
  return { type: joint.joint_type, axis: axis.applyQuaternion(turn), at };
}

/** Without joints: against y where z is up, along z where y is. */
function defaultFront(up: THREE.Vector3): THREE.Vector3 {
  const wish = Math.abs(up.z) > 0.7 ? new THREE.Vector3(0, -1, 0) : new THREE.Vector3(0, 0, 1);
  const found = wish.addScaledVector(up, -wish.dot(up));
  return found.lengthSq() > 1e-6 ? found.normalize() : new THREE.Vector3(1, 0, 0);
}

/** Front made level: across `up`, as near to the front as can be. */
function level({ up, front }: Basis): THREE.Vector3 {
  const found = front.clone().addScaledVector(up, -front.dot(up));
  return found.lengthSq() > 1e-6 ? found.normalize() : defaultFront(up);
}

/** Unit vector from the target to the eye of a named view; seen from above, the front is at the bottom. */
export function direction(named: Named, basis: Basis): THREE.Vector3 {
  const { up } = basis;
  const front = level(basis);
  const right = up.clone().cross(front);
  const along = (f: number, r: number, u: number) =>
    new THREE.Vector3().addScaledVector(front, f).addScaledVector(right, r).addScaledVector(up, u).normalize();
  switch (named) {
    case "front":
      return along(1, 0, 0);
    case "back":
      return along(-1, 0, 0);
    case "left":
      return along(0, -1, 0);
    case "right":
      return along(0, 1, 0);
    case "top":
      return along(1e-4, 0, 1);
    case "bottom":
      return along(1e-4, 0, -1);
    case "isometric":
      return along(1, 0.7, 0.6);
  }
}

/** Towards the eye of the first picture: the first view, but of what turns about axes from a little aside and above. */
export function firstDirection(basis: Basis): THREE.Vector3 {
  const named = firstView(basis);
  if (named !== "isometric" || !basis.turns) return direction(named, basis);
  const front = level(basis);
  return front.clone().addScaledVector(basis.up.clone().cross(front), 0.32).addScaledVector(basis.up, 0.2).normalize();
}

/** From where a scene is seen first: what moves in planes from the front, all else from aside and above. */
export function firstView(basis: Basis): Named {
  if (!basis.isPlanar) return "isometric";
  return Math.abs(basis.front.dot(basis.up)) > 0.9 ? "top" : "front";
}

/** What the camera has to do to have points in the picture. */
export interface Framing {
  target: THREE.Vector3;
  half: number; // height of the picture at the target, half of it [m]
  depth: number; // how far points reach towards the eye, at most [m]
}

/** Frame points seen from a direction, in a picture so much wider than high, with a margin (share of the picture). */
export function framing(
  points: THREE.Vector3[],
  away: THREE.Vector3,
  up: THREE.Vector3,
  aspect: number,
  margin: { side: number; top: number; bottom: number },
): Framing {
  const right = up.clone().cross(away);
  if (right.lengthSq() < 1e-12) right.set(1, 0, 0);
  right.normalize();
  const over = away.clone().cross(right);
  const spans = [right, over, away].map((axis) => {
    const along = points.map((point) => point.dot(axis));
    return { low: Math.min(...along), high: Math.max(...along) };
  }) as [Span, Span, Span];
  const [wide, high, deep] = spans.map(({ low, high: top }) => (top - low) / 2) as [number, number, number];
  const [x, y, z] = spans.map(({ low, high: top }) => (top + low) / 2) as [number, number, number];
  const half = Math.max(high / (1 - margin.top - margin.bottom), wide / aspect / (1 - 2 * margin.side));
  const target = new THREE.Vector3()
    .addScaledVector(right, x)
    .addScaledVector(over, y + (margin.top - margin.bottom) * half)
    .addScaledVector(away, z);
  return { target, half, depth: deep };
}

interface Span {
  low: number;
  high: number;
}

/** Boxes that are near the middle of all, and the names of those that have left. */
export function nearBoxes<B extends { name: string; box: THREE.Box3 }>(
  boxes: B[],
  size: number,
): { near: B[]; away: string[] } {
  const centres = boxes.map(({ box }) => box.getCenter(new THREE.Vector3()));
  const middle = (k: number) => {
    const sorted = centres.map((centre) => centre.getComponent(k)).sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? 0;
  };
  const centre = new THREE.Vector3(middle(0), middle(1), middle(2));
  const near = boxes.filter((_, k) => (centres[k]?.distanceTo(centre) ?? 0) < FAR * size);
  const kept = new Set(near.map(({ name }) => name));
  return { near, away: [...new Set(boxes.map(({ name }) => name))].filter((name) => !kept.has(name)) };
}

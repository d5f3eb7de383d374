/** Where the world W stands in the room R (y up, metres), how it is turned, and how large it is shown. */

import * as THREE from "three";
import type { Basis } from "../views";

const SCALES = [1e-3, 1e3] as const; // least and greatest
const APART = 0.01; // between touched points, and of the third from the line of the others [m]
const Y = new THREE.Vector3(0, 1, 0);

export interface Placed {
  p: THREE.Vector3; // of the world's origin in the room [m]
  q: THREE.Quaternion; // takes W components to R
  scale: number; // lengths in the room over those of the world
}

/** Where a hand is and how it is turned, in the room. */
export interface Handle {
  p: THREE.Vector3;
  q: THREE.Quaternion;
}

export function clampScale(scale: number): number {
  return Math.min(Math.max(scale, SCALES[0]), SCALES[1]);
}

/** X_RW. */
export function matrixOf({ p, q, scale }: Placed): THREE.Matrix4 {
  return new THREE.Matrix4().compose(p, q, new THREE.Vector3(scale, scale, scale));
}

/** The world's up along the room's, its front towards a viewer in the room. */
export function facing({ up, front }: Pick<Basis, "up" | "front">, viewer: THREE.Vector3): THREE.Quaternion {
  const q = new THREE.Quaternion().setFromUnitVectors(up, Y);
  const level = flat(front.clone().applyQuaternion(q));
  const wish = flat(viewer.clone());
  if (level.lengthSq() < 1e-6 || wish.lengthSq() < 1e-6) return q;
  return about(yawBetween(level, wish)).multiply(q);
}

/** The lowest point below the middle of what is there, in the world. */
export function foot(points: THREE.Vector3[], up: THREE.Vector3): THREE.Vector3 {
  if (points.length === 0) return new THREE.Vector3();
  const middle = new THREE.Box3().setFromPoints(points).getCenter(new THREE.Vector3());
  const lowest = Math.min(...points.map((point) => point.dot(up)));
  return middle.addScaledVector(up, lowest - middle.dot(up));
}

/** Stand with a point of the world at a point of the room. */
export function standing(point: THREE.Vector3, at: THREE.Vector3, q: THREE.Quaternion, scale: number): Placed {
  return { p: at.clone().sub(point.clone().applyQuaternion(q).multiplyScalar(scale)), q: q.clone(), scale };
}

/** Another scale; a point of the room stays where it is. */
export function scaled({ p, q, scale }: Placed, wish: number, about: THREE.Vector3): Placed {
  const next = clampScale(wish);
  return {
    p: p
      .clone()
      .sub(about)
      .multiplyScalar(next / scale)
      .add(about),
    q: q.clone(),
    scale: next,
  };
}

/** Carried by one hand: up stays up. */
export function carried(placed: Placed, from: Handle, to: Handle): Placed {
  return moved(placed, from.p, to.p, twist(from.q, to.q), 1);
}

/** Carried by two hands: their distance scales, their direction turns about the vertical. */
export function stretched(
  placed: Placed,
  from: [THREE.Vector3, THREE.Vector3],
  to: [THREE.Vector3, THREE.Vector3],
): Placed {
  const [was, is] = [from[1].clone().sub(from[0]), to[1].clone().sub(to[0])];
  const ratio = was.length() > 1e-4 ? clampScale((placed.scale * is.length()) / was.length()) / placed.scale : 1;
  const middle = ([a, b]: [THREE.Vector3, THREE.Vector3]) => a.clone().add(b).multiplyScalar(0.5);
  return moved(placed, middle(from), middle(to), yawBetween(flat(was), flat(is)), ratio);
}

/**
 * By three points that were touched in the room: the world's origin, one along its +x, one more of the level plane
 * through both. Throws where they tell no plane.
 */
export function byThreePoints(
  touched: [THREE.Vector3, THREE.Vector3, THREE.Vector3],
  up: THREE.Vector3,
  scale: number,
): Placed {
  const [origin, along, beside] = touched;
  const x = along.clone().sub(origin);
  if (x.length() < APART)
    throw new Error(`placing: the second point is ${mm(x.length())} mm from the first; touch one at least 10 mm away`);
  x.normalize();
  const arm = beside.clone().sub(origin);
  const normal = x.clone().cross(arm);
  if (normal.length() < APART)
    throw new Error(
      `placing: the third point is ${mm(normal.length())} mm from the line of the others; touch one at least 10 mm beside it`,
    );
  normal.normalize();
  if (normal.dot(Y) < 0) normal.negate(); // the plane is seen from above, whichever side was touched
  const q = turnOf(x, normal).multiply(turnOf(firstAxis(up), up).invert());
  return { p: origin.clone(), q, scale };
}

/** The world's x, or y where x is up, made level. */
function firstAxis(up: THREE.Vector3): THREE.Vector3 {
  const axis = Math.abs(up.x) > 0.7 ? new THREE.Vector3(0, 1, 0) : new THREE.Vector3(1, 0, 0);
  return axis.addScaledVector(up, -axis.dot(up)).normalize();
}

/** The turn that takes x to `x` and y to `y`, which are at right angles. */
function turnOf(x: THREE.Vector3, y: THREE.Vector3): THREE.Quaternion {
  return new THREE.Quaternion().setFromRotationMatrix(new THREE.Matrix4().makeBasis(x, y, x.clone().cross(y)));
}

function moved(placed: Placed, from: THREE.Vector3, to: THREE.Vector3, yaw: number, ratio: number): Placed {
  const turn = about(yaw);
  return {
    p: placed.p.clone().sub(from).applyQuaternion(turn).multiplyScalar(ratio).add(to),
    q: turn.multiply(placed.q),
    scale: placed.scale * ratio,
  };
}

function about(yaw: number): THREE.Quaternion {
  return new THREE.Quaternion().setFromAxisAngle(Y, yaw);
}

/** How far a hand has turned about the vertical [rad]. */
function twist(from: THREE.Quaternion, to: THREE.Quaternion): number {
  const turned = to.clone().multiply(from.clone().invert());
  const yaw = 2 * Math.atan2(turned.y, turned.w);
  return yaw > Math.PI ? yaw - 2 * Math.PI : yaw < -Math.PI ? yaw + 2 * Math.PI : yaw;
}

function yawBetween(from: THREE.Vector3, to: THREE.Vector3): number {
  if (from.lengthSq() < 1e-8 || to.lengthSq() < 1e-8) return 0;
  return Math.atan2(from.z * to.x - from.x * to.z, from.x * to.x + from.z * to.z);
}

function flat(way: THREE.Vector3): THREE.Vector3 {
  return way.setY(0);
}

function mm(length: number): string {
  return (1000 * length).toFixed(1);
}

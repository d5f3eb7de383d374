/** Parts that come with their joints: discs on a shaft, sliders on a guide, gears between discs. */

import * as THREE from "three";
import type { Add, AddPart, BodyOptions, JointOptions, Several } from "../edits";
import type { Joint } from "../messages";
import type { Store } from "../store";
import { tell } from "../toasts";
import type { Hold } from "./drafting";
import type { WorkPlane } from "./plane";

const THICK = 0.2; // of a disc, of its radius
const BLOCK = 0.6; // across a slider, of its length

/** A body without its place, and how it is held: by which joint to the ground, by which to what it was drawn from. */
export interface Assembled {
  body: Pick<BodyOptions, "shape" | "orientation">;
  toGround: Pick<JointOptions, "type" | "axis"> | null;
  toHeld: Pick<JointOptions, "type" | "axis"> | null;
}

/** A disc that turns about the point where it is drawn. */
export function disc(hold: Hold, radius: number, plane: WorkPlane): Assembled {
  const n = plane.normal;
  const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), n);
  const pin = { type: "revolute", axis: n.toArray() };
  const isFree = hold.body === "ground";
  return {
    body: { shape: { shape: "cylinder", radius, length: THICK * radius }, orientation: turn.toArray() },
    toGround: isFree ? pin : null,
    toHeld: isFree ? null : pin,
  };
}

/** A block that slides along the way it is drawn, pinned to what it was drawn from. */
export function slider(hold: Hold, length: number, way: THREE.Vector3, plane: WorkPlane): Assembled {
  const across = plane.normal.cross(way);
  const turn = new THREE.Quaternion().setFromRotationMatrix(new THREE.Matrix4().makeBasis(way, across, plane.normal));
  return {
    body: {
      shape: { shape: "box", size: [length, BLOCK * length, BLOCK * length] },
      orientation: turn.normalize().toArray(),
    },
    toGround: { type: "prismatic", axis: way.toArray() },
    toHeld: hold.body === "ground" ? null : { type: "revolute", axis: plane.normal.toArray() },
  };
}

/** The edit that adds such a body where it is held, with its joints. */
export function assembled(
  name: string,
  { body, toGround, toHeld }: Assembled,
  density: number,
  hold: Hold,
  free: (stem: string) => string,
): Several {
  const add: AddPart<"body"> = {
    edit: "Add",
    kind: "body",
    name,
    options: { ...body, density, position: hold.place },
  };
  const joint = (stem: string, first: string, options: Pick<JointOptions, "type" | "axis">): Add => ({
    edit: "Add",
    kind: "joint",
    name: free(`${stem} of ${name}`).replace(/ 1$/, ""),
    options: { ...options, first, second: name, at: hold.place },
  });
  const edits: Several["edits"] = [add];
  if (toGround) edits.push(joint(toGround.type === "prismatic" ? "guide" : "pin", "ground", toGround));
  if (toHeld) edits.push(joint("pin", hold.body, toHeld));
  return { edit: "Several", edits };
}

/** What a wheel turns in, or something slides in. */
interface Shaft {
  joint: Joint;
  radius: number | null; // of a wheel [m]; null: it slides
  axis: THREE.Vector3; // of the joint, in the world, along which its coordinate grows for this body
  at: THREE.Vector3; // a point of it
}

/** The coupling of two discs that mesh or have a belt, or of a disc and what slides, a rack; null where it cannot be. */
export function wheels(store: Store, kind: string, a: string, b: string): Add | null {
  const [one, other] = [shaft(store, a), shaft(store, b)];
  const isBelt = kind !== "gear";
  const isWhole = one && other && (isBelt ? one.radius && other.radius : one.radius || other.radius);
  if (!one || !other || !isWhole) {
    const slides = isBelt ? "" : ", or a disc and something that slides";
    tell(`${kind}: take two discs that turn about pins${slides}`, "error");
    return null;
  }
  const options = { joint_a: one.joint.name, joint_b: other.joint.name, ratio: ratioOf(kind, one, other) };
  return {
    edit: "Add",
    kind: "coupling",
    name: store.freeName(isBelt ? "belt" : "gear"),
    options: isBelt && one.radius ? { ...options, belt: one.radius } : options,
  };
}

/** Coordinate of the second joint for one of the first. Wheels that mesh, or have a crossed belt, turn against each
 * other; an open belt turns them alike; a rack goes as the rim of the wheel where it lies. */
export function ratioOf(kind: string, one: Shaft, other: Shaft): number {
  if (one.radius !== null && other.radius !== null) {
    const isAlike = one.axis.dot(other.axis) > 0 === (kind === "belt");
    return ((isAlike ? 1 : -1) * one.radius) / other.radius;
  }
  const [wheel, rack] = one.radius !== null ? [one, other] : [other, one];
  const beside = rack.at.clone().sub(wheel.at);
  beside.addScaledVector(rack.axis, -beside.dot(rack.axis));
  const way = wheel.axis.clone().cross(beside).dot(rack.axis);
  const ratio = (way < 0 ? -1 : 1) * (wheel.radius ?? 1);
  return wheel === one ? ratio : 1 / ratio;
}

/** Can a belt or a gear go over this body, or does it slide? */
export function isWheel(store: Store, name: string): boolean {
  return shaft(store, name) !== null;
}

/** The joint that a disc turns in, or something slides in. */
function shaft(store: Store, name: string): Shaft | null {
  const shape = store.body(name)?.shapes[0];
  const own = (store.scene?.joints ?? []).filter(({ first, second }) => first === name || second === name);
  const turns = own.find(({ joint_type }) => joint_type === "revolute");
  const slides = own.find(({ joint_type }) => joint_type === "prismatic");
  const joint = slides ?? turns;
  const pose = joint && store.pose(joint.first);
  if (!joint || !pose || (!slides && shape?.kind !== "cylinder")) return null;
  const turn = new THREE.Quaternion(...pose.q);
  const axis = new THREE.Vector3(0, 0, 1)
    .applyQuaternion(new THREE.Quaternion().fromArray(joint.q_PF))
    .applyQuaternion(turn)
    .multiplyScalar(joint.second === name ? 1 : -1); // coordinates are of the second body against the first
  const at = new THREE.Vector3()
    .fromArray(joint.p_PF)
    .applyQuaternion(turn)
    .add(new THREE.Vector3(...pose.p));
  return { joint, radius: slides ? null : (shape?.radius ?? null), axis, at };
}

/** Where a motor's sphere stands beside its joint for a value, and what value a place of it means. */

import * as THREE from "three";
import type { Group, Joint, Motor } from "./messages";

const POINTS = 48;

/** Frame F of a joint in the world. */
export interface Frame {
  p: THREE.Vector3;
  q: THREE.Quaternion;
}

/** Unit of what a motor of a freedom sets. */
export function motorUnit(group: Group, quantity: Motor["quantity"]): string {
  return { speed: `${group.unit}/s`, position: group.unit, torque: group.force_unit }[quantity];
}

/** The direction of a slide. */
export function slideAxis(joint: Joint, group: Group, F: Frame): THREE.Vector3 {
  const isX = group.name === "x" || joint.joint_type === "pin-slot";
  const isY = group.name === "y";
  return new THREE.Vector3(isX ? 1 : 0, isY ? 1 : 0, isX || isY ? 0 : 1).applyQuaternion(F.q);
}

/** The axis of an angle, and the direction of its zero. */
export function angleAxes(group: Group, F: Frame): { axis: THREE.Vector3; zero: THREE.Vector3 } {
  const isSecond = group.name === "second"; // of a universal joint: about M's x
  const axis = (isSecond ? new THREE.Vector3(1, 0, 0) : new THREE.Vector3(0, 0, 1)).applyQuaternion(F.q);
  const zero = (isSecond ? new THREE.Vector3(0, 0, 1) : new THREE.Vector3(1, 0, 0)).applyQuaternion(F.q);
  return { axis, zero };
}

/** From zero to the sphere at a `reach` [rad, m]: an arc about the axis, or a line along it. */
export function track(joint: Joint, group: Group, F: Frame, reach: number, radius: number): THREE.Vector3[] {
  if (group.kind === "slide") return [F.p.clone(), F.p.clone().addScaledVector(slideAxis(joint, group, F), reach)];
  const { axis, zero } = angleAxes(group, F);
  if (group.kind === "ball") return [F.p.clone(), F.p.clone().addScaledVector(zero, 0.6 * radius)];
  const other = axis.clone().cross(zero);
  const arc = Array.from({ length: POINTS }, (_, k) => {
    const angle = (k / (POINTS - 1)) * reach;
    return F.p
      .clone()
      .addScaledVector(zero, radius * Math.cos(angle))
      .addScaledVector(other, radius * Math.sin(angle));
  });
  return [F.p.clone(), ...arc];
}

/** How far along its track a point is [rad, m]; whole turns are counted from the reach `before`. */
export function reachOf(joint: Joint, group: Group, F: Frame, point: THREE.Vector3, before: number): number {
  const arm = point.clone().sub(F.p);
  if (group.kind === "slide") return arm.dot(slideAxis(joint, group, F));
  const { axis, zero } = angleAxes(group, F);
  const angle = Math.atan2(arm.dot(axis.clone().cross(zero)), arm.dot(zero));
  return angle + 2 * Math.PI * Math.round((before - angle) / (2 * Math.PI));
}

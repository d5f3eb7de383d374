/** How far hinges and slides are from the ends of their ranges, as they are shown. */

import type { Joint } from "./messages";
import type { Frame } from "./spheres";

export interface Ends {
  low: number; // way to the lower limit [rad, m]
  high: number; // way to the upper one
}

/** The coordinate of a hinge or slide from its frames, and how far its limits are; null where it has none to tell. */
export function endsOf(joint: Joint, F: Frame | null, M: Frame | null): Ends | null {
  const [group, more] = joint.groups;
  const limits = group?.features.find(({ name }) => name === "limits")?.value;
  if (!group || more || !F || !M || !Array.isArray(limits)) return null;
  if (!["revolute", "prismatic"].includes(joint.joint_type)) return null;
  const [low, high] = limits as [number, number];
  const isAngle = group.kind !== "slide";
  if (!Number.isFinite(low) || !Number.isFinite(high)) return null;
  if (isAngle && Math.max(Math.abs(low), Math.abs(high)) > Math.PI) return null; // poses do not count turns
  const inverse = F.q.clone().invert();
  const turn = inverse.clone().multiply(M.q);
  const angle = 2 * Math.atan2(turn.z, turn.w);
  const value = isAngle
    ? angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI))
    : M.p.clone().sub(F.p).applyQuaternion(inverse).z;
  return { low: value - low, high: high - value };
}

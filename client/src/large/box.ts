/** The box of a large world. */

import type * as THREE from "three";

/** The box with its sides at the planes along its axes. */
export function within(planes: number[][], box: THREE.Box3): THREE.Box3 {
  const found = box.clone();
  const names = ["x", "y", "z"] as const;
  for (const plane of planes) {
    const axis = [0, 1, 2].find((k) => Math.abs(plane[k] as number) > 0.999);
    const name = axis === undefined ? null : names[axis];
    if (axis === undefined || !name) continue;
    const sign = plane[axis] as number;
    if (sign > 0) found.min[name] = plane[3] as number;
    else found.max[name] = -(plane[3] as number);
  }
  return found;
}

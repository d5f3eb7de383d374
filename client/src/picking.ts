/** What lies under the pointer. */

import * as THREE from "three";
import type { Mechanism } from "./mechanism";
import type { Vec3 } from "./numbers";
import type { PartKind, Store } from "./store";
import type { View } from "./view";

export interface Hit {
  kind: PartKind;
  name: string;
  point: THREE.Vector3; // in the world
  at: Vec3; // of a body: in its frame
}

const REACH = 9; // pixels around a thin part that still touch it
const FINGER = 18;

export class Picking {
  private caster = new THREE.Raycaster();

  constructor(
    private readonly store: Store,
    private readonly view: View,
    private readonly mechanism: Mechanism,
  ) {}

  /** The nearest part under a pixel; looks around it, more widely for a finger. */
  hit(x: number, y: number, kinds: PartKind[], isTouch = false): Hit | null {
    const reach = isTouch ? FINGER : REACH;
    const steps: [number, number][] = [[0, 0]];
    for (const r of [0.5 * reach, reach])
      for (let k = 0; k < 8; k++) steps.push([r * Math.cos((k * Math.PI) / 4), r * Math.sin((k * Math.PI) / 4)]);
    for (const [dx, dy] of steps) {
      const found = this.cast(x + dx, y + dy, kinds);
      if (found) return found;
    }
    return null;
  }

  /** The point of a body in its frame. */
  inBody(body: string, point: THREE.Vector3): Vec3 {
    const pose = this.store.pose(body);
    if (!pose) return [0, 0, 0];
    const local = point
      .clone()
      .sub(new THREE.Vector3(...pose.p))
      .applyQuaternion(new THREE.Quaternion(...pose.q).invert());
    return [local.x, local.y, local.z];
  }

  private cast(x: number, y: number, kinds: PartKind[]): Hit | null {
    const { clientWidth: w, clientHeight: h } = this.view.canvas;
    this.caster.setFromCamera(new THREE.Vector2((2 * x) / w - 1, 1 - (2 * y) / h), this.view.camera);
    for (const found of this.caster.intersectObjects([this.mechanism.root, this.mechanism.obstacles.root], true)) {
      const part = found.object.userData.part as { kind: PartKind; name: string } | undefined;
      if (!part || !kinds.includes(part.kind) || !isShown(found.object)) continue;
      return {
        ...part,
        point: found.point,
        at: part.kind === "body" ? this.inBody(part.name, found.point) : [0, 0, 0],
      };
    }
    return null;
  }
}

function isShown(object: THREE.Object3D): boolean {
  for (let part: THREE.Object3D | null = object; part; part = part.parent) if (!part.visible) return false;
  return true;
}

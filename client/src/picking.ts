/** What lies under the pointer. */

import * as THREE from "three";
import type { Mechanism } from "./mechanism";
import type { Vec3 } from "./numbers";
import { partOf } from "./parts3d";
import type { PartKind, Store } from "./store";
import type { View } from "./view";

export interface Hit {
  kind: PartKind;
  name: string;
  point: THREE.Vector3; // in the world
  at: Vec3; // of a body: in its frame
  normal: THREE.Vector3 | null; // of the surface there, in the world
}

const AROUND = [0.5, 1]; // of the reach
const SIDES = 8;
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
    const { clientWidth: w, clientHeight: h } = this.view.canvas;
    for (const [dx, dy] of around(reach)) {
      const at = new THREE.Vector2((2 * (x + dx)) / w - 1, 1 - (2 * (y + dy)) / h);
      this.caster.setFromCamera(at, this.view.camera);
      const found = this.cast(kinds);
      if (found) return found;
    }
    return null;
  }

  /** The nearest part along a ray of the world; looks around it by an angle [rad]. */
  along(ray: THREE.Ray, kinds: PartKind[], spread: number): Hit | null {
    const turn = new THREE.Quaternion().setFromUnitVectors(AHEAD, ray.direction);
    for (const [dx, dy] of around(Math.tan(spread))) {
      this.caster.set(ray.origin, new THREE.Vector3(dx, dy, 1).normalize().applyQuaternion(turn));
      const found = this.cast(kinds);
      if (found) return found;
    }
    return null;
  }

  /** The part nearest to a point of the world, no farther from it than `reach` [m], though it be inside. */
  near(point: THREE.Vector3, kinds: PartKind[], reach: number): Hit | null {
    let best: Hit | null = null;
    for (const way of WAYS) {
      this.caster.set(point.clone().addScaledVector(way, -reach), way);
      this.caster.far = 2 * reach;
      const found = this.cast(kinds);
      this.caster.far = Infinity;
      if (found && (!best || found.point.distanceTo(point) < best.point.distanceTo(point))) best = found;
    }
    return best;
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

  private cast(kinds: PartKind[]): Hit | null {
    for (const found of this.caster.intersectObjects([this.mechanism.root, this.mechanism.obstacles.root], true)) {
      const part = partOf(found);
      if (!part || !kinds.includes(part.kind) || !isShown(found.object)) continue;
      return {
        ...part,
        point: found.point,
        normal: normalOf(found),
        at: part.kind === "body" ? this.inBody(part.name, found.point) : [0, 0, 0],
      };
    }
    return null;
  }
}

const AHEAD = new THREE.Vector3(0, 0, 1);
const STEPS = [-1, 0, 1];
const WAYS = STEPS.flatMap((x) => STEPS.flatMap((y) => STEPS.map((z) => new THREE.Vector3(x, y, z))))
  .filter((way) => way.lengthSq() > 0)
  .map((way) => way.normalize());

/** No way aside, then rings of ways. */
function around(reach: number): [number, number][] {
  const ring = (r: number): [number, number][] =>
    Array.from({ length: SIDES }, (_, k) => [
      r * Math.cos((2 * k * Math.PI) / SIDES),
      r * Math.sin((2 * k * Math.PI) / SIDES),
    ]);
  return [[0, 0], ...AROUND.flatMap((share) => ring(share * reach))];
}

/** Outward normal of what a ray hit. */
function normalOf({ object, face, instanceId }: THREE.Intersection): THREE.Vector3 | null {
  if (!face) return null;
  const placed = object.matrixWorld.clone();
  if (object instanceof THREE.InstancedMesh && instanceId !== undefined) {
    const own = new THREE.Matrix4();
    object.getMatrixAt(instanceId, own);
    placed.multiply(own);
  }
  return face.normal.clone().applyMatrix3(new THREE.Matrix3().getNormalMatrix(placed)).normalize();
}

function isShown(object: THREE.Object3D): boolean {
  for (let part: THREE.Object3D | null = object; part; part = part.parent) if (!part.visible) return false;
  return true;
}

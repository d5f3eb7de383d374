/** Bodies that controllers hold: hands of the session, as those of the page's pointer are, that go where they go. */

import * as THREE from "three";
import { type Grab, HAND, type Hold } from "../grab";
import type { Hit } from "../picking";
import type { Stage } from "../stage";
import type { Pointer } from "./pointers";

const STILL = 1e-4; // way in the room under which a hand stays where it is [m]
const STEADY = 1e-3; // turn under which it keeps its own [rad]
const STRONG = 20; // force of half the strongest shaking [N]
const PULSE = 40; // [ms]

interface Held {
  hold: Hold;
  by: "ray" | "grip"; // what of the controller the body goes with
  X_CB: THREE.Matrix4; // the body in that
}

export class Holding {
  private held = new Map<Pointer, Held>();
  private pulsed = 0; // [ms]

  constructor(
    private readonly stage: Stage,
    private readonly grab: Grab,
    private readonly X_WR: THREE.Matrix4, // the room in the world
  ) {}

  has(pointer: Pointer): boolean {
    return this.held.has(pointer);
  }

  /** Where a pointer's hand goes, in the world; null where it holds nothing. */
  target(pointer: Pointer): THREE.Vector3 | null {
    return this.held.get(pointer)?.hold.target.clone() ?? null;
  }

  /** Take what was met, by touching it or by the ray. */
  take(pointer: Pointer, hit: Hit, isTouched: boolean): void {
    const pose = this.stage.mechanism.bodyPose(hit.name);
    if (!pose) return;
    const by = isTouched ? "grip" : "ray";
    const X_WB = new THREE.Matrix4().compose(pose.p, pose.q, new THREE.Vector3(1, 1, 1));
    const X_CB = this.inWorld(pointer[by]).invert().multiply(X_WB);
    this.stage.store.setPick({ kind: "body", name: hit.name, at: hit.at });
    const turning = pointer.source.targetRayMode === "tracked-pointer"; // fingers on a screen, and looks, turn nothing
    this.held.set(pointer, { hold: this.grab.take(hit.name, hit.at, turning), by, X_CB });
  }

  release(pointer: Pointer): void {
    this.held.get(pointer)?.hold.release();
    this.held.delete(pointer);
  }

  /** Send every hand to where its controller has gone. */
  follow(scale: number): void {
    for (const [pointer, { hold, by, X_CB }] of this.held) {
      const X_WB = this.inWorld(pointer[by]).multiply(X_CB); // if the body were rigid with the controller
      const target = new THREE.Vector3().fromArray(hold.grip.at).applyMatrix4(X_WB);
      const q_WB = new THREE.Quaternion();
      X_WB.decompose(new THREE.Vector3(), q_WB, new THREE.Vector3());
      if (target.distanceTo(hold.target) * scale > STILL || hold.angleTo(q_WB) > STEADY) hold.carry(target, q_WB);
    }
  }

  /** Shake controllers as hard as their hands pull. */
  shake(now: number): void {
    if (now - this.pulsed < PULSE) return;
    this.pulsed = now;
    for (const [pointer, { hold }] of this.held) {
      const force = this.force(hold) ?? 0;
      if (force > 0) pointer.pulse(force / (force + STRONG), PULSE);
    }
  }

  /** What is held, and how hard [N]; null while time is stopped. */
  told(): { body: string; force: number | null }[] {
    return [...this.held.values()].map(({ hold }) => ({ body: hold.grip.body, force: this.force(hold) }));
  }

  private force({ hand }: Hold): number | null {
    const { live, frame } = this.stage.store;
    if (hand === null || !live || !frame || live.revision !== frame.revision) return null;
    const k = live.hands.findIndex(({ name }) => name === hand);
    return k < 0 ? null : Math.hypot(...frame.hands.subarray(HAND * k + 6, HAND * k + 9));
  }

  private inWorld(X_RC: THREE.Matrix4): THREE.Matrix4 {
    return this.X_WR.clone().multiply(X_RC);
  }
}

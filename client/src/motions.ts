/**
 * Motion as an icon (Wang 2011 §5.1): a sphere beside a joint that drives its motor. Turning the
 * sphere about the joint's axis, or sliding it along, sets the motor's position, speed or torque.
 */

import * as THREE from "three";
import { Stream } from "./actions";
import type { Motor as MotorData, Real, SetMotor, Value } from "./edits";
import type { Drag, Press, Presser } from "./gestures";
import { handleBall, IconColours, path } from "./icons3d";
import type { Loads } from "./loads";
import type { Group, Joint, Motor } from "./messages";
import { roundNumber, show } from "./numbers";
import { aimOf } from "./profiles";
import { angleAxes, type Frame, motorUnit, reachOf, slideAxis, track } from "./spheres";
import type { Stage } from "./stage";
import { colour, onTheme } from "./theme";
import { tell } from "./toasts";

export type MotorKind = Motor["quantity"];
const NEAR = 16; // pixels
const PLAIN = { max_torque: null, kp: null, kv: null, gear: 1 }; // of a new motor
const FINGER = 26;
const RADIUS = 0.14; // of the track, in sizes of the mechanism
const SPEED_PER_TURN = 4; // [1/s]: handle at 1 rad is 4 rad/s, at 0.1 m is 0.4 m/s
const PATIENCE = 3000; // [ms]
const SPEED = roundNumber(Math.PI, 5); // of a new motor [rad/s], a turn in 2 s; of a slide a tenth of the mechanism's size for each
const SOFTLY = 1; // [s] in which what stands still is brought to its speed
const STILL = 0.02; // of the usual speed
const BELOW = 26; // pixels from a joint to what its motor needs
const MOST_ASKED = 16; // motors whose torques are shown

interface Icon {
  colours: IconColours;
  ball: THREE.Mesh;
  line: THREE.Line;
}

export class Motions implements Presser {
  kind: MotorKind = "speed"; // of the next motor
  private icons = new Map<string, Icon>();
  private draft: { key: string; value: number } | null = null;
  private keyed: { key: string; value: number } | null = null; // what keys said last
  private stream: Stream;

  constructor(
    private readonly stage: Stage,
    private readonly loads: Loads,
  ) {
    const { store, view, actions } = stage;
    this.stream = new Stream(actions, 3);
    onTheme(() => {
      for (const icon of this.icons.values()) icon.colours.set(colour("motion"));
    });
    store.on("live", () => view.touch());
    view.onDraw(() => this.draw());
  }

  /** The motors of a joint, those that are off too. */
  of(joint: string): { motor: Motor; on: boolean }[] {
    return this.all().filter(({ motor }) => motor.joint === joint);
  }

  /** Put a motor into the joint that is pressed, or into the one that a pressed wheel turns on. */
  place({ x, y, isTouch }: Press): Drag | null {
    const hit = this.stage.picking.hit(x, y, ["joint"], isTouch);
    const joint = hit
      ? this.stage.store.joint(hit.name)
      : this.carrier(this.stage.picking.hit(x, y, ["body"], isTouch));
    if (!joint) return null;
    return {
      move: () => {},
      cancel: () => {},
      end: () => {
        this.stage.store.setPick({ kind: "joint", name: joint.name });
        void this.attach(joint, this.kind);
      },
    };
  }

  /** The joint that carries a body, of one freedom: what prescribes the body's motion prescribes that. */
  private carrier(hit: { name: string } | null): Joint | undefined {
    const joints = this.stage.store.scene?.joints.filter(({ groups }) => groups.length === 1) ?? [];
    const held = joints.filter(({ first, second }) => hit && (first === hit.name || second === hit.name));
    return held.find(({ second }) => second === hit?.name) ?? held[0];
  }

  /** Give a joint's first freedom a motor that keeps it going as it is; what stands still is brought to a speed. */
  async attach(joint: Joint, kind: MotorKind, group = joint.groups[0]): Promise<void> {
    if (!group) {
      tell(`joint '${joint.name}': a ${joint.joint_type} joint has no freedom to drive; change its type`, "error");
      return;
    }
    let value: Value = group.kind === "ball" ? [0, 0, 0] : this.usual(group, kind);
    if (kind === "position" && group.kind !== "ball") value = await this.now(group, "position");
    if (kind === "speed" && group.kind !== "ball") value = await this.speed(group);
    await this.set({ joint: joint.name, group: group.name, quantity: kind, value, unit: "", ...PLAIN });
  }

  /** A value that is worth having: a turn in two seconds; a torque that carries a part of the weight. */
  usual(group: Group, kind: MotorKind): number {
    const { size } = this.stage.view;
    const isSlide = group.kind === "slide";
    if (kind === "position") return isSlide ? roundNumber(0.1 * size, 1) : 1;
    if (kind === "speed") return isSlide ? roundNumber(SPEED * 0.1 * size, 1) : SPEED;
    const weight = 9.81 * (this.stage.store.scene?.bodies.reduce((sum, body) => sum + body.mass, 0) ?? 1);
    return roundNumber((isSlide ? 0.25 : 0.05 * size) * weight, 1);
  }

  /**
   * A speed to begin with: the present one; of what stands still the usual one, from the scene's first second on softly.
   * Later a soft start would be one that Reset has to wait for.
   */
  private async speed(group: Group): Promise<Value> {
    const now = await this.now(group, "velocity");
    const usual = this.usual(group, "speed");
    const time = this.stage.store.frame?.time ?? 0;
    if (Math.abs(now) > STILL * usual) return roundNumber(now, 4);
    return time > SOFTLY ? usual : { profile: "smooth", start: 0, end: usual, t0: time, t1: time + SOFTLY };
  }

  async set(motor: Motor): Promise<boolean> {
    return (await this.stage.actions.apply(Motions.edit(motor))) !== null;
  }

  /** The edit that gives a joint this motor. */
  static edit(motor: Motor, most: Real | null = motor.max_torque): SetMotor {
    const data: MotorData = { motor: motor.quantity, value: motor.value as Value }; // null: a callable, which is refused
    if (most !== null) data.max_torque = most;
    if (motor.quantity !== "torque" && motor.kv !== null) data.kv = motor.kv;
    if (motor.quantity === "position" && motor.kp !== null) data.kp = motor.kp;
    if (motor.gear !== 1) data.gear = motor.gear;
    return { edit: "SetMotor", joint: motor.joint, motor: data, group: motor.group };
  }

  async turn(motor: Motor, on: boolean): Promise<void> {
    if (on) await this.set(motor);
    else if (await this.stage.actions.control("keep", { parameters: Motions.edit(motor) })) await this.detach(motor);
  }

  async remove(motor: Motor): Promise<void> {
    await this.stage.actions.control("forget", { parameters: Motions.edit(motor) });
    if (this.stage.store.live?.motors.some((other) => key(other) === key(motor))) await this.detach(motor);
  }

  private detach(motor: Motor): Promise<unknown> {
    return this.stage.actions.apply({ edit: "SetMotor", joint: motor.joint, motor: null, group: motor.group });
  }

  /** Take a sphere. */
  press({ x, y, isTouch }: Press): Drag | null {
    for (const { motor, on } of this.all()) {
      const icon = this.icons.get(key(motor));
      const joint = this.stage.store.joint(motor.joint);
      const group = joint?.groups.find((entry) => entry.name === motor.group);
      if (!icon?.ball.visible || !joint || !group) continue;
      const pixel = this.stage.view.project(icon.ball.position);
      if (Math.hypot(pixel.x - x, pixel.y - y) < (isTouch ? FINGER : NEAR))
        return this.dragBall(motor, joint, group, on);
    }
    return null;
  }

  /** Move the sphere of the picked joint by pixels, onward for more. */
  nudge(pixels: number): boolean {
    const { pick } = this.stage.store;
    const joint = pick?.kind === "joint" ? this.stage.store.joint(pick.name) : undefined;
    const motor = joint && this.of(joint.name).find(({ motor, on }) => on && aimOf(motor.value) !== null)?.motor;
    const group = joint?.groups.find((entry) => entry.name === motor?.group);
    const F = joint && this.stage.mechanism.frameF(joint);
    if (!motor || !group || !F) return false;
    const ahead = !this.stream.isIdle && this.keyed?.key === key(motor) ? this.keyed : null; // of the session's answer
    const before = ahead?.value ?? aimOf(motor.value) ?? 0;
    const way = (pixels * this.stage.view.pixel(F.p)) / (group.kind === "slide" ? 1 : RADIUS * this.stage.view.size);
    const value = roundNumber(before + way * this.perHandle(group, motor));
    this.keyed = { key: key(motor), value };
    this.stream.send({ edit: "Drive", joint: motor.joint, value, group: group.name });
    return true;
  }

  /** Pixel of a motor's sphere. */
  pixel(joint: string): { x: number; y: number } | null {
    const found = this.of(joint)[0];
    const icon = found && this.icons.get(key(found.motor));
    return icon?.ball.visible ? this.stage.view.project(icon.ball.position) : null;
  }

  private dragBall(motor: Motor, joint: Joint, group: Group, on: boolean): Drag {
    const start = aimOf(motor.value) ?? 0;
    let value = start;
    return {
      move: (x, y) => {
        const F = this.stage.mechanism.frameF(joint);
        if (!F || group.kind === "ball" || !on) return;
        const per = this.perHandle(group, motor);
        value = roundNumber(per * reachOf(joint, group, F, this.under(joint, group, F, x, y), value / per));
        this.draft = { key: key(motor), value };
        this.stream.send({ edit: "Drive", joint: joint.name, value, group: group.name });
        this.stage.view.touch();
      },
      end: (moved) => {
        if (moved && value !== start) this.stream.send({ edit: "Drive", joint: joint.name, value, group: group.name });
        this.draft = null;
        this.stage.store.setPick({ kind: "joint", name: joint.name });
      },
      cancel: () => {
        this.draft = null;
        if (value !== start) this.stream.send({ edit: "Drive", joint: joint.name, value: start, group: group.name });
      },
    };
  }

  /** Where a pixel's ray meets the line or the plane that the sphere moves in. */
  private under(joint: Joint, group: Group, F: Frame, x: number, y: number): THREE.Vector3 {
    const { view } = this.stage;
    const ray = view.ray(x, y);
    if (group.kind !== "slide") {
      const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(angleAxes(group, F).axis, F.p);
      return ray.intersectPlane(plane, new THREE.Vector3()) ?? view.unproject(x, y, F.p);
    }
    const far = slideAxis(joint, group, F).multiplyScalar(20 * view.size);
    const found = new THREE.Vector3();
    ray.distanceSqToSegment(F.p.clone().sub(far), F.p.clone().add(far), undefined, found);
    return found;
  }

  /** Motor value per radian or metre of the handle. */
  private perHandle(group: Group, motor: Motor): number {
    if (motor.quantity === "position") return 1;
    if (motor.quantity === "speed") return SPEED_PER_TURN;
    return group.kind === "slide" ? this.loads.scale().force : 0.1 * this.loads.scale().torque * this.stage.view.size;
  }

  /** The joint's coordinate or speed now, from the stream. */
  async now(group: Group, what: "position" | "velocity"): Promise<number> {
    const name = `coordinate.${group.coordinates[0]}.${what}`;
    this.stage.signals.want("motion", [name]);
    const until = performance.now() + PATIENCE;
    while (Number.isNaN(this.stage.signals.value(name)) && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 20));
    const value = this.stage.signals.value(name);
    this.stage.signals.want("motion", []);
    if (Number.isNaN(value))
      throw new Error(`motion: the ${what} of '${group.coordinates[0]}' did not arrive; try again`);
    return roundNumber(value, 7);
  }

  private all(): { motor: Motor; on: boolean }[] {
    const { live } = this.stage.store;
    const motors = live?.motors ?? [];
    const off = (live?.off ?? [])
      .map((edit) => (edit.edit === "SetMotor" ? this.fromEdit(edit) : null))
      .filter((motor) => motor !== null && !motors.some((other) => key(other) === key(motor))) as Motor[];
    return [...motors.map((motor) => ({ motor, on: true })), ...off.map((motor) => ({ motor, on: false }))];
  }

  /** The motor of a SetMotor edit; null where its joint has no such freedom. */
  private fromEdit({ joint, group, motor }: SetMotor): Motor | null {
    const entry = this.stage.store.joint(joint)?.groups.find((other) => other.name === group);
    if (!entry || !motor) return null;
    const quantity = motor.motor;
    const real = (value: Real | undefined) => (typeof value === "number" ? value : null);
    const { max_torque, kp, kv, gear } = motor;
    const own = { max_torque: real(max_torque), kp: real(kp), kv: real(kv), gear: real(gear) ?? 1 };
    return { joint, group: entry.name, quantity, value: motor.value, unit: motorUnit(entry, quantity), ...own };
  }

  /** Show at the joint what a motor that prescribes a motion gives for it now. */
  private tellNeed(name: string, group: Group, at: THREE.Vector3): void {
    const value = this.stage.signals.value(torqueOf(group));
    const unit = group.kind === "slide" ? "N" : "N m";
    if (Number.isNaN(value)) return;
    const below = at.clone().add(this.stage.view.across(0, -BELOW, 0, at));
    this.stage.labels.set(`need ${name}`, `needs ${show(value, 3)} ${unit}`, below, "torque");
  }

  private draw(): void {
    const keep = new Set<string>();
    const asked = new Map<string, string>(); // signals by label
    for (const { motor, on } of this.all()) {
      const joint = this.stage.store.joint(motor.joint);
      const group = joint?.groups.find((entry) => entry.name === motor.group);
      const F = joint && this.stage.mechanism.frameF(joint);
      if (!joint || !group || !F) continue;
      const name = key(motor);
      keep.add(name);
      const icon = this.icon(name);
      icon.colours.off = !on;
      const value = this.draft?.key === name ? this.draft.value : (aimOf(motor.value) ?? 0);
      const reach = value / this.perHandle(group, motor);
      const points = track(joint, group, F, reach, RADIUS * this.stage.view.size);
      icon.line.geometry.setFromPoints(points);
      icon.ball.position.copy(points.at(-1) ?? F.p);
      icon.ball.scale.setScalar(Math.max(1.1 * this.stage.mechanism.pin, 6 * this.stage.view.pixel(F.p)));
      const isPicked = this.stage.store.pick?.kind === "joint" && this.stage.store.pick.name === joint.name;
      const isProfile = aimOf(motor.value) === null && !Array.isArray(motor.value);
      const isShown = !isProfile || isPicked || this.stage.store.tool === "motion";
      icon.ball.visible = icon.line.visible = isShown; // no value to set: in the way of the mechanism
      if (isProfile && !isPicked) {
        this.stage.labels.remove(`motion ${name}`);
        continue;
      }
      if (on && motor.quantity !== "torque" && group.kind !== "ball" && asked.size < MOST_ASKED) {
        asked.set(`need ${name}`, torqueOf(group));
        this.tellNeed(name, group, F.p);
      }
      const text =
        aimOf(motor.value) !== null
          ? `${show(value)} ${motor.unit}`
          : Array.isArray(motor.value)
            ? `(${(motor.value as number[]).map((item) => show(item)).join(", ")}) ${motor.unit}`
            : "profile";
      this.stage.labels.set(
        `motion ${name}`,
        on ? text : `${text} off`,
        icon.ball.position,
        on ? "motion" : "motion off",
      );
    }
    this.stage.signals.want("torques", [...asked.values()]);
    this.stage.labels.keepOnly("need ", new Set(asked.keys()));
    for (const [name, icon] of this.icons) {
      if (keep.has(name)) continue;
      this.stage.view.drop(icon.ball, icon.line);
      this.icons.delete(name);
    }
    this.stage.labels.keepOnly("motion ", new Set([...keep].map((name) => `motion ${name}`)));
  }

  private icon(name: string): Icon {
    let found = this.icons.get(name);
    if (!found) {
      const colours = new IconColours();
      colours.set(colour("motion"));
      found = { colours, ball: handleBall(colours), line: path(colours) };
      this.icons.set(name, found);
      this.stage.view.scene.add(found.ball, found.line);
    }
    return found;
  }
}

/** The signal of the torque, or force, of a motor. */
function torqueOf(group: Group): string {
  return `coordinate.${group.coordinates[0]}.motor_torque`;
}

function key(motor: Motor): string {
  return `${motor.joint} ${motor.group}`;
}

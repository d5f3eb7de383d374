/**
 * Taking hold: press on a body and pull; with Shift held meanwhile it is turned. With time stopped the same gesture
 * drags kinematically.
 */

import * as THREE from "three";
import { Stream } from "./actions";
import type { Drag, Press, Presser } from "./gestures";
import { coil } from "./glyphs";
import type { Body } from "./messages";
import { show, type Vec3 } from "./numbers";
import type { Stage } from "./stage";
import { colour, onTheme } from "./theme";

const COIL_POINTS = 140;
export const HAND = 16; // numbers of a hand in a frame: point held, target, force, torque, orientation
const PER_PIXEL = Math.PI / 360; // turn of a held body [rad]
const ZERO = new THREE.Vector3();

interface HandLine {
  line: THREE.Line;
  points: Float32Array;
  ball: THREE.Mesh;
  axes: THREE.LineSegments; // how the hand is turned
}

/** Radius of gyration of a body [m]: with it a hand turns as briskly as it pulls. */
export function gyration({ mass, parameters }: Body): number {
  const inertia = parameters.find(({ name }) => name === "inertia")?.value;
  const rows = Array.isArray(inertia) ? (inertia as (number | number[])[]) : [];
  const trace = rows.reduce<number>((sum, row, k) => sum + (Array.isArray(row) ? (row[k] ?? 0) : row), 0);
  return Math.sqrt(trace / 2 / mass);
}

/** The rotation vector of an orientation, the short way [rad]. */
export function rotationVector(q: THREE.Quaternion): Vec3 {
  const sign = q.w < 0 ? -1 : 1;
  const size = Math.hypot(q.x, q.y, q.z);
  const k = size > 1e-12 ? (2 * sign * Math.atan2(size, sign * q.w)) / size : 2 * sign;
  return [k * q.x, k * q.y, k * q.z];
}

/** Holds one body, by hand or, while time is stopped, by dragging it. */
export class Hold {
  private stream: Stream;
  readonly hand: string | null; // its name; null where it drags
  private through: THREE.Vector3; // the target lies in the plane through it that faces the camera
  readonly target: THREE.Vector3;
  private aim: THREE.Quaternion | null = null; // that the body should have, once it is turned

  constructor(
    private readonly stage: Stage,
    readonly grip: { body: string; at: Vec3; start: THREE.Vector3 },
    private readonly springs: { name: string; stiffness: number; damping: number } | null,
    turning = false, // from the start
  ) {
    const hand = springs;
    const { body, at, start } = grip;
    this.stream = new Stream(stage.actions, hand ? 3 : 1);
    this.hand = hand?.name ?? null;
    this.through = start.clone();
    this.target = start.clone();
    if (!hand) return;
    const { name, stiffness, damping } = hand;
    const angular = turning ? this.orient() : null;
    void stage.actions.apply({ edit: "Grab", hand: name, body, at, stiffness, damping, ...angular });
  }

  toPixel(x: number, y: number): void {
    this.to(this.stage.view.unproject(x, y, this.through));
  }

  to(target: THREE.Vector3): void {
    this.target.copy(target);
    const point = target.toArray();
    const turn = this.aim ? rotationVector(this.aim) : undefined;
    if (this.hand) this.stream.send({ edit: "Move", hand: this.hand, target: point, ...(turn && { turn }) });
    else this.stream.send({ edit: "DragTo", body: this.grip.body, target: point, at: this.grip.at });
  }

  /** Go to a place and, where it turns what it holds, to an orientation of the body. */
  carry(target: THREE.Vector3, q_WB: THREE.Quaternion): void {
    this.aim?.copy(q_WB);
    this.to(target);
  }

  /** How far an orientation is from the one that it gives the body [rad]; 0 where it gives none. */
  angleTo(q_WB: THREE.Quaternion): number {
    return this.aim?.angleTo(q_WB) ?? 0;
  }

  /** Move the target by pixels: right, up, away. */
  nudge(right: number, up: number, away: number): void {
    const target = this.target.clone().add(this.stage.view.across(right, up, away, this.target));
    this.through.copy(target);
    this.to(target);
  }

  /** Turn the body by pixels: right about the picture's upright, down about its level line; a flat one in its plane. */
  turn(right: number, down: number): boolean {
    if (!this.springs || !this.hold()) return false;
    const { camera, basis } = this.stage.view;
    const across = (x: number, y: number, z: number) => new THREE.Vector3(x, y, z).applyQuaternion(camera.quaternion);
    if (basis.isPlanar) return this.turnAbout(across(0, 0, 1), -PER_PIXEL * right);
    this.turnAbout(across(0, 1, 0), PER_PIXEL * right, false);
    return this.turnAbout(across(1, 0, 0), PER_PIXEL * down);
  }

  /** Turn it about an axis of the world [rad]. */
  turnAbout(axis: THREE.Vector3, angle: number, isLast = true): boolean {
    if (!this.hold()) return false;
    this.aim?.premultiply(new THREE.Quaternion().setFromAxisAngle(axis.normalize(), angle)).normalize();
    if (isLast) this.to(this.target);
    return true;
  }

  /** Take hold of its orientation too, from where it is now. */
  private hold(): boolean {
    if (this.aim) return true;
    const angular = this.orient();
    if (!this.springs || !angular) return false;
    this.stream.flush();
    void this.stage.actions.apply({ edit: "Grip", hand: this.springs.name, ...angular });
    return true;
  }

  /** Aim at the orientation that the body has; the springs for it, null where nobody knows it. */
  private orient(): { angular_stiffness: number; angular_damping: number } | null {
    const { store } = this.stage;
    const pose = store.pose(this.grip.body);
    const body = store.scene?.bodies.find(({ name }) => name === this.grip.body);
    if (!this.springs || !pose || !body) return null;
    this.aim = new THREE.Quaternion(...pose.q);
    const square = gyration(body) ** 2;
    const { stiffness, damping } = this.springs;
    return { angular_stiffness: stiffness * square, angular_damping: damping * square };
  }

  isOver = false;

  release(): void {
    this.isOver = true;
    this.stream.flush();
    if (this.hand) void this.stage.actions.apply({ edit: "Release", hand: this.hand });
  }
}

export class Grab implements Presser {
  stiffness = 1000; // [N/m]
  damping = 10; // [N s/m]
  private readonly id = Math.floor(Math.random() * 0xffff)
    .toString(16)
    .padStart(4, "0");
  private count = 0;
  private lines = new Map<string, HandLine>();
  private material = new THREE.LineBasicMaterial({ depthTest: false, transparent: true });
  private ballMaterial = new THREE.MeshBasicMaterial({ depthTest: false, transparent: true });
  private byKeys: Hold | null = null;
  private holds = new Map<string, Hold>(); // one's own hands that hold something, by name

  constructor(private readonly stage: Stage) {
    const { store } = stage;
    onTheme(() => {
      this.material.color.set(colour("hand"));
      this.ballMaterial.color.set(colour("hand"));
    });
    store.on("shown", () => this.draw());
    store.on("live", () => this.draw());
    store.on("line", (connected) => {
      if (!connected) this.byKeys = null;
    });
    store.on("pick", (pick) => {
      if (this.byKeys && pick === null) this.releaseKeys();
    });
  }

  press({ x, y, isTouch }: Press): Drag | null {
    const hit = this.stage.picking.hit(x, y, ["body"], isTouch);
    if (!hit) {
      const other = this.stage.picking.hit(x, y, ["joint", "spring"], isTouch);
      return (
        other && {
          move: () => {},
          end: () => this.stage.store.setPick({ kind: other.kind, name: other.name }),
          cancel: () => {},
        }
      );
    }
    let hold: Hold | null = null;
    let last = { x, y };
    const turned = { x: 0, y: 0 };
    const begin = (): Hold => (hold ??= this.take(hit.name, hit.at));
    return {
      move: (toX, toY, isShift) => {
        const [right, down] = [toX - last.x, toY - last.y];
        last = { x: toX, y: toY };
        const holding = begin();
        if (isShift && holding.turn(right, down)) {
          turned.x += right; // the target stays where it is meanwhile
          turned.y += down;
        } else holding.toPixel(toX - turned.x, toY - turned.y);
      },
      deepen: (pixels) => {
        const holding = begin();
        holding.nudge(0, 0, pixels);
        holding.toPixel(last.x - turned.x, last.y - turned.y);
      },
      end: (moved) => {
        hold?.release();
        if (moved) return;
        const front = this.stage.picking.hit(x, y, ["joint", "spring", "body"], isTouch) ?? hit;
        this.stage.store.setPick({
          kind: front.kind,
          name: front.name,
          at: front.kind === "body" ? front.at : undefined,
        });
      },
      cancel: () => hold?.release(),
    };
  }

  /** Take the picked body with the keyboard, or let it go. */
  toggleKeys(): void {
    const pick = this.stage.store.pick;
    if (this.byKeys) this.releaseKeys();
    else if (pick?.kind === "body") this.byKeys = this.take(pick.name, pick.at ?? [0, 0, 0]);
  }

  get holdsByKeys(): boolean {
    return this.byKeys !== null;
  }

  nudge(right: number, up: number, away: number): void {
    this.byKeys?.nudge(right, up, away);
  }

  /** Turn what the keyboard holds about the line of sight [rad]. */
  turnKeys(angle: number): boolean {
    const sight = this.stage.view.camera.getWorldDirection(new THREE.Vector3());
    return this.byKeys?.turnAbout(sight, angle) ?? false;
  }

  releaseKeys(): void {
    this.byKeys?.release();
    this.byKeys = null;
  }

  /** Take hold of a point of a body, and of its orientation where it is to be turned from the start. */
  take(body: string, at: Vec3, turning = false): Hold {
    const start = this.stage.mechanism.point(body, at) ?? new THREE.Vector3();
    const isStopped = this.stage.store.status?.paused ?? false;
    this.count += 1;
    const hand = { name: `hand ${this.id}-${this.count}`, stiffness: this.stiffness, damping: this.damping };
    const hold = new Hold(this.stage, { body, at, start }, isStopped ? null : hand, turning);
    if (!isStopped) this.holds.set(hand.name, hold);
    return hold;
  }

  /** Every hand of every client, as its spring with its force. */
  private draw(): void {
    const { live, frame } = this.stage.store;
    if (!live || !frame || frame.revision !== live.revision) return;
    const keys = new Set<string>();
    live.hands.forEach((hand, k) => {
      const told = (offset: number) => new THREE.Vector3().fromArray(frame.hands, HAND * k + offset);
      const held = this.stage.mechanism.point(hand.body, hand.at) ?? told(0);
      const target = this.holds.get(hand.name)?.target ?? told(3); // one's own hand is where the pointer is
      const force = told(6);
      const key = `hand ${hand.name}`;
      keys.add(key);
      const line = this.line(key);
      coil(line.points, held, target, 0.6 * this.stage.mechanism.pin, 14);
      line.line.geometry.getAttribute("position").needsUpdate = true;
      line.ball.position.copy(target);
      line.ball.scale.setScalar(0.9 * this.stage.mechanism.pin);
      const turns = hand.angular_stiffness > 0 || hand.angular_damping > 0;
      line.axes.visible = turns;
      line.axes.position.copy(target);
      line.axes.quaternion.fromArray(frame.hands, HAND * k + 12);
      line.axes.scale.setScalar(3 * this.stage.mechanism.pin);
      const torque = turns ? `, ${show(told(9).length())} N m` : "";
      this.stage.labels.set(key, `${show(force.length())} N${torque}`, target, "hand");
    });
    for (const [key, line] of this.lines) {
      if (keys.has(key)) continue;
      this.stage.view.drop(line.line, line.ball, line.axes);
      this.lines.delete(key);
    }
    this.stage.labels.keepOnly("hand ", keys);
    for (const [name, hold] of this.holds) if (hold.isOver) this.holds.delete(name);
    this.stage.view.touch();
  }

  private line(key: string): HandLine {
    let found = this.lines.get(key);
    if (!found) {
      const points = new Float32Array(3 * COIL_POINTS);
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(points, 3));
      found = {
        line: new THREE.Line(geometry, this.material),
        points,
        ball: new THREE.Mesh(new THREE.SphereGeometry(1, 14, 10), this.ballMaterial),
        axes: new THREE.LineSegments(cross(), this.material),
      };
      found.line.frustumCulled = false;
      found.line.renderOrder = found.ball.renderOrder = found.axes.renderOrder = 5;
      this.lines.set(key, found);
      this.stage.view.scene.add(found.line, found.ball, found.axes);
    }
    return found;
  }
}

/** Three axes from a point, of length 1. */
function cross(): THREE.BufferGeometry {
  const ends = [new THREE.Vector3(1, 0, 0), new THREE.Vector3(0, 1, 0), new THREE.Vector3(0, 0, 1)];
  return new THREE.BufferGeometry().setFromPoints(ends.flatMap((end) => [ZERO, end]));
}

/**
 * Forces as arrows, all to one scale that the picture states: reactions, springs, hands, weights; torques of motors and
 * joints as arcs about their axes, so far round as they are large, or as arrows where one looks at them from the side;
 * velocities and accelerations each to a scale of their own. What frames do not have of themselves the session is
 * asked for, as long as it is shown.
 */

import * as THREE from "three";
import { byId, h, setText } from "./dom";
import { HAND } from "./grab";
import { roundLength } from "./lengths";
import type { Frame, Scene } from "./messages";
import { show } from "./numbers";
import type { Stage } from "./stage";
import { colour, onTheme } from "./theme";
import { tellError } from "./toasts";

export const KINDS = {
  reactions: "Reactions",
  springs: "Springs",
  hands: "Hands",
  weights: "Weights",
  moments: "Reaction torques",
  motors: "Motor torques",
  velocities: "Velocities",
  accelerations: "Accelerations",
} as const;
export type Kind = keyof typeof KINDS;
export const FORCES: Kind[] = ["reactions", "springs", "hands", "weights", "moments", "motors"];

const ASKED = ["reactions", "motors", "accelerations"] as const; // of the session
const UNITS: Record<Scale, string> = { force: "N", torque: "N m", velocity: "m/s", acceleration: "m/s²" };
const LONGEST = 0.28; // of the mechanism's size: the arrow of the largest that there was
const FADE = 0.995; // of the largest, from frame to frame, so that arrows get longer when it is over
const MOST = 4000; // arrows
const NOTHING = 1e-3; // of the largest: shorter ones are not drawn
const ROUND = 1.5 * Math.PI; // of the arc of the largest torque that there was [rad]
const ARC = 0.07; // radius of arcs, of the mechanism's size
const PIECES = 24; // of the longest arc
const NOISE = 1e-9; // of a joint's torque, of the largest force at the mechanism's size: what is less is rounding
const LEAST = 1e-12; // of a motor's torque [N m]: what is less is rounding
const FACING = 0.35; // cosine of the angle to the line of sight, above which a torque is an arc

type Scale = "force" | "torque" | "velocity" | "acceleration";
type Add = (kind: Kind, at: THREE.Vector3 | null | undefined, vector: THREE.Vector3, scale?: Scale) => void;
const SCALE: Record<Kind, Scale> = {
  reactions: "force",
  springs: "force",
  hands: "force",
  weights: "force",
  moments: "torque",
  motors: "torque",
  velocities: "velocity",
  accelerations: "acceleration",
};
const COLOURS: Record<Kind, string> = {
  reactions: "force",
  springs: "pull",
  hands: "hand",
  weights: "s4",
  moments: "torque",
  motors: "motion",
  velocities: "trace",
  accelerations: "torque",
};

interface Arrow {
  kind: Kind;
  scale: Scale;
  at: THREE.Vector3;
  vector: THREE.Vector3;
}

export class Arrows {
  private on = new Set<Kind>();
  private shafts: THREE.InstancedMesh;
  private heads: THREE.InstancedMesh;
  private largest: Record<Scale, number> = { force: 0, torque: 0, velocity: 0, acceleration: 0 };
  private legend = h("div", { id: "scale", hidden: true });
  private tints = new Map<Kind, THREE.Color>();
  private drawn: Arrow[] = [];

  constructor(private readonly stage: Stage) {
    const material = () => new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, toneMapped: false });
    this.shafts = new THREE.InstancedMesh(shaft(), material(), MOST);
    this.heads = new THREE.InstancedMesh(head(), material(), MOST);
    for (const mesh of [this.shafts, this.heads]) {
      mesh.frustumCulled = false;
      mesh.renderOrder = 5;
      mesh.count = 0;
      mesh.raycast = () => {};
      stage.view.scene.add(mesh);
    }
    byId("stage").append(this.legend);
    const { store, view } = stage;
    store.on("topology", () => this.forget());
    store.on("jump", () => this.forget());
    store.on("source", () => this.forget());
    store.on("frame", () => {
      for (const scale of Object.keys(this.largest) as Scale[]) this.largest[scale] *= FADE;
    });
    store.on("line", (connected) => {
      if (connected && this.on.size) this.ask();
    });
    view.onDraw(() => this.draw());
    onTheme(() => {
      for (const kind of Object.keys(KINDS) as Kind[]) this.tints.set(kind, new THREE.Color(colour(COLOURS[kind])));
    });
  }

  has(kind: Kind): boolean {
    return this.on.has(kind);
  }

  /** Are forces shown? */
  get isOn(): boolean {
    return FORCES.some((kind) => this.on.has(kind));
  }

  /** All forces, or none. */
  toggle(): void {
    const on = !this.isOn;
    for (const kind of FORCES) this.mark(kind, on);
    this.ask();
  }

  show(kind: Kind, on: boolean): void {
    this.mark(kind, on);
    this.ask();
  }

  /** What is drawn of a kind: where, and how much. */
  of(kind: Kind): { at: number[]; vector: number[] }[] {
    return this.drawn
      .filter((arrow) => arrow.kind === kind)
      .map(({ at, vector }) => ({ at: at.toArray(), vector: vector.toArray() }));
  }

  private mark(kind: Kind, on: boolean): void {
    if (on) this.on.add(kind);
    else this.on.delete(kind);
    this.stage.view.touch();
  }

  /** What frames must have for them, besides what they have of themselves. */
  get vectors(): string[] {
    const wanted = new Set<string>(this.on);
    if (this.on.has("moments")) wanted.add("reactions");
    return ASKED.filter((kind) => wanted.has(kind));
  }

  private ask(): void {
    this.stage.connection.control("vectors", { name: this.vectors.join(" ") }).catch(tellError);
  }

  private forget(): void {
    for (const scale of Object.keys(this.largest) as Scale[]) this.largest[scale] = 0;
  }

  private draw(): void {
    const { store } = this.stage;
    const { scene, frame } = store;
    this.drawn = scene && frame && store.fits && this.on.size ? this.find(scene, frame) : [];
    for (const { scale, vector } of this.drawn) this.largest[scale] = Math.max(this.largest[scale], vector.length());
    this.shafts.count = this.heads.count = 0;
    this.stage.view.camera.getWorldDirection(sight);
    for (const arrow of this.drawn) if (this.shafts.count < MOST - PIECES) this.put(arrow);
    for (const mesh of [this.shafts, this.heads]) {
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
    this.state();
  }

  private find(scene: Scene, frame: Frame): Arrow[] {
    const found: Arrow[] = [];
    const add: Add = (kind, at, vector, scale = SCALE[kind]) => {
      if (at && this.on.has(kind)) found.push({ kind, scale, at, vector });
    };
    const { mechanism, store } = this.stage;
    const from = (values: Float32Array, k: number) => new THREE.Vector3().fromArray(values, k);
    const noise = NOISE * scene.size * Math.max(...frame.reactions.map(Math.abs), 0);
    if (frame.reactions.length === 6 * scene.joints.length)
      scene.joints.forEach((joint, k) => {
        add("reactions", mechanism.frameM(joint)?.p, from(frame.reactions, 6 * k + 3));
        const moment = from(frame.reactions, 6 * k);
        if (moment.length() > noise) add("moments", mechanism.frameM(joint)?.p, moment);
      });
    this.motors(scene, frame, add);
    const gravity = new THREE.Vector3().fromArray(scene.gravity);
    scene.bodies.forEach((body, k) => {
      const at = mechanism.point(body.name);
      add("weights", at, gravity.clone().multiplyScalar(body.mass));
      add("velocities", at, from(frame.twists, 6 * k + 3));
      if (frame.accelerations.length) add("accelerations", at, from(frame.accelerations, 6 * k + 3));
    });
    for (const spring of scene.springs) {
      const [a, b] = [mechanism.point(spring.first, spring.at_first), mechanism.point(spring.second, spring.at_second)];
      if (!a || !b) continue;
      const pull = b
        .clone()
        .sub(a)
        .setLength(Math.abs(mechanism.springForce(spring)));
      if (mechanism.springForce(spring) < 0) pull.negate();
      add("springs", spring.first === "ground" ? null : a, pull);
      add("springs", spring.second === "ground" ? null : b, pull.clone().negate());
    }
    if (store.live && frame.revision === store.live.revision)
      store.live.hands.forEach((hand, k) => {
        add("hands", mechanism.point(hand.body, hand.at), from(frame.hands, HAND * k + 6));
      });
    return found;
  }

  /** Torques about the axes of their joints, forces along their slides. */
  private motors(scene: Scene, frame: Frame, add: Add): void {
    if (!frame.motors.length) return;
    let k = 0;
    for (const joint of scene.joints) {
      const F = this.stage.mechanism.frameF(joint);
      for (const { kind, coordinates } of joint.groups)
        for (const _ of coordinates) {
          const value = frame.motors[k] ?? 0;
          k += 1;
          if (!F || kind === "ball" || Math.abs(value) <= LEAST) continue;
          const vector = new THREE.Vector3(0, 0, value).applyQuaternion(F.q);
          add("motors", F.p, vector, kind === "slide" ? "force" : "torque");
        }
    }
  }

  /** Lay one arrow, or arc, where it is long enough to be seen. */
  private put({ kind, scale, at, vector }: Arrow): void {
    const size = vector.length();
    const most = this.largest[scale];
    if (!(size > NOTHING * most)) return;
    along.copy(vector).divideScalar(size);
    const tint = this.tints.get(kind) ?? new THREE.Color();
    if (scale === "torque" && Math.abs(along.dot(sight)) > FACING) this.arc(at, (ROUND * size) / most, tint);
    else this.straight(at, (LONGEST * this.stage.view.size * size) / most, tint);
  }

  private straight(at: THREE.Vector3, length: number, tint: THREE.Color): void {
    const tip = Math.min(10 * this.stage.view.pixel(at), 0.5 * length);
    this.shaft(at, along, length - tip, tint);
    this.head(place.copy(at).addScaledVector(along, length - tip), along, tip, tint);
  }

  /** About an axis `along`, right-handed, so far round. */
  private arc(at: THREE.Vector3, angle: number, tint: THREE.Color): void {
    const radius = ARC * this.stage.view.size;
    const tip = Math.min(10 * this.stage.view.pixel(at), 0.5 * radius * angle);
    const round = angle - tip / radius;
    const count = Math.max(2, Math.ceil((PIECES * round) / ROUND));
    const rim = (way: number): THREE.Vector3 =>
      new THREE.Vector3(radius * Math.cos(way), radius * Math.sin(way), 0)
        .applyQuaternion(turn.setFromUnitVectors(Z, along))
        .add(at);
    let from = rim(0);
    for (let k = 1; k <= count; k++) {
      const to = rim((round * k) / count);
      const piece = to.clone().sub(from);
      const length = piece.length();
      this.shaft(from, piece.divideScalar(length), 1.05 * length, tint);
      from = to;
    }
    const ahead = rim(angle).sub(from);
    this.head(from, ahead.normalize(), tip, tint);
  }

  private shaft(at: THREE.Vector3, way: THREE.Vector3, length: number, tint: THREE.Color): void {
    const thick = 1.6 * this.stage.view.pixel(at);
    turn.setFromUnitVectors(Z, way);
    this.shafts.setMatrixAt(this.shafts.count, matrix.compose(at, turn, scale.set(thick, thick, length)));
    this.shafts.setColorAt(this.shafts.count, tint);
    this.shafts.count += 1;
  }

  private head(at: THREE.Vector3, way: THREE.Vector3, length: number, tint: THREE.Color): void {
    turn.setFromUnitVectors(Z, way);
    this.heads.setMatrixAt(this.heads.count, matrix.compose(at, turn, scale.set(0.42 * length, 0.42 * length, length)));
    this.heads.setColorAt(this.heads.count, tint);
    this.heads.count += 1;
  }

  /** State the scales: the length of a round value on the screen. */
  private state(): void {
    const shown = new Set(this.drawn.map(({ scale }) => scale));
    const scales = (Object.keys(this.largest) as Scale[]).filter((one) => shown.has(one) && this.largest[one] > 0);
    this.legend.hidden = scales.length === 0;
    if (!scales.length) return;
    const { view } = this.stage;
    const pixel = view.pixel(view.controls.target);
    const lines = scales.map((one) => {
      const value = roundLength(this.largest[one] / 2);
      const width = (LONGEST * view.size * value) / this.largest[one] / pixel;
      const arc = Math.round((ROUND * value * 180) / this.largest[one] / Math.PI);
      const text = `${show(value)} ${UNITS[one]}`;
      return { text: one === "torque" ? `${text}, arc of ${arc}°` : text, width: Math.round(width), one };
    });
    while (this.legend.children.length > lines.length) this.legend.lastChild?.remove();
    while (this.legend.children.length < lines.length) this.legend.append(h("span", {}, h("i"), h("b")));
    for (const [k, { text, width, one }] of lines.entries()) {
      const [bar, label] = this.legend.children[k]?.children ?? [];
      (this.legend.children[k] as HTMLElement).className = one;
      if (bar) (bar as HTMLElement).style.width = `${width}px`;
      if (label) setText(label as HTMLElement, text);
    }
  }
}

const Z = new THREE.Vector3(0, 0, 1);
const sight = new THREE.Vector3();
const along = new THREE.Vector3();
const place = new THREE.Vector3();
const scale = new THREE.Vector3();
const turn = new THREE.Quaternion();
const matrix = new THREE.Matrix4();

function shaft(): THREE.BufferGeometry {
  return new THREE.CylinderGeometry(1, 1, 1, 8).rotateX(Math.PI / 2).translate(0, 0, 0.5);
}

function head(): THREE.BufferGeometry {
  return new THREE.ConeGeometry(1, 1, 12).rotateX(Math.PI / 2).translate(0, 0, 0.5);
}

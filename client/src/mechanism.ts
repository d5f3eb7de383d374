/** Bodies, obstacles, fluids, joints, springs, centres of mass and axes of the scene, moved with every picture. */

import * as THREE from "three";
import { Fluids } from "./fluids";
import { isThere, onCome } from "./geometries";
import { Instances, type Look, type Piece, type Stretched } from "./instances";
import { surface } from "./materials";
import type { Joint, Scene } from "./messages";
import { Obstacles } from "./obstacles";
import { Hues, type PartRef, partKey } from "./parts3d";
import { pieces } from "./pieces";
import { centreMark } from "./shapes";
import type { Store } from "./store";
import { colour, onTheme } from "./theme";
import type { View } from "./view";
import { nearBoxes } from "./views";

const HUES = 6;
const JUST_BEGUN = 0.2; // [s]: a scene that is opened anew is looked at anew
const LOOKS: Partial<Record<keyof Shown, Look[]>> = {
  bodies: ["body"],
  joints: ["joint", "ground"],
  springs: ["spring"],
};

export interface Shown {
  bodies: boolean;
  obstacles: boolean;
  joints: boolean;
  springs: boolean;
  centres: boolean;
  axes: boolean;
}

export class Mechanism {
  readonly root = new THREE.Group();
  readonly obstacles: Obstacles;
  readonly fluids: Fluids;
  shown: Shown = { bodies: true, obstacles: true, joints: true, springs: true, centres: false, axes: false };
  private readonly materials: Record<Look, THREE.MeshStandardMaterial> = {
    body: surface(),
    joint: surface({ metalness: 0.4, roughness: 0.4 }),
    spring: surface({ metalness: 0.5, roughness: 0.35 }),
    ground: surface({ roughness: 0.9 }),
  };
  private instances = new Instances(this.materials);
  private carriers: THREE.Matrix4[] = [];
  private pieces: (Piece | Stretched)[] = [];
  private marks = new THREE.Group(); // centres and axes, where they are shown
  private hiddenParts = new Set<string>();
  private hues = new Hues(HUES);
  private strongest = 0; // force of a spring that there was [N]
  private hovered: PartRef | null = null;
  private hoverers: ((part: PartRef | null) => void)[] = [];
  private pending: Scene | null = null; // to be built when its first frame has come
  private isFitted = true;
  /** Whom the picture is to follow from now on; null: nobody. */
  onFollow: (body: string | null) => void = () => undefined;
  private name = "";
  private isBegun = false; // time has jumped to the start

  constructor(
    private readonly store: Store,
    private readonly view: View,
  ) {
    this.obstacles = new Obstacles(store, view);
    this.fluids = new Fluids(store, view);
    this.root.add(this.instances.root, this.marks);
    view.scene.add(this.root, this.obstacles.root, this.fluids.root);
    store.on("topology", (scene) => {
      this.pending = scene;
    });
    store.on("jump", (time) => {
      this.isBegun = time < JUST_BEGUN;
    });
    store.on("scene", () => this.colourAll());
    store.on("shown", () => this.move());
    onCome(() => this.move());
    store.on("sweep", () => {
      if (!view.isTouched && this.isFitted && !this.pending) this.frameSweep();
    });
    store.on("pick", () => this.outlinePick());
    onTheme(() => this.colourAll());
  }

  /** Boxes of everything that is not far away from the rest, and the names of what is; of bodies where one is followed. */
  extent(): { points: THREE.Vector3[]; away: string[] } {
    const { isFollowing } = this.view;
    const shown = [...this.instances.boxes().values()].filter(({ part }) => !isFollowing || part.kind === "body");
    const { near, away } = nearBoxes(
      shown.map(({ part, box }) => ({ name: part.name, box })),
      this.view.size,
    );
    const still = isFollowing ? [] : this.obstacles.extent();
    return { points: [...near.flatMap(({ box }) => [box.min, box.max]), ...still], away };
  }

  show(what: keyof Shown, on: boolean): void {
    this.shown[what] = on;
    for (const look of LOOKS[what] ?? []) this.instances.show(look, on);
    this.obstacles.root.visible = this.shown.obstacles;
    this.fluids.root.visible = this.shown.obstacles;
    if (what === "centres" || what === "axes") this.buildMarks();
    this.view.touch();
  }

  /** Leave a part out of the picture, or show it again. */
  hide(part: PartRef, on: boolean): void {
    if (on) this.hiddenParts.add(partKey(part));
    else this.hiddenParts.delete(partKey(part));
    this.applyHidden();
  }

  /** Leave parts out of the picture, or where all of them are, show them again. */
  toggle(parts: PartRef[]): void {
    const on = !parts.every((part) => this.isHidden(part));
    for (const part of parts) this.hide(part, on);
  }

  showAll(): void {
    this.hiddenParts.clear();
    this.applyHidden();
  }

  isHidden(part: PartRef): boolean {
    return this.hiddenParts.has(partKey(part));
  }

  get hiddenCount(): number {
    return this.hiddenParts.size;
  }

  /** Cut the mechanism open along a plane; null: whole again. */
  cut(plane: THREE.Plane | null): void {
    for (const material of Object.values(this.materials)) {
      material.clippingPlanes = plane ? [plane] : null;
      material.side = plane ? THREE.DoubleSide : THREE.FrontSide;
      material.needsUpdate = true;
    }
    this.view.touch();
  }

  /** Be told what lies under the pointer, when it is another. */
  onHover(tell: (part: PartRef | null) => void): void {
    this.hoverers.push(tell);
  }

  /** Show what lies under the pointer. */
  hover(part: PartRef | null): void {
    if ((part && partKey(part)) === (this.hovered && partKey(this.hovered))) return;
    this.hovered = part;
    for (const tell of this.hoverers) tell(part);
    this.instances.outline("hover", part ? [part] : [], colour("hover"));
    this.view.touch();
  }

  /** What is drawn, piece by piece. */
  drawnPieces(): readonly (Piece | Stretched)[] {
    return this.pieces;
  }

  /** Where bodies are shown, in the scene's order. */
  placed(): THREE.Matrix4[] {
    return this.carriers.map((one) => one.clone());
  }

  /** Number of a body's colour. */
  hue(body: string): number {
    return this.hues.of(body);
  }

  /** Where a point of a body is now. */
  point(body: string, at: readonly number[] = [0, 0, 0]): THREE.Vector3 | null {
    const pose = this.store.pose(body);
    if (!pose) return null;
    return new THREE.Vector3(at[0], at[1], at[2])
      .applyQuaternion(new THREE.Quaternion(...pose.q))
      .add(new THREE.Vector3(...pose.p));
  }

  /** Where a body is shown. */
  bodyPose(body: string): { p: THREE.Vector3; q: THREE.Quaternion } | null {
    return this.frame(body, [0, 0, 0], [0, 0, 0, 1]);
  }

  /** Frame F of a joint now. */
  frameF(joint: Joint): { p: THREE.Vector3; q: THREE.Quaternion } | null {
    return this.frame(joint.first, joint.p_PF, joint.q_PF);
  }

  frameM(joint: Joint): { p: THREE.Vector3; q: THREE.Quaternion } | null {
    return this.frame(joint.second, joint.p_CM, joint.q_CM);
  }

  /** Radius of a joint's pin [m]. */
  get pin(): number {
    const scene = this.store.scene;
    if (this.pinOf !== scene) {
      this.pinOf = scene;
      const radii = (scene?.bodies ?? [])
        .flatMap((body) => body.shapes.map((shape) => shape.radius ?? Infinity))
        .sort((a, b) => a - b);
      const size = scene?.size ?? this.view.size; // others may ask before the view has entered the scene
      this.pinRadius = Math.min(0.016 * size, 1.1 * (radii[Math.floor(radii.length / 2)] ?? Infinity));
    }
    return this.pinRadius;
  }

  private pinOf: Scene | null = null;
  private pinRadius = 0;

  private frame(body: string, p: number[], q: number[]): { p: THREE.Vector3; q: THREE.Quaternion } | null {
    const pose = this.store.pose(body);
    if (!pose) return null;
    const turn = new THREE.Quaternion(...pose.q);
    return {
      p: new THREE.Vector3()
        .fromArray(p)
        .applyQuaternion(turn)
        .add(new THREE.Vector3(...pose.p)),
      q: turn.multiply(new THREE.Quaternion().fromArray(q)),
    };
  }

  private build(scene: Scene): void {
    this.pending = null;
    this.view.size = scene.size;
    this.strongest = 0;
    this.instances.clear();
    if (this.name !== scene.name) this.hues.clear();
    this.hues.take(
      scene.bodies.map(({ name }) => name),
      scene.joints,
    );
    this.place(scene);
    const { up, front } = this.view.basisFor(scene);
    this.pieces = pieces(scene, { pin: this.pin, up, front, carriers: this.carriers });
    for (const piece of this.pieces) this.instances.add(piece);
    this.instances.finish();
    for (const look of this.instances.shown) this.instances.show(look, true);
    this.buildMarks();
    this.instances.move(this.carriers);
    this.colourAll();
    this.isFitted = false;
  }

  /** Where bodies are, as matrices. */
  private place(scene: Scene): void {
    const { poses } = this.store.playout;
    const count = scene.bodies.length;
    while (this.carriers.length < count) this.carriers.push(new THREE.Matrix4());
    this.carriers.length = count;
    for (let k = 0; k < count; k++) {
      position.fromArray(poses, 7 * k);
      turn.fromArray(poses, 7 * k + 3);
      this.carriers[k]?.compose(position, turn, ONE);
    }
  }

  private move(): void {
    const { scene, playout } = this.store;
    if (!scene || playout.poses.length !== 7 * scene.bodies.length) return;
    if (this.pending && !isThere(this.pending)) return; // what is shown stays until all has come
    if (this.pending) this.build(this.pending);
    else this.place(scene);
    this.instances.move(this.carriers);
    this.colourSprings(scene);
    this.placeMarks();
    this.view.touch();
    if (this.isFitted) return;
    this.isFitted = true;
    const isNew = this.name !== scene.name || this.isBegun;
    this.isBegun = false;
    this.name = scene.name;
    if (isNew) this.hiddenParts.clear();
    if (!isNew) return;
    this.onFollow(null);
    this.view.enter(scene, this.extent().points);
    this.frameSweep();
  }

  /** Leave the view as it is, though the sweep may not be known yet; false where the scene is still to be entered. */
  keepView(): boolean {
    if (this.pending || !this.isFitted) return false;
    this.view.isTouched = true;
    return true;
  }

  /** Have room for what the scene will fill in its first seconds, where that is known. */
  private frameSweep(): void {
    const { sweep, scene } = this.store;
    if (!sweep || sweep.topology !== scene?.topology) return;
    const ends = [sweep.low, sweep.high].map((corner) => new THREE.Vector3().fromArray(corner));
    this.onFollow(sweep.follow);
    this.view.fit([...this.extent().points, ...(sweep.follow ? [] : ends)]);
    this.view.isTouched = false;
  }

  private applyHidden(): void {
    this.instances.hide((part) => this.hiddenParts.has(partKey(part)));
    this.view.touch();
  }

  private buildMarks(): void {
    this.marks.clear();
    if (!this.shown.centres && !this.shown.axes) return;
    for (const _ of this.carriers) {
      const mark = new THREE.Group();
      if (this.shown.centres) mark.add(centreMark(0.9 * this.pin));
      if (this.shown.axes) mark.add(new THREE.AxesHelper(5 * this.pin));
      mark.matrixAutoUpdate = false;
      this.marks.add(mark);
    }
    this.placeMarks();
  }

  private placeMarks(): void {
    this.marks.children.forEach((mark, k) => {
      mark.matrix.copy(this.carriers[k] ?? IDENTITY);
      mark.matrixWorldNeedsUpdate = true;
    });
  }

  private outlinePick(): void {
    this.instances.outline("pick", this.store.pickedParts, colour("pick"));
    this.view.touch();
  }

  private colourAll(): void {
    const hues = Array.from({ length: HUES }, (_, k) => new THREE.Color(colour(`b${k + 1}`)));
    const plain = { joint: new THREE.Color(colour("joint")), ground: new THREE.Color(colour("support")) };
    const spring = new THREE.Color(colour("spring"));
    const bodies = this.store.scene?.bodies ?? [];
    const own = new Map(bodies.flatMap((body) => (body.colour ? [[body.name, new THREE.Color(body.colour)]] : [])));
    this.instances.paint((part, look) => {
      if (look === "spring") return spring;
      if (look === "body" && part) return own.get(part.name) ?? hues[this.hues.of(part.name)] ?? spring;
      return look === "ground" ? plain.ground : plain.joint;
    });
    this.outlinePick();
    this.view.touch();
  }

  /** Springs by their force: pull in one colour, push in another, by the largest there was. */
  private colourSprings(scene: Scene): void {
    if (scene.springs.length === 0) return;
    const forces = new Map(scene.springs.map((spring) => [spring.name, this.springForce(spring)]));
    for (const force of forces.values()) this.strongest = Math.max(this.strongest, Math.abs(force));
    const [rest, pull, push] = ["spring", "pull", "push"].map((name) => new THREE.Color(colour(name)));
    const found = new THREE.Color();
    this.instances.paintLook("spring", (part) => {
      const share = (part && forces.get(part.name)) ?? 0;
      const strength = this.strongest > 0 ? Math.abs(share) / this.strongest : 0;
      return found.copy(rest as THREE.Color).lerp((share > 0 ? pull : push) as THREE.Color, strength);
    });
  }

  /** Pull of a spring without its damper, as it is shown [N]; below 0: it pushes. */
  springForce({ first, second, at_first, at_second, parameters }: Scene["springs"][number]): number {
    const [a, b] = [this.point(first, at_first), this.point(second, at_second)];
    const given = (name: string) => Number(parameters.find((one) => one.name === name)?.value ?? 0);
    return a && b ? given("stiffness") * (a.distanceTo(b) - given("free_length")) : 0;
  }
}

const ONE = new THREE.Vector3(1, 1, 1);
const IDENTITY = new THREE.Matrix4();
const position = new THREE.Vector3();
const turn = new THREE.Quaternion();

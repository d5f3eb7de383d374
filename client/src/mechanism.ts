/** Bodies, obstacles, joints, springs, centres of mass and axes of the scene, moved by every frame. */

import * as THREE from "three";
import { coil, type Glyph, jointGlyph } from "./glyphs";
import type { Joint, Scene, Spring } from "./messages";
import { Obstacles } from "./obstacles";
import { bodyObject, centreMark, holds } from "./shapes";
import type { Pick, Store } from "./store";
import { colour, onTheme } from "./theme";
import type { View } from "./view";

const HUES = 6;
const COIL_POINTS = 160;
const JUST_BEGUN = 0.2; // [s]: a scene that is opened anew is looked at anew

interface SpringLine {
  spring: Spring;
  line: THREE.Line;
  points: Float32Array;
  radius: number;
  core: THREE.Mesh; // invisible, to be picked
}

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
  shown: Shown = { bodies: true, obstacles: true, joints: true, springs: true, centres: false, axes: false };
  private bodies = new Map<string, THREE.Group>();
  private joints = new Map<string, { joint: Joint; glyph: Glyph }>();
  private springs = new Map<string, SpringLine>();
  private centres = new Map<string, THREE.Group>();
  private axes = new Map<string, THREE.AxesHelper>();
  private materials = new Map<string, THREE.MeshLambertMaterial>();
  private jointMaterial = new THREE.MeshLambertMaterial();
  private pickedJointMaterial = new THREE.MeshLambertMaterial();
  private lineMaterial = new THREE.LineBasicMaterial();
  private springMaterial = new THREE.LineBasicMaterial();
  private pickedLineMaterial = new THREE.LineBasicMaterial();
  private edgeMaterial = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.5 });
  private hidden = new THREE.MeshBasicMaterial({ visible: false });
  private waiting = false; // for the first frame of a new scene
  private name = "";
  private isBegun = false; // time has jumped to the start

  constructor(
    private readonly store: Store,
    private readonly view: View,
  ) {
    this.obstacles = new Obstacles(store, view);
    view.scene.add(this.root, this.obstacles.root);
    store.on("topology", (scene) => this.build(scene));
    store.on("jump", (time) => {
      this.isBegun = time < JUST_BEGUN;
    });
    store.on("frame", () => this.move());
    store.on("pick", () => this.colourAll());
    onTheme(() => this.colourAll());
  }

  /** Corners of everything, for fitting the view. */
  extent(): THREE.Vector3[] {
    const points: THREE.Vector3[] = [];
    const box = new THREE.Box3();
    for (const group of this.bodies.values()) {
      box.setFromObject(group);
      if (!box.isEmpty()) points.push(box.min.clone(), box.max.clone());
    }
    for (const { glyph } of this.joints.values()) points.push(glyph.first.position.clone());
    return [...points, ...this.obstacles.extent()];
  }

  show(what: keyof Shown, on: boolean): void {
    this.shown[what] = on;
    this.applyShown();
  }

  /** Where a point of a body is now. */
  point(body: string, at: readonly number[] = [0, 0, 0]): THREE.Vector3 | null {
    const pose = this.store.pose(body);
    if (!pose) return null;
    return new THREE.Vector3(at[0], at[1], at[2])
      .applyQuaternion(new THREE.Quaternion(...pose.q))
      .add(new THREE.Vector3(...pose.p));
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
    const radii = (this.store.scene?.bodies ?? [])
      .flatMap((body) => body.shapes.map((shape) => shape.radius ?? Infinity))
      .sort((a, b) => a - b);
    const middle = radii[Math.floor(radii.length / 2)] ?? Infinity;
    return Math.min(0.016 * this.view.size, 1.1 * middle);
  }

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
    this.root.traverse((object) => {
      if (object instanceof THREE.Mesh || object instanceof THREE.Line) object.geometry.dispose();
    });
    this.root.clear();
    for (const map of [this.bodies, this.joints, this.springs, this.centres, this.axes, this.materials]) map.clear();
    this.waiting = true;
    this.view.size = scene.size;
    for (const body of scene.bodies) {
      const material = new THREE.MeshLambertMaterial();
      this.materials.set(body.name, material);
      const group = bodyObject(
        body,
        holds(body.name, scene.joints, scene.springs),
        material,
        this.edgeMaterial,
        scene.size,
      );
      this.bodies.set(body.name, group);
      const mark = centreMark(0.9 * this.pin);
      const axes = new THREE.AxesHelper(5 * this.pin);
      this.centres.set(body.name, mark);
      this.axes.set(body.name, axes);
      group.add(mark, axes);
      this.root.add(group);
    }
    for (const joint of scene.joints) {
      const glyph = jointGlyph(
        joint,
        this.pin,
        joint.first === "ground" ? 0.6 * scene.size : 12 * this.pin,
        this.jointMaterial,
        this.lineMaterial,
      );
      this.joints.set(joint.name, { joint, glyph });
      this.root.add(glyph.first, glyph.second);
      if (glyph.link) this.root.add(glyph.link);
    }
    for (const spring of scene.springs) this.addSpring(spring);
    this.applyShown();
    this.colourAll();
    this.move();
  }

  private addSpring(spring: Spring): void {
    const points = new Float32Array(3 * COIL_POINTS);
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(points, 3));
    const line = new THREE.Line(geometry, this.springMaterial);
    line.frustumCulled = false;
    const core = new THREE.Mesh(new THREE.CylinderGeometry(1, 1, 1, 8).rotateX(Math.PI / 2), this.hidden);
    core.userData.part = { kind: "spring", name: spring.name };
    this.root.add(line, core);
    this.springs.set(spring.name, { spring, line, points, radius: 1.3 * this.pin, core });
  }

  private move(): void {
    if (!this.store.fits) return;
    for (const [name, group] of this.bodies) {
      const pose = this.store.pose(name);
      if (!pose) continue;
      group.position.set(...pose.p);
      group.quaternion.set(...pose.q);
    }
    for (const { joint, glyph } of this.joints.values()) {
      const F = this.frameF(joint);
      const M = this.frameM(joint);
      if (!F || !M) continue;
      glyph.first.position.copy(F.p);
      glyph.first.quaternion.copy(F.q);
      glyph.second.position.copy(M.p);
      glyph.second.quaternion.copy(M.q);
      glyph.link?.geometry.setFromPoints([F.p, M.p]);
    }
    for (const { spring, line, points, radius, core } of this.springs.values()) {
      const a = this.point(spring.first, spring.at_first);
      const b = this.point(spring.second, spring.at_second);
      if (!a || !b) continue;
      coil(points, a, b, radius, 12);
      line.geometry.getAttribute("position").needsUpdate = true;
      const along = b.clone().sub(a);
      core.position.copy(a).addScaledVector(along, 0.5);
      core.scale.set(1.6 * radius, 1.6 * radius, along.length());
      core.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), along.normalize());
    }
    this.view.touch();
    if (this.waiting && this.store.scene) {
      this.waiting = false;
      const isNew = this.name !== this.store.scene.name || this.isBegun;
      this.isBegun = false;
      this.name = this.store.scene.name;
      if (!isNew) return;
      this.root.updateMatrixWorld(true);
      this.view.enter(this.store.scene, this.extent());
    }
  }

  private applyShown(): void {
    for (const group of this.bodies.values()) {
      for (const child of group.children) if (child instanceof THREE.Mesh) child.visible = this.shown.bodies;
    }
    this.obstacles.root.visible = this.shown.obstacles;
    for (const mark of this.centres.values()) mark.visible = this.shown.centres;
    for (const axes of this.axes.values()) axes.visible = this.shown.axes;
    for (const { glyph } of this.joints.values()) {
      for (const part of [glyph.first, glyph.second, glyph.link]) if (part) part.visible = this.shown.joints;
    }
    for (const { line, core } of this.springs.values()) line.visible = core.visible = this.shown.springs;
    this.view.touch();
  }

  private colourAll(): void {
    const picked = colour("pick");
    const pick: Pick | null = this.store.pick;
    [...this.materials].forEach(([name, material], index) => {
      material.color.set(colour(`b${(index % HUES) + 1}`));
      material.emissive.set(pick?.kind === "body" && pick.name === name ? picked : "#000000");
      material.emissiveIntensity = 0.55;
    });
    this.jointMaterial.color.set(colour("joint"));
    this.pickedJointMaterial.color.set(picked);
    this.pickedJointMaterial.emissive.set(picked);
    this.pickedJointMaterial.emissiveIntensity = 0.4;
    this.lineMaterial.color.set(colour("joint"));
    this.springMaterial.color.set(colour("joint"));
    this.pickedLineMaterial.color.set(picked);
    this.edgeMaterial.color.set(colour("edge"));
    for (const [name, { glyph }] of this.joints) {
      const isPicked = pick?.kind === "joint" && pick.name === name;
      for (const half of [glyph.first, glyph.second]) {
        for (const child of half.children) {
          if (child instanceof THREE.Mesh) child.material = isPicked ? this.pickedJointMaterial : this.jointMaterial;
          else if (child instanceof THREE.Line) child.material = isPicked ? this.pickedLineMaterial : this.lineMaterial;
        }
      }
    }
    for (const [name, { line }] of this.springs) {
      line.material = pick?.kind === "spring" && pick.name === name ? this.pickedLineMaterial : this.springMaterial;
    }
    this.view.touch();
  }
}

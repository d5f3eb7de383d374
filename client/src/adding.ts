/** Adding bodies, joints and springs with the mouse, floors and materials by a button. */

import * as THREE from "three";
import type { Add, BodyOptions, JointOptions, Shape, SpringOptions } from "./edits";
import type { Drag, Press, Presser } from "./gestures";
import { across, IconColours, path } from "./icons3d";
import { roundNumber, roundVector, type Vec3 } from "./numbers";
import type { Stage } from "./stage";
import { colour, onTheme } from "./theme";
import { tell } from "./toasts";

export const BODY_SHAPES = ["link", "ball", "box", "cylinder", "cone"];
export type BodyShape = "link" | "ball" | "box" | "cylinder" | "cone";
const FRICTION = 0.5; // of a new material
const KINDS = {
  bodies: "body",
  joints: "joint",
  springs: "spring",
  obstacles: "obstacle",
  elements: "element",
} as const;

/** A point on a body; "ground" where no body was touched. */
interface End {
  body: string;
  point: THREE.Vector3;
}

export class Adding {
  shape: BodyShape = "link";
  density = 1000; // [kg/m³]
  jointType = "revolute";
  stiffness = 100; // [N/m]
  damping = 1; // [N s/m]
  private first: End | null = null; // of a joint or spring begun by a click
  private colours = new IconColours();
  private band = path(this.colours);
  private waiting: string | null = null; // pick this part when it has come

  readonly body: Presser = { press: (press) => this.pressBody(press) };
  readonly joint: Presser = { press: (press) => this.pressPair(press, (a, b) => this.addJoint(a, b)) };
  readonly spring: Presser = { press: (press) => this.pressPair(press, (a, b) => this.addSpring(a, b)) };

  constructor(
    private readonly stage: Stage,
    private readonly hint: (text: string | null) => void,
  ) {
    const { store, view } = stage;
    onTheme(() => this.colours.set(colour("accent")));
    this.band.visible = false;
    view.scene.add(this.band);
    store.on("tool", () => this.forget());
    store.on("scene", (scene) => {
      const lists = Object.keys(KINDS) as (keyof typeof KINDS)[];
      const list = lists.find((list) => scene[list].some((part) => part.name === this.waiting));
      if (!list || !this.waiting) return;
      const name = this.waiting;
      this.waiting = null;
      store.setPick({ kind: KINDS[list], name });
    });
  }

  private pressBody({ x, y, isTouch }: Press): Drag | null {
    const hit = this.stage.picking.hit(x, y, ["joint", "body"], isTouch);
    const start = hit?.point ?? this.stage.view.unproject(x, y, this.stage.view.controls.target);
    let end = start;
    return {
      move: (toX, toY) => {
        end = this.stage.view.unproject(toX, toY, start);
        this.lay(start, end);
      },
      end: (moved) => {
        this.band.visible = false;
        this.stage.view.touch();
        if (!moved) end = start.clone().addScaledVector(this.stage.view.up, -0.15 * this.stage.view.size);
        void this.addBody(start, end);
      },
      cancel: () => this.forget(),
    };
  }

  private async addBody(start: THREE.Vector3, end: THREE.Vector3): Promise<void> {
    const along = end.clone().sub(start);
    const length = along.length();
    const radius = roundNumber(Math.max(0.9 * this.stage.mechanism.pin, 0.05 * length), 3);
    const middle = start.clone().addScaledVector(along, 0.5);
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), along.normalize());
    const size = roundNumber(length, 4);
    const options: BodyOptions = { density: this.density, position: roundVector(middle.toArray(), 6) };
    const shapes: Record<BodyShape, Shape> = {
      link: { shape: "capsule", radius, length: size },
      ball: { shape: "sphere", radius: roundNumber(length / 2, 4) },
      box: { shape: "box", size: [size, size, size] },
      cylinder: { shape: "cylinder", radius: roundNumber(length / 4, 4), length: size },
      cone: { shape: "cone", radius: roundNumber(length / 4, 4), length: size },
    };
    options.shape = shapes[this.shape];
    if (this.shape !== "ball" && this.shape !== "box") options.orientation = turn.normalize().toArray();
    await this.add({ edit: "Add", kind: "body", name: this.stage.store.freeName("body"), options });
  }

  /** A floor under all there is. */
  async addFloor(material: string): Promise<void> {
    const { mechanism, store, view } = this.stage;
    const low = Math.min(0, ...mechanism.extent().map((point) => point.dot(view.up)));
    const position = roundVector(view.up.clone().multiplyScalar(low).toArray(), 6);
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), view.up);
    const options = { shape: { shape: "plane" } as const, position, orientation: turn.toArray(), material };
    await this.add({ edit: "Add", kind: "obstacle", name: store.freeName("floor"), options });
  }

  async addMaterial(): Promise<void> {
    const name = this.stage.store.freeName("material");
    await this.add({ edit: "Add", kind: "material", name, options: { friction: FRICTION } });
  }

  private endAt(x: number, y: number, isTouch: boolean, near: THREE.Vector3): End {
    const hit = this.stage.picking.hit(x, y, ["body"], isTouch);
    return hit
      ? { body: hit.name, point: hit.point }
      : { body: "ground", point: this.stage.view.unproject(x, y, near) };
  }

  private pressPair({ x, y, isTouch }: Press, done: (a: End, b: End) => void): Drag | null {
    const near = this.first?.point ?? this.stage.view.controls.target;
    const start = this.endAt(x, y, isTouch, near);
    let last = { x, y };
    const from = this.first ?? start;
    return {
      move: (toX, toY) => {
        last = { x: toX, y: toY };
        this.lay(from.point, this.stage.view.unproject(toX, toY, from.point));
      },
      end: (moved) => {
        this.band.visible = false;
        this.stage.view.touch();
        if (!moved && !this.first) {
          this.first = start;
          this.hint(
            `from ${start.body === "ground" ? "the ground" : `'${start.body}'`}: now click the second body, or empty space for the ground`,
          );
          return;
        }
        const end = moved ? this.endAt(last.x, last.y, isTouch, from.point) : start;
        this.forget();
        if (from.body === end.body)
          tell(
            `choose two different bodies: both ends are on ${from.body === "ground" ? "the ground" : `'${from.body}'`}`,
            "error",
          );
        else done(from, end);
      },
      cancel: () => this.forget(),
    };
  }

  private addJoint(a: End, b: End): void {
    const [first, second] = b.body === "ground" ? [b, a] : [a, b];
    const kind = this.stage.store.scene?.joint_kinds.find((entry) => entry.name === this.jointType);
    const at = roundVector(a.point.toArray(), 6);
    const options: JointOptions = { type: this.jointType, first: first.body, second: second.body, at };
    if (this.jointType === "distance") {
      options.at = roundVector(first.point.toArray(), 6);
      options.at_b = roundVector(second.point.toArray(), 6);
    }
    if (this.jointType === "screw") options.pitch = roundNumber(0.02 * this.stage.view.size, 2);
    const axis = this.sight();
    if (kind && kind.axes > 0) options.axis = axis.toArray();
    if (kind && kind.axes > 1)
      options.axis2 = across(
        axis,
        this.nearestAxis(new THREE.Vector3(1, 0, 0).applyQuaternion(this.stage.view.camera.quaternion)),
      ).toArray();
    void this.add({ edit: "Add", kind: "joint", name: this.stage.store.freeName("joint"), options });
  }

  private addSpring(a: End, b: End): void {
    const at = (end: End): Vec3 => roundVector(end.point.toArray(), 6);
    const options: SpringOptions = {
      first: a.body,
      second: b.body,
      at_a: at(a),
      at_b: at(b),
      stiffness: this.stiffness,
      damping: this.damping,
    };
    void this.add({ edit: "Add", kind: "spring", name: this.stage.store.freeName("spring"), options });
  }

  private async add(edit: Add): Promise<void> {
    this.waiting = edit.name;
    if (!(await this.stage.actions.apply(edit))) this.waiting = null;
  }

  /** World axis nearest to the line of sight. */
  private sight(): THREE.Vector3 {
    return this.nearestAxis(this.stage.view.camera.getWorldDirection(new THREE.Vector3()).negate());
  }

  private nearestAxis(direction: THREE.Vector3): THREE.Vector3 {
    const parts = direction.toArray().map(Math.abs);
    const k = parts.indexOf(Math.max(...parts));
    return new THREE.Vector3().setComponent(k, Math.sign(direction.getComponent(k)));
  }

  private lay(a: THREE.Vector3, b: THREE.Vector3): void {
    this.band.geometry.setFromPoints([a, b]);
    this.band.visible = true;
    this.stage.view.touch();
  }

  private forget(): void {
    this.first = null;
    this.band.visible = false;
    this.hint(null);
    this.stage.view.touch();
  }
}

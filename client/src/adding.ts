/** Adding bodies, joints and springs with the mouse, floors and materials by a button. */

import * as THREE from "three";
import { assembled, disc, isWheel, slider, wheels } from "./build/assembled";
import type { Drafting, Hold } from "./build/drafting";
import type { Flat } from "./build/plane";
import { roundAngle } from "./build/snap";
import { readTyped, type Typed } from "./build/typed";
import type { Add, BodyOptions, JointOptions, Several, Shape, SpringOptions } from "./edits";
import type { Drag, Press, Presser } from "./gestures";
import { IconColours, path } from "./icons3d";
import { roundNumber, roundVector, type Vec3 } from "./numbers";
import type { Stage } from "./stage";
import { colour, onTheme } from "./theme";
import { tell, tellError } from "./toasts";

const SIMPLE = ["link", "ball", "box", "cylinder", "cone"] as const;
type Simple = (typeof SIMPLE)[number];
export const BODY_SHAPES = ["disc", "slider", ...SIMPLE];
export type BodyShape = Simple | "disc" | "slider";
export const COUPLINGS = ["gear", "belt", "crossed belt"]; // among the types of joints
const FRICTION = 0.5; // of a new material
const KINDS = {
  bodies: "body",
  joints: "joint",
  springs: "spring",
  obstacles: "obstacle",
  elements: "element",
} as const;

export class Adding {
  shape: BodyShape = "link";
  density = 1000; // [kg/m³]
  jointType = "revolute";
  stiffness = 100; // [N/m]
  damping = 1; // [N s/m]
  private first: Hold | null = null; // of a joint or spring begun by a click, or of a body by what was typed
  private colours = new IconColours();
  private band = path(this.colours);
  private waiting: string | null = null; // pick this part when it has come

  readonly body: Presser = { press: (press) => this.pressBody(press) };
  readonly joint: Presser = { press: (press) => this.pressPair(press, (a, b) => this.addJoint(a, b)) };
  readonly spring: Presser = { press: (press) => this.pressPair(press, (a, b) => this.addSpring(a, b)) };

  constructor(
    private readonly stage: Stage,
    private readonly drafting: Drafting,
  ) {
    const { store, view } = stage;
    onTheme(() => this.colours.set(colour("accent")));
    this.band.visible = false;
    view.scene.add(this.band);
    store.on("tool", () => this.forget());
    drafting.field.addEventListener("keydown", (event) => this.key(event));
    store.on("scene", (scene) => {
      const lists = Object.keys(KINDS) as (keyof typeof KINDS)[];
      const list = lists.find((list) => scene[list].some((part) => part.name === this.waiting));
      if (!list || !this.waiting) return;
      const name = this.waiting;
      this.waiting = null;
      store.setPick({ kind: KINDS[list], name });
    });
  }

  /** From end to end, in the work plane; a number that is typed is the length, or the radius of a disc. */
  private pressBody(press: Press): Drag | null {
    this.drafting.face();
    const hold = this.first ?? this.drafting.holds(press)[0];
    if (!hold) return null;
    const { plane } = this.drafting;
    this.bringPlane(hold);
    let end: Flat | null = null;
    return {
      move: (x, y) => {
        end = this.drafting.snapped({ x, y, isTouch: press.isTouch }, hold.flat)?.flat ?? end;
        if (end) this.lay(plane.up(hold.flat), plane.up(end));
      },
      end: () => {
        this.band.visible = false;
        this.stage.view.touch();
        const way: Flat = end ? [end[0] - hold.flat[0], end[1] - hold.flat[1]] : [0.15 * this.stage.view.size, 0];
        try {
          this.endBody(hold, way, readTyped(this.drafting.field.value));
        } catch (error) {
          tellError(error);
        }
      },
      cancel: () => this.forget(),
    };
  }

  /** Have the plane go through a point of a body that something begins at. */
  private bringPlane({ body, place }: Hold): void {
    const point = typeof place[0] === "string" ? this.stage.mechanism.point(body, place[1] as Vec3) : null;
    if (point) this.drafting.plane.through(point);
  }

  /** Make a body from where it is held, by what was drawn and typed. */
  private endBody(hold: Hold, way: Flat, typed: Typed): void {
    const size = typed.length ?? Math.hypot(...way);
    const drawn = Math.atan2(way[1], way[0]);
    const angle = typed.angle ?? (this.shape === "slider" ? roundAngle(drawn) : drawn); // a guide lies straight
    this.drafting.field.value = "";
    this.forget();
    if (size > 0) void this.addBody(hold, size, angle);
  }

  /** A typed point is a click there; what is typed behind it, a body's size. */
  private key(event: KeyboardEvent): void {
    const { tool } = this.stage.store;
    if (tool !== "body" && tool !== "joint" && tool !== "spring") return;
    if (event.key === "Escape") this.forget();
    if (event.key !== "Enter") return;
    event.preventDefault();
    try {
      const typed = readTyped(this.drafting.field.value);
      if (tool === "body") this.typeBody(typed);
      else {
        if (!typed.at) throw new Error("type a point of the work plane, such as 0.25, 0, or click it");
        this.drafting.field.value = "";
        this.take(this.drafting.holdsAt(typed.at), tool === "joint" ? this.addJoint : this.addSpring);
      }
    } catch (error) {
      tellError(error);
    }
  }

  private typeBody(typed: Typed): void {
    const from = this.first;
    if (!from && !typed.at) throw new Error("type where it begins first, such as 0.25, 0, or press and drag");
    if (!from && typed.at) {
      const [hold] = this.drafting.holdsAt(typed.at);
      if (!hold) return;
      this.bringPlane(hold);
      this.drafting.field.value = "";
      this.first = hold;
      const more = this.shape === "disc" ? "its radius (0.05)" : "its length (0.1), with an angle (0.1 < 30)";
      this.note(`${this.shape} from ${typed.at.join(", ")}: type ${more}, or a point`);
      return;
    }
    if (!from) return;
    const way: Flat = typed.at ? [typed.at[0] - from.flat[0], typed.at[1] - from.flat[1]] : [1, 0];
    if (!typed.at && typed.length === undefined) throw new Error("type a length, such as 0.1, or 0.1 < 30");
    this.endBody(from, way, typed);
  }

  /** Say what comes next, in the field: the bar stays as it is. */
  private note(text: string): void {
    this.drafting.say(text);
  }

  private async addBody(hold: Hold, size: number, angle: number): Promise<void> {
    const { drafting, stage } = this;
    const name = stage.store.freeName(this.shape === "disc" || this.shape === "slider" ? this.shape : "body");
    const way = drafting.plane.u.clone().multiplyScalar(Math.cos(angle));
    way.addScaledVector(drafting.plane.v, Math.sin(angle));
    if (this.shape === "disc" || this.shape === "slider") {
      const parts = this.shape === "disc" ? disc(hold, size, drafting.plane) : slider(hold, size, way, drafting.plane);
      const free = (stem: string): string => stage.store.freeName(stem);
      await this.add(assembled(name, parts, this.density, hold, free));
      return;
    }
    const length = roundNumber(size, 12);
    const radius = roundNumber(Math.max(0.9 * stage.mechanism.pin, 0.05 * length), 3);
    const middle = drafting.plane.up(hold.flat).addScaledVector(way, length / 2);
    const options: BodyOptions = { density: this.density, position: roundVector(middle.toArray(), 12) };
    const shapes: Record<Simple, Shape> = {
      link: { shape: "capsule", radius, length },
      ball: { shape: "sphere", radius: length / 2 },
      box: { shape: "box", size: [length, length, length] },
      cylinder: { shape: "cylinder", radius: length / 4, length },
      cone: { shape: "cone", radius: length / 4, length },
    };
    options.shape = shapes[this.shape];
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), way.normalize());
    if (this.shape !== "ball" && this.shape !== "box") options.orientation = turn.normalize().toArray();
    await this.add({ edit: "Add", kind: "body", name, options });
  }

  /** A floor under all there is. */
  async addFloor(material: string): Promise<void> {
    const { mechanism, store, view } = this.stage;
    const low = Math.min(0, ...mechanism.extent().points.map((point) => point.dot(view.up)));
    const position = roundVector(view.up.clone().multiplyScalar(low).toArray(), 6);
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), view.up);
    const options = { shape: { shape: "plane" } as const, position, orientation: turn.toArray(), material };
    await this.add({ edit: "Add", kind: "obstacle", name: store.freeName("floor"), options });
  }

  async addMaterial(): Promise<void> {
    const name = this.stage.store.freeName("material");
    await this.add({ edit: "Add", kind: "material", name, options: { friction: FRICTION } });
  }

  /** By a click where bodies meet, or from one to another by a drag or by two clicks. */
  private pressPair(press: Press, done: (a: Hold, b: Hold) => void): Drag | null {
    this.drafting.face();
    const holds = this.drafting.holds(press);
    const start = holds[0];
    if (!start) return null;
    const { plane } = this.drafting;
    const from = this.first ?? start;
    let last = press;
    return {
      move: (x, y) => {
        last = { ...press, x, y };
        const to = this.drafting.snapped(last, null)?.flat;
        if (to) this.lay(plane.up(from.flat), plane.up(to));
      },
      end: (moved) => {
        this.band.visible = false;
        this.stage.view.touch();
        if (!moved) {
          this.take(holds, done);
          return;
        }
        const end = this.drafting.holds(last).find(({ body }) => body !== from.body);
        this.pair(from, end, done);
      },
      cancel: () => this.forget(),
    };
  }

  /** A click on what is there: where bodies meet they are joined, else it is the first or the second end. */
  private take(holds: Hold[], done: (a: Hold, b: Hold) => void): void {
    const isCoupling = COUPLINGS.includes(this.jointType) && this.stage.store.tool === "joint";
    const start = isCoupling ? (holds.find(({ body }) => isWheel(this.stage.store, body)) ?? holds[0]) : holds[0];
    if (!start) return;
    if (!this.first && this.stage.store.tool === "joint" && !isCoupling && holds.length > 1) {
      for (let k = 1; k < holds.length; k++) done(holds[k - 1] as Hold, holds[k] as Hold);
      return;
    }
    if (!this.first) {
      this.first = start;
      const whose = start.body === "ground" ? "the ground" : `'${start.body}'`;
      const next = isCoupling ? "the second wheel, or what slides" : "the second body, or empty space for the ground";
      this.note(`from ${whose}: now click ${next}, or type its point`);
      return;
    }
    const { first } = this;
    this.pair(first, isCoupling ? start : (holds.find(({ body }) => body !== first.body) ?? start), done);
  }

  private pair(from: Hold, end: Hold | undefined, done: (a: Hold, b: Hold) => void): void {
    this.forget();
    const where = from.body === "ground" ? "the ground" : `'${from.body}'`;
    if (!end || from.body === end.body) tell(`choose two different bodies: both ends are on ${where}`, "error");
    else done(from, end);
  }

  private addJoint = (a: Hold, b: Hold): void => {
    const { store, view } = this.stage;
    const [first, second] = b.body === "ground" ? [b, a] : [a, b];
    if (COUPLINGS.includes(this.jointType)) {
      const edit = wheels(store, this.jointType, a.body, b.body);
      if (edit) void this.add(edit);
      return;
    }
    const kind = store.scene?.joint_kinds.find((entry) => entry.name === this.jointType);
    const at = a.body === "ground" ? b.place : a.place;
    const options: JointOptions = { type: this.jointType, first: first.body, second: second.body, at };
    if (this.jointType === "distance") {
      options.at = first.place;
      options.at_b = second.place;
    }
    if (this.jointType === "screw") options.pitch = roundNumber(0.02 * view.size, 2);
    const { plane } = this.drafting;
    const slides = this.jointType === "prismatic"; // along the plane's first axis; the others turn about its normal
    if (kind && kind.axes > 0) options.axis = slides ? plane.u.toArray() : plane.normal.toArray();
    if (kind && kind.axes > 1) options.axis2 = plane.u.toArray();
    void this.add({ edit: "Add", kind: "joint", name: store.freeName("joint"), options });
  };

  private addSpring = (a: Hold, b: Hold): void => {
    const options: SpringOptions = {
      first: a.body,
      second: b.body,
      at_a: a.place,
      at_b: b.place,
      stiffness: this.stiffness,
      damping: this.damping,
    };
    void this.add({ edit: "Add", kind: "spring", name: this.stage.store.freeName("spring"), options });
  };

  private async add(edit: Add | Several): Promise<void> {
    const named = edit.edit === "Several" ? edit.edits[0] : edit;
    this.waiting = named && "name" in named ? named.name : null;
    if (!(await this.stage.actions.apply(edit))) this.waiting = null;
  }

  private lay(a: THREE.Vector3, b: THREE.Vector3): void {
    this.band.geometry.setFromPoints([a, b]);
    this.band.visible = true;
    this.stage.view.touch();
  }

  private forget(): void {
    this.first = null;
    this.band.visible = false;
    this.drafting.say("");
    this.stage.view.touch();
  }
}

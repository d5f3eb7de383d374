/** What the page knows: the last messages, the newest frame, what is picked, which tool is in hand. */

import type {
  About,
  Body,
  Books,
  Element,
  Frame,
  Joint,
  Live,
  Obstacle,
  Patch,
  Rows,
  Scene,
  Sensors,
  Spring,
  Status,
  Sweep,
  Events as Watching,
} from "./messages";
import { BOOKS, FLAGS } from "./messages";
import type { Vec3 } from "./numbers";
import { type Arrival, Playout } from "./playout";

export type PartKind = "body" | "joint" | "spring" | "load" | "probe" | "coupling" | "obstacle" | "element" | "model";

/** A part, and for a body the point that was touched, in the body's frame. */
export interface Pick {
  kind: PartKind;
  name: string;
  at?: Vec3;
}

export const TOOLS = [
  "grab",
  "force",
  "torque",
  "motion",
  "effect",
  "link",
  "body",
  "joint",
  "spring",
  "cam",
  "trace",
] as const;
export type Tool = (typeof TOOLS)[number];

type Quaternion = [number, number, number, number]; // xyzw
type Pose = [number, number, number, ...Quaternion];

interface Events {
  scene: Scene;
  topology: Scene; // the scene again, where parts came, went or changed type
  live: Live;
  status: Status;
  books: Books;
  sweep: Sweep;
  about: About;
  sensors: Sensors; // what has come of them
  events: Watching; // what is watched, and what took place
  frame: Frame;
  rows: Rows; // what was read step by step since the frame before
  opened: Status; // another scene is there
  pick: Pick | null;
  tool: Tool;
  line: boolean; // connected
  shown: Frame; // poses are shown that were not shown before; the newest frame
  jump: number; // time went back, to this [s]
  source: boolean; // what is shown is the session, or no longer
  marks: Mark[]; // moments that are marked in plots
}

/** A moment with a name, drawn across plots. */
export interface Mark {
  time: number; // [s]
  label: string;
}

/** What the session has sent while something else is shown, and the frame that was shown before. */
interface Aside {
  before: Frame | null;
  frame: Frame | null;
  live: Live | null;
}

/** Parts with new ones in the places of those of their names, in an order of names where one is given. */
function patched<T extends { name: string }>(parts: T[], changed: T[], order: string[] | undefined): T[] {
  const known = new Map([...parts, ...changed].map((part) => [part.name, part]));
  return order ? order.flatMap((name) => known.get(name) ?? []) : [...known.values()];
}

export class Store {
  scene: Scene | null = null;
  live: Live | null = null;
  status: Status | null = null;
  books: Books | null = null;
  sweep: Sweep | null = null;
  about: About | null = null;
  sensors: Sensors | null = null;
  events: Watching = { type: "events", watched: [], found: [] };
  frame: Frame | null = null;
  pick: Pick | null = null;
  more: Pick[] = []; // picked besides, by Shift
  tool: Tool = "grab";
  marks: Mark[] = [];
  connected = false;
  frames = 0; // received since the page was opened
  readonly playout = new Playout(); // poses as they are shown, between frames
  private listeners: { [K in keyof Events]?: ((value: Events[K]) => void)[] } = {};
  private bodyIndex = new Map<string, number>();
  private aside: Aside | null = null;

  on<K extends keyof Events>(event: K, listener: (value: Events[K]) => void): void {
    const list: ((value: Events[K]) => void)[] = this.listeners[event] ?? [];
    list.push(listener);
    this.listeners[event] = list as (typeof this.listeners)[K];
  }

  private emit<K extends keyof Events>(event: K, value: Events[K]): void {
    for (const listener of this.listeners[event] ?? []) listener(value);
  }

  setScene(scene: Scene): void {
    const isNew = this.scene?.topology !== scene.topology || this.scene?.name !== scene.name;
    this.scene = scene;
    this.bodyIndex = new Map(scene.bodies.map((body, index) => [body.name, index]));
    if (isNew) this.playout.clear();
    if (isNew) this.emit("topology", scene);
    this.emit("scene", scene);
    this.forgetLost();
  }

  /** Drop what is picked and no longer there. */
  private forgetLost(): void {
    const left = this.picks.filter((pick) => this.exists(pick));
    if (left.length === this.picks.length) return;
    const [first = null, ...more] = left;
    this.setPick(first);
    this.more = more;
  }

  /** The scene with what an edit changed of it; parts that were not changed stay the same objects. */
  setPatch(patch: Patch): void {
    if (!this.scene) return;
    const { generation, topology, size, gravity, parameters, variables, expressions } = patch;
    const scene = { ...this.scene, generation, topology, size, gravity, parameters, variables, expressions };
    scene.bodies = patched(scene.bodies, patch.bodies, patch.order.bodies);
    scene.joints = patched(scene.joints, patch.joints, patch.order.joints);
    scene.springs = patched(scene.springs, patch.springs, patch.order.springs);
    scene.probes = patched(scene.probes, patch.probes, patch.order.probes);
    scene.couplings = patched(scene.couplings, patch.couplings, patch.order.couplings);
    scene.obstacles = patched(scene.obstacles, patch.obstacles, patch.order.obstacles);
    scene.elements = patched(scene.elements, patch.elements, patch.order.elements);
    this.setScene(scene);
  }

  setLive(live: Live): void {
    if (this.aside) {
      this.aside.live = live;
      return;
    }
    this.takeLive(live);
  }

  private takeLive(live: Live): void {
    this.live = live;
    this.emit("live", live);
    this.forgetLost();
  }

  setStatus(status: Status): void {
    const isOther = this.status !== null && this.status.opened !== status.opened;
    this.status = status;
    if (isOther) this.emit("opened", status);
    this.emit("status", status);
  }

  setSweep(sweep: Sweep): void {
    this.sweep = sweep;
    this.emit("sweep", sweep);
  }

  setAbout(about: About): void {
    this.about = about;
    this.emit("about", about);
  }

  setSensors(sensors: Sensors): void {
    this.sensors = sensors;
    this.emit("sensors", sensors);
  }

  setEvents(events: Watching): void {
    this.events = events;
    this.emit("events", events);
  }

  setBooks(books: Books): void {
    this.books = books;
    this.emit("books", books);
  }

  /** Show something else than the session: what comes from it waits, the newest of it, until `goOn`. */
  putAside(): void {
    this.aside = { before: this.frame, frame: this.frame, live: this.live };
    this.emit("source", false);
  }

  /** While the session waits: a frame, poses at a time, and where it is another, what acts. */
  showInstead(frame: Frame, poses: Float32Array<ArrayBuffer>, time: number, live: Live | null): void {
    if (!this.aside) return;
    if (live) this.takeLive(live);
    this.frame = frame;
    this.playout.put(poses, time);
    this.emit("frame", frame);
    this.emit("shown", frame);
  }

  /** Show the session again. */
  goOn(): void {
    const { aside } = this;
    this.aside = null;
    if (!aside) return;
    if (aside.live) this.takeLive(aside.live);
    this.frame = aside.before;
    this.playout.clear();
    this.emit("source", true);
    if (aside.frame) this.setFrame(aside.frame);
  }

  setFrame(frame: Frame): void {
    if (this.aside) {
      this.aside.frame = frame;
      return;
    }
    const before = this.frame;
    this.frame = frame;
    this.frames += 1;
    const isShown = this.fits && this.playout.take(this.arrival(frame));
    if (before && frame.time < before.time) this.emit("jump", frame.time);
    this.emit("frame", frame);
    if (isShown) this.emit("shown", frame);
  }

  /** Show what is due at a wall time [s]. */
  advance(now: number): void {
    if (this.frame && !this.aside && this.playout.advance(now)) this.emit("shown", this.frame);
  }

  private arrival(frame: Frame): Arrival {
    const { time, wall, leaps, poses, twists } = frame;
    const paused = (frame.flags & FLAGS.paused) !== 0;
    return { time, wall, leaps, poses, twists, paused, speed: this.book("speed"), budget: this.book("step_budget") };
  }

  /** Pick a part besides those that are picked, or no longer. */
  addPick(pick: Pick): void {
    const others = this.picks.filter(({ kind, name }) => kind !== pick.kind || name !== pick.name);
    const [first = null, ...more] = others.length < this.picks.length ? others : [...others, pick];
    this.pick = first;
    this.more = more;
    this.emit("pick", first);
  }

  takeRows(rows: Rows): void {
    this.emit("rows", rows);
  }

  /** All that is picked. */
  get picks(): Pick[] {
    return this.pick ? [this.pick, ...this.more] : [];
  }

  /** All that is picked, the parts of groups in their place, each once. */
  get pickedParts(): Pick[] {
    const found = this.picks.flatMap((pick): Pick[] => {
      const group = pick.kind === "element" ? this.element(pick.name) : undefined;
      if (group?.kind !== "group") return [pick];
      return group.parts.flatMap((name) => this.named(name) ?? []);
    });
    return [...new Map(found.map((pick) => [`${pick.kind} ${pick.name}`, pick])).values()];
  }

  /** Names of the bodies among what is picked. */
  get pickedBodies(): string[] {
    return this.pickedParts.filter(({ kind }) => kind === "body").map(({ name }) => name);
  }

  /** The part of a name, as it is picked. */
  private named(name: string): Pick | null {
    const kinds: PartKind[] = ["body", "joint", "spring", "probe", "coupling", "obstacle", "element"];
    const kind = kinds.find((kind) => this.exists({ kind, name }));
    return kind ? { kind, name } : null;
  }

  setPick(pick: Pick | null): void {
    this.pick = pick;
    this.more = [];
    this.emit("pick", pick);
  }

  setTool(tool: Tool): void {
    this.tool = tool;
    this.emit("tool", tool);
  }

  setMarks(marks: Mark[]): void {
    this.marks = marks;
    this.emit("marks", marks);
  }

  setConnected(connected: boolean): void {
    this.connected = connected;
    this.emit("line", connected);
  }

  /** Does the frame's order of bodies belong to the scene at hand? */
  get fits(): boolean {
    return this.frame !== null && this.scene !== null && this.frame.generation === this.scene.generation;
  }

  body(name: string): Body | undefined {
    return this.scene?.bodies.find((body) => body.name === name);
  }

  joint(name: string): Joint | undefined {
    return this.scene?.joints.find((joint) => joint.name === name);
  }

  spring(name: string): Spring | undefined {
    return this.scene?.springs.find((spring) => spring.name === name);
  }

  obstacle(name: string): Obstacle | undefined {
    return this.scene?.obstacles.find((obstacle) => obstacle.name === name);
  }

  /** Names of materials: declared ones, then common ones. */
  get materials(): string[] {
    const declared = (this.scene?.elements ?? []).filter(({ kind }) => kind === "material").map(({ name }) => name);
    return [...new Set([...declared, ...(this.scene?.materials ?? [])])];
  }

  /** A part of a kind that the page has no view of its own for. */
  element(name: string): Element | undefined {
    return this.scene?.elements.find((element) => element.name === name);
  }

  /** Position and orientation (xyzw) of a body as it is shown; ground is the world. */
  pose(body: string): { p: Vec3; q: Quaternion } | null {
    if (body === "ground") return { p: [0, 0, 0], q: [0, 0, 0, 1] };
    const index = this.bodyIndex.get(body);
    const { poses } = this.playout;
    if (index === undefined || poses.length < 7 * (index + 1)) return null;
    const [x, y, z, ...q] = poses.subarray(7 * index, 7 * index + 7) as unknown as Pose;
    return { p: [x, y, z], q };
  }

  book(name: (typeof BOOKS)[number]): number {
    return this.frame?.books[BOOKS.indexOf(name)] ?? NaN;
  }

  /** All names that are taken. */
  get names(): Set<string> {
    return new Set([
      ...(this.scene?.bodies ?? []).map((part) => part.name),
      ...(this.scene?.joints ?? []).map((part) => part.name),
      ...(this.scene?.springs ?? []).map((part) => part.name),
      ...(this.scene?.probes ?? []).map((part) => part.name),
      ...(this.scene?.couplings ?? []).map((part) => part.name),
      ...(this.scene?.obstacles ?? []).map((part) => part.name),
      ...(this.scene?.elements ?? []).map((part) => part.name),
      ...(this.scene?.variables ?? []).map((part) => part.name),
      ...(this.live?.loads ?? []).map((part) => part.name),
      ...(this.live?.off ?? []).flatMap((edit) => (edit.edit === "ApplyLoad" ? edit.name : [])),
    ]);
  }

  /** A new part name that is not taken: "load 1", "load 2", ... */
  freeName(stem: string): string {
    const taken = this.names;
    for (let k = 1; ; k++) if (!taken.has(`${stem} ${k}`)) return `${stem} ${k}`;
  }

  private exists(pick: Pick): boolean {
    const scene = this.scene;
    if (!scene) return false;
    switch (pick.kind) {
      case "model":
        return true;
      case "body":
        return scene.bodies.some((part) => part.name === pick.name);
      case "joint":
        return scene.joints.some((part) => part.name === pick.name);
      case "spring":
        return scene.springs.some((part) => part.name === pick.name);
      case "probe":
        return scene.probes.some((part) => part.name === pick.name);
      case "coupling":
        return scene.couplings.some((part) => part.name === pick.name);
      case "obstacle":
        return scene.obstacles.some((part) => part.name === pick.name);
      case "element":
        return scene.elements.some((part) => part.name === pick.name);
      case "load":
        return (
          this.live?.loads.some((load) => load.name === pick.name) ||
          this.live?.off.some((edit) => edit.edit === "ApplyLoad" && edit.name === pick.name) ||
          false
        );
    }
  }
}

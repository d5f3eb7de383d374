/** What the page knows: the last messages, the newest frame, what is picked, which tool is in hand. */

import type { Body, Books, Element, Frame, Joint, Live, Obstacle, Patch, Scene, Spring, Status } from "./messages";
import { BOOKS } from "./messages";
import type { Vec3 } from "./numbers";

export type PartKind = "body" | "joint" | "spring" | "load" | "probe" | "coupling" | "obstacle" | "element" | "model";

/** A part, and for a body the point that was touched, in the body's frame. */
export interface Pick {
  kind: PartKind;
  name: string;
  at?: Vec3;
}

export const TOOLS = ["grab", "force", "torque", "motion", "body", "joint", "spring", "trace"] as const;
export type Tool = (typeof TOOLS)[number];

type Quaternion = [number, number, number, number]; // xyzw
type Pose = [number, number, number, ...Quaternion];

interface Events {
  scene: Scene;
  topology: Scene; // the scene again, where parts came, went or changed type
  live: Live;
  status: Status;
  books: Books;
  frame: Frame;
  pick: Pick | null;
  tool: Tool;
  line: boolean; // connected
  jump: number; // time went back, to this [s]
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
  frame: Frame | null = null;
  pick: Pick | null = null;
  tool: Tool = "grab";
  connected = false;
  frames = 0; // received since the page was opened
  private listeners: { [K in keyof Events]?: ((value: Events[K]) => void)[] } = {};
  private bodyIndex = new Map<string, number>();

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
    if (isNew) this.emit("topology", scene);
    this.emit("scene", scene);
    if (this.pick && !this.exists(this.pick)) this.setPick(null);
  }

  /** The scene with what an edit changed of it; parts that were not changed stay the same objects. */
  setPatch(patch: Patch): void {
    if (!this.scene) return;
    const { generation, topology, size, gravity, parameters } = patch;
    const scene = { ...this.scene, generation, topology, size, gravity, parameters };
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
    this.live = live;
    this.emit("live", live);
    if (this.pick && !this.exists(this.pick)) this.setPick(null);
  }

  setStatus(status: Status): void {
    this.status = status;
    this.emit("status", status);
  }

  setBooks(books: Books): void {
    this.books = books;
    this.emit("books", books);
  }

  setFrame(frame: Frame): void {
    const before = this.frame;
    this.frame = frame;
    this.frames += 1;
    if (before && frame.time < before.time) this.emit("jump", frame.time);
    this.emit("frame", frame);
  }

  setPick(pick: Pick | null): void {
    this.pick = pick;
    this.emit("pick", pick);
  }

  setTool(tool: Tool): void {
    this.tool = tool;
    this.emit("tool", tool);
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

  /** Position and orientation (xyzw) of a body in the newest frame; ground is the world. */
  pose(body: string): { p: Vec3; q: Quaternion } | null {
    if (body === "ground") return { p: [0, 0, 0], q: [0, 0, 0, 1] };
    const index = this.bodyIndex.get(body);
    const poses = this.frame?.poses;
    if (index === undefined || !poses || poses.length < 7 * (index + 1)) return null;
    const [x, y, z, ...q] = poses.subarray(7 * index, 7 * index + 7) as unknown as Pose;
    return { p: [x, y, z], q };
  }

  book(name: (typeof BOOKS)[number]): number {
    return this.frame?.books[BOOKS.indexOf(name)] ?? NaN;
  }

  /** A new part name that is not taken: "load 1", "load 2", ... */
  freeName(stem: string): string {
    const taken = new Set([
      ...(this.scene?.bodies ?? []).map((part) => part.name),
      ...(this.scene?.joints ?? []).map((part) => part.name),
      ...(this.scene?.springs ?? []).map((part) => part.name),
      ...(this.scene?.probes ?? []).map((part) => part.name),
      ...(this.scene?.couplings ?? []).map((part) => part.name),
      ...(this.scene?.obstacles ?? []).map((part) => part.name),
      ...(this.scene?.elements ?? []).map((part) => part.name),
      ...(this.live?.loads ?? []).map((part) => part.name),
      ...(this.live?.off ?? []).flatMap((edit) => (edit.edit === "ApplyLoad" ? edit.name : [])),
    ]);
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

/** What all tools that build share: the work plane with its grid, what a pointer means in it, and a field to type in. */

import * as THREE from "three";
import { h } from "../dom";
import type { Press } from "../gestures";
import type { Vec3 } from "../numbers";
import type { Stage } from "../stage";
import type { Tool } from "../store";
import { Grid } from "./grid";
import { type Flat, WorkPlane } from "./plane";
import { type Aim, type Mark, marks, type Snapped, snap } from "./snap";

const BUILDING: ReadonlySet<Tool> = new Set<Tool>(["link", "body", "joint", "spring", "cam"]);
const NEAR_PIXELS = 10;
const NEAR = 1e-6; // of the mechanism's size: marks of one place

/** Does a tool draw in the work plane? */
export function isBuilding(tool: Tool): boolean {
  return BUILDING.has(tool);
}

/** A point of the world, or of a body's frame: what the session takes for either. */
export type Place = Vec3 | [string, Vec3];

/** Where something can hold on. */
export interface Hold {
  body: string; // or "ground"
  place: Place;
  flat: Flat;
}

/** Is this where keys mean something else? */
function isField(target: HTMLElement): boolean {
  return target.closest("input:not([type=range]), select, textarea, dialog, button") !== null;
}

export class Drafting {
  readonly plane = new WorkPlane();
  readonly grid: Grid;
  readonly field = h("input", {
    id: "draw-value",
    placeholder: "0.1 < 60",
    autocomplete: "off",
    enterkeyhint: "enter",
    "aria-label": "length in metres, < angle in degrees, or a point",
  });
  readonly bar = h("label", {}, "type", this.field);
  readonly said = h("span", { id: "draw-said", role: "status" }); // what comes next

  /** Say what comes next beside the field, until "". */
  say(text: string): void {
    this.said.textContent = text;
  }

  constructor(private readonly stage: Stage) {
    this.grid = new Grid(stage, this.plane);
    stage.store.on("tool", (tool) => {
      this.field.value = "";
      this.grid.show(isBuilding(tool));
      this.face();
    });
    addEventListener("keydown", (event) => this.typed(event), { capture: true });
  }

  /** Digits go to the field of a tool that builds. */
  private typed(event: KeyboardEvent): void {
    const isFree = !event.ctrlKey && !event.metaKey && !event.altKey && !isField(event.target as HTMLElement);
    if (!isFree || !isBuilding(this.stage.store.tool) || !/^[0-9.<−-]$/.test(event.key)) return;
    this.field.focus({ preventScroll: true });
    this.field.value += event.key;
    this.field.dispatchEvent(new Event("input"));
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  /** Take the plane that faces the viewer. */
  face(): void {
    this.plane.face(this.stage.view.camera.getWorldDirection(new THREE.Vector3()));
  }

  snapped(aim: Aim, from: Flat | null): Snapped | null {
    return snap(this.stage.view, this.plane, this.marks(), aim, from);
  }

  /** Bodies that have a mark where the pointer is, or else are under it, and where to hold them; none: the ground. */
  holds({ x, y, isTouch }: Press): Hold[] {
    const found = this.snapped({ x, y, isTouch }, null);
    return found ? this.heldAt(found.flat, { x, y, isTouch }, found.mark !== null) : [];
  }

  /** The same for a point of the plane that was typed. */
  holdsAt(flat: Flat): Hold[] {
    const { x, y } = this.stage.view.project(this.plane.up(flat));
    return this.heldAt(flat, { x, y, isTouch: false }, true);
  }

  private heldAt(flat: Flat, { x, y, isTouch }: Aim, isMarked: boolean): Hold[] {
    const close = NEAR * this.stage.view.size;
    const here = this.marks().filter(
      (mark) => mark.body !== "ground" && Math.hypot(mark.flat[0] - flat[0], mark.flat[1] - flat[1]) < close,
    );
    const first = new Map<string, Mark>();
    for (const mark of isMarked ? here : []) if (!first.has(mark.body)) first.set(mark.body, mark);
    const held = [...first.values()].map(({ body, point }): Hold => ({ body, place: [body, point], flat }));
    const hit = held.length === 0 ? this.stage.picking.hit(x, y, ["body"], isTouch) : null;
    if (hit) {
      const point = this.centred(hit.name, hit.at);
      const world = this.stage.mechanism.point(hit.name, point) ?? hit.point;
      held.push({ body: hit.name, place: [hit.name, point], flat: this.plane.down(world) });
    }
    return held.length ? held : [{ body: "ground", place: this.plane.up(flat).toArray(), flat }];
  }

  /** The pin, end or centre near a pixel, else the point of a body's surface there, else one of the work plane. */
  pointAt({ x, y, isTouch }: Press): { place: Place; world: THREE.Vector3 } | null {
    const { mechanism, picking, view } = this.stage;
    const reach = isTouch ? 2 * NEAR_PIXELS : NEAR_PIXELS;
    const near = this.marks()
      .flatMap((mark) => {
        const world = mechanism.point(mark.body, mark.point);
        const pixel = world && view.project(world);
        const away = pixel ? Math.hypot(pixel.x - x, pixel.y - y) : Infinity;
        return world && away <= reach ? [{ place: [mark.body, mark.point] as Place, world, away }] : [];
      })
      .sort((a, b) => a.away - b.away)[0];
    if (near) return near;
    const hit = picking.hit(x, y, ["body"], isTouch);
    if (hit) return { place: [hit.name, hit.at], world: hit.point };
    const flat = this.snapped({ x, y, isTouch }, null)?.flat;
    return flat ? { place: this.plane.up(flat).toArray(), world: this.plane.up(flat) } : null;
  }

  /** A point of a body's surface, brought to the middle of a link, or along the sight into the plane of the centre. */
  private centred(body: string, at: Vec3): Vec3 {
    const shapes = this.stage.store.body(body)?.shapes ?? [];
    const shape = shapes[0];
    if (shapes.length === 1 && shape?.kind === "capsule" && shape.length !== null) {
      const half = shape.length / 2;
      const turn = new THREE.Quaternion().fromArray(shape.orientation);
      const local = new THREE.Vector3(...at).sub(new THREE.Vector3(...(shape.offset as Vec3)));
      const z = Math.min(half, Math.max(-half, local.applyQuaternion(turn.clone().invert()).z));
      const back = new THREE.Vector3(0, 0, Number(z.toPrecision(4))).applyQuaternion(turn);
      return back.add(new THREE.Vector3(...(shape.offset as Vec3))).toArray();
    }
    const pose = this.stage.store.pose(body);
    if (!pose) return at;
    const n = this.plane.normal.applyQuaternion(new THREE.Quaternion(...pose.q).invert());
    const point = new THREE.Vector3(...at);
    return point.addScaledVector(n, -point.dot(n)).toArray();
  }

  private marks(): Mark[] {
    return marks(this.stage.store, this.stage.mechanism, this.plane);
  }
}

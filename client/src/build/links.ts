/**
 * Drawing links: every click, tap or typed value is an end. A chain that begins or ends on a body is pinned to it, one
 * that ends by a double click or by Enter is pinned to the ground, and where it begins too. The session has the last
 * word on where things are (edits/drawing.py); here they are shown.
 */

import * as THREE from "three";
import type { Drag, Press, Presser } from "../gestures";
import { IconColours, path } from "../icons3d";
import { show } from "../numbers";
import type { Stage } from "../stage";
import { colour, onTheme } from "../theme";
import { tell, tellError } from "../toasts";
import type { Drafting } from "./drafting";
import type { Flat, WorkPlane } from "./plane";
import { Sketch } from "./sketch";
import type { Aim, Snapped } from "./snap";
import { readTyped } from "./typed";

const TWICE = 400; // [ms] and
const TWICE_AWAY = 12; // pixels between the clicks of a double click
const DENSITY = 1000; // [kg/m³]
const THIN = 0.1; // radius of a link, of the grid's step
const LABEL = "drawn";
const PLATE = "plate"; // typed instead of a corner: the corners so far are a plate's

export class Links implements Presser {
  private readonly plane: WorkPlane;
  private readonly field: HTMLInputElement;
  private sketch: Sketch | null = null;
  private colours = new IconColours();
  private band = path(this.colours);
  private dots = new THREE.Points(new THREE.BufferGeometry(), new THREE.PointsMaterial({ size: 9 }));
  private aim: Aim | null = null; // where the pointer was last
  private pressed = -Infinity; // time of the last press [ms]
  private placed = { time: -Infinity, x: 0, y: 0 }; // the last click that placed an end
  private scene = ""; // the one that is open
  private waiting: string | null = null; // a link whose first pin is picked when it has come

  constructor(
    private readonly stage: Stage,
    private readonly drafting: Drafting,
    private readonly say: (text: string | null) => void,
  ) {
    const { store, view } = stage;
    this.plane = drafting.plane;
    this.field = drafting.field;
    const material = this.dots.material;
    material.sizeAttenuation = false;
    material.depthTest = false;
    material.transparent = true;
    this.dots.frustumCulled = false;
    this.dots.renderOrder = 7;
    onTheme(() => {
      this.colours.set(colour("accent"));
      material.color.set(colour("accent"));
    });
    view.scene.add(this.band, this.dots);
    this.show();
    store.on("tool", () => this.drop());
    store.on("scene", () => this.pickCome());
    store.on("topology", (scene) => {
      if (scene.name !== this.scene && scene.bodies.length === 0) store.setTool("link"); // there is nothing else to do
      this.scene = scene.name;
    });
    this.field.addEventListener("keydown", (event) => {
      if (store.tool === "link") this.key(event);
    });
    this.field.addEventListener("input", () => this.show());
    addEventListener("keydown", (event) => this.anywhere(event), { capture: true });
  }

  press({ x, y, isTouch, time }: Press): Drag | null {
    if (!this.sketch) this.drafting.face();
    this.pressed = time;
    const first: Aim = { x, y, isTouch };
    this.aim = first;
    this.show();
    return {
      move: (toX, toY) => {
        if (!this.sketch) this.take(first, false);
        this.aim = { x: toX, y: toY, isTouch };
        this.show();
      },
      end: (moved) => {
        const { placed } = this;
        const isTwice = !moved && time - placed.time < TWICE && Math.hypot(placed.x - x, placed.y - y) < TWICE_AWAY;
        if (isTwice && (this.sketch?.points.length ?? 0) > 1) this.endHere(first);
        else if (this.aim) this.take(this.aim, false);
      },
      cancel: () => this.drop(),
    };
  }

  hover({ x, y, isTouch }: Press): void {
    if (!this.sketch) this.drafting.face();
    this.aim = { x, y, isTouch };
    this.show();
  }

  /** Where the chain's ends are, for tests. */
  get points(): Flat[] {
    return this.sketch?.points ?? [];
  }

  /** A chain that comes back to where it began is a plate. */
  private isClosing({ x, y, isTouch }: Aim): boolean {
    const [first] = this.points;
    if (!first || this.points.length < 3 || this.field.value.trim() !== "") return false;
    const pixel = this.stage.view.project(this.plane.up(first));
    return Math.hypot(pixel.x - x, pixel.y - y) < (isTouch ? 2 : 1) * TWICE_AWAY;
  }

  private addPlate(): void {
    const { sketch, stage, plane } = this;
    if (!sketch) return;
    const name = stage.store.freeName("plate");
    const thickness = Number((2 * THIN * this.drafting.grid.step).toPrecision(3));
    const edit = sketch.plate(name, plane, thickness, DENSITY);
    this.drop();
    this.waiting = name;
    void stage.actions.apply(edit).then((reply) => {
      if (!reply) this.waiting = null;
    });
  }

  /** An end by what is typed and pointed at. */
  private take(aim: Aim | null, ground: boolean): void {
    if (aim && this.isClosing(aim)) {
      this.addPlate();
      return;
    }
    try {
      if (this.field.value.trim().toLowerCase() === PLATE) {
        if (this.points.length < 3) throw new Error("plate: type or click three corners at least, then 'plate'");
        this.addPlate();
        return;
      }
      const typed = readTyped(this.field.value);
      const found = aim && this.snapped(aim);
      const next = (this.sketch ?? new Sketch()).meant(typed, found);
      const isFirst = !this.sketch;
      if (!this.sketch) this.begin(found);
      const isPoint = typed.at !== undefined && typed.length !== undefined;
      if ((isFirst && !next.end.body) || ground || isPoint) next.end.ground = true;
      this.sketch?.add(next);
      this.field.value = "";
      if (aim) this.placed = { time: this.pressed, x: aim.x, y: aim.y };
      if (!isFirst && (next.end.body || next.end.ground)) this.finish();
    } catch (error) {
      tellError(error);
    }
    this.show();
  }

  private begin(found: Snapped | null): void {
    this.sketch = new Sketch();
    if (found?.mark && found.mark.body !== "ground") {
      const point = this.stage.mechanism.point(found.mark.body, found.mark.point);
      if (point) this.plane.through(point);
    }
    if (this.stage.store.status && !this.stage.store.status.paused) void this.stage.actions.control("pause");
    this.say(null);
  }

  /** The last end is where the double click is, with the length that was typed for it, and on the ground. */
  private endHere(aim: Aim): void {
    const last = this.sketch?.ends[this.sketch.ends.length - 1];
    const found = this.snapped(aim);
    if (!this.sketch || !last || !found) return;
    const fixed = found.mark ? { body: found.mark.body, point: found.mark.point } : { at: found.flat };
    const isTyped = last.length !== undefined;
    if (isTyped && last.angle === undefined)
      this.sketch.replaceLast({ end: { ...fixed, length: last.length }, point: found.flat });
    const now = this.sketch.ends[this.sketch.ends.length - 1];
    if (now && !now.body) now.ground = true;
    this.finish();
  }

  /** End the chain where it is. */
  private finish(): void {
    const { sketch, stage, plane } = this;
    if (!sketch || sketch.points.length < 2) {
      this.drop();
      return;
    }
    const names = this.names(sketch.points.length - 1);
    const radius = Number((THIN * this.drafting.grid.step).toPrecision(3));
    const edit = sketch.edit(names, plane, radius, DENSITY);
    this.drop();
    this.waiting = names[0] ?? null;
    void stage.actions.apply(edit).then((reply) => {
      if (!reply) this.waiting = null;
    });
    if (document.activeElement === this.field) stage.view.canvas.focus({ preventScroll: true });
  }

  private names(count: number): string[] {
    const { store } = this.stage;
    const first = Number(store.freeName("link").slice("link ".length));
    const taken = new Set(store.scene?.bodies.map(({ name }) => name));
    const found: string[] = [];
    for (let k = first; found.length < count; k++) if (!taken.has(`link ${k}`)) found.push(`link ${k}`);
    return found;
  }

  /** Pick what one would drive: the pin that the chain begins at. */
  private pickCome(): void {
    const { store } = this.stage;
    const pin = store.scene?.joints.find(({ second }) => second === this.waiting);
    const body = store.scene?.bodies.find(({ name }) => name === this.waiting);
    if (!body) return;
    this.waiting = null;
    store.setPick(pin ? { kind: "joint", name: pin.name } : { kind: "body", name: body.name });
  }

  /** Forget the chain. */
  private drop(): void {
    this.sketch = null;
    this.field.value = "";
    this.placed.time = -Infinity;
    this.show();
  }

  private snapped(aim: Aim): Snapped | null {
    return this.drafting.snapped(aim, this.sketch?.last ?? null);
  }

  /** Keys of the field. */
  private key(event: KeyboardEvent): void {
    if (event.key === "Enter") {
      if (!this.sketch) this.drafting.face();
      if (this.field.value.trim() === "") this.enter();
      else this.take(null, false);
    } else if (event.key === "Escape") {
      this.escape();
      this.stage.view.canvas.focus({ preventScroll: true });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Keys elsewhere: Enter and Escape end the chain. */
  private anywhere(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (this.stage.store.tool !== "link" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.closest("input:not([type=range]), select, textarea, dialog, button")) return;
    if (event.key === "Enter" && this.sketch) this.enter();
    else if (event.key === "Escape" && this.sketch) this.escape();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  /** End the chain, pinned to the ground. */
  private enter(): void {
    const last = this.sketch?.ends[this.sketch.ends.length - 1];
    if (!this.sketch || this.sketch.points.length < 2) {
      tell("draw a link first: click where it begins, then where it ends");
      return;
    }
    if (last && !last.body) last.ground = true;
    this.finish();
  }

  /** End the chain free; a lone first end is forgotten. */
  private escape(): void {
    if (this.sketch && this.sketch.points.length > 1) this.finish();
    else this.drop();
  }

  /** Draw what there is, and the link to the pointer. */
  private show(): void {
    const { stage, plane, sketch } = this;
    const isOn = stage.store.tool === "link";
    const points = sketch ? [...sketch.points] : [];
    const found = isOn && this.aim ? this.snapped(this.aim) : null;
    let ahead = found?.flat ?? null;
    if (sketch && isOn)
      try {
        const next = sketch.meant(readTyped(this.field.value), found);
        ahead = next.point;
      } catch {
        // what is typed is not complete yet
      }
    if (ahead && isOn) points.push(ahead);
    const world = points.map((point) => plane.up(point));
    for (const object of [this.band, this.dots]) {
      object.geometry.dispose();
      object.geometry = new THREE.BufferGeometry().setFromPoints(world);
      object.visible = world.length > 0;
    }
    const last = sketch?.last;
    if (last && ahead && isOn) {
      const [du, dv] = [ahead[0] - last[0], ahead[1] - last[1]];
      const angle = (Math.atan2(dv, du) * 180) / Math.PI;
      const by = found && found.by !== "free" ? `, ${found.by}` : "";
      stage.labels.set(LABEL, `${show(Math.hypot(du, dv))} m < ${show(angle)}°${by}`, plane.up(ahead), "drawn");
    } else if (ahead && isOn) {
      const by = found && found.by !== "free" ? ` ${found.by}` : "";
      stage.labels.set(LABEL, `${show(ahead[0])}, ${show(ahead[1])}${by}`, plane.up(ahead), "drawn");
    } else stage.labels.remove(LABEL);
    stage.view.touch();
  }
}

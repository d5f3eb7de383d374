/**
 * What acts on everything, as icons (Wang 2011 §5): gravity, and the current of each fluid, arrows whose heads are
 * pulled. Water fills the space below a height; wind is air that is everywhere and moves.
 */

import * as THREE from "three";
import { Stream } from "./actions";
import { h } from "./dom";
import type { FluidOptions } from "./edits";
import type { Drag, Press, Presser } from "./gestures";
import { type IconName, icon } from "./icons";
import { Arrow, handleBall, IconColours } from "./icons3d";
import type { Element } from "./messages";
import { asVector, roundNumber, roundVector, show, type Vec3 } from "./numbers";
import type { Stage } from "./stage";
import { colour, onTheme } from "./theme";
import { tellError } from "./toasts";

const NEAR = 16; // pixels
const FINGER = 26;
const LENGTH = 0.12; // of an arrow of the usual size, in parts of the picture's shorter side
const LEFT = 0.16; // where arrows begin, in parts of the picture's width
const TOP = 0.3; // of the first, and of each below the one before, in parts of its height
const BELOW = 0.19;
const MOST = 4; // that have places of their own
const GRAVITY = 9.81; // usual sizes: [m/s²]
const SPEED = 5; // [m/s], a fresh breeze
const AIR = { density: 1.204, viscosity: 1.81e-5, added_mass: false }; // 20 °C, sea level [kg/m³, Pa s]; a body may have that of one fluid

/** A vector that acts everywhere. */
interface Effect {
  name: string; // of the fluid; empty: gravity
  path: string;
  value: Vec3;
  unit: string;
  usual: number;
}

interface Icon {
  colours: IconColours;
  arrow: Arrow;
  ball: THREE.Mesh;
}

export class Effects implements Presser {
  readonly bar = h(
    "span",
    { class: "effects" },
    this.button("gravity", "Gravity", () => this.stage.store.setPick(null)),
    this.button("water", "Water", () => this.add("water", this.water())),
    this.button("wind", "Wind", () => this.add("wind", this.wind())),
  );
  private icons = new Map<string, Icon>();
  private draft: { path: string; value: Vec3 } | null = null; // what a handle says while it is held
  private keyed: { path: string; value: Vec3 } | null = null; // what keys said last
  private frozen: number | null = null; // metres per unit while a handle is held
  private middle = new THREE.Vector3(); // as far away as this arrows are drawn
  private stream: Stream;

  constructor(private readonly stage: Stage) {
    const { store, view, actions } = stage;
    this.stream = new Stream(actions);
    onTheme(() => {
      for (const [path, own] of this.icons) own.colours.set(tint(path));
    });
    for (const event of ["topology", "tool", "pick"] as const)
      store.on(event, () => {
        this.measure();
        view.touch();
      });
    store.on("scene", () => view.touch());
    view.onDraw(() => this.draw());
  }

  /** Gravity, and the currents that are vectors of numbers. */
  all(): Effect[] {
    const { scene } = this.stage.store;
    if (!scene) return [];
    const fluids = scene.elements.filter(({ kind }) => kind === "fluid").flatMap(currentOf);
    const path = scene.parameters[0]?.path;
    const gravity = scene.gravity as Vec3;
    return path ? [{ name: "", path, value: gravity, unit: "m/s²", usual: GRAVITY }, ...fluids] : fluids;
  }

  /** Take an arrow's head. */
  press({ x, y, isTouch }: Press): Drag | null {
    for (const effect of this.shown()) {
      const own = this.icons.get(effect.path);
      if (!own?.ball.visible) continue;
      const pixel = this.stage.view.project(own.ball.position);
      if (Math.hypot(pixel.x - x, pixel.y - y) < (isTouch ? FINGER : NEAR)) return this.pull(effect);
    }
    return null;
  }

  /** Move the head of the picked fluid's arrow by pixels, of gravity's where nothing is picked. */
  nudge(right: number, up: number, away: number): boolean {
    return this.byKeys((effect, value) => {
      const way = this.stage.view.across(right, up, away, this.base(effect));
      return roundVector(value.addScaledVector(way, 1 / this.scale(effect)).toArray());
    });
  }

  /** Scale the same. */
  scaleBy(factor: number): boolean {
    return this.byKeys((_, value) => roundVector(value.multiplyScalar(factor).toArray()));
  }

  /** Pixel of an effect's handle. */
  pixel(path: string): { x: number; y: number } | null {
    const own = this.icons.get(path);
    return own?.ball.visible ? this.stage.view.project(own.ball.position) : null;
  }

  private byKeys(change: (effect: Effect, value: THREE.Vector3) => Vec3): boolean {
    const { pick, tool } = this.stage.store;
    const name = pick?.kind === "element" ? pick.name : "";
    const effect = tool === "effect" ? this.all().find((one) => one.name === name) : undefined;
    if (!effect || (pick && pick.kind !== "element")) return false;
    const isAhead = !this.stream.isIdle && this.keyed?.path === effect.path;
    const before = (isAhead && this.keyed?.value) || effect.value;
    this.keyed = { path: effect.path, value: change(effect, new THREE.Vector3(...before)) };
    this.send(effect, this.keyed.value);
    return true;
  }

  private send(effect: Effect, value: Vec3): void {
    this.stream.send({ edit: "SetParameter", path: effect.path, value });
  }

  private pull(effect: Effect): Drag {
    const base = this.base(effect);
    const through = this.icons.get(effect.path)?.ball.position.clone() ?? base;
    const scale = this.scale(effect);
    this.frozen = scale;
    const done = (): void => {
      this.draft = this.frozen = null;
      if (effect.name) this.stage.store.setPick({ kind: "element", name: effect.name });
      this.stage.view.touch();
    };
    return {
      move: (x, y) => {
        const along = this.stage.view.unproject(x, y, through).sub(base).divideScalar(scale);
        this.draft = { path: effect.path, value: roundVector(along.toArray()) };
        this.send(effect, this.draft.value);
        this.stage.view.touch();
      },
      end: done,
      cancel: () => {
        if (this.draft) this.send(effect, effect.value);
        done();
      },
    };
  }

  /** Metres of arrow per unit. */
  private scale({ value, usual }: Effect): number {
    const { view } = this.stage;
    const length = LENGTH * Math.min(view.canvas.clientWidth, view.canvas.clientHeight) * view.pixel(this.middle);
    return this.frozen ?? length / Math.max(usual, 0.6 * Math.hypot(...value));
  }

  /** Those whose arrows are in the picture: all with the tool in hand, else that of the picked fluid. */
  private shown(): Effect[] {
    const { tool, pick } = this.stage.store;
    return this.all().filter(({ name }) => tool === "effect" || (pick?.kind === "element" && pick.name === name));
  }

  /** Where an arrow begins: at the left of the picture, one below the other. */
  private base(effect: Effect): THREE.Vector3 {
    const { view } = this.stage;
    const place = this.all().findIndex(({ path }) => path === effect.path) % MOST;
    const [x, y] = [LEFT * view.canvas.clientWidth, (TOP + place * BELOW) * view.canvas.clientHeight];
    return view.unproject(x, y, this.middle);
  }

  private measure(): void {
    const box = new THREE.Box3().setFromPoints(this.stage.mechanism.extent().points);
    if (!box.isEmpty()) box.getCenter(this.middle);
  }

  /** Water up to the middle of what there is. */
  private water(): FluidOptions {
    const { up } = this.stage.view;
    const heights = this.stage.mechanism.extent().points.map((point) => point.dot(up));
    const middle = heights.length ? (Math.min(...heights) + Math.max(...heights)) / 2 : 0;
    return { surface: roundNumber(middle, 3) };
  }

  /** A breeze to the right of the picture. */
  private wind(): FluidOptions {
    const right = new THREE.Vector3(1, 0, 0).applyQuaternion(this.stage.view.camera.quaternion);
    const { up } = this.stage.view;
    right.addScaledVector(up, -right.dot(up));
    return { ...AIR, surface: null, current: roundVector(right.setLength(SPEED).toArray(), 3) };
  }

  private async add(stem: string, options: FluidOptions): Promise<void> {
    const { store, actions } = this.stage;
    const name = store.freeName(stem);
    if (!(await actions.apply({ edit: "Add", kind: "fluid", name, options }))) return;
    const look = (): void => {
      if (store.element(name)) store.setPick({ kind: "element", name });
      else setTimeout(look, 30);
    };
    look();
  }

  private button(name: IconName, text: string, act: () => unknown): HTMLButtonElement {
    const onclick = (): void => void Promise.resolve(act()).catch(tellError);
    return h("button", { type: "button", "data-effect": name, onclick }, icon(name), text);
  }

  private draw(): void {
    const { view, labels } = this.stage;
    const shown = this.shown();
    const keep = new Set(shown.map(({ path }) => `effect ${path}`));
    for (const effect of shown) {
      const own = this.icon(effect.path);
      const value = this.draft?.path === effect.path ? this.draft.value : effect.value;
      const base = this.base(effect);
      const head = base.clone().addScaledVector(new THREE.Vector3(...value), this.scale(effect));
      const r = 2 * view.pixel(base);
      own.arrow.set(base, head, r);
      own.ball.visible = true;
      own.ball.position.copy(head);
      own.ball.scale.setScalar(6 * view.pixel(base));
      const size = `${show(Math.hypot(...value))} ${effect.unit}`;
      labels.set(`effect ${effect.path}`, `${effect.name || "gravity"} ${size}`, head, "effect");
    }
    for (const [path, own] of this.icons)
      if (!keep.has(`effect ${path}`)) {
        view.drop(own.arrow.group, own.ball);
        this.icons.delete(path);
      }
    labels.keepOnly("effect ", keep);
  }

  private icon(path: string): Icon {
    let found = this.icons.get(path);
    if (!found) {
      const colours = new IconColours();
      colours.set(tint(path));
      found = { colours, arrow: new Arrow(colours), ball: handleBall(colours) };
      this.icons.set(path, found);
      this.stage.view.scene.add(found.arrow.group, found.ball);
    }
    return found;
  }
}

/** The current of a fluid, where it is a vector of numbers. */
function currentOf({ name, parameters }: Element): Effect[] {
  const current = parameters.find((parameter) => parameter.name === "current");
  const value = asVector(current?.value);
  return current?.path && value ? [{ name, path: current.path, value, unit: "m/s", usual: SPEED }] : [];
}

function tint(path: string): string {
  return path.endsWith(".current") ? colour("water") : colour("joint");
}

/** The grid of the work plane with its numbers, drawn while something is built. */

import * as THREE from "three";
import type { Stage } from "../stage";
import { colour, onTheme } from "../theme";
import { type Flat, gridStep, type WorkPlane } from "./plane";

const MOST = 400; // lines
const WIDE = 56; // pixels between numbers
const KEY = "grid ";

export class Grid {
  private material = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.5, depthWrite: false });
  private lines = new THREE.LineSegments(new THREE.BufferGeometry(), this.material);
  private shownFor = "";
  private isOn = false;

  constructor(
    private readonly stage: Stage,
    private readonly plane: WorkPlane,
  ) {
    onTheme(() => this.material.color.set(colour("grid")));
    this.lines.frustumCulled = false;
    this.lines.visible = false;
    this.lines.renderOrder = -1;
    stage.view.scene.add(this.lines);
    stage.view.onDraw(() => this.lay());
  }

  show(on: boolean): void {
    if (on === this.isOn) return;
    this.isOn = on;
    this.lines.visible = on;
    this.stage.view.floor.isDrafting = on;
    this.shownFor = "";
    if (!on) this.stage.labels.keepOnly(KEY, new Set());
    this.stage.view.touch();
  }

  /** Distance of its lines [m]. */
  get step(): number {
    const { view } = this.stage;
    return gridStep(view.pixel(this.plane.up(this.middle() ?? [0, 0])));
  }

  private middle(): Flat | null {
    const { canvas } = this.stage.view;
    return this.plane.under(this.stage.view, canvas.clientWidth / 2, canvas.clientHeight / 2);
  }

  /** Lay lines and numbers anew where the view has changed. */
  private lay(): void {
    if (!this.isOn) return;
    const { view } = this.stage;
    const { clientWidth: w, clientHeight: h } = view.canvas;
    const corners = [0, w].flatMap((x) => [0, h].map((y) => this.plane.under(view, x, y)));
    const seen = corners.filter((corner) => corner !== null);
    const { step } = this;
    if (seen.length < 4) return;
    const from = [0, 1].map((k) => Math.floor(Math.min(...seen.map((p) => p[k as 0 | 1])) / step)) as Flat;
    const to = [0, 1].map((k) => Math.ceil(Math.max(...seen.map((p) => p[k as 0 | 1])) / step)) as Flat;
    const state = `${step} ${from} ${to} ${this.plane.origin.toArray()} ${this.plane.u.toArray()} ${this.plane.v.toArray()}`;
    if (state === this.shownFor || to[0] - from[0] + to[1] - from[1] > MOST) return;
    this.shownFor = state;
    const points: THREE.Vector3[] = [];
    const put = (a: Flat, b: Flat): void => void points.push(this.plane.up(a), this.plane.up(b));
    for (let k = from[0]; k <= to[0]; k++) put([k * step, from[1] * step], [k * step, to[1] * step]);
    for (let k = from[1]; k <= to[1]; k++) put([from[0] * step, k * step], [to[0] * step, k * step]);
    this.lines.geometry.dispose();
    this.lines.geometry = new THREE.BufferGeometry().setFromPoints(points);
    this.number(step, from, to);
  }

  private number(step: number, from: Flat, to: Flat): void {
    const { view, labels } = this.stage;
    const pixels = step / view.pixel(this.plane.origin);
    const every = [1, 2, 5, 10, 20].find((k) => k * pixels >= WIDE) ?? 50;
    const keep = new Set<string>();
    const write = (axis: "u" | "v", k: number, at: Flat): void => {
      const key = `${KEY}${axis}${k}`;
      keep.add(key);
      labels.set(key, String(Number((k * step).toPrecision(6))), this.plane.up(at), "grid");
    };
    const first = (low: number): number => Math.ceil(low / every) * every;
    for (let k = first(from[0]); k <= to[0]; k += every) write("u", k, [k * step, 0]);
    for (let k = first(from[1]); k <= to[1]; k += every) if (k !== 0) write("v", k, [0, k * step]);
    labels.keepOnly(KEY, keep);
  }
}

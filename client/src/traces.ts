/**
 * Paths of the model's probes and of points the user chose, from the session at every step: ribbons coloured by speed,
 * to a scale that the picture states. A whole turn of them is drawn at once where it is asked for.
 */

import * as THREE from "three";
import { byId, h, setText } from "./dom";
import { roundUp } from "./lengths";
import type { Point } from "./messages";
import { show, type Vec3 } from "./numbers";
import { fetchSeries } from "./recorded";
import { Ramp, Ribbon, ribbonMaterial } from "./ribbons";
import type { Stage } from "./stage";
import { colour, onTheme } from "./theme";
import { tellError } from "./toasts";

const LONGEST = 40_000; // pieces of a path
const FILLED = 30; // [s] of the recording that a new path begins with
const USER = "traces";
const WIDTH = 3; // pixels

interface Trace {
  body: string;
  at: Vec3;
  count: number; // of its pieces
  points: Float32Array; // of both ends of each
  times: Float64Array; // of their second ends [s]
  speeds: Float32Array; // NaN: dragged while time stood still [m/s]
  last: Vec3 | null; // where it goes on from
  when: number; // time there [s]
  painted: number; // pieces that are as they should be
  ribbon: Ribbon;
  head: THREE.Mesh;
}

export class Traces {
  private traces = new Map<string, Trace>();
  private readonly material;
  private readonly ramp = new Ramp();
  private readonly plain = new THREE.Color(); // of what has no speed
  private fastest = 0; // that the scale goes to [m/s]
  private readonly top = h("b");
  private readonly legend = h(
    "div",
    { id: "speeds", hidden: true, title: "Speed along the paths" },
    h("b", {}, "0"),
    h("i"),
    this.top,
  );
  private headMaterial = new THREE.MeshBasicMaterial();
  shown = true;

  constructor(private readonly stage: Stage) {
    const { store } = stage;
    this.material = ribbonMaterial(WIDTH);
    byId("stage").append(this.legend);
    store.on("scene", (scene) => {
      const probes = new Map(scene.probes.map((probe) => [`probe ${probe.name}`, probe]));
      for (const [key, trace] of this.traces) {
        const isOld = key.startsWith("probe ")
          ? !probes.has(key)
          : !scene.bodies.some(({ name }) => name === trace.body);
        if (isOld) this.remove(key);
      }
      for (const [key, { body, at }] of probes) if (!this.isAt(key, body, at as Vec3)) this.add(key, body, at as Vec3);
    });
    store.on("opened", () => this.clear());
    store.on("jump", (time) => this.cut(time));
    stage.signals.onRows((batch) => {
      for (let row = 0; row < batch.times.length; row++) {
        const places = batch.places(row, USER);
        if (places) this.extend(batch.times[row] ?? NaN, places, row === 0 && batch.leapt);
      }
    });
    onTheme(() => {
      this.ramp.set(colour("slow"), colour("middling"), colour("fast"));
      this.plain.set(colour("trace"));
      this.headMaterial.color.set(colour("trace"));
      this.repaint();
    });
  }

  /** Draw the path of a point of a body, on it or beside it. */
  add(key: string, body: string, at: Vec3): void {
    this.remove(key);
    const points = new Float32Array(6 * LONGEST);
    const ribbon = new Ribbon(points, this.material);
    const head = new THREE.Mesh(new THREE.SphereGeometry(0.55 * this.stage.mechanism.pin, 12, 8), this.headMaterial);
    ribbon.line.visible = head.visible = this.shown;
    this.stage.view.scene.add(ribbon.line, head);
    const [times, speeds] = [new Float64Array(LONGEST), new Float32Array(LONGEST)];
    const trace: Trace = { body, at, count: 0, points, times, speeds, last: null, when: NaN, painted: 0, ribbon, head };
    const place = this.stage.mechanism.point(body, at);
    if (place) head.position.copy(place);
    this.traces.set(key, trace);
    this.ask();
    void this.fill(trace);
  }

  /** Trace a point of a body, or no longer where one near it is traced. */
  toggle(body: string, at: Vec3): void {
    const close = 0.03 * this.stage.view.size;
    const away = (other: Vec3): number => Math.hypot(at[0] - other[0], at[1] - other[1], at[2] - other[2]);
    const near = this.chosen().find((own) => own.body === body && away(own.at) < close);
    if (near) this.remove(near.key);
    else this.add(`point ${this.chosen().length + 1} of ${body}`, body, at);
  }

  remove(key: string): void {
    const trace = this.traces.get(key);
    if (!trace) return;
    this.stage.view.drop(trace.ribbon.line, trace.head);
    this.traces.delete(key);
    if (this.traces.size === 0) this.fastest = 0;
    this.state();
    this.stage.view.touch();
    this.ask();
  }

  /** All points whose paths are drawn. */
  points(): Point[] {
    return [...this.traces.values()].map(({ body, at }) => ({ body, at }));
  }

  /** Points the user chose, by key. */
  chosen(): { key: string; body: string; at: Vec3 }[] {
    return [...this.traces]
      .filter(([key]) => !key.startsWith("probe "))
      .map(([key, { body, at }]) => ({ key, body, at }));
  }

  /** How many points of a path are drawn. */
  length(key: string): number {
    return this.traces.get(key)?.count ?? 0;
  }

  /** The path itself: both ends of each of its pieces. */
  path(key: string): number[] {
    const trace = this.traces.get(key);
    return trace ? [...trace.points.subarray(0, 6 * trace.count)] : [];
  }

  /** Speeds of a path's pieces [m/s], and what the scale of colours goes to. */
  speeds(key: string): { speeds: number[]; fastest: number } {
    const trace = this.traces.get(key);
    return { speeds: trace ? [...trace.speeds.subarray(0, trace.count)] : [], fastest: this.fastest };
  }

  clear(): void {
    this.fastest = 0;
    for (const trace of this.traces.values()) {
      trace.count = trace.painted = 0;
      trace.last = null;
      this.redraw(trace);
    }
  }

  show(on: boolean): void {
    this.shown = on;
    for (const { ribbon, head } of this.traces.values()) ribbon.line.visible = head.visible = on;
    this.state();
    this.stage.view.touch();
  }

  private isAt(key: string, body: string, at: Vec3): boolean {
    const known = this.traces.get(key);
    return known !== undefined && known.body === body && known.at.every((value, k) => value === at[k]);
  }

  private ask(): void {
    this.stage.signals.wantPoints(USER, this.points());
  }

  /** Forget what came after a time. */
  private cut(time: number): void {
    for (const trace of this.traces.values()) {
      while (trace.count > 0 && (trace.times[trace.count - 1] ?? time) > time) trace.count -= 1;
      trace.painted = Math.min(trace.painted, trace.count);
      trace.last = null;
      this.redraw(trace);
    }
  }

  /** Go on to places of all points, in their order. */
  private extend(time: number, places: ArrayLike<number>, leapt: boolean): void {
    let k = 0;
    for (const trace of this.traces.values()) {
      const next: Vec3 = [places[k] ?? NaN, places[k + 1] ?? NaN, places[k + 2] ?? NaN];
      k += 3;
      if (leapt || !next.every(Number.isFinite)) trace.last = null;
      if (!next.every(Number.isFinite)) continue;
      if (trace.last) this.piece(trace, trace.last, next, trace.when, time);
      trace.last = next;
      trace.when = time;
      trace.head.position.set(...next);
      this.redraw(trace);
    }
  }

  private piece(trace: Trace, from: Vec3, to: Vec3, before: number, time: number): void {
    if (trace.count === LONGEST) {
      trace.points.copyWithin(0, 6 * (LONGEST / 4));
      trace.times.copyWithin(0, LONGEST / 4);
      trace.speeds.copyWithin(0, LONGEST / 4);
      trace.count -= LONGEST / 4;
      trace.painted = 0;
    }
    const speed = Math.hypot(to[0] - from[0], to[1] - from[1], to[2] - from[2]) / (time - before);
    trace.speeds[trace.count] = time > before ? speed : NaN;
    if (time > before) this.widen(speed);
    trace.points.set(from, 6 * trace.count);
    trace.points.set(to, 6 * trace.count + 3);
    trace.times[trace.count] = time;
    trace.count += 1;
  }

  /** Have the scale of colours reach a speed; rounded up, so that it is not another at every step. */
  private widen(speed: number): void {
    if (!(speed > this.fastest)) return;
    this.fastest = roundUp(speed);
    for (const trace of this.traces.values()) trace.painted = 0;
    this.state();
  }

  private repaint(): void {
    for (const trace of this.traces.values()) {
      trace.painted = 0;
      this.redraw(trace);
    }
  }

  private redraw(trace: Trace): void {
    trace.ribbon.show(trace.count, trace.painted, (piece, into) => {
      const speed = trace.speeds[piece] ?? NaN;
      if (Number.isNaN(speed)) into.copy(this.plain);
      else this.ramp.at(speed / this.fastest, into);
    });
    trace.painted = trace.count;
    this.state();
    this.stage.view.touch();
  }

  /** State the scale. */
  private state(): void {
    this.legend.hidden = !(this.shown && this.fastest > 0 && [...this.traces.values()].some(({ count }) => count > 0));
    setText(this.top, `${show(this.fastest)} m/s`);
  }

  /** Begin a path with where its point has been. */
  private async fill(trace: Trace): Promise<void> {
    const { frame } = this.stage.store;
    if (!frame || trace.body === "ground") return;
    try {
      const points = [{ body: trace.body, at: trace.at }];
      const { data } = await fetchSeries({ signals: [], points, since: frame.time - FILLED, strict: false });
      if (![...this.traces.values()].includes(trace)) return;
      const { points: own, times, speeds, count, last } = trace;
      const [after, since, paces] = [own.slice(0, 6 * count), times.slice(0, count), speeds.slice(0, count)];
      trace.count = trace.painted = 0;
      let from: Vec3 | null = null;
      let before = NaN;
      for (let row = 0; row + 3 < data.length; row += 4) {
        const [time = NaN, x = NaN, y = NaN, z = NaN] = data.subarray(row, row + 4);
        if (time > (since[0] ?? Infinity)) break;
        if (from) this.piece(trace, from, [x, y, z], before, time);
        from = [x, y, z];
        before = time;
      }
      for (const [k, time] of since.entries()) {
        const ends = [after.subarray(6 * k, 6 * k + 3), after.subarray(6 * k + 3, 6 * k + 6)] as unknown as [
          Vec3,
          Vec3,
        ];
        this.piece(trace, ...ends, NaN, time);
        trace.speeds[trace.count - 1] = paces[k] ?? NaN;
      }
      if (count === 0 && from) trace.when = before;
      trace.last = last ?? (count === 0 ? from : null);
      this.redraw(trace);
    } catch (error) {
      tellError(error);
    }
  }
}

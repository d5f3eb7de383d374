/** Plots: of the whole, of what is picked, and of expressions; over time, frequency or another signal. */

import { byId, download } from "../dom";
import { ExpressionError, evaluate, evaluateAll, parse, signalsOf, splitList, unitOf } from "../expression";
import { recall, remember } from "../memory";
import { FLAGS } from "../messages";
import { fetchSeries } from "../recorded";
import { type Column, csvOf, nearest } from "../series";
import { type Quantity, quantitiesOf, type Signals, wholeQuantities } from "../signals";
import type { Store } from "../store";
import { onTheme } from "../theme";
import { tell, tellError } from "../toasts";
import { onUnits, shownIn } from "../units";
import { Bar } from "./bar";
import { type Axis, type Series, TIME } from "./data";
import { type Host, Pane } from "./pane";
import { CanvasPen } from "./pen";
import { HISTORIC, WINDOWS, type WindowName } from "./processing";

const FILLED = 30; // [s] of the recording that a new plot begins with, at least
const BEGINNING = 0.2; // [s]: a jump to before it is the scene anew
const KEY = "plots";
const MOST_SCENES = 30; // whose plots are remembered
const MOST_FOLDED = 100; // panes that are remembered so

interface Kept {
  window?: number;
  scenes?: Record<string, string[]>;
  folded?: string[]; // panes, by what they are of
}

/** A rectangle of a picture [px]. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A plot as it is typed: expressions, and what they are drawn against. */
export interface Asked {
  text: string;
  series: Series[];
  axis: Axis;
}

export class Plots implements Host {
  private panes: Pane[] = [];
  private typed = new Map<Pane, string>(); // those of expressions
  private whole: Pane;
  private picked: Pane;
  private bar: Bar;
  private chosen = new Map<string, string>(); // quantity by kind of part
  private count = 0;
  private empty = new Set<Pane>(); // to be filled as soon as there is a frame
  private scene = "";

  constructor(
    private readonly store: Store,
    readonly signals: Signals,
    private readonly goTo: (time: number) => void,
  ) {
    this.bar = new Bar(this, signals, recall<Kept>(KEY, {}).window);
    this.whole = new Pane(this, [this.bar.whole], null);
    this.picked = new Pane(this, [this.bar.picked], null);
    this.add(this.whole);
    this.add(this.picked);
    this.bar.whole.addEventListener("change", () => this.showWhole());
    this.bar.picked.addEventListener("change", () => {
      this.chosen.set(store.pick?.kind ?? "model", this.bar.picked.value);
      this.showPicked();
    });
    this.listen();
    const loop = (): void => {
      requestAnimationFrame(loop);
      if (byId("panes").offsetParent === null) return;
      const { window, isHeld } = this.bar;
      const around = { window, isHeld, present: store.frame?.time ?? 0, marks: store.marks };
      for (const pane of this.panes) pane.draw(around);
    };
    requestAnimationFrame(loop);
  }

  private listen(): void {
    const { store } = this;
    store.on("pick", () => this.showPicked());
    store.on("topology", (scene) => {
      if (this.bar.whole.options.length === 0) {
        this.bar.offer(this.bar.whole, wholeQuantities(scene), "");
        this.showWhole();
      }
      this.onTopology();
      if (scene.name !== this.scene) this.restore(scene.name);
    });
    store.on("jump", (time) => {
      const follows = ((store.frame?.flags ?? 0) & FLAGS.replaying) !== 0; // what comes is known, and stays
      if (!follows) for (const pane of this.panes) pane.cut(time < BEGINNING ? -Infinity : time);
    });
    store.on("opened", () => {
      for (const pane of this.panes) pane.cut(-Infinity);
    });
    store.on("frame", () => {
      if (this.empty.size === 0 || !store.status) return;
      for (const pane of this.empty) void this.fill(pane);
      this.empty.clear();
    });
    this.signals.onRows((batch) => {
      for (const pane of this.panes) pane.take(batch);
    });
    onTheme(() => {
      for (const pane of this.panes) pane.rebuild();
    });
    onUnits(() => {
      for (const pane of this.panes) pane.touch();
    });
  }

  /** What every pane shows, for tests and for the text alternative. */
  state(): object[] {
    return this.panes.map((pane) => pane.state());
  }

  seek(time: number): void {
    this.goTo(time);
  }

  /** Signals of the picked part, or of the whole where nothing is picked. */
  choices(): Series[] {
    const { scene, pick } = this.store;
    if (!scene) return [];
    return quantitiesOf(scene, pick).flatMap(({ title, signals }) =>
      signals.map(({ label, name }) => ({ label: `${title} ${label}`, name, node: { kind: "signal", name } as const })),
    );
  }

  changed(pane: Pane): void {
    const typed = this.typed.get(pane);
    if (typed !== undefined) {
      const [of = ""] = typed.split(/\s+against\s+/);
      this.typed.set(pane, of + against(pane.axis));
      this.keep();
    }
    this.ask();
    void this.fill(pane);
  }

  /** Have the browser remember which panes are folded; those that are not here as they were. */
  folded(): void {
    const kept = recall<Kept>(KEY, {});
    const here = new Map(this.panes.map((pane) => [this.keyOf(pane), pane.isFolded]));
    const others = (kept.folded ?? []).filter((key) => !here.has(key));
    const now = [...here].flatMap(([key, isFolded]) => (isFolded ? key : []));
    remember(KEY, { ...kept, folded: [...now, ...others].slice(0, MOST_FOLDED) });
  }

  /** A pane as it is remembered. */
  private keyOf(pane: Pane): string {
    return pane === this.whole ? "of the whole" : pane === this.picked ? "of the picked" : (this.typed.get(pane) ?? "");
  }

  /** Ask for what the panes show. */
  private ask(): void {
    this.signals.want("plots", [...new Set(this.panes.flatMap((pane) => pane.names()))]);
  }

  /** Plot expressions in a pane of their own; false where they cannot be read. */
  addExpression(text: string): boolean {
    this.bar.say("");
    try {
      const { series, axis } = this.read(text);
      const pane: Pane = new Pane(this, [], () => this.close(pane));
      this.typed.set(pane, text);
      const units = series.map(({ node }) => unitOf(node, (name) => this.signals.unit(name)));
      pane.setSeries(text, units.every((unit) => unit === units[0]) ? (units[0] ?? "") : "", series, axis);
      this.add(pane);
      this.ask();
      void this.fill(pane);
      this.keep();
      return true;
    } catch (problem) {
      if (!(problem instanceof ExpressionError)) throw problem;
      this.bar.say(problem.message);
      return false;
    }
  }

  private read(text: string): Asked {
    const [of = "", on = "time", more] = text.split(/\s+against\s+/);
    if (more !== undefined) throw new ExpressionError("expression: 'against' twice; one axis is enough");
    const list = splitList(of);
    const series = list.map((one) => this.series(one, list.length > 1 ? one : "value"));
    const [kind = "", ...words] = on.trim().split(/\s+/);
    if (on.trim() === "time") return { text, series, axis: TIME };
    if (kind !== "frequency")
      return { text, series, axis: { kind: "signal", series: this.series(on.trim(), on.trim()) } };
    const window = Object.keys(WINDOWS).find((name) => name === words.join(" ")) ?? "Hann";
    return { text, series, axis: { kind: "frequency", window: window as WindowName } };
  }

  private series(text: string, label: string): Series {
    const node = parse(text);
    const names = signalsOf(node);
    const unknown = names.find((name) => !this.signals.has(name));
    if (unknown !== undefined)
      throw new ExpressionError(
        `expression: no signal '${unknown}'; did you mean '${nearest(unknown, this.signals.names())}'?`,
      );
    if (names.length === 0 && !Number.isFinite(evaluate(node, () => NaN, 1)))
      throw new ExpressionError(`expression: '${text}' is not a number; nothing to plot`);
    return { label, name: text, node };
  }

  /** Every step of the recording, and of what is not recorded what is shown; in the units that are shown. */
  async csv(): Promise<string> {
    const signals = [...new Set(this.panes.flatMap((pane) => pane.names()))].filter((name) => this.signals.has(name));
    const { data, columns } = await fetchSeries({ signals, points: [], since: -1e9, strict: false });
    const count = data.length / columns;
    const column = (k: number): Float64Array =>
      Float64Array.from({ length: count }, (_, row) => data[row * columns + k] ?? NaN);
    const known = new Map(signals.map((name, k) => [name, column(1 + k)]));
    const recorded = [...column(0)];
    const found: Column[] = this.panes.flatMap(({ data: own, axis }) =>
      [...own.series, ...(axis.kind === "signal" ? [axis.series] : [])].map(({ name, node }, k) => {
        const { unit, factor } = shownIn(unitOf(node, (signal) => this.signals.unit(signal)));
        const values =
          count > 0
            ? evaluateAll(node, recorded, (signal) => known.get(signal) ?? [], HISTORIC)
            : (own.columns()[k] ?? own.evaluated(node));
        const cells = [...values].map((value) => (Number.isFinite(value) ? factor * value : null));
        return { name, unit, times: count > 0 ? recorded : own.curves.times, values: cells };
      }),
    );
    return csvOf(found);
  }

  /** Save what the plots show, at every step. */
  async save(name = `signals-${++this.count}.csv`): Promise<void> {
    try {
      download(name, new Blob([await this.csv()], { type: "text/csv" }));
    } catch (error) {
      tellError(error);
    }
  }

  /** Have the plots that are to be seen filled from a time on [s], for a video; how many they are. */
  async prepare(since: number): Promise<number> {
    const panes = this.open;
    await Promise.all(panes.map((pane) => this.fill(pane, since)));
    return panes.length;
  }

  /** Draw one of them into a box of a picture, as of a time [s] in a span. */
  film(
    to: OffscreenCanvasRenderingContext2D,
    index: number,
    box: Box,
    scale: number,
    span: [number, number],
    time: number,
  ): void {
    to.save();
    to.translate(box.x, box.y);
    to.scale(scale, scale);
    this.open[index]?.film(new CanvasPen(to), box.width / scale, box.height / scale, span, time);
    to.restore();
  }

  private get open(): Pane[] {
    return this.panes.filter((pane) => !pane.isFolded);
  }

  /** Begin a plot with what was recorded before it was there. */
  private async fill(pane: Pane, from = Infinity): Promise<void> {
    const { status, frame } = this.store;
    const signals = pane.names();
    if (!status || !frame) {
      this.empty.add(pane); // the page has just been opened
      return;
    }
    if (signals.length === 0 || !signals.every((name) => this.signals.has(name))) return;
    const { data } = pane;
    const { opened } = status;
    const since = Math.min(from, frame.time - Math.max(FILLED, this.bar.window));
    try {
      const found = await fetchSeries({ signals, points: [], since, strict: false });
      if (pane.data !== data || this.store.status?.opened !== opened) return; // it shows something else by now
      const at = new Map(signals.map((name, k) => [name, 1 + k]));
      const value = (row: number, k: number): number => found.data[row * found.columns + k] ?? NaN;
      const times = Array.from({ length: found.data.length / found.columns }, (_, row) => value(row, 0));
      pane.fill(times, (row, name) => value(row, at.get(name) ?? NaN));
    } catch (error) {
      tellError(error);
    }
  }

  /** Look at another span of time. */
  look(): void {
    for (const pane of this.panes) {
      pane.showAll();
      const first = pane.data.curves.times[0] ?? Infinity;
      if (first > (this.store.frame?.time ?? 0) - this.bar.window) void this.fill(pane);
    }
    this.keep();
  }

  showAll(): void {
    for (const pane of this.panes) pane.showAll();
  }

  private add(pane: Pane): void {
    this.panes.push(pane);
    byId("panes").append(pane.element);
    pane.rebuild();
    const isCompact = document.body.classList.contains("compact"); // there is one pane only
    pane.fold(!isCompact && (recall<Kept>(KEY, {}).folded ?? []).includes(this.keyOf(pane)));
  }

  private close(pane: Pane, isChoice = true): void {
    this.panes = this.panes.filter((other) => other !== pane);
    this.typed.delete(pane);
    pane.element.remove();
    this.ask();
    if (isChoice) this.keep();
  }

  /** Have the browser remember which plots were made of this scene. */
  private keep(): void {
    const { scenes = {}, folded = [] } = recall<Kept>(KEY, {});
    const { [this.scene]: _, ...others } = scenes;
    const now = [...this.typed.values()];
    const all = now.length ? { [this.scene]: now, ...others } : others;
    remember(KEY, {
      window: this.bar.window,
      folded,
      scenes: Object.fromEntries(Object.entries(all).slice(0, MOST_SCENES)),
    });
  }

  /** The plots that were made of a scene when it was last here; those whose signals are not there stay away. */
  private restore(scene: string): void {
    this.scene = scene;
    const kept = recall<Kept>(KEY, {}).scenes?.[scene] ?? [];
    for (const text of Array.isArray(kept) ? kept : []) {
      if (![...this.typed.values()].includes(text)) this.addExpression(text);
    }
    this.bar.say("");
  }

  private onTopology(): void {
    for (const pane of this.typed.keys()) {
      if (pane.names().every((name) => this.signals.has(name))) continue;
      tell(`plot '${pane.title}' is closed: a signal of it is no longer there`);
      this.close(pane, false);
    }
    this.showPicked();
  }

  private showWhole(): void {
    const { scene } = this.store;
    const quantity = scene && wholeQuantities(scene).find(({ title }) => title === this.bar.whole.value);
    if (quantity) this.show(this.whole, quantity, "", this.whole.axis);
  }

  private show(pane: Pane, { unit, signals }: Quantity, title: string, axis: Axis): void {
    const series = signals.map(({ label, name }) => ({ label, name, node: { kind: "signal", name } as const }));
    pane.setSeries(title, unit, series, axis);
    this.ask();
    void this.fill(pane);
  }

  private showPicked(): void {
    const { scene, pick } = this.store;
    if (!scene) return;
    const list = pick ? quantitiesOf(scene, pick) : wholeQuantities(scene).slice(2);
    const kind = pick?.kind ?? "model";
    const wanted = this.chosen.get(kind) ?? (kind === "body" ? "velocity" : "");
    const quantity = list.find(({ title }) => title === wanted) ?? list[0];
    if (!quantity) return;
    this.bar.offer(this.bar.picked, list, quantity.title);
    const names = quantity.signals.map(({ name }) => name);
    if (names.join() === this.picked.series.map(({ name }) => name).join()) return;
    this.show(this.picked, quantity, pick ? `of ${pick.name}` : "", this.sameAxis());
  }

  /** What the picked part is drawn against: the same of it as of the one before. */
  private sameAxis(): Axis {
    const { axis } = this.picked;
    if (axis.kind !== "signal") return axis;
    const found = this.choices().find(({ label }) => label === axis.series.label);
    return found ? { kind: "signal", series: found } : TIME;
  }
}

/** An axis as it is typed. */
function against(axis: Axis): string {
  if (axis.kind === "time") return "";
  return ` against ${axis.kind === "signal" ? axis.series.name : `frequency ${axis.window}`}`;
}

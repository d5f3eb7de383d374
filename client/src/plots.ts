/** Plots of signals over time: of what is picked, of the whole, and of expressions. */

import uPlot from "uplot";
import { byId, download, h, setText } from "./dom";
import { ExpressionError, evaluate, type Node, parse, signalsOf, unitOf } from "./expression";
import { show } from "./numbers";
import { csvOf, nearest, spread } from "./series";
import { type Quantity, quantitiesOf, type Signals, wholeQuantities } from "./signals";
import type { Store } from "./store";
import { colour, onTheme } from "./theme";
import { tell } from "./toasts";

const MOST = 20_000; // samples of a series
const COLOURS = 6;
const BEGINNING = 0.2; // [s]: a jump to before it is a new scene, or the old one anew

interface Series {
  label: string;
  name: string; // signal or expression, as a column of the CSV
  node: Node;
  values: (number | null)[]; // null: not in that frame
}

class Pane {
  readonly element: HTMLElement;
  series: Series[] = [];
  times: number[] = [];
  unit = "";
  title = "";
  private plot: uPlot | null = null;
  private box = h("div", { class: "plot" });
  private heading = h("span", { class: "title" });
  private legend = h("span", { class: "legend" });
  private zoomed: { min: number; max: number } | null = null;
  private dirty = true;

  constructor(
    private readonly plots: Plots,
    private readonly signals: Signals,
    tools: (Element | string)[],
    onClose: (() => void) | null,
  ) {
    const header = h("header", {}, ...tools, this.heading, this.legend);
    if (onClose)
      header.append(
        h("button", { type: "button", class: "icon", "aria-label": "Close this plot", onclick: onClose }, "×"),
      );
    this.element = h("article", { class: "pane" }, header, this.box);
    new ResizeObserver(() => this.resize()).observe(this.box);
  }

  show(quantity: Quantity): void {
    this.setSeries(
      quantity.title,
      quantity.unit,
      quantity.signals.map(({ label, name }) => ({ label, name, node: { kind: "signal", name }, values: [] })),
    );
  }

  setSeries(title: string, unit: string, series: Series[]): void {
    this.series = series;
    this.times = [];
    this.zoomed = null;
    this.title = title;
    this.unit = unit;
    this.rebuild();
  }

  names(): string[] {
    return this.series.flatMap((series) => signalsOf(series.node));
  }

  sample(time: number): void {
    const last = this.times.at(-1);
    if (last !== undefined && time <= last) return;
    const values = this.series.map((series) => evaluate(series.node, (name) => this.signals.value(name)));
    if (values.every(Number.isNaN)) return;
    if (this.times.length >= MOST) {
      this.times.splice(0, MOST / 4);
      for (const series of this.series) series.values.splice(0, MOST / 4);
    }
    this.times.push(time);
    this.series.forEach((series, k) => {
      const value = values[k] ?? NaN;
      series.values.push(Number.isFinite(value) ? value : null);
    });
    this.dirty = true;
  }

  /** Forget what came after a time. */
  cut(time: number): void {
    let count = this.times.length;
    while (count > 0 && (this.times[count - 1] ?? time) > time) count -= 1;
    this.times.length = count;
    for (const series of this.series) series.values.length = count;
    this.dirty = true;
  }

  live(): void {
    this.zoomed = null;
    this.dirty = true;
  }

  get isZoomed(): boolean {
    return this.zoomed !== null;
  }

  draw(window: number, hold: boolean): void {
    if (!this.dirty || !this.plot || hold) return;
    this.dirty = false;
    const data = [this.times, ...this.series.map((series) => series.values)] as uPlot.AlignedData;
    this.plot.setData(data, false);
    const end = this.times[this.times.length - 1] ?? 0;
    const range = this.zoomed ?? {
      min: Math.max(this.times[0] ?? 0, end - window),
      max: Math.max(end, (this.times[0] ?? 0) + 1e-3),
    };
    this.plot.setScale("x", range);
    this.readOut();
  }

  rebuild(): void {
    this.plot?.destroy();
    this.box.replaceChildren();
    this.box.setAttribute("role", "img");
    this.box.setAttribute("aria-label", `Plot of ${this.series.map((series) => series.name).join(", ")} over time`);
    setText(this.heading, [this.title, this.unit && `[${this.unit}]`].filter(Boolean).join(" "));
    const axis = (): Partial<uPlot.Axis> => ({
      stroke: () => colour("muted"),
      grid: { stroke: () => colour("line"), width: 1 },
      ticks: { stroke: () => colour("line"), width: 1, size: 4 },
      font: "11px system-ui, sans-serif",
      gap: 3,
    });
    const size = this.size();
    this.plot = new uPlot(
      {
        ...size,
        legend: { show: false },
        padding: [6, 10, 0, 2],
        cursor: { y: false, drag: { x: true, y: false, setScale: false }, points: { size: 5 } },
        scales: { x: { time: false }, y: { range: (_, low, high) => spread(low, high) } },
        axes: [
          { ...axis(), size: 24, values: (_, ticks) => ticks.map((tick) => `${Number(tick.toFixed(6))}`) },
          { ...axis(), size: 62, values: (_, ticks) => ticks.map((tick) => show(tick, 4)) },
        ],
        series: [
          {},
          ...this.series.map((series, k) => ({
            label: series.label,
            stroke: () => colour(`s${(k % COLOURS) + 1}`),
            width: 1.6,
            points: { show: false },
          })),
        ],
        hooks: {
          setCursor: [() => this.readOut()],
          setSelect: [
            (plot) => {
              if (plot.select.width < 4) return;
              this.zoomed = {
                min: plot.posToVal(plot.select.left, "x"),
                max: plot.posToVal(plot.select.left + plot.select.width, "x"),
              };
              plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
              this.dirty = true;
              this.plots.changed();
            },
          ],
        },
      },
      [this.times, ...this.series.map((series) => series.values)] as uPlot.AlignedData,
      this.box,
    );
    this.plot.over.addEventListener("dblclick", () => {
      this.live();
      this.plots.changed();
    });
    this.legend.replaceChildren(
      ...this.series.map((series, k) => {
        const mark = h("i");
        mark.style.background = colour(`s${(k % COLOURS) + 1}`);
        return h("span", { title: series.name }, mark, `${series.label} `, h("output", { "aria-live": "off" }));
      }),
    );
    this.dirty = true;
  }

  /** Values at the cursor, or the newest. */
  private readOut(): void {
    const place = this.plot?.cursor.idx ?? null;
    const k = place ?? this.times.length - 1;
    const outputs = this.legend.querySelectorAll("output");
    this.series.forEach(({ node, values }, s) => {
      const open = place === null && signalsOf(node).some((name) => this.signals.isOpen(name));
      const output = outputs[s];
      if (output) setText(output, `${show(values[k], 4)}${open ? " ≈" : ""}`);
    });
  }

  private size(): { width: number; height: number } {
    return { width: Math.max(120, this.box.clientWidth), height: Math.max(60, this.box.clientHeight) };
  }

  private resize(): void {
    if (!this.plot || this.box.clientWidth === 0) return;
    this.plot.setSize(this.size());
    this.dirty = true;
  }
}

export class Plots {
  window = 10; // [s]
  private panes: Pane[] = [];
  private whole: Pane;
  private picked: Pane;
  private wholeSelect = h("select", { "aria-label": "What to plot of the whole" });
  private pickedSelect = h("select", { "aria-label": "What to plot of the picked part" });
  private chosen = new Map<string, string>(); // quantity by kind of part
  private hold = h("button", { type: "button", "aria-pressed": "false" }, "Hold");
  private error = h("span", { class: "error", role: "alert" });
  private count = 0;

  constructor(
    private readonly store: Store,
    private readonly signals: Signals,
  ) {
    this.whole = new Pane(this, signals, [this.wholeSelect], null);
    this.picked = new Pane(this, signals, [this.pickedSelect], null);
    this.add(this.whole);
    this.add(this.picked);
    this.buildBar();
    this.wholeSelect.addEventListener("change", () => this.showWhole());
    this.pickedSelect.addEventListener("change", () => {
      this.chosen.set(store.pick?.kind ?? "model", this.pickedSelect.value);
      this.showPicked();
    });
    store.on("pick", () => this.showPicked());
    store.on("topology", (scene) => {
      if (this.wholeSelect.options.length === 0) {
        this.wholeSelect.append(...wholeQuantities(scene).map(({ title }) => h("option", { value: title }, title)));
        this.showWhole();
      }
      this.onTopology();
    });
    store.on("jump", (time) => {
      for (const pane of this.panes) pane.cut(time < BEGINNING ? -Infinity : time);
    });
    store.on("frame", (frame) => {
      for (const pane of this.panes) pane.sample(frame.time);
    });
    onTheme(() => {
      for (const pane of this.panes) pane.rebuild();
    });
    const loop = (): void => {
      requestAnimationFrame(loop);
      const hold = this.isHeld;
      if (byId("bottom").offsetParent !== null) for (const pane of this.panes) pane.draw(this.window, hold);
    };
    requestAnimationFrame(loop);
  }

  /** What every pane shows, for tests and for the text alternative. */
  state(): {
    title: string;
    unit: string;
    series: { label: string; name: string; values: (number | null)[] }[];
    times: number[];
    zoomed: boolean;
  }[] {
    return this.panes.map(({ title, unit, series, times, isZoomed }) => ({
      zoomed: isZoomed,
      title,
      unit,
      times: [...times],
      series: series.map(({ label, name, values }) => ({ label, name, values: [...values] })),
    }));
  }

  /** Ask for what the panes show. */
  changed(): void {
    this.signals.want("plots", [...new Set(this.panes.flatMap((pane) => pane.names()))]);
  }

  /** Plot an expression in a pane of its own; false where it cannot be read. */
  addExpression(text: string): boolean {
    setText(this.error, "");
    try {
      const node = parse(text);
      const names = signalsOf(node);
      const unknown = names.find((name) => !this.signals.has(name));
      if (unknown !== undefined)
        throw new ExpressionError(
          `expression: no signal '${unknown}'; did you mean '${nearest(unknown, this.signals.names())}'?`,
        );
      const pane: Pane = new Pane(this, this.signals, [], () => this.close(pane));
      const unit = unitOf(node, (name) => this.signals.unit(name));
      pane.setSeries(text, unit, [{ label: "value", name: text, node, values: [] }]);
      this.add(pane);
      this.changed();
      return true;
    } catch (problem) {
      if (!(problem instanceof ExpressionError)) throw problem;
      setText(this.error, problem.message);
      return false;
    }
  }

  csv(): string {
    const columns = this.panes.flatMap(({ times, series, unit }) =>
      series.map(({ name, values }) => ({ name, times, values, unit: this.signals.unit(name) || unit })),
    );
    return csvOf(columns);
  }

  private get isHeld(): boolean {
    return this.hold.getAttribute("aria-pressed") === "true";
  }

  private add(pane: Pane): void {
    this.panes.push(pane);
    byId("panes").append(pane.element);
    pane.rebuild();
  }

  private close(pane: Pane): void {
    this.panes = this.panes.filter((other) => other !== pane);
    pane.element.remove();
    this.changed();
  }

  private onTopology(): void {
    for (const pane of this.panes.slice(2)) {
      if (pane.names().every((name) => this.signals.has(name))) continue;
      tell(`plot '${pane.title}' is closed: a signal of it is no longer there`);
      this.close(pane);
    }
    this.showPicked();
  }

  private showWhole(): void {
    const { scene } = this.store;
    const quantity = scene && wholeQuantities(scene).find(({ title }) => title === this.wholeSelect.value);
    if (quantity) this.whole.show({ ...quantity, title: "" });
    this.changed();
  }

  private showPicked(): void {
    const { scene, pick } = this.store;
    if (!scene) return;
    const list = pick ? quantitiesOf(scene, pick) : wholeQuantities(scene).slice(2);
    const kind = pick?.kind ?? "model";
    const wanted = this.chosen.get(kind) ?? (kind === "body" ? "velocity" : "");
    const quantity = list.find(({ title }) => title === wanted) ?? list[0];
    if (!quantity) return;
    this.pickedSelect.replaceChildren(
      ...list.map(({ title }) => h("option", { value: title, selected: title === quantity.title }, title)),
    );
    const names = quantity.signals.map(({ name }) => name);
    if (names.join() !== this.picked.names().join())
      this.picked.show({ ...quantity, title: pick ? `of ${pick.name}` : "" });
    this.changed();
  }

  private buildBar(): void {
    this.hold.addEventListener("click", () => this.hold.setAttribute("aria-pressed", String(!this.isHeld)));
    const window = h(
      "select",
      { "aria-label": "Time shown" },
      ...[2, 5, 10, 30, 120].map((seconds) =>
        h("option", { value: seconds, selected: seconds === this.window }, `${seconds} s`),
      ),
    );
    window.addEventListener("change", () => {
      this.window = Number(window.value);
      for (const pane of this.panes) pane.live();
    });
    const input = h("input", {
      list: "signal-names",
      placeholder: "e.g. energy.kinetic + energy.potential",
      "aria-label": "Sum or difference of signals",
      spellcheck: "false",
    });
    const names = h("datalist", { id: "signal-names" });
    input.addEventListener("focus", () =>
      names.replaceChildren(
        ...this.signals
          .names()
          .slice(0, 2000)
          .map((name) => h("option", { value: /^[\w.]+$/.test(name) ? name : `[${name}]` })),
      ),
    );
    const form = h(
      "form",
      {
        class: "actions",
        onsubmit: (event: Event) => {
          event.preventDefault();
          if (input.value.trim() && this.addExpression(input.value.trim())) input.value = "";
        },
      },
      input,
      names,
      h("button", { type: "submit" }, "Plot"),
    );
    const save = h(
      "button",
      {
        type: "button",
        onclick: () => download(`signals-${++this.count}.csv`, new Blob([this.csv()], { type: "text/csv" })),
      },
      "CSV",
    );
    const back = h(
      "button",
      {
        type: "button",
        title: "Back to the newest values (double-click a plot)",
        onclick: () => {
          for (const pane of this.panes) pane.live();
        },
      },
      "Live",
    );
    byId("plot-bar").append(h("h2", {}, "Plots"), window, this.hold, back, form, save, this.error);
  }
}

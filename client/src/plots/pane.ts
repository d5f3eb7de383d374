/** One plot: its heading and legend, its curves over time, frequency or another signal, zoom, cursor and pictures. */

import { menuButton } from "../dialogs";
import { download, h, setText } from "../dom";
import { signalsOf } from "../expression";
import { quiet, show } from "../numbers";
import type { Batch, Signals } from "../signals";
import type { Mark } from "../store";
import { colour } from "../theme";
import { shownIn } from "../units";
import { alike, draw, extent, type Frame, lowerBound, type Picture, type Range } from "./chart";
import { colours, hue } from "./colours";
import { type Axis, Data, type Drawn, drawn, type Series, TIME } from "./data";
import { gestures, type Pixel, type Target } from "./gestures";
import { CanvasPen, type Pen, SvgPen } from "./pen";
import { WINDOWS, type WindowName } from "./processing";
import { spread } from "./ticks";

const NARROW = 12; // [px]: a box lower than it is one of times
const HEAD = 22; // [px] of a picture's heading

/** What all panes share. */
export interface Surroundings {
  window: number; // [s]
  isHeld: boolean;
  present: number; // [s]
  marks: Mark[];
}

export interface Host {
  signals: Signals;
  /** What a plot may be drawn against, besides its own series. */
  choices(): Series[];
  seek(time: number): void;
  /** A pane wants other signals, or is to be remembered otherwise. */
  changed(pane: Pane): void;
  /** Somebody has folded a pane, or unfolded it. */
  folded(): void;
}

export class Pane {
  readonly element: HTMLElement;
  data = new Data([], TIME);
  unit = "";
  title = "";
  private canvas = h("canvas", { tabindex: "0", role: "img" });
  private heading = h("span", { class: "title" });
  private about = h("span", { class: "about" }); // unit, and what a reader ought to know
  private legend = h("span", { class: "legend" });
  private shut = h("button", { type: "button", class: "icon shut" });
  private more = h("button", { type: "button", class: "icon", "aria-haspopup": "true", "aria-expanded": "false" });
  private zoomed: { x: Range | null; y: Range | null } = { x: null, y: null };
  private box: Picture["box"] = null;
  private hover: Pixel | null = null;
  private dirty = true; // there are other samples
  private stale = true; // the picture is not what it should be
  private drawn: Drawn | null = null;
  private filmed: { data: Data; span: Range; drawn: Drawn } | null = null; // of the video that is being made
  private frame: Frame | null = null;
  private around: Surroundings = { window: 10, isHeld: false, present: 0, marks: [] };
  private stride = 1; // steps between what is shown

  constructor(
    private readonly host: Host,
    tools: (Element | string)[],
    onClose: (() => void) | null,
  ) {
    const header = h("header", {}, this.shut, ...tools, this.heading, this.about, this.legend, this.more);
    if (onClose)
      header.append(
        h("button", { type: "button", class: "icon", "aria-label": "Close this plot", onclick: onClose }, "×"),
      );
    this.element = h("article", { class: "pane" }, header, h("div", { class: "plot" }, this.canvas));
    this.shut.addEventListener("click", () => {
      this.fold(!this.isFolded);
      host.folded();
    });
    this.fold(false);
    menuButton(this.more, () => this.menu());
    gestures(this.canvas, this.target());
    new ResizeObserver(() => this.touch()).observe(this.canvas);
  }

  get isFolded(): boolean {
    return this.element.classList.contains("folded");
  }

  /** Make it a strip with its name, or a plot again. */
  fold(on: boolean): void {
    this.element.classList.toggle("folded", on);
    this.shut.setAttribute("aria-expanded", String(!on));
    this.name();
    this.touch();
  }

  private name(): void {
    const chosen = [...this.element.querySelectorAll<HTMLSelectElement>("header select")].map(({ value }) => value);
    const name = [...chosen, this.title].filter(Boolean).join(" ");
    setText(this.shut, this.isFolded ? `▸ ${name}` : "▾");
    this.shut.title = this.isFolded ? `Unfold the plot of ${name}` : "Fold this plot";
    this.shut.setAttribute("aria-label", this.shut.title);
  }

  get series(): Series[] {
    return this.data.series;
  }

  get axis(): Axis {
    return this.data.axis;
  }

  setSeries(title: string, unit: string, series: Series[], axis: Axis = this.axis): void {
    this.data = new Data(series, axis);
    this.drawn = null;
    this.title = title;
    this.unit = unit;
    this.showAll();
    this.rebuild();
  }

  setAxis(axis: Axis): void {
    this.setSeries(this.title, this.unit, this.series, axis);
    this.host.changed(this);
  }

  names(): string[] {
    return this.data.names;
  }

  take(batch: Batch): void {
    this.data.take(batch);
    if (this.stride !== batch.stride) {
      this.stride = batch.stride;
      this.head();
    }
    this.dirty = true;
  }

  fill(times: number[], read: (row: number, name: string) => number): void {
    this.data.fill(times, read);
    this.dirty = true;
  }

  /** Forget what came after a time. */
  cut(time: number): void {
    this.data.curves.cut(time);
    this.dirty = true;
  }

  showAll(): void {
    this.zoomed = { x: null, y: null };
    this.touch();
  }

  get isZoomed(): boolean {
    return this.zoomed.x !== null || this.zoomed.y !== null;
  }

  /** Draw anew with what may have changed besides samples: theme, units, size. */
  touch(): void {
    this.stale = this.dirty = true;
  }

  /** What is shown, for tests and for the text alternative. */
  state(): object {
    const { curves, xUnit = "", xLabel = "" } = this.drawn ?? {};
    const all = this.axis.kind === "time" ? null : this.drawn;
    const columns = this.data.columns();
    const box = this.canvas.getBoundingClientRect();
    return {
      title: this.title,
      unit: this.drawn?.unit ?? shownIn(this.unit).unit,
      folded: this.isFolded,
      zoomed: this.isZoomed,
      times: [...this.data.curves.times],
      series: this.series.map(({ label, name }, k) => ({ label, name, values: [...(columns[k] ?? [])] })),
      axis: { kind: this.axis.kind, unit: xUnit, label: xLabel },
      shown: curves?.map(({ xs, ys }) => ({ xs: Array.from(xs), ys: Array.from(ys) })) ?? [],
      note: all?.note ?? "",
      range: this.frame && { x: this.frame.x, y: this.frame.y },
      present: this.around.present,
      cursor: this.frame && box.left + this.frame.px(this.around.present),
      field: this.frame && {
        left: box.left + this.frame.left,
        right: box.left + this.frame.right,
        top: box.top + this.frame.top,
        bottom: box.top + this.frame.bottom,
      },
    };
  }

  draw(around: Surroundings): void {
    const moved = around.present !== this.around.present || around.marks !== this.around.marks;
    this.around = around;
    const isNew = this.dirty && (!around.isHeld || this.stale);
    if (!(isNew || this.stale || moved) || this.canvas.clientWidth === 0) return;
    if (isNew || !this.drawn) this.refresh();
    this.stale = false;
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const ratio = devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    const context = this.canvas.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const pen = new CanvasPen(context);
    this.frame = draw(pen, width, height, this.picture(width, height), colours());
    this.readOut();
  }

  private refresh(): void {
    this.dirty = false;
    this.drawn = drawn(this.data, this.span(), (name) => this.host.signals.unit(name));
    this.head();
  }

  /** The times that are looked at. */
  private span(): Range {
    const { times } = this.data.curves;
    const { window, present } = this.around;
    if (this.axis.kind === "time" && this.zoomed.x) return this.zoomed.x;
    const end = times.at(-1) ?? 0;
    const first = times[0] ?? 0;
    const isPast = present < end - window;
    const last = Math.max(isPast ? present + window / 2 : end, first + 1e-3 * window);
    return [Math.min(Math.max(first, last - window), last - 1e-3 * window), last];
  }

  private picture(width: number, height: number): Picture {
    const shown = this.drawn as Drawn;
    const curves = shown.curves.map((curve, k) => ({ ...curve, colour: hue(k) }));
    const isTime = this.axis.kind === "time";
    const ordered = this.axis.kind !== "signal";
    let x = this.zoomed.x ?? (isTime ? this.span() : this.xRange(shown));
    let y = this.zoomed.y ?? spread(...extent(curves, ordered ? x : null));
    if (!ordered && shown.unit === shown.xUnit && shown.unit !== "" && !this.isZoomed)
      [x, y] = alike(x, y, width - 60, height - 28);
    const { present, marks } = this.around;
    const end = this.data.curves.times.at(-1) ?? 0;
    const isPast = present < end - 1e-9;
    const k = this.nearest(present);
    return {
      curves,
      x,
      y,
      xTitle: `${shown.xLabel} [${shown.xUnit}]`.replace(" []", ""),
      ordered,
      marks: isTime ? marks.map(({ time, label }) => ({ x: time, label })) : [],
      cursor: isTime && isPast ? present : null,
      dots:
        this.axis.kind === "signal" || (isTime && isPast)
          ? curves.map(({ xs, ys, colour }) => ({ x: xs[k] ?? NaN, y: ys[k] ?? NaN, colour }))
          : [],
      hover: ordered && this.hover && this.frame ? this.frame.xAt(this.hover.x) : null,
      box: this.box,
    };
  }

  private xRange({ curves }: Drawn): Range {
    if (this.axis.kind === "frequency") return [0, Math.max(...curves.map(highest), 1e-9)];
    const [low, high] = extent(
      curves.map(({ label, xs }) => ({ label, xs, ys: xs, colour: "" })),
      null,
    );
    return spread(low, high);
  }

  /** Index of the point that was drawn last at a time. */
  private nearest(time: number): number {
    const times = this.drawn?.times ?? new Float64Array();
    return Math.min(lowerBound(times, time - 1e-9), times.length - 1);
  }

  private target(): Target {
    return {
      seek: (x, y) => {
        const time = this.timeAt({ x, y });
        if (time !== null) this.host.seek(time);
        return time !== null;
      },
      choose: (from, to, isDone) => this.choose(from, to, isDone),
      zoom: (about, fx, fy) => this.zoomBy(about, fx, fy),
      shift: (dx, dy) => this.shift(dx, dy),
      showAll: () => this.showAll(),
      point: (at) => {
        this.hover = at;
        this.stale = true;
      },
      isOnAxis: ({ y }) => this.axis.kind === "time" && this.frame !== null && y > this.frame.bottom,
    };
  }

  /** The time that a pixel stands for; null where it does for none. */
  private timeAt({ x, y }: Pixel): number | null {
    const { frame, drawn: shown } = this;
    if (!frame || !shown || this.axis.kind === "frequency") return null;
    if (this.axis.kind === "time") return frame.xAt(Math.min(Math.max(x, frame.left), frame.right));
    let best: { time: number; far: number } | null = null;
    for (const { xs, ys } of shown.curves)
      for (let k = 0; k < xs.length; k++) {
        const far = Math.hypot(frame.px(xs[k] ?? NaN) - x, frame.py(ys[k] ?? NaN) - y);
        if (!best || far < best.far) best = { time: shown.times[k] ?? NaN, far };
      }
    return best && Number.isFinite(best.time) ? best.time : null;
  }

  private choose(from: Pixel, to: Pixel | null, isDone: boolean): void {
    const { frame } = this;
    this.stale = true;
    this.box = null;
    if (!frame || !to) return;
    const isWide = Math.abs(to.y - from.y) < NARROW;
    const ends = (a: number, b: number): Range => [Math.min(a, b), Math.max(a, b)];
    const clamp = (p: number, low: number, high: number): number => Math.min(Math.max(p, low), high);
    const x = ends(...([from.x, to.x].map((p) => frame.xAt(clamp(p, frame.left, frame.right))) as Range));
    const y = isWide
      ? frame.y
      : ends(...([from.y, to.y].map((p) => frame.yAt(clamp(p, frame.top, frame.bottom))) as Range));
    if (!isDone) this.box = { x, y };
    else if (x[1] > x[0] && y[1] > y[0]) this.look(x, isWide ? this.zoomed.y : y);
  }

  private look(x: Range | null, y: Range | null): void {
    this.zoomed = { x, y };
    this.frame = this.frame?.looking(x ?? this.frame.x, y ?? this.frame.y) ?? null;
    this.touch();
  }

  private zoomBy(about: Pixel, fx: number, fy: number): void {
    const { frame } = this;
    if (!frame) return;
    const scaled = ([low, high]: Range, centre: number, factor: number): Range => [
      centre - (centre - low) / factor,
      centre + (high - centre) / factor,
    ];
    const x = scaled(frame.x, frame.xAt(about.x), fx);
    const y = scaled(frame.y, frame.yAt(about.y), this.axis.kind === "signal" ? fx * fy : fy);
    if (x[1] - x[0] < 1e-12 * Math.max(Math.abs(x[0]), Math.abs(x[1]))) return; // no more digits to see
    this.look(x, fy === 1 && this.axis.kind !== "signal" ? this.zoomed.y : y);
  }

  private shift(dx: number, dy: number): void {
    const { frame } = this;
    if (!frame) return;
    const by = ([low, high]: Range, far: number): Range => [low + far, high + far];
    const x = by(frame.x, frame.xAt(0) - frame.xAt(dx));
    this.look(x, this.zoomed.y || dy !== 0 ? by(frame.y, frame.yAt(0) - frame.yAt(dy)) : null);
  }

  /** Heading and legend of what is shown. */
  rebuild(): void {
    const names = this.series.map(({ name }) => name).join(", ");
    const over = this.axis.kind === "signal" ? `against ${this.axis.series.name}` : `over ${this.axis.kind}`;
    this.canvas.setAttribute("aria-label", `Plot of ${names} ${over}`);
    const short = { time: "t", frequency: "f", signal: "x-y" }[this.axis.kind];
    setText(this.more, `${short} ▾`);
    this.more.title = "What is to the right, and pictures of this plot";
    this.more.setAttribute("aria-label", "Options of this plot");
    this.legend.replaceChildren(
      ...this.series.map(({ label, name }, k) => {
        const mark = h("i");
        mark.style.background = hue(k);
        return h("span", { title: name }, mark, `${label} `, h("output", { "aria-live": "off" }));
      }),
    );
    this.head();
    this.touch();
  }

  private head(): void {
    const unit = this.drawn?.unit ?? shownIn(this.unit).unit;
    const rare = this.stride > 1 ? `every ${this.stride} steps` : "";
    const note = this.axis.kind === "time" ? "" : (this.drawn?.note ?? "");
    this.name();
    setText(this.heading, this.title);
    this.heading.title = this.title;
    setText(this.about, [unit && `[${unit}]`, note, rare].filter(Boolean).join(" "));
    this.about.title = rare ? "Reading every step would slow time down; CSV and NetCDF have all of them" : "";
  }

  /** Values at the pointer, or now. */
  private readOut(): void {
    const shown = this.drawn;
    if (!shown) return;
    const isPointed = this.hover !== null && this.frame !== null && this.axis.kind !== "signal";
    const x = isPointed && this.hover && this.frame ? this.frame.xAt(this.hover.x) : NaN;
    const outputs = this.legend.querySelectorAll("output");
    const now = shown.curves.map(({ xs, ys }) => {
      if (isPointed) return ys[Math.min(lowerBound(xs, x), xs.length - 1)] ?? NaN;
      return this.axis.kind === "frequency" ? NaN : (ys[this.nearest(this.around.present)] ?? NaN);
    });
    const texts = this.series.length > 1 ? quiet(now) : now;
    this.series.forEach(({ node }, s) => {
      const open = !isPointed && signalsOf(node).some((name) => this.host.signals.isOpen(name));
      const output = outputs[s];
      if (output) setText(output, `${show(texts[s], 4)}${open ? " ≈" : ""}`);
    });
  }

  private menu(): HTMLElement[] {
    const choices = this.host.choices().filter(({ name }) => this.series.length !== 1 || name !== this.series[0]?.name);
    const now = this.axis.kind === "signal" ? this.axis.series.name : this.axis.kind;
    const option = (value: string, text: string): HTMLElement => h("option", { value, selected: value === now }, text);
    const others = this.axis.kind === "signal" && !choices.some(({ name }) => name === now) ? [option(now, now)] : [];
    const axis = h(
      "select",
      {
        "aria-label": "Plot against",
        onchange: () => {
          const chosen = choices.find(({ name }) => name === axis.value);
          if (chosen) this.setAxis({ kind: "signal", series: chosen });
          else this.setAxis(axis.value === "frequency" ? { kind: "frequency", window: "Hann" } : TIME);
        },
      },
      option("time", "time"),
      option("frequency", "frequency (spectrum)"),
      ...others,
      ...choices.map(({ name }) => option(name, name)),
    );
    const windows = h(
      "select",
      {
        "aria-label": "Window of the spectrum",
        onchange: () => this.setAxis({ kind: "frequency", window: windows.value as WindowName }),
      },
      ...Object.keys(WINDOWS).map((name) =>
        h(
          "option",
          { value: name, selected: this.axis.kind === "frequency" && this.axis.window === name },
          `window: ${name}`,
        ),
      ),
    );
    return [
      h("label", {}, "against", axis),
      ...(this.axis.kind === "frequency" ? [windows] : []),
      h("button", { type: "button", onclick: () => this.showAll() }, "Show all"),
      h("button", { type: "button", onclick: () => void this.savePng() }, "Save picture (PNG)"),
      h("button", { type: "button", onclick: () => this.saveSvg() }, "Save drawing (SVG)"),
    ];
  }

  private async savePng(): Promise<void> {
    const [width, height, scale] = [this.canvas.clientWidth, this.canvas.clientHeight + HEAD, 2];
    const canvas = h("canvas", { width: width * scale, height: height * scale });
    const context = canvas.getContext("2d");
    if (!context) return;
    context.scale(scale, scale);
    this.paint(new CanvasPen(context), width, height);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
    if (blob) download("plot.png", blob);
  }

  private saveSvg(): void {
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight + HEAD];
    const pen = new SvgPen(new CanvasPen(context));
    this.paint(pen, width, height);
    download("plot.svg", new Blob([pen.file(width, height)], { type: "image/svg+xml" }));
  }

  /** The plot of a span of time with its cursor at a time of it, as a picture by itself. */
  film(pen: Pen, width: number, height: number, span: Range, time: number): void {
    const { zoomed, around, drawn: before } = this;
    if (this.filmed?.data !== this.data || this.filmed.span !== span)
      this.filmed = { data: this.data, span, drawn: drawn(this.data, span, (name) => this.host.signals.unit(name)) };
    this.zoomed = { x: this.axis.kind === "time" ? span : null, y: null };
    this.around = { ...around, present: time };
    this.drawn = this.filmed.drawn;
    this.paint(pen, width, height);
    Object.assign(this, { zoomed, around, drawn: before });
  }

  /** The plot with its heading and legend, as a picture by itself. */
  private paint(pen: Pen, width: number, height: number): void {
    pen.box(0, 0, width, height, colour("panel"));
    const heading = [...this.element.querySelectorAll<HTMLSelectElement>("header select")].map(({ value }) => value);
    const title = [...heading, this.title, this.about.textContent ?? ""].filter(Boolean).join(" ");
    pen.text(title, 10, 12, colour("text"), "start", true);
    let right = width - 10;
    for (const [k, { label }] of [...this.series.entries()].reverse()) {
      pen.text(label, right, 12, colour("text"), "end");
      right -= pen.measure(label) + 6;
      pen.box(right - 12, 10.5, 12, 3, hue(k));
      right -= 24;
    }
    draw(pen, width, height, { ...this.picture(width, height), hover: null, box: null }, colours(), HEAD);
  }
}

/** The frequency above which a spectrum is below a two-hundredth of its greatest amplitude, and a little more. */
function highest({ xs, ys }: Drawn["curves"][number]): number {
  let [top, last] = [0, ys.length - 1];
  for (let k = 0; k < ys.length; k++) top = Math.max(top, ys[k] ?? 0);
  while (last > 20 && (ys[last] ?? 0) < 0.005 * top) last -= 1;
  return xs[Math.min(Math.ceil(1.2 * last), xs.length - 1)] ?? 1;
}

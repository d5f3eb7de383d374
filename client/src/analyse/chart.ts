/** A plot of some curves over something that is not time as it runs. */

import { h } from "../dom";
import { extent, draw as paint } from "../plots/chart";
import { colours, hue } from "../plots/colours";
import { CanvasPen } from "../plots/pen";
import { spread } from "../plots/ticks";
import { quoted } from "../series";
import { onTheme } from "../theme";

export interface Drawn {
  label: string;
  unit: string;
  values: (number | null)[];
}

export class Chart {
  readonly element = h("div", { class: "chart", role: "img" });
  private canvas = h("canvas");
  private over: number[] = [];
  private curves: Drawn[] = [];

  constructor(
    private readonly title: string, // of what the curves are over, with its unit
    private readonly dots = false,
  ) {
    this.element.append(this.canvas);
    new ResizeObserver(() => this.show()).observe(this.element);
    onTheme(() => this.show());
  }

  draw(over: number[], curves: Drawn[]): void {
    this.element.setAttribute(
      "aria-label",
      `Plot of ${curves.map(({ label }) => label).join(", ")} over ${this.title}`,
    );
    this.over = over;
    this.curves = curves;
    this.show();
  }

  private show(): void {
    const [width, height] = [this.element.clientWidth, this.element.clientHeight];
    const context = this.canvas.getContext("2d");
    if (!context || width === 0 || this.curves.length === 0) return;
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    context.scale(ratio, ratio);
    const curves = this.curves.map(({ label, values }, k) => ({
      label,
      xs: this.over,
      ys: Float64Array.from(values, (value) => value ?? NaN),
      colour: hue(k),
    }));
    const [low = 0, high = 1] = [Math.min(...this.over), Math.max(...this.over)];
    const dots = curves.flatMap(({ xs, ys, colour }) => xs.map((x, k) => ({ x, y: ys[k] ?? NaN, colour })));
    const units = [...new Set(this.curves.map(({ unit }) => unit))].filter(Boolean).join(", ");
    paint(
      new CanvasPen(context),
      width,
      height,
      {
        curves,
        x: high > low ? [low, high] : spread(low, high),
        y: spread(...extent(curves, null)),
        xTitle: this.title,
        yTitle: units,
        ordered: false,
        marks: [],
        cursor: null,
        dots: this.dots ? dots.filter(({ y }) => Number.isFinite(y)) : [],
        hover: null,
        box: null,
      },
      colours(),
    );
  }
}

/** Curves as a table for a spreadsheet. */
export function tableOf(title: string, over: number[], curves: Drawn[]): string {
  const head = [title, ...curves.map(({ label, unit }) => (unit ? `${label} [${unit}]` : label))].map(quoted);
  const rows = over.map((x, row) => [x, ...curves.map(({ values }) => values[row] ?? "")].join(","));
  return `${[head.join(","), ...rows].join("\n")}\n`;
}

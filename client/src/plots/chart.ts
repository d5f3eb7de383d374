/** Axes, curves, marks and the cursor of one plot, drawn by a pen; and which value is at which pixel. */

import { type Pen, TEXT } from "./pen";
import { type Ticks, ticks } from "./ticks";

export type Range = [number, number];

export interface Curve {
  label: string;
  xs: ArrayLike<number>;
  ys: ArrayLike<number>;
  colour: string;
}

export interface Picture {
  curves: Curve[];
  x: Range;
  y: Range;
  xTitle: string;
  yTitle?: string;
  ordered: boolean; // xs ascend: few points of each column of pixels are enough
  marks: { x: number; label: string }[]; // vertical lines with a name
  cursor: number | null; // x of the present time
  dots: { x: number; y: number; colour: string }[]; // where the present, or what is pointed at, is on the curves
  hover: number | null; // x that is pointed at
  box: { x: Range; y: Range } | null; // what is being chosen
}

export interface Colours {
  text: string;
  muted: string;
  line: string;
  accent: string;
  mark: string;
}

const LETTER = 6; // width of a label's letter, about [px]
const RIGHT = 12; // [px]
const TOP = 8;
const BOTTOM = 20;
const ROW = 26; // between ticks of y

/** Where the field of a plot is, and its scales. */
export class Frame {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly xTicks: Ticks;
  readonly yTicks: Ticks;

  constructor(
    pen: Pen,
    width: number,
    height: number,
    readonly x: Range,
    readonly y: Range,
    head: number,
  ) {
    this.top = TOP + head;
    this.bottom = Math.max(this.top + 10, height - BOTTOM);
    this.right = width - RIGHT;
    this.yTicks = ticks(...y, Math.max(2, (this.bottom - this.top) / ROW));
    const widest = Math.max(0, ...this.yTicks.labels.map((label) => pen.measure(label)));
    this.left = Math.min(Math.ceil(widest) + 12, width / 2);
    let most = Math.max(2, (this.right - this.left) / 46);
    let found = ticks(...x, most);
    while (most > 2 && this.isCrowded(pen, found)) {
      most *= 0.7;
      found = ticks(...x, most);
    }
    this.xTicks = found;
  }

  /** The same field with other ranges, before it is drawn: several wheel events may come in one picture. */
  looking(x: Range, y: Range): Frame {
    return Object.assign(Object.create(Frame.prototype) as Frame, this, { x, y });
  }

  private isCrowded(pen: Pen, { at, labels }: Ticks): boolean {
    const widest = Math.max(0, ...labels.map((label) => pen.measure(label)));
    return at.length > 1 && widest + 10 > this.px(at[1] ?? 0) - this.px(at[0] ?? 0);
  }

  px(x: number): number {
    return this.left + ((x - this.x[0]) / (this.x[1] - this.x[0])) * (this.right - this.left);
  }

  py(y: number): number {
    return this.bottom - ((y - this.y[0]) / (this.y[1] - this.y[0])) * (this.bottom - this.top);
  }

  xAt(px: number): number {
    return this.x[0] + ((px - this.left) / (this.right - this.left)) * (this.x[1] - this.x[0]);
  }

  yAt(py: number): number {
    return this.y[0] + ((this.bottom - py) / (this.bottom - this.top)) * (this.y[1] - this.y[0]);
  }
}

/** A range as large that one of y has as many pixels as one of x. */
export function alike(x: Range, y: Range, width: number, height: number): [Range, Range] {
  const scale = Math.max((x[1] - x[0]) / width, (y[1] - y[0]) / height);
  const about = ([low, high]: Range, pixels: number): Range => {
    const middle = 0.5 * (low + high);
    return [middle - 0.5 * pixels * scale, middle + 0.5 * pixels * scale];
  };
  return [about(x, width), about(y, height)];
}

/** First index at which ascending values are not below one. */
export function lowerBound(values: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? NaN) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Least and greatest of curves between two ascending xs; null where nothing is there. */
export function extent(curves: Curve[], x: Range | null): [number | null, number | null] {
  let [low, high] = [Infinity, -Infinity];
  for (const { xs, ys } of curves) {
    const first = x ? lowerBound(xs, x[0]) : 0;
    const end = x ? lowerBound(xs, x[1] + 1e-12 * Math.abs(x[1])) : ys.length;
    for (let k = first; k < Math.min(end + 1, ys.length); k++) {
      const y = ys[k] ?? NaN;
      if (y < low) low = y;
      if (y > high) high = y;
    }
  }
  return low <= high ? [low, high] : [null, null];
}

/** Pixels of a curve, of ascending xs at most four in a column: the first, the least, the greatest and the last. */
export function pixels({ xs, ys }: Curve, frame: Frame, ordered: boolean): [number[], number[]] {
  const [px, py]: [number[], number[]] = [[], []];
  const put = (x: number, y: number): void => {
    px.push(x);
    py.push(y);
  };
  const first = ordered ? Math.max(0, lowerBound(xs, frame.x[0]) - 1) : 0;
  const end = ordered ? Math.min(xs.length, lowerBound(xs, frame.x[1]) + 1) : xs.length;
  if (!ordered || end - first < 4 * (frame.right - frame.left)) {
    for (let k = first; k < end; k++) put(frame.px(xs[k] ?? NaN), frame.py(ys[k] ?? NaN));
    return [px, py];
  }
  for (let k = first; k < end; ) {
    const column = Math.floor(frame.px(xs[k] ?? NaN));
    const open = frame.py(ys[k] ?? NaN);
    let [low, high, last] = [open, open, open];
    let isRising = false; // the least came before the greatest
    put(column, open);
    for (k += 1; k < end && Math.floor(frame.px(xs[k] ?? NaN)) <= column; k++) {
      last = frame.py(ys[k] ?? NaN);
      if (Number.isNaN(last)) break;
      if (last < low) [low, isRising] = [last, false];
      if (last > high) [high, isRising] = [last, true];
    }
    if (low !== high) for (const y of isRising ? [low, high, last] : [high, low, last]) put(column, y);
  }
  return [px, py];
}

/** Draw a plot into a rectangle from the origin, below a heading; the frame says what is where. */
export function draw(pen: Pen, width: number, height: number, picture: Picture, colours: Colours, head = 0): Frame {
  const frame = new Frame(pen, width, height, picture.x, picture.y, head);
  const { left, right, top, bottom } = frame;
  const title = [picture.xTitle, frame.xTicks.power].filter(Boolean).join(" ");
  const room = right - (title ? pen.measure(title) + 8 : 0); // for labels beside the title
  for (const [k, x] of frame.xTicks.at.entries()) {
    const p = frame.px(x);
    pen.line([p, p], [top, bottom], colours.line, 1);
    const label = frame.xTicks.labels[k] ?? "";
    if (p + pen.measure(label) / 2 < room) pen.text(label, p, bottom + 10, colours.muted, "middle");
  }
  for (const [k, y] of frame.yTicks.at.entries()) {
    const p = frame.py(y);
    pen.line([left, right], [p, p], colours.line, 1);
    pen.text(frame.yTicks.labels[k] ?? "", left - 5, Math.max(p, top - 2 + TEXT / 2), colours.muted, "end");
  }
  const above = [picture.yTitle, frame.yTicks.power].filter(Boolean).join(" ");
  if (above) pen.text(above, left + 4, top + 5, colours.muted);
  pen.within(left, top, right - left, bottom - top, () => {
    let free = left; // right end of the last label: one that would lie over it is left out
    for (const { x, label } of [...picture.marks].sort((a, b) => a.x - b.x)) {
      const p = frame.px(x);
      pen.line([p, p], [top, bottom], colours.mark, 1, [4, 3]);
      if (p < free) continue;
      pen.text(label, p + 3, top + 6, colours.mark);
      free = p + 6 + LETTER * label.length;
    }
    for (const curve of picture.curves) {
      const [px, py] = pixels(curve, frame, picture.ordered);
      pen.line(px, py, curve.colour, 1.6);
    }
    if (picture.hover !== null)
      pen.line([frame.px(picture.hover), frame.px(picture.hover)], [top, bottom], colours.muted, 1, [2, 2]);
    if (picture.cursor !== null)
      pen.line([frame.px(picture.cursor), frame.px(picture.cursor)], [top, bottom], colours.accent, 1.5);
    for (const dot of picture.dots) pen.dot(frame.px(dot.x), frame.py(dot.y), 3.5, dot.colour);
    if (picture.box) {
      const [x0, x1] = picture.box.x.map((x) => frame.px(x)) as Range;
      const [y0, y1] = picture.box.y.map((y) => frame.py(y)) as Range;
      pen.box(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0), colours.accent, 0.18);
    }
  });
  if (title) pen.text(title, right + RIGHT - 3, bottom + 10, colours.muted, "end");
  return frame;
}

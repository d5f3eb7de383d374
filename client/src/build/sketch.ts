/** A chain of links as far as it is drawn: what was meant by every end, and where that is for now. */

import type { Draw, End, Plate } from "../edits";
import type { Flat, WorkPlane } from "./plane";
import type { Snapped } from "./snap";
import type { Typed } from "./typed";

export class Sketch {
  readonly ends: End[] = [];
  readonly points: Flat[] = []; // where the ends are in the plane; the session has them to the last bit

  get last(): Flat | null {
    return this.points[this.points.length - 1] ?? null;
  }

  /** The end that something typed and something pointed at come to; throws where that is not enough. */
  meant(typed: Typed, aim: Snapped | null): { end: End; point: Flat } {
    const { last } = this;
    const fixed = typed.at ? { at: typed.at } : aim?.mark ? { body: aim.mark.body, point: aim.mark.point } : null;
    const isTyped = typed.length !== undefined || typed.angle !== undefined;
    if (!last || (fixed && !(isTyped && typed.at === undefined)) || !isTyped) {
      const point = typed.at ?? aim?.flat;
      if (!point) throw new Error("point at a place, or type one, such as 0.25, 0");
      return { end: { ...(fixed ?? { at: point }), ...length(typed) }, point };
    }
    const toward = aim?.flat ?? this.ahead(last);
    const way: Flat =
      typed.angle !== undefined
        ? [Math.cos(typed.angle), Math.sin(typed.angle)]
        : unit([toward[0] - last[0], toward[1] - last[1]]);
    const far = typed.length ?? (toward[0] - last[0]) * way[0] + (toward[1] - last[1]) * way[1];
    const end: End = { ...length(typed), ...(typed.angle !== undefined ? { angle: typed.angle } : { toward }) };
    if (typed.length === undefined) end.toward = toward;
    return { end, point: [last[0] + far * way[0], last[1] + far * way[1]] };
  }

  add({ end, point }: { end: End; point: Flat }): void {
    this.ends.push(end);
    this.points.push(point);
    if (end.length !== undefined && (end.at || end.body)) this.close();
  }

  /** Put another end in the place of the last one. */
  replaceLast(next: { end: End; point: Flat }): void {
    this.ends.pop();
    this.points.pop();
    this.add(next);
  }

  edit(links: string[], plane: WorkPlane, radius: number, density: number): Draw {
    const { origin, u, v } = plane;
    const [o, a, b] = [origin, u, v].map((w) => w.toArray()) as [Vec, Vec, Vec];
    return { edit: "Draw", links, ends: this.ends, origin: o, u: a, v: b, radius, density };
  }

  /** The plate whose corners the ends are; it is pinned only to what they are on. */
  plate(name: string, plane: WorkPlane, thickness: number, density: number): Plate {
    const { origin, u, v } = plane;
    const [o, a, b] = [origin, u, v].map((w) => w.toArray()) as [Vec, Vec, Vec];
    const ends = this.ends.map((end) => ({ ...end, ground: false }));
    return { edit: "Plate", name, ends, origin: o, u: a, v: b, thickness, density };
  }

  /** The direction of the link before, or along u. */
  private ahead(last: Flat): Flat {
    const before = this.points[this.points.length - 2];
    const way: Flat = before ? unit([last[0] - before[0], last[1] - before[1]]) : [1, 0];
    return [last[0] + way[0], last[1] + way[1]];
  }

  /** Show the link before where the session will turn it to (edits/drawing.py). */
  private close(): void {
    const k = this.points.length - 1;
    const [a, b, d] = [this.points[k - 2], this.points[k - 1], this.points[k]];
    const r = this.ends[k - 1]?.length;
    const l = this.ends[k]?.length;
    if (!a || !b || !d || typeof r !== "number" || typeof l !== "number" || this.ends[k - 1]?.angle !== undefined)
      return;
    const span = Math.hypot(d[0] - a[0], d[1] - a[1]);
    const along = (r * r - l * l + span * span) / (2 * span);
    if (!(Math.abs(along) <= r)) return;
    const across = Math.sqrt(r * r - along * along);
    const e = unit([d[0] - a[0], d[1] - a[1]]);
    const sides = [1, -1].map((side): Flat => {
      const w = side * across;
      return [a[0] + along * e[0] - w * e[1], a[1] + along * e[1] + w * e[0]];
    });
    const away = (p: Flat): number => Math.hypot(p[0] - b[0], p[1] - b[1]);
    this.points[k - 1] = sides.sort((p, q) => away(p) - away(q))[0] ?? b;
  }
}

type Vec = [number, number, number];

function length(typed: Typed): Pick<End, "length"> {
  return typed.length === undefined ? {} : { length: typed.length };
}

function unit(way: Flat): Flat {
  const size = Math.hypot(...way);
  return size > 0 ? [way[0] / size, way[1] / size] : [1, 0];
}

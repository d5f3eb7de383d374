/**
 * What a pointer means: the pin, end, corner, midpoint or centre near it, the grid, lines along the grid through such
 * points, or a direction along a round angle.
 */

import * as THREE from "three";
import type { Mechanism } from "../mechanism";
import type { Shape } from "../messages";
import type { Vec3 } from "../numbers";
import type { Store } from "../store";
import type { View } from "../view";
import { type Flat, gridStep, toGrid, type WorkPlane } from "./plane";

const REACH = 10; // pixels
const FINGER = 22;
const ANGLE = Math.PI / 12; // directions that a link takes by itself
const NEAR_ANGLE = Math.PI / 90;
const ALIGNED = 5; // pixels from a line through a mark
const RANK = { pin: 0, end: 1, corner: 1, midpoint: 2, centre: 2, origin: 3 } as const;

export type MarkKind = keyof typeof RANK;

/** A point that something can be joined at. */
export interface Mark {
  kind: MarkKind;
  body: string;
  point: Vec3; // in the body's frame
  flat: Flat; // in the plane
}

export interface Snapped {
  flat: Flat;
  mark: Mark | null;
  by: MarkKind | "grid" | "aligned" | "angle" | "free";
}

/** Pins, ends and centres of all bodies, and the origin, in the plane. */
export function marks(store: Store, mechanism: Mechanism, plane: WorkPlane): Mark[] {
  const found: Mark[] = [{ kind: "origin", body: "ground", point: [0, 0, 0], flat: plane.down(new THREE.Vector3()) }];
  const add = (kind: MarkKind, body: string, point: Vec3): void => {
    const p = mechanism.point(body, point);
    if (p) found.push({ kind, body, point, flat: plane.down(p) });
  };
  for (const { second, p_CM } of store.scene?.joints ?? []) add("pin", second, p_CM as Vec3);
  for (const body of store.scene?.bodies ?? []) {
    add("centre", body.name, [0, 0, 0]);
    for (const { kind, at } of body.shapes.flatMap(cornersOf)) add(kind, body.name, at);
    for (const { kind, length, offset, orientation } of body.shapes) {
      if ((kind !== "capsule" && kind !== "cylinder") || length === null) continue;
      const way = new THREE.Vector3(0, 0, length / 2).applyQuaternion(new THREE.Quaternion().fromArray(orientation));
      const middle = new THREE.Vector3().fromArray(offset);
      for (const side of [-1, 1])
        add(
          kind === "capsule" ? "end" : "centre",
          body.name,
          middle.clone().addScaledVector(way, side).toArray() as Vec3,
        );
    }
  }
  return found;
}

/** Corners of a plate in its middle plane, and the midpoints of its sides. */
export function cornersOf({ kind, points, offset, orientation }: Shape): { kind: MarkKind; at: Vec3 }[] {
  if (kind !== "hull" || !points) return [];
  const turn = new THREE.Quaternion().fromArray(orientation);
  const flat = [...new Map(points.map(([x = 0, y = 0]) => [`${x} ${y}`, [x, y] as Flat])).values()];
  if (2 * flat.length !== points.length) return []; // no prism
  const middle = flat.reduce((sum, [x, y]) => [sum[0] + x / flat.length, sum[1] + y / flat.length], [0, 0] as Flat);
  const way = ([x, y]: Flat): number => Math.atan2(y - middle[1], x - middle[0]);
  flat.sort((a, b) => way(a) - way(b)); // it is convex
  const put = (x: number, y: number): Vec3 =>
    new THREE.Vector3(x, y, 0).applyQuaternion(turn).add(new THREE.Vector3().fromArray(offset)).toArray();
  return flat.flatMap(([x, y], k) => {
    const [nextX, nextY] = flat[(k + 1) % flat.length] ?? [x, y];
    return [
      { kind: "corner" as const, at: put(x, y) },
      { kind: "midpoint" as const, at: put((x + nextX) / 2, (y + nextY) / 2) },
    ];
  });
}

/** A point of the grid, brought onto the lines through marks along u and v that are nearer to the pointer. */
export function aligned(flat: Flat, crossing: Flat, known: Flat[], reach: number): Flat {
  return [0, 1].map((k) => {
    const [here, grid] = [flat[k as 0 | 1], crossing[k as 0 | 1]];
    const found = known.map((mark) => mark[k as 0 | 1]).sort((a, b) => Math.abs(a - here) - Math.abs(b - here))[0];
    const isNear = found !== undefined && Math.abs(found - here) < Math.min(reach, Math.abs(grid - here));
    return isNear ? found : grid;
  }) as Flat;
}

/** The direction nearest to one that links take by themselves [rad]. */
export function roundAngle(angle: number): number {
  return ANGLE * Math.round(angle / ANGLE);
}

export interface Aim {
  x: number; // pixels
  y: number;
  isTouch: boolean;
}

/** The point that is meant by a pixel; `from`: where a link begins, for its direction. */
export function snap(view: View, plane: WorkPlane, known: Mark[], aim: Aim, from: Flat | null): Snapped | null {
  const flat = plane.under(view, aim.x, aim.y);
  if (!flat) return null;
  const reach = aim.isTouch ? FINGER : REACH;
  const pixels = (point: Flat): number => {
    const { x, y } = view.project(plane.up(point));
    return Math.hypot(x - aim.x, y - aim.y);
  };
  const near = known
    .map((mark) => ({ mark, away: pixels(mark.flat) }))
    .filter(({ away }) => away <= reach)
    .sort((a, b) => RANK[a.mark.kind] - RANK[b.mark.kind] || a.away - b.away)[0];
  if (near) return { flat: near.mark.flat, mark: near.mark, by: near.mark.kind };
  const pixel = view.pixel(plane.up(flat));
  const step = gridStep(pixel);
  const crossing = toGrid(flat, step);
  const marked = known.filter(({ body }) => body !== "ground").map((mark) => mark.flat);
  const lined = aligned(flat, crossing, marked, ALIGNED * pixel);
  if (lined[0] !== crossing[0] || lined[1] !== crossing[1]) return { flat: lined, mark: null, by: "aligned" };
  if (pixels(crossing) <= reach) return { flat: crossing, mark: null, by: "grid" };
  if (from) {
    const way: Flat = [flat[0] - from[0], flat[1] - from[1]];
    const round = roundAngle(Math.atan2(way[1], way[0]));
    if (Math.abs(Math.atan2(way[1], way[0]) - round) < NEAR_ANGLE) {
      const length = toGrid([Math.hypot(...way), 0], step)[0];
      return {
        flat: [from[0] + length * Math.cos(round), from[1] + length * Math.sin(round)],
        mark: null,
        by: "angle",
      };
    }
  }
  return { flat, mark: null, by: "free" };
}

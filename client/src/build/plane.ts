/** The work plane: where what is drawn lies, and the grid in it. */

import * as THREE from "three";
import type { View } from "../view";

export type Flat = [number, number]; // along u and v [m]

const LEAST = 12; // pixels between lines of the grid
const AXES = [new THREE.Vector3(1, 0, 0), new THREE.Vector3(0, 1, 0), new THREE.Vector3(0, 0, 1)] as const;
const NAMES = ["y-z", "x-z", "x-y"] as const; // of the planes across them

/** A plane by its origin and two unit vectors; an angle grows from u towards v. */
export class WorkPlane {
  origin = new THREE.Vector3();
  u = new THREE.Vector3(1, 0, 0);
  v = new THREE.Vector3(0, 0, 1);
  name = "x-z";
  isFixed = false; // put somewhere by a person, else the plane that faces the viewer

  get normal(): THREE.Vector3 {
    return this.u.clone().cross(this.v);
  }

  /** Take the plane of coordinates that faces the viewer most, through the origin. */
  face(sight: THREE.Vector3): void {
    if (this.isFixed) return;
    const turns = AXES.map((axis) => Math.abs(axis.dot(sight)));
    const k = turns.indexOf(Math.max(...turns)) as 0 | 1 | 2;
    this.u.copy(k === 0 ? AXES[1] : AXES[0]);
    this.v.copy(k === 2 ? AXES[1] : AXES[2]);
    this.origin.set(0, 0, 0);
    this.name = NAMES[k];
  }

  /** Put the plane through a point across a direction; u lies as level as can be, along x where it may. */
  across(point: THREE.Vector3, normal: THREE.Vector3, name: string): void {
    const n = tidy(normal.clone().normalize());
    const turns = AXES.map((axis) => Math.abs(axis.dot(n)));
    const x = turns[0] !== undefined && turns[0] < 0.9 ? AXES[0] : AXES[1];
    this.u.copy(x).addScaledVector(n, -x.dot(n)).normalize();
    this.v.copy(n).cross(this.u);
    this.origin.copy(point);
    this.name = name;
    this.isFixed = true;
  }

  /** Put the plane through three points: the first is its origin, u goes to the second. False: they lie on a line. */
  by(a: THREE.Vector3, b: THREE.Vector3, c: THREE.Vector3): boolean {
    const u = b.clone().sub(a);
    const n = u.clone().cross(c.clone().sub(a));
    if (n.length() <= 1e-6 * u.lengthSq()) return false;
    this.u.copy(u.normalize());
    this.v.copy(n.normalize()).cross(this.u);
    this.origin.copy(a);
    this.name = "by three points";
    this.isFixed = true;
    return true;
  }

  /** Shift the plane along its normal [m]; it stays there. */
  shift(way: number): void {
    this.origin.addScaledVector(this.normal, way);
    this.isFixed = true;
  }

  /** Move the plane along its normal, through a point. */
  through(point: THREE.Vector3): void {
    const n = this.normal;
    this.origin.addScaledVector(n, point.clone().sub(this.origin).dot(n));
  }

  /** Where a world point is in the plane, seen along its normal. */
  down(point: THREE.Vector3): Flat {
    const from = point.clone().sub(this.origin);
    return [from.dot(this.u), from.dot(this.v)];
  }

  /** The world point of a point of the plane. */
  up([a, b]: Flat): THREE.Vector3 {
    return this.origin.clone().addScaledVector(this.u, a).addScaledVector(this.v, b);
  }

  /** What of the plane is under a pixel; null where one looks along it. */
  under(view: View, x: number, y: number): Flat | null {
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(this.normal, this.origin);
    const hit = view.ray(x, y).intersectPlane(plane, new THREE.Vector3());
    return hit && this.down(hit);
  }
}

/** A direction along an axis but for rounding is along it. */
function tidy(n: THREE.Vector3): THREE.Vector3 {
  for (const axis of AXES)
    if (Math.abs(n.dot(axis)) > 1 - 1e-10) return n.copy(axis).multiplyScalar(Math.sign(n.dot(axis)));
  return n;
}

/** Distance of the grid's lines where a pixel is so long [m]: 1 or 5 times a power of ten. */
export function gridStep(pixel: number): number {
  const least = LEAST * pixel;
  const power = 10 ** Math.floor(Math.log10(least));
  const times = [1, 5, 10].find((k) => k * power >= least * (1 - 1e-9)) ?? 10;
  return Number((times * power).toPrecision(1));
}

/** The grid's point nearest to a point, as its decimal digits say. */
export function toGrid([a, b]: Flat, step: number): Flat {
  const round = (x: number): number => Number((Math.round(x / step) * step).toPrecision(12)) + 0;
  return [round(a), round(b)];
}

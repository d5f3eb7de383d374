/** Paths as ribbons of so many pixels, coloured by speed; pieces are added at their ends, and only those are sent on. */

import * as THREE from "three";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import { LineSegments2 } from "three/addons/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/addons/lines/LineSegmentsGeometry.js";
import type { Vec3 } from "./numbers";

/** Colours from slow to fast. */
export class Ramp {
  private stops: THREE.Color[] = [];

  set(...stops: string[]): void {
    this.stops = stops.map((stop) => new THREE.Color(stop));
  }

  /** The colour at a share of the fastest, 0 to 1. */
  at(share: number, into: THREE.Color): THREE.Color {
    const place = Math.min(Math.max(share, 0), 1) * (this.stops.length - 1);
    const k = Math.min(Math.floor(place), this.stops.length - 2);
    const [from = into, to = into] = [this.stops[k], this.stops[k + 1]];
    return into.copy(from).lerp(to, place - k);
  }
}

/** A material for ribbons, so many pixels wide at any zoom; without a colour each piece has its own. */
export function ribbonMaterial(width: number, colour?: string): LineMaterial {
  const material = new LineMaterial({ linewidth: width, vertexColors: colour === undefined, toneMapped: false });
  if (colour !== undefined) material.color.set(colour);
  return material;
}

/** Pieces with two ends each, a colour for both. */
export class Ribbon {
  readonly line: LineSegments2;
  private readonly at: THREE.InstancedInterleavedBuffer;
  private readonly tints: THREE.InstancedInterleavedBuffer;
  private readonly geometry = new LineSegmentsGeometry();

  constructor(
    readonly points: Float32Array, // both ends of each piece
    material: LineMaterial,
  ) {
    this.at = buffer(points);
    this.tints = buffer(new Float32Array(points.length));
    this.geometry.setAttribute("instanceStart", new THREE.InterleavedBufferAttribute(this.at, 3, 0));
    this.geometry.setAttribute("instanceEnd", new THREE.InterleavedBufferAttribute(this.at, 3, 3));
    this.geometry.setAttribute("instanceColorStart", new THREE.InterleavedBufferAttribute(this.tints, 3, 0));
    this.geometry.setAttribute("instanceColorEnd", new THREE.InterleavedBufferAttribute(this.tints, 3, 3));
    this.geometry.instanceCount = 0;
    this.line = new LineSegments2(this.geometry, material);
    this.line.frustumCulled = false;
    this.line.raycast = () => {};
  }

  /** Show so many pieces, of which those from `first` on are new or painted anew. */
  show(count: number, first: number, paint: (piece: number, into: THREE.Color) => void): void {
    const tints = this.tints.array as Float32Array;
    for (let k = first; k < count; k++) {
      paint(k, tint);
      tints.set([tint.r, tint.g, tint.b, tint.r, tint.g, tint.b], 6 * k);
    }
    this.geometry.instanceCount = count;
    for (const each of [this.at, this.tints]) {
      if (count > first) each.addUpdateRange(6 * first, 6 * (count - first));
      each.needsUpdate = true;
    }
  }
}

/** A line through points, in one colour. */
export function polyline(points: Vec3[], material: LineMaterial): LineSegments2 {
  const ends = new Float32Array(6 * Math.max(0, points.length - 1));
  for (let k = 0; k + 1 < points.length; k++) {
    ends.set(points[k] ?? [], 6 * k);
    ends.set(points[k + 1] ?? [], 6 * k + 3);
  }
  const geometry = new LineSegmentsGeometry().setPositions(ends);
  const line = new LineSegments2(geometry, material);
  line.frustumCulled = false;
  line.raycast = () => {};
  return line;
}

function buffer(values: Float32Array): THREE.InstancedInterleavedBuffer {
  const made = new THREE.InstancedInterleavedBuffer(values, 6, 1);
  made.setUsage(THREE.DynamicDrawUsage);
  return made;
}

const tint = new THREE.Color();

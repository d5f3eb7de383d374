/**
 * Joints drawn as what they are. A glyph has two halves: one moves with frame F of the first body,
 * the other with frame M of the second, so that what slides or turns is seen to do so. z is the
 * joint's axis, x its second one. Springs and hands are coils.
 */

import * as THREE from "three";
import { mergeGeometries } from "three/addons/utils/BufferGeometryUtils.js";

export type Half = "first" | "second";
export type Glyph = Partial<Record<Half, THREE.BufferGeometry>>;

const ROUND = 20;
const LINE = 0.14; // thickness of what is drawn as a line, of a pin's radius
const HALVES: Half[] = ["first", "second"];

/** One geometry of several, without what only textures need. */
export function merged(parts: THREE.BufferGeometry[]): THREE.BufferGeometry {
  const plain = parts.map((part) => {
    const found = part.index ? part.toNonIndexed() : part;
    found.deleteAttribute("uv");
    return found;
  });
  return mergeGeometries(plain);
}

/** A straight bar of square section between two points. */
function strip(a: number[], b: number[], width: number): THREE.BufferGeometry {
  const [from, to] = [new THREE.Vector3().fromArray(a), new THREE.Vector3().fromArray(b)];
  const along = to.clone().sub(from);
  return new THREE.BoxGeometry(width, width, along.length())
    .applyQuaternion(new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), along.clone().normalize()))
    .translate(...from.addScaledVector(along, 0.5).toArray());
}

/** Strips along a line through points. */
function strips(points: number[][], width: number): THREE.BufferGeometry[] {
  return points.slice(1).map((point, k) => strip(points[k] ?? point, point, width));
}

/**
 * Radius `r` [m] is the size of a pin, `reach` [m] the length of a rail, `span` [m] from where to where along the axis a
 * pin goes.
 */
export function jointGlyph(type: string, r: number, reach: number, span: [number, number]): Glyph {
  const halves: Record<Half, THREE.BufferGeometry[]> = { first: [], second: [] };
  const add = (half: Half, ...geometries: THREE.BufferGeometry[]) => halves[half].push(...geometries);
  const ball = (half: Half) => add(half, new THREE.SphereGeometry(1.15 * r, ROUND, ROUND / 2));
  const rod = (half: Half, radius: number, length: number, sides = ROUND) =>
    add(half, new THREE.CylinderGeometry(radius, radius, length, sides).rotateX(Math.PI / 2));
  const box = (half: Half, along: "x" | "z", width: number, length: number) => {
    const geometry = new THREE.BoxGeometry(width, width, length);
    add(half, along === "x" ? geometry.rotateY(Math.PI / 2) : geometry);
  };
  switch (type) {
    case "fixed":
      add("first", new THREE.OctahedronGeometry(1.3 * r));
      break;
    case "revolute":
      add("second", ...pin(r, span));
      break;
    case "prismatic":
      box("first", "z", 0.5 * r, reach);
      box("second", "z", 1.7 * r, 2.6 * r);
      break;
    case "cylindrical":
      rod("first", 0.5 * r, reach);
      rod("second", 1.1 * r, 2.8 * r);
      break;
    case "universal":
      rod("first", 0.5 * r, 4 * r);
      add("second", new THREE.CylinderGeometry(0.5 * r, 0.5 * r, 4 * r, ROUND).rotateZ(Math.PI / 2));
      ball("second");
      break;
    case "spherical":
      ball("second");
      add("first", new THREE.TorusGeometry(1.25 * r, 0.28 * r, 8, ROUND));
      break;
    case "planar":
      add("first", ...sheet(r));
      box("second", "z", 1.7 * r, 2.6 * r);
      break;
    case "screw":
      rod("first", 0.5 * r, reach);
      rod("second", 1.2 * r, 2 * r, 6);
      add("first", thread(r, reach));
      break;
    case "pin-slot":
      add("first", ...slot(r));
      add("second", ...pin(r, span));
      break;
    case "point-on-line":
      box("first", "z", 0.5 * r, reach);
      ball("second");
      break;
    case "point-on-plane":
      add("first", ...sheet(r));
      ball("second");
      break;
    case "distance":
      ball("first");
      ball("second");
      break;
    default:
      for (const [x, y, z] of [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
      ] as const) {
        const end = [2 * r * x, 2 * r * y, 2 * r * z];
        const start = end.map((value) => -value);
        add("second", strip(start, end, LINE * r));
      }
  }
  return Object.fromEntries(
    HALVES.filter((half) => halves[half].length > 0).map((half) => [half, merged(halves[half])]),
  );
}

/** A pin with a ring at each end. */
function pin(r: number, [low, high]: [number, number]): THREE.BufferGeometry[] {
  const shaft = new THREE.CylinderGeometry(0.6 * r, 0.6 * r, high - low, ROUND)
    .rotateX(Math.PI / 2)
    .translate(0, 0, (low + high) / 2);
  const rings = [low, high].map((z) => new THREE.TorusGeometry(0.8 * r, 0.22 * r, 8, ROUND).translate(0, 0, z));
  return [shaft, ...rings];
}

/** A piece of a plane as a grid of strips. */
function sheet(r: number): THREE.BufferGeometry[] {
  const w = 7 * r;
  return [-1, -0.5, 0, 0.5, 1].flatMap((k) => [
    strip([k * w, -w, 0], [k * w, w, 0], LINE * r),
    strip([-w, k * w, 0], [w, k * w, 0], LINE * r),
  ]);
}

/** A slot along x, as wide as a pin. */
function slot(r: number): THREE.BufferGeometry[] {
  const half = 6 * r;
  const bend = Array.from({ length: 13 }, (_, k) => -Math.PI / 2 + (k / 12) * Math.PI);
  const outline = [
    ...bend.map((a) => [half + 1.15 * r * Math.cos(a), 1.15 * r * Math.sin(a), 0]),
    ...bend.map((a) => [-half - 1.15 * r * Math.cos(a), -1.15 * r * Math.sin(a), 0]),
  ];
  return strips([...outline, outline[0] ?? [0, 0, 0]], 0.35 * r);
}

function thread(r: number, reach: number): THREE.BufferGeometry {
  const points = Array.from({ length: 121 }, (_, k) => {
    const turn = (k / 120) * 10 * Math.PI;
    return new THREE.Vector3(0.6 * r * Math.cos(turn), 0.6 * r * Math.sin(turn), (k / 120 - 0.5) * reach);
  });
  return new THREE.TubeGeometry(new THREE.CatmullRomCurve3(points), 240, 0.12 * r, 5);
}

/**
 * The usual sign of what stands still: a triangle with its tip in the pin at the origin, standing on hatched ground
 * below it (-y), flat in the plane z = 0.
 */
export function groundSign(r: number): THREE.BufferGeometry {
  const [half, low] = [2.6 * r, -4 * r];
  const triangle = new THREE.Shape([
    new THREE.Vector2(-0.35 * r, -0.5 * r),
    new THREE.Vector2(-half, low),
    new THREE.Vector2(half, low),
    new THREE.Vector2(0.35 * r, -0.5 * r),
  ]);
  const depth = 0.5 * r;
  const body = new THREE.ExtrudeGeometry(triangle, { depth, bevelEnabled: false }).translate(0, 0, -depth / 2);
  return merged([body, ...hatch(r, 3.6 * r, low)]);
}

/** A line along x at the height `low`, hatched below. */
export function hatch(r: number, half: number, low: number): THREE.BufferGeometry[] {
  const count = Math.max(4, Math.round((2 * half) / (1.2 * r)));
  const lines = Array.from({ length: count }, (_, k) => {
    const x = -half + (2 * half * (k + 0.7)) / count;
    return strip([x, low, 0], [x - 0.9 * r, low - 1.1 * r, 0], 0.2 * r);
  });
  return [strip([-half, low, 0], [half, low, 0], 0.4 * r), ...lines];
}

/** A coil from a to b with `turns` turns; the ends are straight. Writes into `points` (3 per point). */
export function coil(points: Float32Array, a: THREE.Vector3, b: THREE.Vector3, radius: number, turns: number): void {
  const along = new THREE.Vector3().subVectors(b, a);
  const side = new THREE.Vector3(0, 0, 1).cross(along);
  if (side.lengthSq() < 1e-12 * along.lengthSq()) side.set(1, 0, 0).cross(along);
  side.normalize();
  const other = along.clone().cross(side).normalize();
  const count = points.length / 3;
  for (let k = 0; k < count; k++) {
    const s = k / (count - 1);
    const ramp = Math.min(1, Math.min(s, 1 - s) / 0.08);
    const inner = Math.min(1, Math.max(0, (s - 0.08) / 0.84));
    const turn = 2 * Math.PI * turns * inner;
    const c = radius * ramp * Math.cos(turn);
    const d = radius * ramp * Math.sin(turn);
    points[3 * k] = a.x + s * along.x + c * side.x + d * other.x;
    points[3 * k + 1] = a.y + s * along.y + c * side.y + d * other.y;
    points[3 * k + 2] = a.z + s * along.z + c * side.z + d * other.z;
  }
}

/** A coil of wire from z = 0 to z = 1, of radius 1 across, to be stretched; `slim`: its length over its radius. */
export function coilGeometry(slim: number, turns = 10): THREE.BufferGeometry {
  const points = new Float32Array(3 * 200);
  coil(points, new THREE.Vector3(), new THREE.Vector3(0, 0, slim), 1, turns);
  const line = Array.from({ length: 200 }, (_, k) => new THREE.Vector3().fromArray(points, 3 * k));
  const geometry = new THREE.TubeGeometry(new THREE.CatmullRomCurve3(line), 240, 0.2, 6);
  geometry.deleteAttribute("uv");
  return geometry.scale(1, 1, 1 / slim);
}

/** Geometries of kinds of bodies, finer and coarser: what is small in the picture needs few triangles. */

import * as THREE from "three";
import { mergeGeometries } from "three/addons/utils/BufferGeometryUtils.js";
import { grown } from "../materials";
import type { LargeKind, Shape } from "../messages";
import { geometryOf } from "../shapes";

export const LEVELS = 3; // 0 is the finest
const PIXELS = [60, 16]; // of a body's thickness in the picture, below which it is coarser
const ROUND = [20, 10, 6]; // corners around a rod
const BALLS = [4, 1, 0]; // how often an icosahedron's edges are divided

export interface Level {
  geometry: THREE.BufferGeometry;
  triangles: number;
}

/** Which level does for a thickness in pixels. */
export function levelFor(pixels: number): number {
  const level = PIXELS.findIndex((least) => pixels >= least);
  return level < 0 ? LEVELS - 1 : level;
}

/** Geometries of a kind in its bodies' frame, by level. */
export function levelsOf(kind: LargeKind): Level[] {
  return Array.from({ length: LEVELS }, (_, level) => {
    const parts = kind.shapes.map((shape) => placed(shape, level));
    const merged = parts.length === 1 ? (parts[0] as THREE.BufferGeometry) : mergeGeometries(parts.map(plain));
    const geometry = grown(merged ?? new THREE.BoxGeometry(kind.size, kind.size, kind.size), kind.size / 2);
    const corners = geometry.index?.count ?? geometry.getAttribute("position").count;
    return { geometry, triangles: corners / 3 };
  });
}

function placed(shape: Shape, level: number): THREE.BufferGeometry {
  const geometry = made(shape, level);
  const [x = 0, y = 0, z = 0, w = 1] = shape.orientation;
  const [a = 0, b = 0, c = 0] = shape.offset;
  return geometry.applyQuaternion(new THREE.Quaternion(x, y, z, w)).translate(a, b, c);
}

function made(shape: Shape, level: number): THREE.BufferGeometry {
  const [radius, length, around] = [shape.radius ?? 0, shape.length ?? 0, ROUND[level] as number];
  if (shape.kind === "sphere") return ball(radius, BALLS[level] as number);
  if (shape.kind === "capsule" && level === LEVELS - 1)
    return new THREE.CylinderGeometry(radius, radius, length + 2 * radius, around, 1, true).rotateX(Math.PI / 2);
  if (shape.kind === "capsule")
    return new THREE.CapsuleGeometry(radius, length, 4 - 2 * level, around).rotateX(Math.PI / 2);
  if (shape.kind === "cylinder") return new THREE.CylinderGeometry(radius, radius, length, around).rotateX(Math.PI / 2);
  if (shape.kind === "cone") return new THREE.ConeGeometry(radius, length, around).rotateX(Math.PI / 2);
  return geometryOf(shape, 1);
}

/** A ball that is shaded as one, however coarse. */
function ball(radius: number, detail: number): THREE.BufferGeometry {
  const geometry = new THREE.IcosahedronGeometry(radius, detail);
  const at = geometry.getAttribute("position");
  const normals = new Float32Array(at.array.length);
  for (let k = 0; k < normals.length; k++) normals[k] = (at.array[k] as number) / radius;
  return geometry.setAttribute("normal", new THREE.BufferAttribute(normals, 3));
}

/** What geometries of several shapes have in common. */
function plain(geometry: THREE.BufferGeometry): THREE.BufferGeometry {
  const found = geometry.index ? geometry.toNonIndexed() : geometry;
  for (const name of Object.keys(found.attributes))
    if (name !== "position" && name !== "normal") found.deleteAttribute(name);
  return found;
}

/**
 * Links that look like links: a thin body that turns about pins of one direction is drawn as a flat bar with an eye at
 * each pin, in a layer of its own, so that links which meet at a pin lie one behind the other and pass each other.
 *
 * Shapes that touch something are drawn as they are; this is for those that are pictures only.
 */

import * as THREE from "three";
import type { Body, Joint, Scene, Shape } from "./messages";

const SLENDER = 0.25; // radius over length of a shape that may be drawn as a bar
const SQUARE = 0.05; // cosine to the pins, of a shape that lies across them
const WIDE = 1.5; // half a bar's width over the radius of the shape it stands for
const THICK = 1.2; // its thickness over that
export const GAP = 0.15; // between layers, of the thickness
const THIN = 0.009; // radius of a body without shape, of the scene's size
const HOLE = 0.55; // radius of an eye over half the width

type Flat = [number, number];

/** A bar in a frame of its own: x along it, z along the pins. */
export interface Bar {
  body: string;
  frame: THREE.Matrix4; // of the bar, in the body's
  ends: Flat[]; // whose hull, widened by `radius`, is the outline
  eyes: Flat[];
  radius: number; // half the width [m]
  thickness: number; // [m]
  layer: number; // 0: behind all others
  depth: number; // of its middle along the pins, from where they are authored [m]
}

interface Pinned {
  body: Body;
  axis: THREE.Vector3; // of the pins, in the body's frame
  pins: { joint: Joint; at: THREE.Vector3; axis: THREE.Vector3 }[];
  ends: THREE.Vector3[];
  radius: number;
}

/** The bars of a scene by their bodies. */
export function bars(scene: Scene): Map<string, Bar> {
  const pinned = new Map<string, Pinned>();
  for (const body of scene.bodies) {
    const found = pinnedBody(body, scene);
    if (found) pinned.set(body.name, found);
  }
  align(pinned, scene.joints);
  const layers = layersOf(pinned, scene.joints);
  const count = Math.max(0, ...layers.values()) + 1;
  const thickness = THICK * Math.min(...[...pinned.values()].map(({ radius }) => radius));
  const found = new Map<string, Bar>();
  for (const [name, one] of pinned) {
    const layer = layers.get(name) ?? 0;
    const depth = (layer - (count - 1) / 2) * (1 + GAP) * thickness;
    found.set(name, { ...flat(one), body: name, radius: WIDE * one.radius, thickness, layer, depth });
  }
  return found;
}

/** A body that is a bar, with its pins; null where it is none. */
function pinnedBody(body: Body, scene: Scene): Pinned | null {
  if (body.visuals.length || body.material !== null || body.shapes.some((shape) => shape.material !== null))
    return null;
  const pins: Pinned["pins"] = [];
  const others: THREE.Vector3[] = [];
  for (const joint of scene.joints) {
    for (const [owner, p, q] of [
      [joint.first, joint.p_PF, joint.q_PF],
      [joint.second, joint.p_CM, joint.q_CM],
    ] as const) {
      if (owner !== body.name) continue;
      const at = new THREE.Vector3().fromArray(p);
      const axis = new THREE.Vector3(0, 0, 1).applyQuaternion(new THREE.Quaternion().fromArray(q));
      if (joint.joint_type === "revolute") pins.push({ joint, at, axis });
      else if (joint.joint_type === "pin-slot" && joint.second === body.name) pins.push({ joint, at, axis });
      else if (joint.joint_type === "spherical") others.push(at);
      else return null;
    }
  }
  const axis = pins[0]?.axis.clone();
  if (!axis || pins.some((pin) => Math.abs(pin.axis.dot(axis)) < 1 - 1e-6)) return null;
  const rods = body.shapes.map(rod);
  if (rods.some((one) => !one || Math.abs(one.along.dot(axis)) > SQUARE)) return null;
  const points = [...pins.map((pin) => pin.at), ...others];
  const ends = [...points, ...rods.flatMap((one) => one?.ends ?? [])];
  const radius = Math.max(...rods.map((one) => one?.radius ?? 0), rods.length ? 0 : THIN * scene.size);
  const heights = ends.map((point) => point.dot(axis));
  if (ends.length < 2 || Math.max(...heights) - Math.min(...heights) > 2 * radius) return null;
  return { body, axis, pins, ends, radius };
}

/** A slender shape as its two ends; null for others. */
function rod(shape: Shape): { ends: THREE.Vector3[]; along: THREE.Vector3; radius: number } | null {
  let [length, radius, axis] = [shape.length ?? 0, shape.radius ?? 0, 2];
  if (shape.kind === "box" && shape.size) {
    length = Math.max(...shape.size);
    axis = shape.size.indexOf(length);
    radius = Math.max(...shape.size.filter((_, k) => k !== axis)) / 2;
  } else if (shape.kind !== "capsule" && shape.kind !== "cylinder") return null;
  if (radius > SLENDER * length) return null;
  const along = new THREE.Vector3()
    .setComponent(axis, 1)
    .applyQuaternion(new THREE.Quaternion().fromArray(shape.orientation));
  const middle = new THREE.Vector3().fromArray(shape.offset);
  const ends = [-0.5, 0.5].map((side) => middle.clone().addScaledVector(along, side * length));
  return { ends, along, radius };
}

/** Let the axes of bars that hang together point the same way, whatever way their joints were given. */
function align(pinned: Map<string, Pinned>, joints: Joint[]): void {
  const done = new Set<string>();
  const visit = (name: string): void => {
    const queue = [name];
    done.add(name);
    while (queue.length) {
      const from = pinned.get(queue.pop() ?? "");
      for (const joint of joints) {
        const other = joint.first === from?.body.name ? joint.second : joint.first;
        const [mine, its] = [from, pinned.get(other)].map((one) => one?.pins.find((pin) => pin.joint === joint));
        if (!from || !mine || !its || done.has(other)) continue;
        const next = pinned.get(other) as Pinned;
        const turned = Math.sign(mine.axis.dot(from.axis)) * Math.sign(its.axis.dot(next.axis));
        if (turned < 0) next.axis.negate();
        done.add(other);
        queue.push(other);
      }
    }
  };
  for (const name of pinned.keys()) if (!done.has(name)) visit(name);
}

/** Layers such that no two bars of one pin have the same. */
function layersOf(pinned: Map<string, Pinned>, joints: Joint[]): Map<string, number> {
  const meets = new Map<string, Set<string>>([...pinned.keys()].map((name) => [name, new Set()]));
  const meet = (a: string, b: string): void => {
    if (a === b || !meets.has(a) || !meets.has(b)) return;
    meets.get(a)?.add(b);
    meets.get(b)?.add(a);
  };
  const at = new Map<string, string[]>(); // bars at one point of one body
  for (const joint of joints) {
    meet(joint.first, joint.second);
    for (const [owner, p, other] of [
      [joint.first, joint.p_PF, joint.second],
      [joint.second, joint.p_CM, joint.first],
    ] as const) {
      const place = `${owner} ${p.map((x) => x.toFixed(7))}`;
      for (const known of at.get(place) ?? []) meet(known, other);
      at.set(place, [...(at.get(place) ?? []), other]);
    }
  }
  const layers = new Map<string, number>();
  for (const name of pinned.keys()) {
    const taken = new Set([...(meets.get(name) ?? [])].map((other) => layers.get(other)));
    let layer = 0;
    while (taken.has(layer)) layer += 1;
    layers.set(name, layer);
  }
  return layers;
}

/** The bar's frame in the body's, and its points in that. */
function flat({ axis, ends, pins }: Pinned): Pick<Bar, "frame" | "ends" | "eyes"> {
  const origin = (pins[0]?.at ?? new THREE.Vector3()).clone();
  const far = ends.reduce((a, b) => (b.distanceTo(origin) > a.distanceTo(origin) + 1e-9 ? b : a));
  const x = far.clone().sub(origin);
  x.addScaledVector(axis, -x.dot(axis)).normalize();
  const y = axis.clone().cross(x);
  const put = (point: THREE.Vector3): Flat => {
    const from = point.clone().sub(origin);
    return [from.dot(x), from.dot(y)];
  };
  const frame = new THREE.Matrix4().makeBasis(x, y, axis).setPosition(origin);
  return { frame, ends: ends.map(put), eyes: pins.map((pin) => put(pin.at)) };
}

/** Corners of the convex hull of points, anticlockwise (Andrew's chains). */
export function hull(points: Flat[]): Flat[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const size = Math.max(1e-30, ...points.flat().map(Math.abs));
  const chain = (list: Flat[]): Flat[] => {
    const found: Flat[] = [];
    for (const p of list) {
      for (;;) {
        const [a, b] = [found.at(-2), found.at(-1)];
        if (!a || !b) break;
        if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 1e-9 * size * size) break;
        found.pop();
      }
      found.push(p);
    }
    return found.slice(0, -1);
  };
  const corners = [...chain(sorted), ...chain(sorted.reverse())];
  return corners.length ? corners : sorted.slice(0, 1);
}

/** What of a bar makes its geometry; bars of one key share it. */
export function barKey({ ends, eyes, radius, thickness }: Bar): string {
  const text = (points: Flat[]) => points.map((p) => p.map((x) => x.toPrecision(6)).join(" ")).join(",");
  return `bar ${text(ends)} ${text(eyes)} ${radius} ${thickness}`;
}

/** The bar as a plate with holes, its middle at z = 0; `isPlain`: of few triangles, for many. */
export function barGeometry({ ends, eyes, radius, thickness }: Bar, isPlain: boolean): THREE.BufferGeometry {
  const corners = hull(ends);
  const outline = new THREE.Shape();
  corners.forEach(([x, y], k) => {
    const before = corners.at(k - 1) ?? [x, y];
    const after = corners[(k + 1) % corners.length] ?? [x, y];
    let from = Math.atan2(y - before[1], x - before[0]) - Math.PI / 2;
    let to = Math.atan2(after[1] - y, after[0] - x) - Math.PI / 2;
    if (corners.length === 1) [from, to] = [0, 2 * Math.PI];
    if (to < from - 1e-9) to += 2 * Math.PI;
    outline.absarc(x, y, radius, from, to, false);
  });
  outline.closePath();
  const isApart = (eye: Flat, k: number) =>
    eyes.findIndex((other) => Math.hypot(other[0] - eye[0], other[1] - eye[1]) < radius) === k;
  if (!isPlain)
    for (const [x, y] of eyes.filter(isApart)) {
      outline.holes.push(new THREE.Path().absarc(x, y, HOLE * radius, 0, 2 * Math.PI, true));
    }
  const bevel = isPlain ? 0 : 0.12 * thickness;
  const geometry = new THREE.ExtrudeGeometry(outline, {
    depth: thickness - 2 * bevel,
    bevelEnabled: !isPlain,
    bevelThickness: bevel,
    bevelSize: bevel,
    bevelOffset: -bevel,
    bevelSegments: 1,
    curveSegments: isPlain ? 4 : 14,
  });
  geometry.translate(0, 0, bevel - thickness / 2);
  geometry.deleteAttribute("uv");
  return geometry;
}

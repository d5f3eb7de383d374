/** A scene as the pieces that it is drawn of. */

import * as THREE from "three";
import { type Bar, barGeometry, barKey, bars, GAP } from "./bars";
import { coilGeometry, groundSign, type Half, hatch, jointGlyph, merged } from "./glyphs";
import type { Piece, Stretched } from "./instances";
import type { Body, Joint, Scene, Shape } from "./messages";
import type { PartRef } from "./parts3d";
import { bar, geometryOf, holds } from "./shapes";

export const GROUND = -1; // carries what stands still
const MANY = 150; // bodies, from which on pieces are made of few triangles
const UNIQUE = new Set<Shape["kind"]>(["mesh", "hull", "height-field"]); // shapes that seldom are the same twice
const EYE = 0.86; // radius of a pin's glyph over half the width of its bar

/** What pieces are made for. */
interface Setting {
  pin: number; // radius of a joint's pin where there is no bar [m]
  up: THREE.Vector3;
  front: THREE.Vector3; // towards the viewer of the front view
  carriers: THREE.Matrix4[]; // where bodies are
}

interface Part {
  setting: Setting;
  scene: Scene;
  bars: Map<string, Bar>;
  index: Map<string, number>;
}

export function pieces(scene: Scene, setting: Setting): (Piece | Stretched)[] {
  const index = new Map(scene.bodies.map((body, k) => [body.name, k]));
  const part = { setting, scene, bars: bars(scene), index };
  return [
    ...scene.bodies.flatMap((body, k) => bodyPieces(part, body, k)),
    ...onceEach(scene.joints.flatMap((joint) => jointPieces(part, joint))),
    ...scene.springs.map((spring) => springPiece(part, spring)),
  ];
}

/** Of signs of the ground at one place, the first. */
function onceEach(all: (Piece | Stretched)[]): (Piece | Stretched)[] {
  const taken = new Set<string>();
  return all.filter((piece) => {
    if (piece.look !== "ground" || !("local" in piece)) return true;
    const at = new THREE.Vector3().setFromMatrixPosition(piece.local);
    const place = at
      .toArray()
      .map((x) => Math.round(x / (60 * piece.thin)))
      .join();
    const isFirst = !taken.has(place);
    taken.add(place);
    return isFirst;
  });
}

function placed(p: readonly number[], q: readonly number[]): THREE.Matrix4 {
  return new THREE.Matrix4().compose(
    new THREE.Vector3().fromArray(p),
    new THREE.Quaternion().fromArray(q),
    new THREE.Vector3(1, 1, 1),
  );
}

function bodyPieces({ scene, bars: known }: Part, body: Body, carrier: number): Piece[] {
  const part: PartRef = { kind: "body", name: body.name };
  const own = known.get(body.name);
  if (own) {
    const local = own.frame.clone().multiply(new THREE.Matrix4().makeTranslation(0, 0, own.depth));
    const make = () => barGeometry(own, scene.bodies.length > MANY);
    return [{ key: barKey(own), make, thin: own.thickness / 2, look: "body", part, carrier, local }];
  }
  const found = drawn(body).map((shape, k): Piece => {
    const { offset, orientation, material: _, colour, ...rest } = shape;
    const key = UNIQUE.has(shape.kind) ? `${body.name} ${k}` : JSON.stringify(rest);
    const [local, make] = [placed(offset, orientation), () => plain(shape, scene.size)];
    return { key, make, thin: thinness(shape), look: "body", part, carrier, local, colour: colour ?? undefined };
  });
  if (found.length) return found;
  const [ball, rod] = [0.02 * scene.size, 0.008 * scene.size];
  const anchors = holds(body.name, scene.joints, scene.springs).filter((at) => at.length() > 1e-6 * scene.size);
  const make = () =>
    merged([new THREE.SphereGeometry(ball, 20, 10), ...anchors.map((at) => bar(new THREE.Vector3(), at, rod))]);
  return [{ key: `frame of ${body.name}`, make, thin: rod, look: "body", part, carrier, local: new THREE.Matrix4() }];
}

/** What is seen of a body: its visuals, else its shapes. */
export function drawn({ shapes, visuals }: Body): Shape[] {
  return visuals.length ? visuals : shapes;
}

function plain(shape: Shape, size: number): THREE.BufferGeometry {
  const geometry = geometryOf(shape, size);
  geometry.deleteAttribute("uv");
  return geometry;
}

/** Half of the least thickness of a shape [m]. */
function thinness(shape: Shape): number {
  if (shape.kind === "box" && shape.size) return Math.min(...shape.size) / 2;
  return shape.radius ?? Infinity;
}

function jointPieces(part: Part, joint: Joint): (Piece | Stretched)[] {
  const { scene, setting, index } = part;
  const own: PartRef = { kind: "joint", name: joint.name };
  const { r, span } = pinOf(part, joint);
  const reach = joint.first === "ground" ? 0.6 * scene.size : 12 * setting.pin;
  const carrier = (body: string) => index.get(body) ?? GROUND;
  const key = `${joint.joint_type} ${[r, reach, ...span].map((x) => x.toPrecision(6))}`;
  const glyph = jointGlyph(joint.joint_type, r, reach, span);
  const at: Record<Half, [string, THREE.Matrix4]> = {
    first: [joint.first, placed(joint.p_PF, joint.q_PF)],
    second: [joint.second, placed(joint.p_CM, joint.q_CM)],
  };
  const found: (Piece | Stretched)[] = (Object.entries(glyph) as [Half, THREE.BufferGeometry][]).map(
    ([half, geometry]) => {
      const [body, local] = at[half];
      const make = () => geometry;
      return {
        key: `${key} ${half}`,
        make,
        thin: Infinity,
        look: "joint",
        part: own,
        carrier: carrier(body),
        local,
      };
    },
  );
  if (joint.joint_type === "distance") {
    const ends = {
      from: { carrier: carrier(joint.first), at: new THREE.Vector3().fromArray(joint.p_PF) },
      to: { carrier: carrier(joint.second), at: new THREE.Vector3().fromArray(joint.p_CM) },
    };
    const make = () => bar(new THREE.Vector3(), new THREE.Vector3(0, 0, 1), 1);
    found.push({ key: "distance", make, thin: Infinity, look: "joint", part: own, ...ends, radius: 0.3 * r });
  }
  const sign = supportPiece(part, joint, r, span);
  return sign ? [...found, sign] : found;
}

/** Radius of a joint's pin and how far it reaches along its axis, through the bars that it holds [m]. */
function pinOf({ setting, bars: known }: Part, joint: Joint): { r: number; span: [number, number] } {
  const faces: number[] = [];
  const widths: number[] = [];
  let thickness = 0;
  for (const [body, q] of [
    [joint.first, joint.q_PF],
    [joint.second, joint.q_CM],
  ] as const) {
    const own = known.get(body);
    if (!own) continue;
    const axis = new THREE.Vector3(0, 0, 1).applyQuaternion(new THREE.Quaternion().fromArray(q));
    const side = Math.sign(axis.dot(new THREE.Vector3().setFromMatrixColumn(own.frame, 2))) || 1;
    faces.push(side * own.depth - own.thickness / 2, side * own.depth + own.thickness / 2);
    widths.push(own.radius);
    thickness = own.thickness;
  }
  if (!faces.length) return { r: setting.pin, span: [-2.1 * setting.pin, 2.1 * setting.pin] };
  const out = GAP * thickness;
  const isGround = joint.first === "ground" || joint.second === "ground";
  const [low, high] = [Math.min(...faces) - out, Math.max(...faces) + out];
  return { r: EYE * Math.min(...widths), span: [low - (isGround ? thickness : 0), high] };
}

/** The sign of the ground where a joint holds on to it; on the other side of the pin than the body. */
function supportPiece(part: Part, joint: Joint, r: number, span: [number, number]): Piece | null {
  const { setting, index } = part;
  const isFirst = joint.first === "ground";
  const other = isFirst ? joint.second : joint.first;
  if (!isFirst && joint.second !== "ground") return null;
  const [p, q] = isFirst ? [joint.p_PF, joint.q_PF] : [joint.p_CM, joint.q_CM];
  const at = new THREE.Vector3().fromArray(p);
  const frame = placed(p, q);
  const z = new THREE.Vector3().setFromMatrixColumn(frame, 2);
  const common = { look: "ground", part: { kind: "joint", name: joint.name }, carrier: GROUND } as const;
  if (joint.joint_type === "prismatic" || joint.joint_type === "pin-slot") {
    const along = joint.joint_type === "prismatic" ? z : new THREE.Vector3().setFromMatrixColumn(frame, 0);
    const local = upright(at, setting.up, along.clone().cross(setting.up), 1);
    if (!local) return null;
    const make = () => merged(hatch(0.8 * r, 7 * r, -1.6 * r));
    return { ...common, key: `rail sign ${r}`, make, thin: 0.1 * r, local };
  }
  if (!["revolute", "spherical", "universal"].includes(joint.joint_type)) return null;
  const body = index.get(other);
  const centre = new THREE.Vector3().setFromMatrixPosition(setting.carriers[body ?? 0] ?? new THREE.Matrix4());
  const drop = centre.sub(at);
  const hangs = drop.dot(setting.up) < -0.3 * drop.length();
  const isFlat = joint.joint_type === "revolute" && Math.abs(z.dot(setting.up)) < 0.7;
  const local = upright(at, setting.up, isFlat ? z : setting.front, hangs ? -1 : 1);
  if (!local) return null;
  const behind = isFlat ? span[0] + 0.25 * r : 0;
  const isTurned = isFlat && new THREE.Vector3().setFromMatrixColumn(local, 2).dot(z) < 0;
  local.multiply(new THREE.Matrix4().makeTranslation(0, 0, isTurned ? -behind : behind));
  return { ...common, key: `sign ${r}`, make: () => groundSign(r), thin: 0.1 * r, local };
}

/** A frame at a point: z near `facing`, y up or (`way` -1) down; null where that is not possible. */
function upright(at: THREE.Vector3, up: THREE.Vector3, facing: THREE.Vector3, way: number): THREE.Matrix4 | null {
  const z = facing.clone().addScaledVector(up, -facing.dot(up));
  if (z.lengthSq() < 1e-6) return null;
  const y = up.clone().multiplyScalar(way);
  z.normalize();
  return new THREE.Matrix4().makeBasis(y.clone().cross(z), y, z).setPosition(at);
}

function springPiece({ setting, index }: Part, spring: Scene["springs"][number]): Stretched {
  const end = (body: string, at: number[]) => ({
    carrier: index.get(body) ?? GROUND,
    at: new THREE.Vector3().fromArray(at),
  });
  const [from, to] = [end(spring.first, spring.at_first), end(spring.second, spring.at_second)];
  const place = ({ carrier, at }: typeof from) =>
    at.clone().applyMatrix4(setting.carriers[carrier] ?? new THREE.Matrix4());
  const length = place(from).distanceTo(place(to));
  const radius = Math.min(1.5 * setting.pin, 0.2 * length) || setting.pin;
  const slim = 2 ** Math.round(Math.log2(Math.max(2, length / radius)));
  const part: PartRef = { kind: "spring", name: spring.name };
  return {
    key: `coil ${slim}`,
    make: () => coilGeometry(slim),
    thin: Infinity,
    look: "spring",
    part,
    from,
    to,
    radius,
  };
}

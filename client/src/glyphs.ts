/**
 * Joints drawn as what they are. A glyph has two halves: one moves with frame F of the first body,
 * the other with frame M of the second, so that what slides or turns is seen to do so. z is the
 * joint's axis, x its second one.
 */

import * as THREE from "three";
import type { Joint } from "./messages";

export interface Glyph {
  first: THREE.Group;
  second: THREE.Group;
  link: THREE.Line | null; // of a distance joint, from F to M
}

const ROUND = 20;

/** Radius `r` [m] is the size of a pin, `reach` [m] the length of a rail. */
export function jointGlyph(
  joint: Joint,
  r: number,
  reach: number,
  material: THREE.Material,
  line: THREE.Material,
): Glyph {
  const glyph: Glyph = { first: new THREE.Group(), second: new THREE.Group(), link: null };
  const add = (half: "first" | "second", geometry: THREE.BufferGeometry): void => {
    const mesh = new THREE.Mesh(geometry, material);
    mesh.userData.part = { kind: "joint", name: joint.name };
    glyph[half].add(mesh);
  };
  const lines = (half: "first" | "second", points: number[][], closed = false): void => {
    const geometry = new THREE.BufferGeometry().setFromPoints(points.map((p) => new THREE.Vector3(p[0], p[1], p[2])));
    glyph[half].add(closed ? new THREE.LineLoop(geometry, line) : new THREE.Line(geometry, line));
  };
  const pin = (half: "first" | "second"): void => {
    add(half, new THREE.CylinderGeometry(0.62 * r, 0.62 * r, 4.2 * r, ROUND).rotateX(Math.PI / 2));
    for (const side of [-1, 1]) {
      add(
        half,
        new THREE.CylinderGeometry(0.95 * r, 0.95 * r, 0.4 * r, ROUND)
          .rotateX(Math.PI / 2)
          .translate(0, 0, side * 2.1 * r),
      );
    }
  };
  const ball = (half: "first" | "second"): void => add(half, new THREE.SphereGeometry(1.15 * r, ROUND, ROUND / 2));
  const socket = (half: "first" | "second"): void => add(half, new THREE.TorusGeometry(1.25 * r, 0.28 * r, 8, ROUND));
  const rail = (along: "x" | "z", length = reach): void => {
    const geometry = new THREE.BoxGeometry(0.5 * r, 0.5 * r, length);
    add("first", along === "x" ? geometry.rotateY(Math.PI / 2) : geometry);
  };
  const sleeve = (along: "x" | "z"): void => {
    const geometry = new THREE.BoxGeometry(1.7 * r, 1.7 * r, 2.6 * r);
    add("second", along === "x" ? geometry.rotateY(Math.PI / 2) : geometry);
  };
  const sheet = (): void => {
    const w = 7 * r;
    lines(
      "first",
      [
        [-w, -w, 0],
        [w, -w, 0],
        [w, w, 0],
        [-w, w, 0],
      ],
      true,
    );
    for (const k of [-0.5, 0, 0.5]) {
      lines("first", [
        [k * 2 * w, -w, 0],
        [k * 2 * w, w, 0],
      ]);
      lines("first", [
        [-w, k * 2 * w, 0],
        [w, k * 2 * w, 0],
      ]);
    }
  };
  switch (joint.joint_type) {
    case "fixed":
      add("first", new THREE.OctahedronGeometry(1.3 * r));
      break;
    case "revolute":
      pin("second");
      break;
    case "prismatic":
      rail("z");
      sleeve("z");
      break;
    case "cylindrical":
      add("first", new THREE.CylinderGeometry(0.5 * r, 0.5 * r, reach, ROUND).rotateX(Math.PI / 2));
      add("second", new THREE.CylinderGeometry(1.1 * r, 1.1 * r, 2.8 * r, ROUND).rotateX(Math.PI / 2));
      break;
    case "universal":
      add("first", new THREE.CylinderGeometry(0.5 * r, 0.5 * r, 4 * r, ROUND).rotateX(Math.PI / 2));
      add("second", new THREE.CylinderGeometry(0.5 * r, 0.5 * r, 4 * r, ROUND).rotateZ(Math.PI / 2));
      ball("second");
      break;
    case "spherical":
      ball("second");
      socket("first");
      break;
    case "planar":
      sheet();
      sleeve("z");
      break;
    case "screw": {
      add("first", new THREE.CylinderGeometry(0.5 * r, 0.5 * r, reach, ROUND).rotateX(Math.PI / 2));
      add("second", new THREE.CylinderGeometry(1.2 * r, 1.2 * r, 2 * r, 6).rotateX(Math.PI / 2));
      const thread = Array.from({ length: 121 }, (_, k) => {
        const turn = (k / 120) * 10 * Math.PI;
        return [0.75 * r * Math.cos(turn), 0.75 * r * Math.sin(turn), (k / 120 - 0.5) * reach];
      });
      lines("first", thread);
      break;
    }
    case "pin-slot": {
      const half = 6 * r;
      const bend = Array.from({ length: 13 }, (_, k) => -Math.PI / 2 + (k / 12) * Math.PI);
      const outline = [
        ...bend.map((a) => [half + r * Math.cos(a), r * Math.sin(a), 0]),
        ...bend.map((a) => [-half - r * Math.cos(a), -r * Math.sin(a), 0]),
      ];
      lines("first", outline, true);
      add("first", new THREE.BoxGeometry(2 * half, 0.25 * r, 0.5 * r).translate(0, 1.15 * r, 0));
      add("first", new THREE.BoxGeometry(2 * half, 0.25 * r, 0.5 * r).translate(0, -1.15 * r, 0));
      pin("second");
      break;
    }
    case "point-on-line":
      rail("z");
      ball("second");
      break;
    case "point-on-plane":
      sheet();
      ball("second");
      break;
    case "distance": {
      ball("first");
      ball("second");
      glyph.link = new THREE.Line(
        new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(), new THREE.Vector3()]),
        line,
      );
      break;
    }
    default:
      lines("second", [
        [-2 * r, 0, 0],
        [2 * r, 0, 0],
      ]);
      lines("second", [
        [0, -2 * r, 0],
        [0, 2 * r, 0],
      ]);
      lines("second", [
        [0, 0, -2 * r],
        [0, 0, 2 * r],
      ]);
  }
  return glyph;
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

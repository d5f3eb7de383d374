/** Belts of couplings: drawn over their wheels, with marks that run as they do. */

import * as THREE from "three";
import type { LineSegments2 } from "three/addons/lines/LineSegments2.js";
import { along, beltPath } from "./beltpath";
import type { Flat } from "./build/plane";
import type { Coupling, Joint } from "./messages";
import type { Vec3 } from "./numbers";
import { polyline, ribbonMaterial } from "./ribbons";
import type { Stage } from "./stage";
import { colour, onTheme } from "./theme";

const WIDE = 4; // pixels
const MARK = 7; // pixels of a mark
const SPACING = 1.2; // of marks, of the smaller wheel's radius
const RAISED = 1.01; // the belt lies on the rim

interface Belt {
  coupling: Coupling;
  lines: LineSegments2 | null;
  marks: THREE.Points;
  key: string; // what the way was laid by
  corners: Flat[];
  turned: number; // angle of the first wheel, whole turns counted [rad]
  isCrossed: boolean;
}

export class Belts {
  private belts: Belt[] = [];
  private band = ribbonMaterial(WIDE, "#000000");
  private dots = new THREE.PointsMaterial({ size: MARK, sizeAttenuation: false });

  constructor(private readonly stage: Stage) {
    onTheme(() => {
      this.band.color.set(colour("joint"));
      this.dots.color.set(colour("accent"));
    });
    stage.store.on("scene", () => this.build());
    stage.store.on("shown", () => this.place());
  }

  /** What is drawn, for tests. */
  state(): { name: string; crossed: boolean; turned: number; marks: number }[] {
    return this.belts.map(({ coupling, isCrossed, turned, marks }) => {
      return { name: coupling.name, crossed: isCrossed, turned, marks: marks.geometry.attributes.position?.count ?? 0 };
    });
  }

  private build(): void {
    const { scene } = this.stage.view;
    const wanted = (this.stage.store.scene?.couplings ?? []).filter(({ belt }) => belt !== null);
    for (const { lines, marks } of this.belts) {
      if (lines) scene.remove(lines);
      lines?.geometry.dispose();
      scene.remove(marks);
      marks.geometry.dispose();
    }
    const before = new Map(this.belts.map((belt) => [belt.coupling.name, belt.turned]));
    this.belts = wanted.map((coupling) => {
      const marks = new THREE.Points(new THREE.BufferGeometry(), this.dots);
      marks.frustumCulled = false;
      marks.raycast = () => {};
      scene.add(marks);
      const turned = before.get(coupling.name) ?? 0;
      return { coupling, lines: null, marks, key: "", corners: [], turned, isCrossed: false };
    });
    this.place();
  }

  private place(): void {
    for (const belt of this.belts) this.lay(belt);
  }

  /** Put a belt where its wheels are. */
  private lay(belt: Belt): void {
    const { store, mechanism, view } = this.stage;
    const { coupling } = belt;
    const [a, b] = [store.joint(coupling.joint_a), store.joint(coupling.joint_b)];
    const [Fa, Fb] = [a && mechanism.frameF(a), b && mechanism.frameF(b)];
    if (!a || !b || !Fa || !Fb || coupling.belt === null) return;
    const [n, other] = [Fa, Fb].map(({ q }) => new THREE.Vector3(0, 0, 1).applyQuaternion(q)) as [Vector, Vector];
    const x = Fb.p.clone().sub(Fa.p);
    x.addScaledVector(n, -x.dot(n));
    const [ra, rb] = [coupling.belt, coupling.belt / Math.abs(coupling.ratio)];
    const senses = sense(a, b) * sense(b, a) * n.dot(other);
    belt.isCrossed = coupling.ratio * senses < 0;
    const key = [ra, rb, x.length(), belt.isCrossed, ...Fa.p.toArray(), ...x.toArray(), ...n.toArray()].join(" ");
    const y = n.clone().cross(x).normalize();
    const distance = x.length();
    x.normalize();
    const up = ([u, v]: Flat): Vec3 => Fa.p.clone().addScaledVector(x, u).addScaledVector(y, v).toArray();
    if (key !== belt.key) {
      belt.key = key;
      belt.corners = beltPath(RAISED * ra, RAISED * rb, distance, belt.isCrossed) ?? [];
      if (belt.lines) view.scene.remove(belt.lines);
      belt.lines?.geometry.dispose();
      belt.lines = polyline([...belt.corners, ...belt.corners.slice(0, 1)].map(up), this.band);
      view.scene.add(belt.lines);
    }
    const M = mechanism.frameM(a);
    if (M) belt.turned = near(angleOf(Fa.q, M.q) * sense(a, b), belt.turned);
    const start = -ra * belt.turned; // the way goes clockwise
    const points = belt.corners.length ? along(belt.corners, start, SPACING * Math.min(ra, rb)) : [];
    belt.marks.geometry.setAttribute("position", new THREE.Float32BufferAttribute(points.flatMap(up), 3));
    view.touch();
  }
}

type Vector = THREE.Vector3;

/** 1 where the wheel is the joint's second body, -1 where it is the first; the other holds the other joint too. */
function sense({ first, second }: Joint, other: Joint): number {
  return second === other.first || second === other.second ? (first === "ground" ? 1 : -1) : 1;
}

/** The angle of M about the z of F [rad]. */
function angleOf(F: THREE.Quaternion, M: THREE.Quaternion): number {
  const turn = F.clone().invert().multiply(M);
  return 2 * Math.atan2(turn.z, turn.w);
}

/** An angle with the whole turns that bring it nearest to another. */
function near(angle: number, to: number): number {
  return angle + 2 * Math.PI * Math.round((to - angle) / (2 * Math.PI));
}

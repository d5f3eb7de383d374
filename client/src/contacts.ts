/**
 * Where bodies touch, and how hard: a point and an arrow of the force for each contact, in another colour where
 * it slides.
 */

import * as THREE from "three";
import { contactsAt, CONTACT as NUMBERS, type Touching } from "./interpolate";
import type { Stage } from "./stage";
import { colour, onTheme } from "./theme";

const KEPT = 9; // frames whose contacts are remembered: more than the picture is late by
const LONGEST = 0.25; // of the mechanism's size: the arrow of the largest force there was
const FADE = 0.995; // of the largest force, from frame to frame, so that arrows get longer when it is over

export class Contacts {
  private points: THREE.Points;
  private arrows: THREE.LineSegments;
  private room = 0;
  private kept: Touching[] = []; // of the newest frames
  private largest = 0; // force [N]
  private sticks = new THREE.Color();
  private slides = new THREE.Color();

  constructor(private readonly stage: Stage) {
    const dots = new THREE.PointsMaterial({ size: 5, sizeAttenuation: false, vertexColors: true, depthTest: false });
    const lines = new THREE.LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true });
    this.points = new THREE.Points(new THREE.BufferGeometry(), dots);
    this.arrows = new THREE.LineSegments(new THREE.BufferGeometry(), lines);
    for (const drawn of [this.points, this.arrows]) {
      drawn.frustumCulled = false;
      drawn.renderOrder = 5;
      stage.view.scene.add(drawn);
    }
    onTheme(() => {
      this.sticks.set(colour("force"));
      this.slides.set(colour("hand"));
    });
    stage.store.on("topology", () => {
      this.largest = 0;
      this.kept = [];
    });
    stage.store.on("frame", ({ time, contacts }) => {
      this.largest *= FADE;
      this.kept = [...this.kept.filter((frame) => frame.time < time).slice(1 - KEPT), { time, contacts }];
    });
    stage.store.on("shown", () => this.draw(contactsAt(this.kept, stage.store.playout.time)));
  }

  /** How many are drawn. */
  get count(): number {
    return this.points.geometry.drawRange.count;
  }

  private draw(found: Float32Array): void {
    const count = found.length / NUMBERS;
    if (count > this.room) this.grow(count);
    this.points.geometry.setDrawRange(0, count);
    this.arrows.geometry.setDrawRange(0, 2 * count);
    if (count === 0) return;
    for (let k = 0; k < count; k++) this.largest = Math.max(this.largest, force(found, k));
    const scale = (LONGEST * this.stage.view.size) / Math.max(this.largest, 1e-30);
    const at = this.attribute(this.points, "position");
    const tint = this.attribute(this.points, "color");
    const ends = this.attribute(this.arrows, "position");
    const tints = this.attribute(this.arrows, "color");
    const number = (k: number, place: number) => found[NUMBERS * k + place] ?? 0;
    for (let k = 0; k < count; k++) {
      const [x, y, z] = [number(k, 0), number(k, 1), number(k, 2)];
      const paint = number(k, 6) > 0 ? this.slides : this.sticks;
      at.setXYZ(k, x, y, z);
      tint.setXYZ(k, paint.r, paint.g, paint.b);
      ends.setXYZ(2 * k, x, y, z);
      ends.setXYZ(2 * k + 1, x + scale * number(k, 3), y + scale * number(k, 4), z + scale * number(k, 5));
      tints.setXYZ(2 * k, paint.r, paint.g, paint.b);
      tints.setXYZ(2 * k + 1, paint.r, paint.g, paint.b);
    }
    for (const written of [at, tint, ends, tints]) written.needsUpdate = true;
  }

  private attribute(of: THREE.Points | THREE.LineSegments, name: string): THREE.BufferAttribute {
    return of.geometry.getAttribute(name) as THREE.BufferAttribute;
  }

  private grow(count: number): void {
    this.room = 2 * count;
    for (const [drawn, ends] of [
      [this.points, 1],
      [this.arrows, 2],
    ] as const) {
      drawn.geometry.dispose();
      drawn.geometry = new THREE.BufferGeometry();
      for (const name of ["position", "color"]) {
        drawn.geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(3 * ends * this.room), 3));
      }
    }
  }
}

function force(found: Float32Array, k: number): number {
  return Math.hypot(...found.subarray(NUMBERS * k + 3, NUMBERS * k + 6));
}

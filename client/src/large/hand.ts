/** Pulling a body of a large world: press on one, and drag; a line shows from where to where. */

import * as THREE from "three";
import { colour, onTheme } from "../theme";
import type { Picture } from "./picture";

export interface Pull {
  body: number; // -1: let go
  at: number[];
  target: number[];
}

const NONE: Pull = { body: -1, at: [], target: [] };

export class Hand {
  isOn = false; // a press pulls, and does not turn the view
  private held: { body: number; at: THREE.Vector3; plane: THREE.Plane; target: THREE.Vector3; pointer: number } | null =
    null;
  private readonly line = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ depthTest: false }));
  private readonly dots = new THREE.Points(
    new THREE.BufferGeometry(),
    new THREE.PointsMaterial({ size: 9, sizeAttenuation: false, depthTest: false }),
  );
  private isTold = true; // the newest target has been sent

  constructor(
    private readonly picture: Picture,
    private readonly send: (pull: Pull) => void,
  ) {
    for (const object of [this.line, this.dots]) {
      object.frustumCulled = false;
      object.renderOrder = 2;
      object.visible = false;
      picture.add(object);
      onTheme(() => object.material.color.set(colour("hand")));
    }
    const canvas = picture.canvas;
    canvas.addEventListener("pointerdown", (event) => this.press(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"] as const)
      canvas.addEventListener(end, (event) => this.release(event));
    picture.before(() => this.draw());
    setInterval(() => this.tell(), 1000 / 30);
  }

  /** Number of the body that is held, -1: none. */
  get body(): number {
    return this.held?.body ?? -1;
  }

  /** Have presses pull, or turn the view. */
  toggle(): void {
    this.isOn = !this.isOn;
    this.picture.canvas.style.cursor = this.isOn ? "grab" : "";
  }

  /** Let go, such as of a body that is of a world that went. */
  drop(): void {
    this.held = null;
    this.line.visible = this.dots.visible = false;
    this.picture.turns = true;
  }

  private press(event: PointerEvent): void {
    if (!this.isOn || event.button !== 0 || !event.isPrimary) return;
    const { ray, sight } = this.picture.ray(event.offsetX, event.offsetY);
    const hit = this.picture.bodies.at(ray, this.picture.pixel);
    if (!hit) return; // beside all bodies: the view is turned
    this.picture.turns = false;
    this.picture.canvas.setPointerCapture(event.pointerId);
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(sight, hit.point);
    this.held = { body: hit.body, at: hit.at, plane, target: hit.point.clone(), pointer: event.pointerId };
    this.isTold = false;
  }

  private move(event: PointerEvent): void {
    const held = this.held;
    if (held?.pointer !== event.pointerId) return;
    const { ray } = this.picture.ray(event.offsetX, event.offsetY);
    if (!ray.intersectPlane(held.plane, held.target)) return;
    this.isTold = false;
    this.picture.touch();
  }

  private release(event: PointerEvent): void {
    if (this.held?.pointer !== event.pointerId) return;
    this.drop();
    this.send(NONE);
    this.picture.touch();
  }

  private tell(): void {
    if (this.isTold || !this.held) return;
    this.isTold = true;
    const { body, at, target } = this.held;
    this.send({ body, at: at.toArray(), target: target.toArray() });
  }

  private draw(): void {
    const held = this.held;
    const from = held && this.picture.bodies.point(held.body, held.at);
    this.line.visible = this.dots.visible = Boolean(from);
    if (!held || !from) return;
    for (const object of [this.line, this.dots]) object.geometry.setFromPoints([from, held.target]);
  }
}

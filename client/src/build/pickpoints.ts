/** Points picked one after another in the picture, for what asks for them: an axis, a work plane. */

import * as THREE from "three";
import type { Drag, Press, Presser } from "../gestures";
import { IconColours, path } from "../icons3d";
import type { Stage } from "../stage";
import { colour, onTheme } from "../theme";
import type { Drafting, Place } from "./drafting";

const LABEL = "picked point ";

/** A point that was picked: what the session takes for it, and where it is shown. */
export interface PickedPoint {
  place: Place;
  world: THREE.Vector3;
  normal?: THREE.Vector3 | null; // of the surface there
  body?: string; // whose it is
}

interface Wanted {
  count: number;
  surface?: boolean; // on a body only, whatever marks are near
  hint: (have: number) => string;
  done: (points: PickedPoint[]) => void;
}

export class PickPoints implements Presser {
  private wanted: Wanted | null = null;
  private points: PickedPoint[] = [];
  private colours = new IconColours();
  private band = path(this.colours);

  constructor(
    private readonly stage: Stage,
    private readonly drafting: Drafting,
    private readonly say: (text: string | null) => void,
  ) {
    onTheme(() => this.colours.set(colour("accent")));
    this.band.visible = false;
    stage.view.scene.add(this.band);
    for (const event of ["pick", "tool", "opened"] as const) stage.store.on(event, () => this.end());
    addEventListener(
      "keydown",
      (event) => {
        if (event.key !== "Escape" || !this.wanted) return;
        this.end();
        event.stopImmediatePropagation();
      },
      { capture: true },
    );
  }

  /** Ask for points; time stops, so that they stay where they are. */
  begin(wanted: Wanted): void {
    this.end();
    const { store, actions } = this.stage;
    if (store.status && !store.status.paused) void actions.control("pause");
    this.wanted = wanted;
    this.show();
  }

  /** How many are still to be picked. */
  get left(): number {
    return this.wanted ? this.wanted.count - this.points.length : 0;
  }

  press(press: Press): Drag | null {
    if (!this.wanted) return null;
    return {
      move: () => {},
      cancel: () => {},
      end: () => {
        const point = this.wanted?.surface ? this.onSurface(press) : this.drafting.pointAt(press);
        if (!point || !this.wanted) return;
        this.points.push(point);
        const { wanted, points } = this;
        if (points.length < wanted.count) this.show();
        else {
          this.end();
          wanted.done(points);
        }
      },
    };
  }

  private onSurface({ x, y, isTouch }: Press): PickedPoint | null {
    const hit = this.stage.picking.hit(x, y, ["body", "obstacle"], isTouch);
    return hit && { place: hit.point.toArray(), world: hit.point, normal: hit.normal, body: hit.name };
  }

  private end(): void {
    if (!this.wanted) return;
    this.wanted = null;
    this.points = [];
    this.say(null);
    this.show();
  }

  private show(): void {
    const { labels, view } = this.stage;
    const world = this.points.map((point) => point.world);
    this.band.geometry.dispose();
    this.band.geometry = new THREE.BufferGeometry().setFromPoints(world);
    this.band.visible = world.length > 1;
    world.forEach((point, k) => {
      labels.set(`${LABEL}${k}`, String(k + 1), point, "drawn");
    });
    labels.keepOnly(LABEL, new Set(world.map((_, k) => `${LABEL}${k}`)));
    if (this.wanted) this.say(this.wanted.hint(world.length));
    view.touch();
  }
}

/** Distances and angles that the model names: drawn with their values, and picked by points. */

import * as THREE from "three";
import type { PickedPoint, PickPoints } from "./build/pickpoints";
import type { Add } from "./edits";
import { IconColours, path } from "./icons3d";
import type { Element } from "./messages";
import { show } from "./numbers";
import type { Stage } from "./stage";
import { colour, onTheme } from "./theme";

const LABEL = "measure ";
const KINDS = ["distance", "angle"];

/** What a measure is at the places of its points: a length, or the angle between two lines in degrees. */
export function measured(kind: string, points: THREE.Vector3[]): string {
  const [a, b, c, d] = points;
  if (!a || !b) return "";
  if (kind === "distance") return `${show(a.distanceTo(b), 5)} m`;
  if (!c || !d) return "";
  const [one, other] = [b.clone().sub(a), d.clone().sub(c)];
  const angle = Math.atan2(one.clone().cross(other).length(), one.dot(other));
  return `${show((angle * 180) / Math.PI, 5)}°`;
}

export class Measures {
  private colours = new IconColours();
  private lines = new Map<string, THREE.Line[]>();

  constructor(private readonly stage: Stage) {
    onTheme(() => this.colours.set(colour("accent")));
    stage.store.on("scene", () => this.build());
    stage.store.on("shown", () => this.place());
  }

  private get elements(): Element[] {
    return this.stage.store.scene?.elements.filter(({ kind }) => KINDS.includes(kind)) ?? [];
  }

  private build(): void {
    const { labels, view } = this.stage;
    const names = new Set(this.elements.map(({ name }) => name));
    for (const [name, lines] of this.lines)
      if (!names.has(name)) {
        view.scene.remove(...lines);
        for (const line of lines) line.geometry.dispose();
        this.lines.delete(name);
      }
    for (const { name, kind } of this.elements)
      if (!this.lines.has(name)) {
        const lines = (kind === "angle" ? [0, 1] : [0]).map(() => path(this.colours));
        view.scene.add(...lines);
        this.lines.set(name, lines);
      }
    labels.keepOnly(LABEL, new Set([...names].map((name) => LABEL + name)));
    this.place();
  }

  private place(): void {
    const { labels, mechanism } = this.stage;
    for (const { name, kind, points } of this.elements) {
      const places = points.flatMap(({ body, at }) => mechanism.point(body, at) ?? []);
      const [a, b] = places;
      if (places.length < points.length || !a || !b) continue;
      this.lines.get(name)?.forEach((line, k) => {
        line.geometry.setFromPoints(places.slice(2 * k, 2 * k + 2));
      });
      labels.set(LABEL + name, `${name} ${measured(kind, places)}`, middle(places), "name joint");
    }
  }
}

/** The mean of points: of a distance its middle, of an angle between its lines. */
function middle(points: THREE.Vector3[]): THREE.Vector3 {
  return points.reduce((sum, point) => sum.add(point), new THREE.Vector3()).divideScalar(points.length);
}

/** Ask for the points of a new measure: two of a distance, two lines of an angle. */
export function pickMeasure({ actions, store }: Stage, points: PickPoints, kind: "distance" | "angle"): void {
  const count = kind === "distance" ? 2 : 4;
  const words = ["the first point", "the second point", "a point of the second line", "its other point"];
  const on = (point: PickedPoint): string => (typeof point.place[0] === "string" ? point.place[0] : "ground");
  points.begin({
    count,
    hint: (have) => `${kind}: click ${words[have]}; Escape ends it`,
    done: ([a, b, c, d]) => {
      if (!a || !b) return;
      const name = store.freeName(kind);
      const distance: Add = {
        edit: "Add",
        kind: "distance",
        name,
        options: { first: on(a), second: on(b), at_a: a.place, at_b: b.place },
      };
      if (kind === "distance") return void actions.apply(distance);
      if (!c || !d) return;
      const options = { first: on(a), second: on(c), from_a: a.place, to_a: b.place, from_b: c.place, to_b: d.place };
      void actions.apply({ edit: "Add", kind: "angle", name, options });
    },
  });
}

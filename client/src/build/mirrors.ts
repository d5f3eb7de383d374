/** Mirror images of what is picked: at a plane of coordinates, across an axis of the work plane, or at a line in it. */

import * as THREE from "three";
import { openDialog } from "../dialogs";
import { h } from "../dom";
import type { Free, Mirror } from "../edits";
import { readFinite, type Vec3 } from "../numbers";
import type { Stage } from "../stage";
import { tellError } from "../toasts";
import { AXES, bodiesFor, field } from "./copies";
import type { Drafting } from "./drafting";
import type { PickPoints } from "./pickpoints";

const PLANES: Record<string, string> = {
  x: "across x, at x =",
  y: "across y, at y =",
  z: "across z, at z =",
  u: "across u of the work plane, at u =",
  v: "across v of the work plane, at v =",
};

export class Mirrors {
  constructor(
    private readonly stage: Stage,
    private readonly drafting: Drafting,
    private readonly points: PickPoints,
  ) {}

  /** Ask for the plane. */
  open(): void {
    const bodies = bodiesFor(this.stage, "mirror");
    if (bodies.length === 0) return;
    this.drafting.face();
    const plane = h(
      "select",
      { name: "plane", "aria-label": "plane" },
      ...Object.entries(PLANES).map(([name, text]) => h("option", { value: name }, text)),
    );
    const at = field("at in m", "0");
    const form = h(
      "form",
      { class: "copies" },
      h("p", { class: "muted" }, `${bodies.join(", ")}, with what holds them among each other and to the ground.`),
      h("label", {}, "plane", plane, at, "m"),
      h("button", { type: "submit", class: "primary" }, "Mirror"),
      h(
        "button",
        {
          type: "button",
          onclick: () => {
            dialog.close();
            this.atLine(bodies);
          },
        },
        "At a line: pick two points",
      ),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      try {
        void this.stage.actions.apply(this.edit(bodies, plane.value, readFinite(at.value, "at"))).then((reply) => {
          if (reply) dialog.close();
        });
      } catch (error) {
        tellError(error);
      }
    });
    const dialog = openDialog("Mirror", form);
    plane.focus();
  }

  private edit(bodies: string[], name: string, at: number): Mirror {
    const { plane } = this.drafting;
    const across = name === "u" ? plane.u : name === "v" ? plane.v : new THREE.Vector3(...(AXES[name] ?? [1, 0, 0]));
    const origin = name === "u" || name === "v" ? plane.origin.clone() : new THREE.Vector3();
    const point: Vec3 = origin.addScaledVector(across, at).toArray();
    return { edit: "Mirror", bodies, normal: across.toArray(), point };
  }

  /** The plane holds the line and stands across the work plane; the session has the points to the last bit. */
  private atLine(bodies: string[]): void {
    this.points.begin({
      count: 2,
      hint: (have) =>
        `mirror: click ${have ? "the second point" : "the first of two points"} of a line; Escape ends it`,
      done: ([a, b]) => {
        if (!a || !b) return;
        const normal = this.drafting.plane.normal.cross(b.world.clone().sub(a.world)).normalize();
        const [point, along] = [a.place as Free, b.place as Free];
        void this.stage.actions.apply({ edit: "Mirror", bodies, normal: normal.toArray(), point, along });
      },
    });
  }
}

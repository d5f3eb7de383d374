/**
 * The view cube: shows how the scene is seen, and turns the view: a face is a button, a drag turns it. Beside it, the
 * view from aside and whether lines stay parallel.
 */

import * as THREE from "three";
import { byId, h } from "./dom";
import type { View } from "./view";
import { direction, type Named } from "./views";

const FACES: [Named, string, string][] = [
  ["front", "Front", "translateZ(var(--half))"],
  ["back", "Back", "rotateY(180deg) translateZ(var(--half))"],
  ["right", "Right", "rotateY(90deg) translateZ(var(--half))"],
  ["left", "Left", "rotateY(-90deg) translateZ(var(--half))"],
  ["top", "Top", "rotateX(90deg) translateZ(var(--half))"],
  ["bottom", "Below", "rotateX(-90deg) translateZ(var(--half))"],
];
const TURN = 0.01; // rad for a pixel of a drag

export class ViewCube {
  private readonly cube = h("div", { class: "cube" });
  private readonly faces: { named: Named; button: HTMLButtonElement }[];
  private readonly parallel: HTMLButtonElement;
  private dragged = false;

  constructor(private readonly view: View) {
    this.faces = FACES.map(([named, text, place]) => {
      const button = h(
        "button",
        { type: "button", title: `From the ${named}`, "data-view": named, onclick: () => this.look(named) },
        text,
      );
      button.style.transform = place;
      return { named, button };
    });
    this.cube.append(...this.faces.map(({ button }) => button));
    const iso = h(
      "button",
      { type: "button", title: "Isometric view (4)", "data-view": "isometric", onclick: () => this.look("isometric") },
      "Iso",
    );
    this.parallel = h(
      "button",
      {
        type: "button",
        title: "Orthographic: parallel lines stay parallel (5)",
        "data-view": "orthographic",
        "aria-pressed": "false",
        onclick: () => view.setOrthographic(!view.isOrthographic),
      },
      "Ortho",
    );
    const scene = h("div", { class: "space" }, this.cube);
    byId("view-cube").append(scene, h("div", { class: "sides" }, iso, this.parallel));
    this.drags(scene);
    view.onTurn(() => this.turn());
    this.turn();
  }

  private look(named: Named): void {
    if (!this.dragged) this.view.look(named);
  }

  private drags(area: HTMLElement): void {
    let last: { x: number; y: number } | null = null;
    area.addEventListener("pointerdown", ({ clientX, clientY }) => {
      last = { x: clientX, y: clientY };
      this.dragged = false;
    });
    addEventListener("pointermove", ({ clientX, clientY }) => {
      if (!last) return;
      const [x, y] = [clientX - last.x, clientY - last.y];
      if (!this.dragged && Math.hypot(x, y) < 4) return;
      this.dragged = true;
      this.view.turn(-TURN * x, TURN * y);
      last = { x: clientX, y: clientY };
    });
    for (const end of ["pointerup", "pointercancel"] as const)
      addEventListener(end, () => {
        last = null;
        setTimeout(() => {
          this.dragged = false;
        });
      });
  }

  /** Show the cube as the scene is seen; faces that are seen can be reached by Tab. */
  private turn(): void {
    const { view } = this;
    const seen = new THREE.Matrix4().makeRotationFromQuaternion(view.camera.quaternion).invert();
    const [right, up, front] = (["right", "top", "front"] as const).map((named) =>
      direction(named, view.basis).transformDirection(seen),
    ) as [THREE.Vector3, THREE.Vector3, THREE.Vector3];
    const css = (v: THREE.Vector3, sign = 1) =>
      [sign * v.x, -sign * v.y, sign * v.z, 0].map((x) => x.toFixed(5)).join(",");
    this.cube.style.transform = `matrix3d(${css(right)},${css(up, -1)},${css(front)},0,0,0,1)`;
    const facing = { front, back: front, right, left: right, top: up, bottom: up };
    for (const { named, button } of this.faces) {
      const away = facing[named as keyof typeof facing].z * (["back", "left", "bottom"].includes(named) ? -1 : 1);
      button.tabIndex = away > 0.2 ? 0 : -1;
    }
    this.parallel.setAttribute("aria-pressed", String(view.isOrthographic));
  }
}

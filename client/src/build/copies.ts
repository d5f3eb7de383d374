/** What is picked, copied or moved as a whole: once, in a row, or around an axis of the world. */

import * as THREE from "three";
import { openDialog } from "../dialogs";
import { h } from "../dom";
import type { Copy, Shift } from "../edits";
import { exact, readFinite, roundNumber, type Vec3 } from "../numbers";
import type { Stage } from "../stage";
import { tell, tellError } from "../toasts";

export const AXES: Record<string, Vec3> = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] };

/** A field of a dialog. */
export function field(label: string, value: string): HTMLInputElement {
  return h("input", { name: label, value, inputmode: "decimal", "aria-label": label });
}

/** The bodies that are picked, by themselves or in groups; none, and it is said what to do. */
export function bodiesFor({ store }: Stage, verb: string): string[] {
  const bodies = store.pickedBodies;
  if (bodies.length === 0) tell(`${verb}: pick a body or a group first, or several by Shift`);
  return bodies;
}

/** Ask how the picked bodies are to be copied. */
export function openCopies(stage: Stage): void {
  const bodies = bodiesFor(stage, "copy");
  if (bodies.length === 0) return;
  const count = field("copies", "1");
  openPlacing(stage, "Copy", bodies, h("label", {}, "copies", count), count, (shift, angle, axis): Copy => {
    return { edit: "Copy", bodies, shift, angle, axis, count: readFinite(count.value, "copies") };
  });
}

/** Ask where the picked bodies are to be moved; they turn about the middle of their centres. */
export function openMove(stage: Stage): void {
  const bodies = bodiesFor(stage, "move");
  if (bodies.length === 0) return;
  const middle = new THREE.Vector3();
  for (const body of bodies) middle.add(stage.mechanism.point(body) ?? new THREE.Vector3());
  const centre = middle
    .divideScalar(bodies.length)
    .toArray()
    .map((x) => roundNumber(x, 6)) as Vec3;
  openPlacing(stage, "Move", bodies, null, null, (shift, angle, axis): Shift => {
    return { edit: "Shift", bodies, shift, angle, axis, centre };
  });
}

function openPlacing(
  { actions, view }: Stage,
  title: "Copy" | "Move",
  bodies: string[],
  first: HTMLElement | null,
  focus: HTMLInputElement | null,
  edit: (shift: Vec3, angle: number, axis: Vec3) => Copy | Shift,
): void {
  const each = title === "Copy" ? " each" : "";
  const shift = ["x", "y", "z"].map((axis) =>
    field(`shift ${axis} in m`, axis === "x" ? exact(roundNumber(0.2 * view.size, 1)) : "0"),
  );
  const turn = field("turn in degrees", "0");
  const axis = h("select", { "aria-label": "about" }, ...Object.keys(AXES).map((name) => h("option", {}, name)));
  axis.value = "z";
  const form = h(
    "form",
    { class: "copies" },
    h("p", { class: "muted" }, `${bodies.join(", ")}, with the joints and springs among them and to the ground.`),
    ...(first ? [first] : []),
    h("label", {}, `shift${each} [m]`, ...shift),
    h("label", {}, `turn${each} [°]`, turn, "about", axis),
    h("button", { type: "submit", class: "primary" }, title),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    try {
      const way = shift.map(({ value }) => readFinite(value, "shift")) as Vec3;
      const angle = (readFinite(turn.value, "turn") * Math.PI) / 180;
      void actions.apply(edit(way, angle, AXES[axis.value] ?? [0, 0, 1])).then((reply) => {
        if (reply) dialog.close();
      });
    } catch (error) {
      tellError(error);
    }
  });
  const dialog = openDialog(title, form);
  const start = focus ?? shift[0];
  start?.focus();
  start?.select();
}

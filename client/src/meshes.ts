/** A mesh from a file becomes a body: asked for is the file's unit of length, and what stands for it. */

import { openDialog } from "./dialogs";
import { h, setText } from "./dom";
import type { Add } from "./edits";
import type { MeshReply } from "./messages";
import { readFinite, show, type Vec3 } from "./numbers";

const UNITS: [string, number][] = [
  ["mm", 1e-3],
  ["cm", 1e-2],
  ["m", 1],
  ["inch", 0.0254],
];
const LARGE = 2; // file units: a part that is larger is taken for one in millimetres

/** Which unit a file is taken to have, unless it is told otherwise. */
export function likelyUnit(size: number[]): string {
  return Math.max(...size) > LARGE ? "mm" : "m";
}

/** The body: mass and inertia are those of the mesh itself where it is closed, else of its hull. */
export function meshBody(
  { shape, solid }: Pick<MeshReply, "shape" | "solid">,
  scale: number,
  density: number,
  isDrawn: boolean,
): NonNullable<Add["options"]> {
  const grown = (points: number[][]): Vec3[] => points.map((point) => point.map((x) => x * scale) as Vec3);
  const hull = { ...shape, points: grown(shape.points as number[][]) };
  if (!solid || !isDrawn) return { shape: hull, density };
  const inertia = solid.inertia.map((row) => row.map((x) => x * scale ** 5 * density));
  return {
    shape: { shape: "mesh", vertices: grown(solid.vertices), triangles: solid.triangles },
    mass: solid.volume * scale ** 3 * density,
    inertia,
  } as NonNullable<Add["options"]>;
}

/** Ask how a mesh is to be taken; null: not at all. */
export function askMesh(name: string, reply: MeshReply): Promise<NonNullable<Add["options"]> | null> {
  return new Promise((resolve) => {
    const unit = h(
      "select",
      { "aria-label": "Unit of length in the file" },
      ...UNITS.map(([text]) => h("option", { value: text, selected: text === likelyUnit(reply.size) }, text)),
    );
    const density = h("input", { value: "1000", inputmode: "decimal", "aria-label": "Density [kg/m³]" });
    const drawn = h("input", { type: "checkbox", checked: reply.solid !== null, disabled: reply.solid === null });
    const told = h("p", { role: "status" });
    const read = (): NonNullable<Add["options"]> =>
      meshBody(
        reply,
        UNITS.find(([text]) => text === unit.value)?.[1] ?? 1,
        readFinite(density.value, "density"),
        drawn.checked,
      );
    const tell = (): void => {
      const scale = UNITS.find(([text]) => text === unit.value)?.[1] ?? 1;
      const box = reply.size.map((edge) => show(edge * scale, 4)).join(" × ");
      const mass = reply.solid ? reply.solid.volume * scale ** 3 * Number(density.value) : NaN;
      setText(told, `It is ${box} m large${Number.isFinite(mass) ? ` and has ${show(mass, 4)} kg` : ""}.`);
    };
    const why = reply.solid
      ? "Drawn as it is, with its own mass and inertia; else its convex hull stands for it, which can touch."
      : "It is not closed, or has more than 5,000 triangles: its convex hull stands for it, in the picture and by its mass.";
    const form = h(
      "form",
      { class: "mesh" },
      h("p", {}, `${reply.text}.`),
      h("label", {}, "unit of length ", unit),
      h("label", {}, " density ", density, " kg/m³"),
      h("p", {}, h("label", {}, drawn, " the mesh itself"), h("br"), h("small", { class: "muted" }, why)),
      told,
      h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Add body")),
    );
    for (const field of [unit, density, drawn]) field.addEventListener("input", tell);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      try {
        resolve(read());
        dialog.close();
      } catch (error) {
        setText(told, (error as Error).message);
      }
    });
    const dialog = openDialog(name, form);
    dialog.addEventListener("close", () => resolve(null));
    tell();
  });
}

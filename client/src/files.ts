/** Scenes and files: the picker, what can be opened by drag and drop, what can be saved. */

import { menuButton, openDialog } from "./dialogs";
import { byId, download, h, setText } from "./dom";
import { icon } from "./icons";
import type { MeshReply, Reply, SceneEntry } from "./messages";
import { parseNumber, plain, roundVector } from "./numbers";
import type { Plots } from "./plots";
import type { Stage } from "./stage";
import { tell, tellError } from "./toasts";

const DENSITY = 1000; // of a mesh [kg/m³]
const MESHES = [".stl", ".obj"];

export class Files {
  constructor(
    private readonly stage: Stage,
    plots: Plots,
  ) {
    const { store } = stage;
    const scenes = byId<HTMLButtonElement>("scene-button");
    scenes.addEventListener("click", () => this.pickScene());
    store.on("scene", (scene) => setText(scenes, `${scene.name} ▾`));
    const files = byId<HTMLButtonElement>("files-button");
    files.append(icon("files"));
    files.title = "Open and save";
    files.setAttribute("aria-label", "Open and save");
    const save = (text: string, path: string, name: string): HTMLElement =>
      h("button", { type: "button", onclick: () => void this.fetch(path, name) }, text);
    menuButton(files, () => [
      h("button", { type: "button", onclick: () => this.choose() }, "Open scene or mesh…"),
      save("Save scene (JSON)", "api/scene.json", "scene.json"),
      save("Save journal", "api/journal", "session.journal"),
      save("Save results (NetCDF)", "api/results.nc", "results.nc"),
      h(
        "button",
        { type: "button", onclick: () => download("signals.csv", new Blob([plots.csv()], { type: "text/csv" })) },
        "Save plots (CSV)",
      ),
      h("button", { type: "button", onclick: () => this.picture() }, "Save picture (PNG)"),
      h("button", { type: "button", onclick: () => void this.logOut() }, "Log out"),
    ]);
    this.acceptDrops();
  }

  /** End this browser's session; the studio's link begins another. */
  private async logOut(): Promise<void> {
    try {
      const answer = await fetch("api/logout", { method: "POST" });
      const reply = (await answer.json()) as Reply;
      tell(reply.text, reply.ok ? "info" : "error");
    } catch (problem) {
      tellError(problem);
    }
  }

  private pickScene(): void {
    const form = (entry: SceneEntry): HTMLFormElement => {
      const fields = Object.entries(entry.parameters).map(([name, value]) => ({
        name,
        value,
        input: field(name, value),
      }));
      const made = h(
        "form",
        {},
        h("div", {}, h("strong", {}, entry.name), h("div", { class: "muted" }, entry.description)),
        h("button", { type: "submit", class: "primary", "aria-label": `Open ${entry.name}` }, "Open"),
        h("div", { class: "parameters" }, ...fields.map(({ name, input }) => h("label", {}, name, input))),
      );
      made.addEventListener("submit", (event) => {
        event.preventDefault();
        const changed = fields
          .map(({ name, value, input }) => [name, read(input, value), value] as const)
          .filter(([, now, before]) => now !== before);
        void this.stage.actions
          .control("scene", {
            name: entry.name,
            parameters: Object.fromEntries(changed.map(([name, now]) => [name, now])),
          })
          .then((reply) => {
            if (reply) dialog.close();
          });
      });
      return made;
    };
    const dialog = openDialog(
      "Scenes",
      h("div", { class: "scenes" }, ...(this.stage.store.scene?.scenes ?? []).map(form)),
    );
  }

  /** Of files that the server takes for scenes. */
  private suffixes(): string[] {
    return this.stage.store.scene?.suffixes ?? [".json"];
  }

  private choose(): void {
    const input = h("input", { type: "file", accept: [...this.suffixes(), ...MESHES].join(",") });
    input.addEventListener("change", () => {
      if (input.files?.[0]) void this.open(input.files[0]);
    });
    input.click();
  }

  private acceptDrops(): void {
    const sign = byId("drop");
    let depth = 0;
    addEventListener("dragenter", (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      depth += 1;
      sign.hidden = false;
    });
    addEventListener("dragleave", () => {
      depth = Math.max(0, depth - 1);
      if (depth === 0) sign.hidden = true;
    });
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      depth = 0;
      sign.hidden = true;
      const file = event.dataTransfer?.files[0];
      if (file) void this.open(file);
    });
  }

  /** A scene file becomes the world; a mesh becomes a body of its convex hull. */
  private async open(file: File): Promise<void> {
    try {
      const ends = (suffix: string) => file.name.toLowerCase().endsWith(suffix);
      const name = encodeURIComponent(file.name);
      if (this.suffixes().some(ends)) {
        await this.post(`api/scene-file?name=${name}`, file); // all are told of the new scene
      } else if (MESHES.some(ends)) {
        const reply = (await this.post(`api/mesh?name=${name}`, file)) as MeshReply;
        const position = roundVector(this.stage.view.controls.target.toArray(), 6);
        await this.stage.actions.apply({
          edit: "Add",
          kind: "body",
          name: this.stage.store.freeName("mesh"),
          options: { shape: reply.shape, density: DENSITY, position },
        });
        tell(reply.text);
      } else {
        const scenes = this.suffixes().join(", ");
        throw new Error(`'${file.name}': no scene file (${scenes}) and no mesh (${MESHES.join(", ")})`);
      }
    } catch (error) {
      tellError(error);
    }
  }

  private async post(path: string, body: File): Promise<Reply | MeshReply> {
    const answer = await fetch(path, { method: "POST", body, headers: { "Content-Type": "application/octet-stream" } });
    const reply = (await answer.json()) as Reply | MeshReply;
    if (!answer.ok || !reply.ok) throw new Error(reply.text);
    return reply;
  }

  private async fetch(path: string, name: string): Promise<void> {
    try {
      const answer = await fetch(path);
      if (!answer.ok) throw new Error(((await answer.json()) as Reply).text);
      download(name, await answer.blob());
    } catch (error) {
      tellError(error);
    }
  }

  private picture(): void {
    this.stage.view.canvas.toBlob((blob) => blob && download("impulsar.png", blob));
  }
}

function field(name: string, value: unknown): HTMLInputElement {
  if (typeof value === "boolean") return h("input", { type: "checkbox", name, checked: value });
  return h("input", { name, value: value === null ? "" : String(value) });
}

function read(input: HTMLInputElement, before: unknown): unknown {
  if (typeof before === "boolean") return input.checked;
  const typed = typeof before === "number" ? parseNumber(input.value) : null;
  if (typed !== null) return plain(typed);
  return input.value === "" && before === null ? null : input.value;
}

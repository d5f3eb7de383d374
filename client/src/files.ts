/** Scenes and files: the picker, what can be opened by drag and drop, what can be saved. */

import { menuButton, openDialog } from "./dialogs";
import { byId, download, h, setText } from "./dom";
import { exportItems } from "./exports";
import { gallery, rememberFile } from "./gallery";
import { request } from "./host";
import { icon } from "./icons";
import { askMesh } from "./meshes";
import type { MeshReply, Reply } from "./messages";
import { roundVector } from "./numbers";
import type { Plots } from "./plots/plots";
import type { Shooting } from "./shooting";
import type { Stage } from "./stage";
import { tell, tellError } from "./toasts";

const MESHES = [".stl", ".obj"];

export class Files {
  constructor(
    private readonly stage: Stage,
    plots: Plots,
    shooting: Shooting,
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
      h(
        "button",
        {
          type: "button",
          title: "The bodies are where they are now, and move as they do now",
          onclick: () => void this.saveScene(),
        },
        "Save scene as shown (JSON)",
      ),
      h(
        "button",
        {
          type: "button",
          title: "The bodies are where Reset brings them",
          onclick: () => void this.saveScene("start"),
        },
        "Save scene as it starts (JSON)",
      ),
      save("Save journal", "api/journal", "session.journal"),
      save("Save results (NetCDF)", "api/results.nc", "results.nc"),
      h("button", { type: "button", onclick: () => void plots.save("signals.csv") }, "Save plots (CSV)"),
      h("button", { type: "button", onclick: () => this.picture() }, "Save picture (PNG)"),
      ...exportItems(stage.view, () => shooting.open()),
      h("button", { type: "button", onclick: () => void this.logOut() }, "Log out"),
    ]);
    this.acceptDrops();
    this.offerLeft();
    let isAsked = false; // once for each page
    store.on("status", ({ choosing }) => {
      if (choosing && !isAsked && store.scene) this.pickScene();
      isAsked ||= store.scene !== null;
    });
  }

  private async saveScene(pose: "shown" | "start" = "shown"): Promise<boolean> {
    if (!(await this.fetch(`api/scene.json?pose=${pose}`, "scene.json"))) return false;
    tell(
      pose === "shown"
        ? "saved as shown: the scene will start from this pose and motion"
        : "saved as it starts, not as it is shown",
    );
    return true;
  }

  /** Ask before a scene with changes that are in no file gives way to another; false: it stays. */
  private mayLeave(): Promise<boolean> {
    const { status, scene } = this.stage.store;
    if (!status?.changed) return Promise.resolve(true);
    return new Promise((resolve) => {
      const answer = (text: string, then: () => Promise<boolean>, kind = ""): HTMLElement =>
        h(
          "button",
          {
            type: "button",
            class: kind,
            onclick: async () => {
              resolve(await then());
              dialog.close();
            },
          },
          text,
        );
      const dialog = openDialog(
        "Not saved",
        h("p", {}, `'${scene?.name}' has changes that are in no file. Undo will bring it back while this studio runs.`),
        h(
          "div",
          { class: "actions" },
          answer("Save scene first", () => this.saveScene(), "primary"),
          answer("Open without saving", async () => true),
          answer("Cancel", async () => false),
        ),
      );
      dialog.addEventListener("close", () => resolve(false));
    });
  }

  /** Offer the session that ended with work in it. */
  private offerLeft(): void {
    const { store, actions } = this.stage;
    const box = byId("left");
    const text = h("span", {});
    const choose = (action: "recover" | "discard"): void => void actions.control(action);
    box.append(
      text,
      h("button", { type: "button", class: "primary", onclick: () => choose("recover") }, "Go on with it"),
      h("button", { type: "button", onclick: () => choose("discard") }, "Discard it"),
    );
    store.on("status", ({ left }) => {
      box.hidden = left === null;
      setText(text, `A session ended with work that is in no file: ${left}.`);
    });
  }

  /** End this browser's session; the studio's link begins another. */
  private async logOut(): Promise<void> {
    try {
      const answer = await request("api/logout", { method: "POST" });
      const reply = (await answer.json()) as Reply;
      tell(reply.text, reply.ok ? "info" : "error");
    } catch (problem) {
      tellError(problem);
    }
  }

  private pickScene(): void {
    const done = (): void => dialog.close();
    const scenes = this.stage.store.scene?.scenes ?? [];
    const dialog = openDialog(
      "Scenes",
      gallery(scenes, this.opener(), this.blank(done), (file) => this.open(file), done),
    );
  }

  /** Opens built-in scenes, where the one that is there may go; whether it did. */
  private opener(): (name: string, parameters: Record<string, unknown>) => Promise<boolean> {
    return async (name, parameters) =>
      (await this.mayLeave()) && (await this.stage.actions.control("scene", { name, parameters })) !== null;
  }

  /** The first of the scenes: an empty one, to draw in. */
  private blank(done: () => void): HTMLFormElement {
    const { actions, store, view } = this.stage;
    const made = h(
      "form",
      {},
      h("div", {}, h("strong", {}, "New"), h("div", { class: "muted" }, "Nothing but the ground: draw a mechanism.")),
      h("button", { type: "submit", class: "primary", "aria-label": "New scene" }, "New"),
    );
    made.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.opener()("empty", {}).then(async (isOpen) => {
        if (!isOpen) return;
        await actions.control("pause");
        if (store.scene?.bodies.length === 0) view.enter(store.scene, []);
        store.setTool("link");
        done();
      });
    });
    return made;
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

  /** A scene file becomes the world; a mesh becomes a body. */
  private async open(file: File): Promise<void> {
    try {
      const ends = (suffix: string) => file.name.toLowerCase().endsWith(suffix);
      const name = encodeURIComponent(file.name);
      if (this.suffixes().some(ends)) {
        if (!(await this.mayLeave())) return;
        const reply = await this.post(`api/scene-file?name=${name}`, file); // all are told of the new scene
        await rememberFile(file);
        showReport(reply.text);
      } else if (MESHES.some(ends)) {
        const reply = (await this.post(`api/mesh?name=${name}`, file)) as MeshReply;
        const options = await askMesh(file.name, reply);
        if (!options) return;
        const position = roundVector(this.stage.view.controls.target.toArray(), 6);
        await this.stage.actions.apply({
          edit: "Add",
          kind: "body",
          name: this.stage.store.freeName("mesh"),
          options: { ...options, position },
        });
      } else {
        const scenes = this.suffixes().join(", ");
        throw new Error(`'${file.name}': no scene file (${scenes}) and no mesh (${MESHES.join(", ")})`);
      }
    } catch (error) {
      tellError(error);
    }
  }

  private async post(path: string, body: File): Promise<Reply | MeshReply> {
    const answer = await request(path, {
      method: "POST",
      body,
      headers: { "Content-Type": "application/octet-stream" },
    });
    const reply = (await answer.json()) as Reply | MeshReply;
    if (!answer.ok || !reply.ok) throw new Error(reply.text);
    return reply;
  }

  private async fetch(path: string, name: string): Promise<boolean> {
    try {
      const answer = await request(path);
      if (!answer.ok) throw new Error(((await answer.json()) as Reply).text);
      download(name, await answer.blob());
      return true;
    } catch (error) {
      tellError(error);
      return false;
    }
  }

  private picture(): void {
    this.stage.view.canvas.toBlob((blob) => blob && download("impulsar.png", blob));
  }
}

/** What was lost of another program's file, to whoever opened it; of a scene file there is one line, and nothing is. */
function showReport(text: string): void {
  const [summary = "", ...losses] = text.split("\n");
  if (losses.length === 0) return;
  openDialog("Not taken as it stands", h("p", {}, summary), h("ul", {}, ...losses.map((loss) => h("li", {}, loss))));
}

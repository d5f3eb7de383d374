/** The page of a large world: what is shown of it, its time, its books. */

import "../app.css";
import "./large.css";
import { Vector3 } from "three";
import { openDialog } from "../dialogs";
import { byId, h, setText } from "../dom";
import { card } from "../gallery";
import { request } from "../host";
import { icon } from "../icons";
import type { LargeBooks, LargeCatalogue, LargeScene, LargeStatus } from "../messages";
import { show } from "../numbers";
import { toggleTheme } from "../theme";
import { tell, tellError } from "../toasts";
import { Books, count } from "./books";
import { Hand } from "./hand";
import { LargeLine } from "./line";
import { openLarge } from "./opening";
import { Picture } from "./picture";

const SPEEDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5];
const TOLD_EVERY = 500; // [ms]
const OVER = 2000; // over which frames are counted [ms]

class Page {
  private scene: LargeScene | null = null;
  private status: LargeStatus | null = null;
  private newest: LargeBooks | null = null;
  private frames = 0;
  private largest = 0; // bytes of a frame
  private came: { at: number; bytes: number }[] = [];
  private time = 0;
  private step = 0;
  private readonly books = new Books();
  private readonly picture = new Picture((look) => this.line.look(look));
  private readonly line: LargeLine = this.connect();
  private readonly hand = new Hand(this.picture, (pull) => {
    if (this.scene) this.line.pull({ generation: this.scene.generation, ...pull });
  });

  constructor() {
    this.buttons();
    this.speeds();
    setInterval(() => this.tellShown(), TOLD_EVERY);
    this.expose();
  }

  private connect(): LargeLine {
    const banner = byId("banner");
    const say = (text: string): void => {
      setText(banner, text);
      banner.hidden = false;
    };
    return new LargeLine({
      message: (message) => {
        if (message.type === "large-scene") void this.begin(message);
        else if (message.type === "large-status") this.setStatus(message);
        else if (message.type === "large-books") this.setBooks(message);
        else tell(message.text, message.level);
      },
      frame: (frame, bytes) => {
        this.frames += 1;
        this.largest = Math.max(this.largest, bytes);
        this.came.push({ at: performance.now(), bytes });
        if (!this.picture.take(frame)) return;
        this.time = frame.time;
        this.step = frame.step;
        setText(byId("clock"), `${frame.time.toFixed(frame.time < 100 ? 3 : 2)} s`);
      },
      open: () => {
        this.picture.forget();
        banner.hidden = true;
      },
      lost: (reason) =>
        say(
          `The line to the studio is lost${reason ? ` (${reason})` : ""}; trying again. If it was stopped, start it anew.`,
        ),
      unknown: () =>
        say("The studio no longer knows this page: it was started anew. Open the link that it has printed."),
    });
  }

  private async begin(scene: LargeScene): Promise<void> {
    const isAnother = scene.generation !== this.scene?.generation;
    this.scene = scene;
    if (isAnother) this.came = [];
    const given = Object.entries(scene.parameters).map(([name, value]) => `${name} = ${String(value)}`);
    const button = byId("scene-button");
    setText(button, scene.name);
    button.title = `${[scene.scene, ...given].join(", ")}: choose another`;
    document.title = `Impulsar: ${scene.name}`;
    this.hand.drop();
    this.picture.begin(scene);
    const answer = await request(`api/large/shades?generation=${scene.generation}`);
    if (answer.ok && this.scene === scene) {
      this.picture.bodies.setShades(new Uint8Array(await answer.arrayBuffer()));
      this.picture.touch();
    }
  }

  private setStatus(status: LargeStatus): void {
    this.status = status;
    const play = byId("play");
    const isPaused = status.paused;
    play.replaceChildren(icon(isPaused ? "play" : "pause"), isPaused ? "Run" : "Pause");
    play.setAttribute("aria-label", isPaused ? "Run" : "Pause");
    const speed = byId<HTMLSelectElement>("speed");
    if (![...speed.options].some(({ value }) => Number(value) === status.speed))
      speed.append(h("option", { value: status.speed }, `× ${show(status.speed)}`));
    speed.value = String(status.speed);
    const building = byId("building");
    building.hidden = status.building === null;
    if (status.building !== null) {
      const stop = h("button", { type: "button", onclick: () => this.control("cancel") }, "Cancel");
      building.replaceChildren(h("span", {}, `Building ${status.building}`), stop);
    }
    this.tellShown();
  }

  private setBooks(books: LargeBooks): void {
    this.newest = books;
    if (this.scene) this.books.show(books, this.scene, this.status);
  }

  private control(action: Parameters<LargeLine["control"]>[0], value: number | null = null): void {
    this.line.control(action, value).catch(tellError);
  }

  private buttons(): void {
    const named = (id: string, name: Parameters<typeof icon>[0], title: string, action: () => void): void => {
      const button = byId(id);
      button.replaceChildren(icon(name));
      button.title = title;
      button.setAttribute("aria-label", title);
      button.addEventListener("click", action);
    };
    byId("play").addEventListener("click", () => this.control(this.status?.paused ? "run" : "pause"));
    named("step", "step", "One step", () => this.control("step"));
    named("reset", "revert", "Back to the start", () => this.control("reset"));
    named("fit", "fit", "Fit everything into the picture (F)", () => this.picture.fit());
    named("theme", "theme", "Light or dark", toggleTheme);
    named("pull", "grab", "Pull bodies: press on one and drag (G)", () => this.pulls());
    byId("scene-button").addEventListener("click", () => void this.choose());
    byId("mechanisms").addEventListener("click", (event) => {
      if (this.status?.paused ?? true) return;
      event.preventDefault(); // two sessions would share the cores
      void this.line.control("pause").finally(() => location.assign("./"));
    });
    document.addEventListener("keydown", (event) => {
      if ((event.target as HTMLElement).closest("input, select, dialog, button")) return;
      if (event.key === " ") this.control(this.status?.paused ? "run" : "pause");
      else if (event.key === ".") this.control("step");
      else if (event.key === "g" || event.key === "G") this.pulls();
      else if (event.key === "f" || event.key === "F") this.picture.fit();
      else return;
      event.preventDefault();
    });
  }

  /** Presses pull bodies, or turn the view again. */
  private pulls(): void {
    this.hand.toggle();
    byId("pull").setAttribute("aria-pressed", String(this.hand.isOn));
    this.tellShown();
  }

  private speeds(): void {
    const speed = byId<HTMLSelectElement>("speed");
    speed.append(...SPEEDS.map((value) => h("option", { value }, `× ${value}`)));
    speed.value = "1";
    speed.addEventListener("change", () => this.control("speed", Number(speed.value)));
  }

  /** The large scenes to choose from. */
  private async choose(): Promise<void> {
    const answer = await request("api/large");
    const { scenes } = (await answer.json()) as LargeCatalogue;
    const open = async (name: string, parameters: Record<string, unknown>): Promise<void> => {
      if (await openLarge(name, parameters)) dialog.close();
    };
    const dialog = openDialog(
      "Large scenes",
      h("div", { class: "scenes large-scenes" }, ...scenes.map((entry) => card(entry, open, `large ${entry.name}`))),
    );
  }

  /** How much of the world is shown, and how often. */
  private tellShown(): void {
    const { scene, picture } = this;
    if (!scene) return;
    const now = performance.now();
    this.came = this.came.filter(({ at }) => at > now - OVER);
    const { drawn, oldest, here } = picture.bodies.shown;
    const bytes = this.came.reduce((most, one) => Math.max(most, one.bytes), 0);
    const rate = this.came.length / (OVER / 1000);
    const parts = [`${count(drawn)} of ${count(scene.bodies)} bodies drawn`];
    if (here < scene.bodies) parts.push(`${count(here)} have come`);
    if (rate > 0) parts.push(`${show(rate, 2)} frames/s of ${size(bytes)} (at most ${size(scene.frame_bytes)})`);
    if (rate > 0 && scene.bodies > scene.frame_bodies) parts.push(`all in sight within ${show(oldest / 1000, 2)} s`);
    if (this.hand.body >= 0) parts.push(`pulled by ${show(this.newest?.pull ?? 0, 3)} N`);
    else if (this.hand.isOn) parts.push("press on a body and drag");
    if (this.status?.slow && !this.status.paused) parts.push("slower than asked for");
    if (this.status?.broken) parts.push("stopped where the state was last good");
    setText(byId("told"), parts.join(" · "));
  }

  /** `window.impulsar`: what the page knows, to be read by tests and by the curious. */
  private expose(): void {
    const { picture } = this;
    Object.defineProperty(window, "impulsar", {
      value: Object.freeze({
        scene: () => structuredClone(this.scene),
        status: () => structuredClone(this.status),
        books: () => structuredClone(this.newest),
        frames: () => this.frames,
        largest: () => this.largest,
        drawn: () => picture.drawn,
        isDrawn: () => picture.isDrawn,
        scripted: () => picture.scripted,
        shown: () => structuredClone(picture.bodies.shown),
        ages: () => picture.bodies.ages(performance.now()),
        time: () => this.time,
        step: () => this.step,
        summary: () => byId("told").textContent,
        edit: (edit: Record<string, unknown>) =>
          this.line.edit(edit).then(
            (reply) => reply.text,
            (error: Error) => `refused: ${error.message}`,
          ),
        /** Page pixel of a body, by its number. */
        pixel: (body: number) => {
          const at = picture.bodies.point(body, new Vector3());
          return at && picture.project(at);
        },
        held: () => this.hand.body,
        hash: async () => (await this.line.control("hash")).text,
      }),
    });
  }
}

function size(bytes: number): string {
  return bytes >= 1024 ? `${Math.round(bytes / 1024)} kB` : `${bytes} B`;
}

new Page();

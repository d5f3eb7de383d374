/** Time: run, stop, step, speed, seek, undo and redo, and a video of the picture. */

import { byId, download, h, setText } from "./dom";
import { type IconName, icon } from "./icons";
import { FLAGS } from "./messages";
import type { Stage } from "./stage";
import { tell } from "./toasts";

const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];
const RATE = 30; // video pictures per second

export class Timeline {
  private play = byId<HTMLButtonElement>("play");
  private seek = byId<HTMLInputElement>("seek");
  private speed = byId<HTMLSelectElement>("speed");
  private undo = byId<HTMLButtonElement>("undo");
  private redo = byId<HTMLButtonElement>("redo");
  private record = byId<HTMLButtonElement>("record");
  private since = h("span");
  private video = byId<HTMLButtonElement>("video");
  private recorder: MediaRecorder | null = null;
  private isSeeking = false;
  private wanted: number | null = null;
  private underWay = false;

  constructor(private readonly stage: Stage) {
    const { store, actions } = stage;
    this.button(byId("step"), "step", "Single step (.)", () => this.step());
    this.button(byId("reset"), "revert", "Back to the start", () => void actions.control("reset"));
    this.button(this.undo, "undo", "Undo (Ctrl+Z)", () => this.undoLast());
    this.button(this.redo, "redo", "Redo (Ctrl+Shift+Z)", () => this.redoLast());
    this.button(this.record, "record", "Record anew", () => void actions.control("record"));
    this.record.append(h("small", {}, "since "), this.since);
    this.button(this.video, "video", "Record a video of the picture", () => this.toggleVideo());
    this.play.addEventListener("click", () => this.toggle());
    this.speed.append(...SPEEDS.map((value) => new Option(`×${value}`, String(value), false, value === 1)));
    this.speed.addEventListener("change", () => void actions.control("speed", { value: Number(this.speed.value) }));
    this.seek.addEventListener("input", () => {
      this.isSeeking = true;
      this.goTo(Number(this.seek.value));
    });
    this.seek.addEventListener("change", () => {
      this.isSeeking = false;
    });
    store.on("status", () => this.fill());
    store.on("frame", () => this.tick());
    this.fill();
  }

  toggle(): void {
    void this.stage.actions.control(this.stage.store.status?.paused ? "run" : "pause");
  }

  async step(): Promise<void> {
    if (!this.stage.store.status?.paused) await this.stage.actions.control("pause");
    await this.stage.actions.control("step", { value: 1 });
  }

  undoLast(): void {
    void this.stage.actions.control("undo");
  }

  redoLast(): void {
    void this.stage.actions.control("redo");
  }

  /** Go to a time of the recording [s], or to the nearest there is. */
  goTo(time: number): void {
    const { status, frame } = this.stage.store;
    if (!status || !frame) return;
    this.wanted = Math.min(Math.max(time, status.first_time), Math.max(status.last_time, frame.time));
    void this.pump();
  }

  /** Seek to the newest wish, one at a time. */
  private async pump(): Promise<void> {
    if (this.underWay) return;
    this.underWay = true;
    while (this.wanted !== null) {
      const value = this.wanted;
      this.wanted = null;
      await this.stage.actions.control("seek", { value });
    }
    this.underWay = false;
  }

  private fill(): void {
    const { status } = this.stage.store;
    const isPaused = status?.paused ?? false;
    const name: IconName = isPaused ? "play" : "pause";
    if (this.play.dataset.icon !== name) {
      this.play.dataset.icon = name;
      this.button(this.play, name, isPaused ? "Run (Space)" : "Stop time (Space)", null);
    }
    if (!status) return;
    this.label(this.undo, status.undo ? `Undo: ${status.undo} (Ctrl+Z)` : "Nothing to undo");
    this.label(this.redo, status.redo ? `Redo: ${status.redo} (Ctrl+Shift+Z)` : "Nothing to redo");
    this.undo.disabled = status.undo === null;
    this.redo.disabled = status.redo === null;
    if (document.activeElement !== this.speed) {
      if (
        !SPEEDS.includes(status.speed) &&
        ![...this.speed.options].some((option) => option.value === String(status.speed))
      ) {
        this.speed.append(new Option(`×${status.speed}`, String(status.speed)));
      }
      this.speed.value = String(status.speed);
    }
    this.span(status.first_time, status.last_time);
    const since = `${status.recorded_since.toFixed(2)} s`;
    setText(this.since, since);
    this.label(this.record, `Record anew: the results that can be saved begin at ${since}`);
  }

  private span(first: number, last: number): void {
    this.seek.min = String(first);
    this.seek.max = String(Math.max(last, first + 1e-9));
    setText(byId("time-first"), `${first.toFixed(2)} s`);
    setText(byId("time-last"), `${last.toFixed(2)} s`);
  }

  private tick(): void {
    const { frame, status } = this.stage.store;
    if (!frame) return;
    setText(byId("clock"), `${frame.time.toFixed(2)} s`);
    byId("clock").classList.toggle("muted", (frame.flags & FLAGS.replaying) !== 0);
    if (status) this.span(status.first_time, Math.max(status.last_time, frame.time));
    if (!this.isSeeking) this.seek.value = String(frame.time);
    this.seek.setAttribute("aria-valuetext", `${frame.time.toFixed(2)} seconds`);
  }

  private toggleVideo(): void {
    if (this.recorder) {
      this.recorder.stop();
      return;
    }
    const type = ["video/mp4", "video/webm;codecs=vp9", "video/webm"].find((name) =>
      MediaRecorder.isTypeSupported(name),
    );
    if (!type) {
      tell("video: this browser records neither MP4 nor WebM; use another one", "error");
      return;
    }
    const parts: Blob[] = [];
    const recorder = new MediaRecorder(this.stage.view.canvas.captureStream(RATE), { mimeType: type });
    recorder.addEventListener("dataavailable", (event) => parts.push(event.data));
    recorder.addEventListener("stop", () => {
      this.recorder = null;
      this.video.setAttribute("aria-pressed", "false");
      download(`impulsar.${type.startsWith("video/mp4") ? "mp4" : "webm"}`, new Blob(parts, { type }));
    });
    recorder.start(500);
    this.recorder = recorder;
    this.video.setAttribute("aria-pressed", "true");
  }

  private button(button: HTMLElement, name: IconName, title: string, action: (() => void) | null): void {
    button.replaceChildren(icon(name));
    this.label(button, title);
    if (action) button.addEventListener("click", action);
  }

  private label(button: HTMLElement, title: string): void {
    button.title = title;
    button.setAttribute("aria-label", title);
  }
}

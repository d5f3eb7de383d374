/** A video of what the session has recorded: every picture drawn anew for its own time, with plots if wanted. */

import type { Arrows } from "./arrows";
import { openDialog } from "./dialogs";
import { download, h, setText } from "./dom";
import { ask } from "./exports";
import { between, type Moment } from "./interpolate";
import { decodeFrame, type Frame, type Live } from "./messages";
import { FONT } from "./plots/pen";
import type { Box, Plots } from "./plots/plots";
import type { Stage } from "./stage";
import { colour } from "./theme";
import { tell, tellError } from "./toasts";
import { pictures, RATE, type Shot, shoot } from "./video";

const PIECE = 120; // pictures whose frames are asked for at once
const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];
const SIZES: [number, number][] = [
  [1280, 720],
  [1920, 1080],
  [3840, 2160],
];
const USUAL = 1; // of them
const SHARE = 0.66; // of the picture for the mechanism, where plots are beside or below it
const DENSITY = 620; // lines of text and plots are as large as in a page of this height [px]

type Where = "none" | "below" | "beside";

interface Wish {
  span: [number, number]; // [s]
  speed: number;
  size: readonly [number, number]; // [px]
  plots: Where;
  clock: boolean;
}

/** Frames of the recording, fetched piece by piece as a video goes on. */
class Reel {
  private moments: { frame: Frame; live: Live; moment: Moment }[] = [];
  private until = -Infinity; // [s]
  private shown: Live | null = null;
  private poses = new Float32Array();

  constructor(
    private readonly stage: Stage,
    private readonly wish: Wish,
    private readonly vectors: string,
    private readonly signal: AbortSignal,
  ) {}

  /** Show a time; times come in order. */
  async show(time: number): Promise<void> {
    if (time > this.until) await this.fetch(time);
    const { store } = this.stage;
    let k = this.moments.findLastIndex(({ moment }) => moment.time <= time + 1e-9);
    k = Math.min(Math.max(k, 0), Math.max(this.moments.length - 2, 0));
    const [a, b] = [this.moments[k], this.moments[k + 1]];
    if (!a) throw new Error(`video: nothing is recorded at ${time.toFixed(3)} s`);
    if (a.frame.generation !== store.scene?.generation)
      throw new Error("video: the scene was changed while it was shot; begin anew");
    if (this.poses.length !== a.frame.poses.length) this.poses = new Float32Array(a.frame.poses.length);
    const share = b ? Math.min(1, Math.max(0, (time - a.moment.time) / (b.moment.time - a.moment.time))) : 0;
    if (b) between(a.moment, b.moment, share, this.poses);
    else this.poses.set(a.frame.poses);
    const near = b && share > 0.5 ? b : a; // its forces are drawn
    store.showInstead(near.frame, this.poses, time, near.live === this.shown ? null : near.live);
    this.shown = near.live;
  }

  private async fetch(since: number): Promise<void> {
    const { speed, span } = this.wish;
    this.until = Math.min(span[1], since + (PIECE * speed) / RATE);
    const query = new URLSearchParams({
      since: String(since),
      until: String(this.until),
      gap: String(speed / RATE),
      vectors: this.vectors,
    });
    const data = await (await ask(`api/frames?${query}`, this.signal)).arrayBuffer();
    const view = new DataView(data);
    this.moments = [];
    let live: Live | null = null;
    for (let at = 0; at < data.byteLength; ) {
      const [kind, length] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
      const part = data.slice(at + 8, at + 8 + length);
      at += 8 + length;
      if (kind === 0) live = JSON.parse(new TextDecoder().decode(part)) as Live;
      else if (live) {
        const frame = decodeFrame(part);
        this.moments.push({ frame, live, moment: { time: frame.time, poses: frame.poses, twists: frame.twists } });
      }
    }
  }
}

export class Shooting {
  constructor(
    private readonly stage: Stage,
    private readonly plots: Plots,
    private readonly arrows: Arrows,
  ) {}

  /** Ask what is wanted, then make it. */
  open(): void {
    const { status, frame, scene } = this.stage.store;
    if (!status || !frame || !scene || frame.time <= status.recorded_since) {
      tell("video: nothing is recorded yet; let time run", "error");
      return;
    }
    const first = Math.ceil(1e3 * status.recorded_since) / 1e3;
    const last = Math.floor(1e3 * Math.max(frame.time, status.last_time)) / 1e3;
    const field = (name: string, value: number): HTMLInputElement =>
      h("input", { type: "number", min: first, max: last, step: "any", value, "aria-label": name });
    const [from, to] = [field("From [s]", first), field("To [s]", last)];
    const speed = choice(
      "Speed",
      SPEEDS.map((value) => [String(value), `×${value}`]),
      String(status.speed),
    );
    const size = choice(
      "Size",
      SIZES.map(([width, height], k) => [String(k), `${width} × ${height}`]),
      String(USUAL),
    );
    const plots = choice(
      "Plots",
      [
        ["none", "without plots"],
        ["below", "plots below"],
        ["beside", "plots beside"],
      ],
      "none",
    );
    const clock = h("input", { type: "checkbox", checked: true });
    const note = h("p", { class: "muted", role: "status" });
    const bar = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "Pictures done" });
    const start = h("button", { type: "submit", class: "primary" }, "Make the video");
    const wish = (): Wish => ({
      span: [Math.max(first, Number(from.value)), Math.min(last, Number(to.value))],
      speed: Number(speed.value),
      size: SIZES[Number(size.value)] ?? [1920, 1080],
      plots: plots.value as Where,
      clock: clock.checked,
    });
    const say = (): void => {
      const { span, speed } = wish();
      const isGood = span[1] > span[0];
      start.disabled = !isGood;
      const count = pictures(span, speed);
      setText(note, isGood ? `${count} pictures, ${(count / RATE).toFixed(2)} s of video` : "From must be before To.");
    };
    const fields = h(
      "fieldset",
      {},
      h("label", {}, "From [s]", from),
      h("label", {}, "To [s]", to),
      h("label", {}, "Speed", speed),
      h("label", {}, "Size", size),
      h("label", {}, "Plots", plots),
      h("label", {}, clock, "Time in the picture"),
    );
    fields.addEventListener("input", say);
    const stop = new AbortController();
    const cancel = h("button", { type: "button", onclick: () => dialog.close() }, "Cancel");
    const form = h("form", { class: "video" }, fields, note, bar, h("div", { class: "actions" }, start, cancel));
    const dialog = openDialog("Video of the recording", form);
    dialog.addEventListener("close", () => stop.abort(new DOMException("given up", "AbortError")));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      fields.disabled = start.disabled = true;
      bar.hidden = false;
      const tellOf = (done: number, count: number): void => {
        bar.value = done / count;
        setText(note, `${done} of ${count} pictures`);
      };
      void this.make(wish(), tellOf, stop.signal)
        .then((blob) => {
          download(`${scene.name}.webm`, blob);
          tell(`video: ${(blob.size / 1e6).toFixed(1)} MB`);
        })
        .catch((problem) => {
          if (stop.signal.aborted) tell("video: given up");
          else tellError(problem);
        })
        .finally(() => dialog.close());
    });
    say();
  }

  private async make(wish: Wish, tellOf: Shot["tell"], signal: AbortSignal): Promise<Blob> {
    const { store, view } = this.stage;
    const panes = wish.plots === "none" ? 0 : await this.plots.prepare(wish.span[0]);
    const reel = new Reel(this.stage, wish, this.arrows.vectors.join(), signal);
    const [width, height] = wish.size;
    const share = (full: number): number => 2 * Math.round((SHARE * full) / 2);
    const stage: [number, number] =
      panes === 0 ? [width, height] : wish.plots === "below" ? [width, share(height)] : [share(width), height];
    const scale = height / DENSITY;
    store.putAside();
    try {
      return await shoot(view, {
        ...wish,
        stage,
        show: (time) => reel.show(time),
        beside: (pen, time) => {
          for (const [k, box] of boxes(wish, stage, panes).entries())
            this.plots.film(pen, k, box, scale, wish.span, time);
          if (wish.clock) clock(pen, stage, scale, time, wish.speed);
        },
        tell: tellOf,
        signal,
      });
    } finally {
      store.goOn();
      view.touch();
    }
  }
}

/** Where plots are: side by side below the mechanism, or one above the other beside it. */
function boxes({ size: [width, height], plots }: Wish, stage: readonly [number, number], count: number): Box[] {
  return Array.from({ length: count }, (_, k) =>
    plots === "below"
      ? { x: (k * width) / count, y: stage[1], width: width / count, height: height - stage[1] }
      : { x: stage[0], y: (k * height) / count, width: width - stage[0], height: height / count },
  );
}

function clock(
  pen: OffscreenCanvasRenderingContext2D,
  [, height]: readonly [number, number],
  scale: number,
  time: number,
  speed: number,
): void {
  pen.font = `${13 * scale}px ${FONT}`;
  pen.textBaseline = "alphabetic";
  pen.textAlign = "start";
  pen.fillStyle = colour("muted");
  pen.fillText(`t = ${time.toFixed(3)} s${speed === 1 ? "" : `   ×${speed}`}`, 14 * scale, height - 14 * scale);
}

function choice(name: string, options: [string, string][], chosen: string): HTMLSelectElement {
  return h(
    "select",
    { "aria-label": name },
    ...options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
  );
}

/** Analyses of the mechanism as it is now, beside the picture: freedoms, rest, modes, motors, sweeps, curves. */

import "./analyse.css";
import { byId, download, h, setText } from "../dom";
import type { Drag, Press, Presser } from "../gestures";
import type { AnalysisReply, AnalysisRow, AnalysisTable, Mode } from "../messages";
import { parseNumber, show } from "../numbers";
import type { Stage } from "../stage";
import type { PartKind } from "../store";
import type { Traces } from "../traces";
import { analyse } from "./ask";
import { Chart, tableOf } from "./chart";
import { Curves } from "./curves";
import { Swinging } from "./modes";
import { Sweeps } from "./sweeps";

type Kind = "mobility" | "statics" | "modes" | "inverse" | "sweep" | "curve";
const KINDS: [Kind, string][] = [
  ["mobility", "Freedoms"],
  ["statics", "Find rest"],
  ["modes", "Modes"],
  ["inverse", "Motor torques"],
  ["sweep", "Sweep"],
  ["curve", "Fit a curve"],
];
const UNDAMPED = 1e-9; // damping ratio that is rounding

export class Analyse implements Presser {
  private readonly panel = h("section", { id: "analysis", "aria-label": "Analyse", hidden: true });
  private readonly found = h("div", { class: "found" });
  private readonly said = h("p", { role: "status" });
  private readonly buttons = new Map<Kind, HTMLButtonElement>();
  private readonly swinging: Swinging;
  private sweeps: Sweeps | null = null;
  private curves: Curves | null = null;
  private kind: Kind | null = null;
  private reply: AnalysisReply | null = null;
  private asked = 0; // counts what was asked for: only the last of it is shown

  constructor(
    private readonly stage: Stage,
    private readonly traces: Traces,
    private readonly opened: (isOpen: boolean) => void,
    private readonly look: (atPicture: boolean) => void,
  ) {
    this.swinging = new Swinging(stage);
    const close = h(
      "button",
      { type: "button", class: "icon", "aria-label": "Close", onclick: () => this.toggle() },
      "×",
    );
    const choices = KINDS.map(([kind, text]) => {
      const one = h("button", { type: "button", "aria-pressed": "false", onclick: () => void this.choose(kind) }, text);
      one.dataset.kind = kind;
      this.buttons.set(kind, one);
      return one;
    });
    this.panel.append(
      h("header", {}, h("h2", {}, "Analyse"), close),
      h("div", { class: "kinds", role: "group", "aria-label": "Analyses" }, ...choices),
      this.said,
      this.found,
    );
    byId("side").append(this.panel);
    stage.store.on("opened", () => this.clear());
  }

  toggle(): void {
    this.panel.hidden = !this.panel.hidden;
    if (this.panel.hidden) this.clear();
    else this.buttons.get("mobility")?.focus();
    this.opened(!this.panel.hidden);
  }

  /** A curve is drawn where one was asked for. */
  press(press: Press): Drag | null {
    return this.curves?.press(press) ?? null;
  }

  /** What is shown, for tests. */
  state() {
    const { kind, reply, swinging, sweeps, curves } = this;
    const said = this.said.textContent ?? "";
    return { kind, reply, said, swing: swinging.state, sweep: sweeps?.state ?? null, curve: curves?.state ?? null };
  }

  private clear(): void {
    this.asked += 1;
    this.swinging.stop();
    this.sweeps?.cancel();
    this.sweeps = null;
    this.curves?.end();
    this.curves = null;
    this.kind = this.reply = null;
    this.found.replaceChildren();
    this.say("");
    for (const one of this.buttons.values()) one.setAttribute("aria-pressed", "false");
  }

  private say(text: string, isError = false): void {
    setText(this.said, text);
    this.said.className = isError ? "error" : "";
  }

  private async choose(kind: Kind): Promise<void> {
    this.clear();
    this.kind = kind;
    this.buttons.get(kind)?.setAttribute("aria-pressed", "true");
    if (kind === "sweep") {
      this.say("Copies of the model run from their start, one for each value; the world here goes on as it is.");
      this.sweeps = new Sweeps(this.stage);
      this.found.append(this.sweeps.element);
    } else if (kind === "curve") {
      this.say("Dimensions for which a point of a planar linkage draws your curve; the world here goes on as it is.");
      this.curves = new Curves(this.stage, this.traces, this.look);
      this.found.append(this.curves.element);
    } else if (kind === "inverse") {
      this.found.append(this.drives());
      this.say("What motors must give so that these joints move as they did, or at a speed.");
    } else await this.ask({ kind });
  }

  private async ask(request: Parameters<typeof analyse>[0], keep: HTMLElement[] = []): Promise<void> {
    this.asked += 1;
    const { asked } = this;
    this.say("…");
    try {
      const reply = await analyse(request);
      if (asked !== this.asked) return;
      this.reply = reply;
      this.say(reply.text);
      this.found.replaceChildren(...keep, ...this.content(reply));
      this.draw(reply);
    } catch (error) {
      if (asked === this.asked) this.say((error as Error).message, true);
    }
  }

  private content({ tables = [], edit, modes = [], bodies = [] }: AnalysisReply): HTMLElement[] {
    const found = tables.map((table) => this.table(table));
    if (modes.length > 0) found.unshift(this.modes(modes, bodies));
    if (edit) {
      const go = h("button", { type: "button", class: "primary" }, "Go there and stop (undo brings it back)");
      go.addEventListener("click", () => void this.rest(edit));
      found.unshift(h("div", { class: "actions" }, go));
    }
    return found;
  }

  /** Stop time and bring the bodies to where they rest. */
  private async rest(edit: NonNullable<AnalysisReply["edit"]>): Promise<void> {
    const { actions, store } = this.stage;
    if (!store.status?.paused && !(await actions.control("pause"))) return;
    if (await actions.apply(edit)) this.say("It is at rest now; undo brings it back to where it was.");
  }

  private table({ title, head, rows }: AnalysisTable): HTMLElement {
    const cell = (value: unknown): HTMLElement =>
      typeof value === "number" ? h("td", { class: "number" }, show(value, 5)) : h("td", {}, String(value));
    const named = ({ kind, part, cells }: AnalysisRow): HTMLElement => {
      const pick = (): void => this.stage.store.setPick({ kind: kind as PartKind, name: part ?? "" });
      const first = part
        ? h("td", {}, h("button", { type: "button", onclick: pick }, String(cells[0])))
        : cell(cells[0]);
      return h("tr", {}, first, ...cells.slice(1).map(cell));
    };
    const titled = head.some(Boolean) ? h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text))) : null;
    return h("table", {}, h("caption", {}, title), h("thead", {}, titled), h("tbody", {}, ...rows.map(named)));
  }

  private modes(modes: Mode[], bodies: string[]): HTMLElement {
    const slider = h("input", {
      type: "range",
      min: "0",
      max: "1",
      step: "0.01",
      value: String(this.swinging.amplitude),
      "aria-label": "How far modes are shown to swing",
    });
    slider.addEventListener("input", () => {
      this.swinging.amplitude = Number(slider.value);
    });
    const buttons = modes.map((mode, k) => {
      const { frequency, growth, damping_ratio, where } = mode;
      const rate = growth
        ? `grows by ${show(growth)} 1/s`
        : `${show(frequency / (2 * Math.PI))} Hz · ${show(frequency)} rad/s · ζ ${show(Math.abs(damping_ratio) < UNDAMPED ? 0 : damping_ratio, 3)}`;
      const one = h("button", { type: "button", "aria-pressed": "false" }, `${k + 1}: ${rate}`, h("small", {}, where));
      one.addEventListener("click", () => {
        const isOn = one.getAttribute("aria-pressed") === "true";
        for (const other of buttons) other.setAttribute("aria-pressed", "false");
        one.setAttribute("aria-pressed", String(!isOn));
        if (isOn) this.swinging.stop();
        else this.swinging.start(mode, bodies);
      });
      return one;
    });
    const note =
      "The pale copy swings about where it rests, slowed to 0.7 Hz and exaggerated; the world stays as it is.";
    return h("div", { class: "modes" }, ...buttons, slider, h("small", {}, note));
  }

  /** Which joints are driven, and how. */
  private drives(): HTMLElement {
    const { scene, live } = this.stage.store;
    const all = (scene?.joints ?? []).flatMap(({ groups, name }) =>
      groups.flatMap(({ kind, coordinates, unit, name: group }) =>
        kind === "ball" ? [] : coordinates.map((coordinate) => ({ coordinate, unit, joint: name, group })),
      ),
    );
    const hasMotor = (joint: string, group: string): boolean =>
      (live?.motors ?? []).some(
        (motor) => motor.joint === joint && motor.group === group && motor.quantity !== "torque",
      );
    const anyMotor = all.some(({ joint, group }) => hasMotor(joint, group));
    const rows = all.map(({ coordinate, unit, joint, group }, k) => {
      const isOn = anyMotor ? hasMotor(joint, group) : k === 0;
      const box = h("input", { type: "checkbox", checked: isOn, "aria-label": `${coordinate} is driven` });
      const speed = h("input", {
        inputmode: "decimal",
        placeholder: `as recorded, or a speed [${unit}/s]`,
        "aria-label": `Speed of ${coordinate}`,
      });
      return { coordinate, box, speed };
    });
    const duration = h("input", { inputmode: "decimal", value: "1", "aria-label": "Time of a motion by speed [s]" });
    const form = h(
      "form",
      {},
      ...rows.flatMap(({ coordinate, box, speed }) => [h("label", {}, box, ` ${coordinate}`), speed]),
      h("label", {}, "time at speeds [s]"),
      duration,
      h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Find torques")),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const chosen = rows.filter(({ box }) => box.checked);
      const motions = Object.fromEntries(
        chosen.map(({ coordinate, speed }) => [coordinate, speed.value.trim() ? parseNumber(speed.value) : null]),
      );
      void this.ask({ kind: "inverse", motions, duration: parseNumber(duration.value) ?? 1 }, [form]);
    });
    return form;
  }

  /** Curves over time, and a file of them. */
  private draw({ times = [], curves = [] }: AnalysisReply): void {
    if (curves.length === 0) return;
    const chart = new Chart("t [s]");
    const save = (): void => download("torques.csv", new Blob([tableOf("t [s]", times, curves)], { type: "text/csv" }));
    this.found.append(
      chart.element,
      h("div", { class: "actions" }, h("button", { type: "button", onclick: save }, "CSV")),
    );
    chart.draw(times, curves);
  }
}

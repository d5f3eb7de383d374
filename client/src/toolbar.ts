/** The tools, and beside the picture what the tool in hand does and takes. */

import { type Adding, BODY_SHAPES, type BodyShape, COUPLINGS } from "./adding";
import type { Drafting } from "./build/drafting";
import type { Freedoms } from "./build/freedoms";
import type { Planes } from "./build/planes";
import { byId, h, setText } from "./dom";
import type { Effects } from "./effects";
import type { Grab } from "./grab";
import { type IconName, icon } from "./icons";
import type { Loads, Mode } from "./loads";
import type { Motions, MotorKind } from "./motions";
import { exact, parseNumber } from "./numbers";
import { type Store, TOOLS, type Tool } from "./store";

const TITLES: Record<Tool, { label: string; key: string; title: string }> = {
  grab: { label: "Grab", key: "G", title: "Pick and pull bodies" },
  force: { label: "Force", key: "F", title: "Put a force on a body" },
  torque: { label: "Torque", key: "T", title: "Put a torque on a body" },
  motion: { label: "Motion", key: "M", title: "Drive a joint" },
  effect: { label: "Effects", key: "W", title: "Gravity, water and wind" },
  link: { label: "Link", key: "L", title: "Draw links" },
  body: { label: "Body", key: "B", title: "Add a body" },
  joint: { label: "Joint", key: "J", title: "Add a joint" },
  spring: { label: "Spring", key: "S", title: "Add a spring" },
  cam: { label: "Cam", key: "C", title: "Make a cam and its follower" },
  trace: { label: "Trace", key: "P", title: "Trace the path of a point" },
};

export class Toolbar {
  private hint = byId("hint");
  private said: string | null = null;

  constructor(
    private readonly store: Store,
    private readonly options: {
      grab: Grab;
      loads: Loads;
      motions: Motions;
      effects: Effects;
      adding: Adding;
      drafting: Drafting;
      planes: Planes;
      freedoms: Freedoms;
    },
  ) {
    const box = byId("tools");
    const buttons = TOOLS.map((tool) => {
      const { label, key, title } = TITLES[tool];
      const button = h(
        "button",
        {
          type: "button",
          "data-tool": tool,
          title: `${title} (${key})`,
          "aria-pressed": "false",
          onclick: () => store.setTool(tool),
        },
        icon(tool as IconName),
        h("span", {}, label),
      );
      return button;
    });
    box.append(...buttons.slice(0, 1), h("hr"), ...buttons.slice(1, 5), h("hr"), ...buttons.slice(5));
    box.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      const place = buttons.indexOf(document.activeElement as HTMLButtonElement);
      if (!step || place < 0) return;
      buttons[(place + step + buttons.length) % buttons.length]?.focus();
      event.preventDefault();
      event.stopPropagation();
    });
    store.on("tool", (tool) => {
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.tool === tool));
      this.show();
    });
    store.on("status", () => this.show());
    store.on("topology", () => this.show());
  }

  /** Say something in place of the usual hint, until null. */
  say(text: string | null): void {
    this.said = text;
    this.show();
  }

  private shownFor = "";

  private show(): void {
    const { tool, status } = this.store;
    const state = `${tool} ${status?.paused} ${this.said} ${this.store.scene?.joint_kinds.length}`;
    if (state === this.shownFor) return;
    this.shownFor = state;
    const content = this.content(tool, status?.paused ?? false);
    const words = content.map((one) => (typeof one === "string" ? h("span", { class: "words" }, one) : one));
    this.hint.replaceChildren(...words);
    this.hint.title = content.filter((one) => typeof one === "string").join(" ");
  }

  private content(tool: Tool, isPaused: boolean): (Node | string)[] {
    const { grab, loads, motions } = this.options;
    if (this.said) return [this.said];
    switch (tool) {
      case "grab":
        if (isPaused) return ["Time is stopped: drag a body and the others follow their joints."];
        return [
          matchMedia("(pointer: coarse)").matches
            ? "Press on a body and pull; a second finger moves in depth."
            : "Press on a body and pull; the wheel moves in depth, Shift turns it.",
          number("stiffness", "N/m", grab.stiffness, (value) => (grab.stiffness = value)),
          number("damping", "N s/m", grab.damping, (value) => (grab.damping = value)),
        ];
      case "force":
        return [
          "Press on a body and pull the arrow out.",
          choice("", ["push", "drag"], loads.mode, (value) => (loads.mode = value as Mode)),
          choice("axes", ["world", "body"], loads.frame, (value) => (loads.frame = value as "world" | "body")),
        ];
      case "torque":
        return [
          "Press on a body and pull the arc wide.",
          choice("axes", ["world", "body"], loads.frame, (value) => (loads.frame = value as "world" | "body")),
        ];
      case "motion":
        return [
          "Click a joint, or a wheel on its shaft, then turn or slide its sphere.",
          choice("", ["speed", "position", "torque"], motions.kind, (value) => (motions.kind = value as MotorKind)),
        ];
      case "effect":
        return ["Pull the arrows of gravity and currents; the inspector has the rest.", this.options.effects.bar];
      case "link":
        return [
          "Click from end to end; a double click or Enter pins the last end to the ground.",
          this.options.drafting.bar,
          this.options.planes.bar,
          this.options.freedoms.text,
        ];
      case "body": {
        const adding = this.options.adding;
        return [
          "Press and drag from end to end; a disc from its centre, a slider along its guide.",
          this.options.drafting.said,
          this.options.drafting.bar,
          choice("", BODY_SHAPES, adding.shape, (value) => (adding.shape = value as BodyShape)),
          this.options.planes.bar,
          number("density", "kg/m³", adding.density, (value) => (adding.density = value)),
        ];
      }
      case "joint": {
        const adding = this.options.adding;
        const kinds = [...(this.store.scene?.joint_kinds ?? []).map((kind) => kind.name), ...COUPLINGS];
        return [
          "Click where bodies meet, or drag from one to another, or to empty space for the ground.",
          this.options.drafting.said,
          this.options.drafting.bar,
          choice("", kinds, adding.jointType, (value) => (adding.jointType = value)),
          this.options.planes.bar,
          this.options.freedoms.text,
        ];
      }
      case "spring": {
        const adding = this.options.adding;
        return [
          "Drag from a body to another, or to empty space for the ground.",
          this.options.drafting.said,
          this.options.drafting.bar,
          number("stiffness", "N/m", adding.stiffness, (value) => (adding.stiffness = value)),
          number("damping", "N s/m", adding.damping, (value) => (adding.damping = value)),
        ];
      }
      case "cam":
        return [
          "Click where the shaft is to be, then type base radius, lift and angles.",
          this.options.drafting.bar,
          this.options.planes.bar,
        ];
      case "trace":
        return [
          "Click a point of a body to draw its path, or drag from the body to a point beside it; click it again to stop.",
        ];
    }
  }
}

function number(label: string, unit: string, value: number, set: (value: number) => void): HTMLElement {
  const input = h("input", { inputmode: "decimal", value: exact(value), "aria-label": `${label} in ${unit}` });
  const error = h("span", { class: "error", role: "alert" });
  let used = value;
  input.addEventListener("change", () => {
    const typed = parseNumber(input.value);
    const isGood = typed !== null && typed >= 0 && Number.isFinite(typed);
    input.setAttribute("aria-invalid", String(!isGood));
    const given = input.value.trim() === "" ? "nothing" : `'${input.value}'`;
    setText(error, isGood ? "" : `${label}: ${given} is not a number ≥ 0; ${exact(used)} ${unit} is used`);
    if (!isGood) return;
    used = typed;
    set(typed);
  });
  return h("label", {}, label, input, unit, error);
}

function choice(label: string, names: string[], value: string, set: (value: string) => void): HTMLElement {
  const select = h(
    "select",
    { "aria-label": label || names.join(" or ") },
    ...names.map((name) => h("option", { value: name, selected: name === value }, name)),
  );
  select.addEventListener("change", () => set(select.value));
  return h("label", {}, label, select);
}

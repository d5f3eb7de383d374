/** The bar above the plots: how much time is shown, hold, live, a field for expressions, units, export. */

import { menuButton } from "../dialogs";
import { byId, h, setText } from "../dom";
import { FUNCTIONS } from "../expression";
import type { Quantity, Signals } from "../signals";
import { CHOICES, choose, type Dimension, unitFor } from "../units";
import type { Plots } from "./plots";

const SPANS = [2, 5, 10, 30, 120]; // [s]
const USUAL = 10;
const MOST_NAMES = 2000; // that a field offers
const TITLES: Record<Dimension, string> = { angle: "angles", length: "lengths", turning: "turning speeds" };

export class Bar {
  window: number; // [s]
  readonly whole = h("select", { "aria-label": "What to plot of the whole" });
  readonly picked = h("select", { "aria-label": "What to plot of the picked part" });
  private hold = h("button", { type: "button", "aria-pressed": "false" }, "Hold");
  private error = h("span", { class: "error", role: "alert" });

  constructor(
    private readonly plots: Plots,
    private readonly signals: Signals,
    window: number | undefined,
  ) {
    this.window = SPANS.find((span) => span === window) ?? USUAL;
    this.hold.addEventListener("click", () => this.hold.setAttribute("aria-pressed", String(!this.isHeld)));
    byId("plot-bar").append(
      h("h2", {}, "Plots"),
      this.spans(),
      this.hold,
      h(
        "button",
        {
          type: "button",
          title: "Back to the newest values (double-click a plot)",
          onclick: () => plots.showAll(),
        },
        "Live",
      ),
      this.form(),
      this.units(),
      h("button", { type: "button", onclick: () => void plots.save() }, "CSV"),
      this.error,
    );
  }

  get isHeld(): boolean {
    return this.hold.getAttribute("aria-pressed") === "true";
  }

  /** Say why something cannot be plotted. */
  say(text: string): void {
    setText(this.error, text);
  }

  /** Fill a list of quantities. */
  offer(list: HTMLSelectElement, quantities: Quantity[], chosen: string): void {
    list.replaceChildren(
      ...quantities.map(({ title }) => h("option", { value: title, selected: title === chosen }, title)),
    );
  }

  private spans(): HTMLElement {
    const spans = h(
      "select",
      { "aria-label": "Time shown" },
      ...SPANS.map((seconds) => h("option", { value: seconds, selected: seconds === this.window }, `${seconds} s`)),
    );
    spans.addEventListener("change", () => {
      this.window = Number(spans.value);
      this.plots.look();
    });
    return spans;
  }

  private form(): HTMLElement {
    const input = h("input", {
      list: "signal-names",
      placeholder: "e.g. ddt(energy.total), or a against b",
      "aria-label": "Expressions of signals, with commas between them; 'against' another",
      title: `Functions: ${FUNCTIONS.join(", ")}; filter(x, Hz), mean(x, s); t is time. 'y against x' for any against any, 'y against frequency' for a spectrum`,
      spellcheck: "false",
    });
    const names = h("datalist", { id: "signal-names" });
    input.addEventListener("focus", () =>
      names.replaceChildren(
        ...this.signals
          .names()
          .slice(0, MOST_NAMES)
          .map((name) => h("option", { value: /^[\w.]+$/.test(name) ? name : `[${name}]` })),
      ),
    );
    const submit = (event: Event): void => {
      event.preventDefault();
      if (input.value.trim() && this.plots.addExpression(input.value.trim())) input.value = "";
    };
    return h("form", { class: "actions", onsubmit: submit }, input, names, h("button", { type: "submit" }, "Plot"));
  }

  private units(): HTMLElement {
    const button = h(
      "button",
      { type: "button", "aria-haspopup": "true", "aria-expanded": "false", "aria-label": "Units" },
      "Units ▾",
    );
    const row = (dimension: Dimension): HTMLElement => {
      const list = h(
        "select",
        { "aria-label": `Unit of ${TITLES[dimension]}`, onchange: () => choose(dimension, list.value) },
        ...CHOICES[dimension].map((unit) => h("option", { value: unit, selected: unit === unitFor(dimension) }, unit)),
      );
      return h("label", {}, list, TITLES[dimension]);
    };
    menuButton(button, () => (Object.keys(CHOICES) as Dimension[]).map(row));
    return button;
  }
}

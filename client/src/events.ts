/** Events: signals that pass levels. Which are watched, where they took place on the timeline and in plots. */

import { openDialog } from "./dialogs";
import { byId, h } from "./dom";
import { icon } from "./icons";
import type { Watched } from "./messages";
import { exact, readFinite, show } from "./numbers";
import type { Stage } from "./stage";
import { tellError } from "./toasts";

const WAYS: [string, number][] = [
  ["rising or falling", 0],
  ["rising", 1],
  ["falling", -1],
];
const LISTED = 50; // of what took place, the newest

/** The button beside the timeline, its dialog, and the marks. */
export class Events {
  private readonly marks = byId("event-marks");
  private list: HTMLElement | null = null; // in the dialog

  constructor(private readonly stage: Stage) {
    const button = byId<HTMLButtonElement>("events");
    const title = "Events: where signals pass levels";
    button.append(icon("flag"));
    button.title = title;
    button.setAttribute("aria-label", title);
    button.addEventListener("click", () => this.open());
    const { store } = stage;
    store.on("events", ({ watched, found }) => {
      button.setAttribute("aria-pressed", String(watched.length > 0));
      store.setMarks(found.map(({ name, time }) => ({ label: name, time })));
      this.mark();
      this.fill();
    });
    store.on("status", () => this.mark());
  }

  /** A tick on the timeline for everything that took place. */
  private mark(): void {
    const { events, status } = this.stage.store;
    const [first, last] = [status?.first_time ?? 0, status?.last_time ?? 0];
    const inside = events.found.filter(({ time }) => time >= first && time <= last && last > first);
    while (this.marks.children.length > inside.length) this.marks.lastElementChild?.remove();
    while (this.marks.children.length < inside.length) this.marks.append(h("i"));
    inside.forEach(({ name, time }, k) => {
      const tick = this.marks.children[k] as HTMLElement;
      tick.style.left = `${(100 * (time - first)) / (last - first)}%`;
      tick.title = `${name}: ${show(time, 9)} s`;
    });
  }

  /** Ask what is to be watched. */
  private open(): void {
    const { signals, actions } = this.stage;
    const ids = { id: "event-signals" };
    const choices = h("datalist", ids, ...signals.names().map((name) => h("option", { value: name })));
    const signal = h("input", { name: "signal", list: ids.id, required: "", autocomplete: "off" });
    const level = h("input", { name: "level", value: "0", inputmode: "decimal" });
    const unit = h("span", { class: "muted" });
    const way = h("select", { name: "direction" }, ...WAYS.map(([text, value]) => new Option(text, String(value))));
    const stops = h("input", { name: "terminal", type: "checkbox" });
    const name = h("input", { name: "name", placeholder: "its signal's", autocomplete: "off" });
    signal.addEventListener("input", () => {
      unit.textContent = signals.unit(signal.value);
    });
    this.list = h("div", { class: "event-list" });
    const form = h(
      "form",
      { class: "event-form" },
      h("label", {}, "signal", signal, choices),
      h("label", {}, "passes the level", level, unit),
      h("label", {}, "when", way),
      h("label", {}, stops, "stop time exactly there"),
      h("label", {}, "name", name),
      h("button", { type: "submit", class: "primary" }, "Watch"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      try {
        const parameters = {
          signal: signal.value.trim(),
          level: readFinite(level.value, "level"),
          direction: Number(way.value),
          terminal: stops.checked,
        };
        const called = name.value.trim() || `${parameters.signal} = ${exact(parameters.level)}`;
        void actions.control("watch", { name: called, parameters });
      } catch (error) {
        tellError(error);
      }
    });
    const dialog = openDialog("Events", form, this.list);
    dialog.addEventListener("close", () => {
      this.list = null;
    });
    this.fill();
    signal.focus();
  }

  /** What is watched, and the last times at which it took place. */
  private fill(): void {
    if (!this.list) return;
    const { watched, found } = this.stage.store.events;
    const rows = watched.map((event) => this.row(event));
    const times = found.slice(-LISTED).reverse();
    const happened = times.map(({ name, time }) => {
      const go = h("button", { type: "button", "aria-label": `Go to ${name}` }, `${exact(time)} s`);
      go.addEventListener("click", () => void this.stage.actions.control("seek", { value: time }));
      return h("li", {}, go, ` ${name}`);
    });
    this.list.replaceChildren(
      h("h2", {}, "Watched"),
      rows.length ? h("ul", {}, ...rows) : h("p", { class: "muted" }, "Nothing yet: choose a signal above."),
      ...(happened.length ? [h("h2", {}, `Took place (${found.length})`), h("ul", {}, ...happened)] : []),
    );
  }

  private row({ name, signal, level, direction, terminal }: Watched): HTMLElement {
    const remove = h("button", { type: "button", class: "icon", "aria-label": `Watch ${name} no longer` }, "×");
    remove.addEventListener("click", () => void this.stage.actions.control("unwatch", { name }));
    const way = WAYS.find(([, value]) => value === direction)?.[0] ?? "";
    const text = `${signal} = ${exact(level)} ${this.stage.signals.unit(signal)}, ${way}${terminal ? ", stops time" : ""}`;
    return h("li", {}, h("b", {}, name), ` ${text} `, remove);
  }
}

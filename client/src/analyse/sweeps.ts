/** One parameter from value to value: what to change, what to measure, and the curve as it grows. */

import { download, h, setText } from "../dom";
import type { SweepRequest } from "../messages";
import { readFinite, show } from "../numbers";
import type { Stage } from "../stage";
import { sweep } from "./ask";
import { Chart, type Drawn, tableOf } from "./chart";
import { evenly, type Knob, knobs } from "./knobs";

const MEASURES: [SweepRequest["measure"], string][] = [
  ["largest", "largest value"],
  ["least", "least value"],
  ["mean", "mean"],
  ["rms", "root mean square"],
  ["range", "largest less least"],
  ["last", "value at the end"],
];
const DEFAULT = "energy.kinetic";

export class Sweeps {
  readonly element = h("form", {});
  private values: number[] = [];
  private results: (number | null)[] = [];
  private title = "";
  private signal = "";
  private unit = "";
  private running: AbortController | null = null;
  private readonly knob = h("input", { list: "sweep-knobs", spellcheck: "false", "aria-label": "What to change" });
  private readonly measured = h("input", {
    list: "sweep-signals",
    spellcheck: "false",
    "aria-label": "What to measure",
  });
  private readonly measure = h(
    "select",
    { "aria-label": "Of it" },
    ...MEASURES.map(([name, text]) => h("option", { value: name }, text)),
  );
  private readonly from = number("From");
  private readonly to = number("To");
  private readonly count = number("Values", "11");
  private readonly duration = number("Time of each run [s]", "2");
  private readonly go = h("button", { type: "submit", class: "primary" }, "Run");
  private readonly stop = h("button", { type: "button", disabled: true, onclick: () => this.cancel() }, "Cancel");
  private readonly save = h("button", { type: "button", disabled: true, onclick: () => this.export() }, "CSV");
  private readonly progress = h("progress", { max: "1", value: "0", hidden: true, "aria-label": "Progress" });
  private readonly said = h("p", { role: "status" });
  private readonly box = h("div", { class: "wide" });
  private known: Knob[] = [];

  constructor(private readonly stage: Stage) {
    const lists = [h("datalist", { id: "sweep-knobs" }), h("datalist", { id: "sweep-signals" })];
    const fill = (): void => {
      const { scene, live } = this.stage.store;
      if (!scene) return;
      this.known = knobs(scene, live);
      lists[0]?.replaceChildren(...this.known.map(({ name, unit }) => h("option", { value: name }, unit)));
      lists[1]?.replaceChildren(...this.stage.signals.names().map((name) => h("option", { value: name })));
      if (!this.known.some(({ name }) => name === this.knob.value)) {
        const { pick } = this.stage.store;
        const own = this.known.find(({ name }) => pick && name.startsWith(`${pick.name}.`));
        this.knob.value = (own ?? this.known[0])?.name ?? "";
        this.suggest();
      }
      if (!this.stage.signals.has(this.measured.value)) this.measured.value = DEFAULT;
    };
    this.knob.addEventListener("focus", fill);
    this.measured.addEventListener("focus", fill);
    this.knob.addEventListener("change", () => this.suggest());
    this.element.append(
      h("label", {}, "change"),
      this.knob,
      h("label", {}, "from, to"),
      h("span", { class: "range" }, this.from, this.to),
      h("label", {}, "values"),
      this.count,
      h("label", {}, "measure"),
      this.measured,
      h("label", {}, "its"),
      this.measure,
      h("label", {}, "run for"),
      this.duration,
      h("div", { class: "actions" }, this.go, this.stop, this.save),
      this.progress,
      this.said,
      this.box,
      ...lists,
    );
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.run();
    });
    fill();
  }

  /** What has been found. */
  get state(): { values: number[]; results: (number | null)[]; unit: string; running: boolean } {
    const { values, results, unit } = this;
    return { values: [...values], results: [...results], unit, running: this.running !== null };
  }

  cancel(): void {
    this.running?.abort();
  }

  private suggest(): void {
    const knob = this.known.find(({ name }) => name === this.knob.value);
    if (!knob) return;
    const { value } = knob;
    this.from.value = String(value === 0 ? 0 : Number((0.5 * value).toPrecision(6)));
    this.to.value = String(value === 0 ? 1 : Number((1.5 * value).toPrecision(6)));
  }

  private read(): SweepRequest {
    const knob = this.known.find(({ name }) => name === this.knob.value);
    if (!knob) throw new Error(`sweep: no parameter '${this.knob.value}'; choose one of the list`);
    const count = readFinite(this.count.value, "values");
    if (!Number.isInteger(count) || count < 2) throw new Error("sweep: at least 2 values");
    this.title = knob.unit ? `${knob.name} [${knob.unit}]` : knob.name;
    this.signal = `${this.measure.value} of ${this.measured.value}`;
    return {
      of: knob.of,
      path: knob.path,
      group: knob.group,
      values: evenly(readFinite(this.from.value, "from"), readFinite(this.to.value, "to"), count),
      signal: this.measured.value,
      measure: this.measure.value as SweepRequest["measure"],
      duration: readFinite(this.duration.value, "run for"),
    };
  }

  private async run(): Promise<void> {
    let request: SweepRequest;
    try {
      request = this.read();
    } catch (error) {
      setText(this.said, (error as Error).message);
      return;
    }
    const running = new AbortController();
    this.running = running;
    [this.values, this.results, this.unit] = [[], [], ""];
    this.busy(true);
    const chart = new Chart(this.title, true);
    this.box.replaceChildren(chart.element);
    const refusals: string[] = [];
    try {
      for await (const { value, result, unit, text = "" } of sweep(request, running.signal)) {
        this.values.push(value);
        this.results.push(result);
        this.unit ||= unit;
        if (result === null) refusals.push(`${show(value)}: ${text}`);
        this.progress.value = this.values.length / request.values.length;
        chart.draw(this.values, this.curves());
      }
      const told = `${this.values.length} runs from the start of the model`;
      setText(this.said, refusals.length ? `${told}; ${refusals.length} failed, such as ${refusals[0]}` : told);
    } catch (error) {
      setText(this.said, running.signal.aborted ? `cancelled after ${this.values.length} runs` : String(error));
    }
    this.running = null;
    this.busy(false);
  }

  private curves(): Drawn[] {
    return [{ label: this.signal, unit: this.unit, values: this.results }];
  }

  private busy(on: boolean): void {
    this.go.disabled = on;
    this.stop.disabled = !on;
    this.save.disabled = on || this.values.length === 0;
    this.progress.hidden = !on;
    this.progress.value = 0;
  }

  private export(): void {
    download("sweep.csv", new Blob([tableOf(this.title, this.values, this.curves())], { type: "text/csv" }));
  }
}

function number(label: string, value = ""): HTMLInputElement {
  return h("input", { inputmode: "decimal", "aria-label": label, value });
}

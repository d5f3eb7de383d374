/** Parameters of the model: a value and a slider each, beside the inspector, while time runs or stands. */

import { html, render, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { Stream } from "./actions";
import { isExpression, rangeOf } from "./bound";
import { byId } from "./dom";
import type { Free } from "./edits";
import { button, inputRow, type Keyed, keyedList } from "./fields";
import type { Variable } from "./messages";
import { exact, readNumber, roundNumber } from "./numbers";
import type { Stage } from "./stage";

const STEPS = 1000; // of a slider

export class Variables {
  private box = byId("variables");
  private streams = new Map<string, Stream>();
  private ranges = new Map<string, [number, number]>(); // of those without one, while they are there
  private isOpen = new Set<string>(); // whose name, range and unit are shown
  private sliding: string | null = null;

  constructor(private readonly stage: Stage) {
    stage.store.on("scene", () => this.draw());
    stage.store.on("opened", () => {
      this.ranges.clear();
      this.isOpen.clear();
    });
    this.draw();
  }

  private draw(): void {
    const variables = this.stage.store.scene?.variables ?? [];
    render(
      html`<h2 id="variables-title">Parameters</h2>
        <button type="button" id="add-variable" title="Add a parameter that sizes and places may follow" @click=${() => void this.add()}>Add</button>
        <div role="group" aria-labelledby="variables-title">
          ${keyedList(variables.map((variable) => this.row(variable)))}
        </div>`,
      this.box,
    );
  }

  private get names(): Set<string> {
    return new Set(this.stage.store.scene?.variables.map((variable) => variable.name));
  }

  private row(variable: Variable): Keyed {
    const { name, value, unit, expression } = variable;
    const range = this.range(variable);
    const text = expression === null ? exact(value) : `=${expression}`;
    const shown = expression === null ? unit : `= ${roundNumber(value)} ${unit}`;
    const send = async ([typed = ""]: string[]): Promise<unknown> =>
      this.set(
        name,
        "value",
        isExpression(typed, this.names) ? typed.trim().replace(/^=\s*/, "") : readNumber(typed, name),
      );
    const view = html`<div class="variable" data-variable=${name}>
      ${inputRow(name, shown, [text], [""], send, true).view}
      <input
        type="range"
        aria-label=${`slider of ${name}`}
        min=${range[0]}
        max=${range[1]}
        step=${(range[1] - range[0]) / STEPS || "any"}
        ?disabled=${expression !== null}
        .value=${live(this.isHeld(name) ? this.slider(name) : String(value))}
        @input=${(event: Event) => this.slide(name, Number((event.target as HTMLInputElement).value))}
        @change=${() => this.release()}
      />
      <button type="button" class="quiet" aria-expanded=${this.isOpen.has(name)} aria-label=${`range and name of ${name}`} @click=${() => this.toggle(name)}>
        …
      </button>
      ${this.isOpen.has(name) ? this.details(variable) : ""}
    </div>`;
    return { key: name, view };
  }

  /** The ends of its slider, which stay while it has no range of its own and the value is between them. */
  private range(variable: Variable): [number, number] {
    const { name, value, minimum, maximum } = variable;
    const kept = this.ranges.get(name);
    const isGiven = minimum !== null && maximum !== null;
    if (!isGiven && kept && value >= kept[0] && value <= kept[1]) return kept;
    const range = rangeOf(variable);
    if (isGiven) this.ranges.delete(name);
    else this.ranges.set(name, range);
    return range;
  }

  private details({ name, minimum, maximum, unit }: Variable): TemplateResult {
    const end = (what: "minimum" | "maximum", value: number | null): Keyed =>
      inputRow(what, unit, [value === null ? "" : exact(value)], [""], ([typed = ""]) =>
        this.set(name, what, typed.trim() === "" ? null : readNumber(typed, what)),
      );
    const rows = [
      inputRow("name", "", [name], [""], async ([to = ""]) => this.rename(name, to.trim()), true),
      end("minimum", minimum),
      end("maximum", maximum),
      inputRow("unit", "", [unit], [""], ([typed = ""]) => this.set(name, "unit", typed.trim()), true),
    ];
    const remove = (): void => void this.stage.actions.apply({ edit: "Remove", kind: "parameter", name });
    return html`<div class="details">${keyedList(rows)}${button("Remove", remove, "danger")}</div>`;
  }

  private toggle(name: string): void {
    if (!this.isOpen.delete(name)) this.isOpen.add(name);
    this.draw();
  }

  private set(name: string, what: string, value: Free): Promise<unknown> {
    return this.stage.connection.edit({ edit: "SetParameter", path: `${name}.${what}`, value });
  }

  private async rename(name: string, to: string): Promise<void> {
    await this.stage.connection.edit({ edit: "Rename", name, to });
    this.isOpen.delete(name);
    this.isOpen.add(to);
    this.draw();
  }

  /** Send the newest place of a slider; few are under way, the last one always arrives. */
  private slide(name: string, value: number): void {
    this.sliding = name;
    const stream = this.streams.get(name) ?? new Stream(this.stage.actions, 1, () => this.draw());
    this.streams.set(name, stream);
    stream.send({ edit: "SetParameter", path: `${name}.value`, value: roundNumber(value, 6) });
  }

  private release(): void {
    this.sliding = null;
    this.draw();
  }

  /** A slider stays where it was put until that is answered. */
  private isHeld(name: string): boolean {
    return this.sliding === name || !(this.streams.get(name)?.isIdle ?? true);
  }

  private slider(name: string): string {
    return this.box.querySelector<HTMLInputElement>(`[data-variable="${name}"] input[type=range]`)?.value ?? "";
  }

  private async add(): Promise<void> {
    const taken = this.stage.store.names;
    const name = [..."abcdefghijklmnopqrstuvwxyz"].find((letter) => !taken.has(letter)) ?? `a${taken.size}`;
    this.isOpen.add(name);
    const options = { value: roundNumber(0.1 * (this.stage.store.scene?.size ?? 1), 1), unit: "m" };
    if (!(await this.stage.actions.apply({ edit: "Add", kind: "parameter", name, options }))) this.isOpen.delete(name);
  }
}

/**
 * Rows of the inspector: a name, values, a unit, and under them why a value was refused. A row lives as
 * long as its key is in the template, whatever the world's values do meanwhile; it keeps what is typed.
 */

import { html, nothing, type TemplateResult } from "lit-html";
import { AsyncDirective } from "lit-html/async-directive.js";
import { Directive, directive, type ElementPart } from "lit-html/directive.js";
import { live } from "lit-html/directives/live.js";
import { repeat } from "lit-html/directives/repeat.js";
import { type Binds, pathsOf, type Send, sendBound, shownTexts } from "./bound";
import type { Free } from "./edits";
import type { Parameter } from "./messages";
import { brief, roundNumber } from "./numbers";
import { formOf } from "./parameters";
import { Typing } from "./typing";

export type Apply<T extends Free = Free> = (value: T) => Promise<unknown>;

/** A piece of the inspector that is the same one as long as its key is. */
export interface Keyed {
  key: string;
  view: unknown;
}

export function keyedList(pieces: Keyed[]): unknown {
  return repeat(
    pieces,
    ({ key }) => key,
    ({ view }) => view,
  );
}

/** Rows under a title. */
export function group(title: string, ...rows: Keyed[]): Keyed {
  return { key: `group ${title}`, view: html`<fieldset><legend>${title}</legend>${keyedList(rows)}</fieldset>` };
}

export function actions(...buttons: TemplateResult[]): Keyed {
  return { key: "actions", view: html`<div class="actions">${buttons}</div>` };
}

export function button(text: string, action: () => void, kind?: "danger"): TemplateResult {
  return html`<button type="button" class=${kind ?? nothing} @click=${action}>${text}</button>`;
}

/** Sets an input's text where it is another; where the focus is, it is selected, as on entering it. */
class Shows extends Directive {
  render(_text: string): unknown {
    return nothing;
  }

  override update(part: ElementPart, [text]: [string]): unknown {
    const input = part.element as HTMLInputElement;
    if (input.value !== text) {
      input.value = text;
      if (document.activeElement === input) input.select();
    }
    return nothing;
  }
}
const shows = directive(Shows);

interface Input {
  label: string;
  unit: string;
  texts: string[]; // of the world's values
  names: string[]; // of the inputs
  apply: (texts: string[]) => Promise<unknown>;
  takesText?: boolean; // letters too: expressions, names
}

class InputRow extends AsyncDirective {
  private row: Input = { label: "", unit: "", texts: [], names: [], apply: async () => {} };
  private typing = new Typing();

  render(row: Input): TemplateResult {
    this.row = row;
    this.typing.take(row.texts.map(brief));
    return this.view();
  }

  private async send(): Promise<void> {
    const { texts, apply } = this.row;
    await this.typing.send((typed) =>
      apply(typed.map((text, k) => (text === brief(texts[k] ?? "") ? (texts[k] ?? text) : text))),
    );
    this.show();
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Enter") void this.send();
    if (event.key !== "Escape") return;
    this.typing.forget();
    this.show();
  }

  private leave(): void {
    this.typing.focus = -1;
    if (this.isConnected) void this.send(); // else the row was taken away, and not left
  }

  private show(): void {
    if (this.isConnected) this.setValue(this.view());
  }

  private view(): TemplateResult {
    const { label, unit, names, takesText } = this.row;
    const { typing } = this;
    const isWrong = typing.problem !== null;
    const inputs = typing.shown.map(
      (text, k) =>
        html`<input
          ${shows(text)}
          class=${text.startsWith("=") ? "bound" : nothing}
          inputmode=${takesText ? "text" : "decimal"}
          autocomplete="off"
          spellcheck="false"
          aria-label=${[label, names[k], unit && `in ${unit}`].filter(Boolean).join(" ")}
          aria-invalid=${isWrong}
          @input=${(event: Event) => typing.type(k, (event.target as HTMLInputElement).value)}
          @focus=${() => {
            typing.focus = k;
          }}
          @blur=${() => this.leave()}
          @keydown=${(event: KeyboardEvent) => this.key(event)}
        />`,
    );
    return html`<div class=${inputs.length > 2 ? "row wide" : "row"} data-row=${label}>
      <span>${label}</span><span class="values">${inputs}</span><span class="unit">${unit}</span>
      <div class="error" role="alert" ?hidden=${!isWrong}>${typing.problem}</div>
    </div>`;
  }
}
const inputDirective = directive(InputRow);

/** A row whose inputs are sent when they are changed; a refusal stands below it in the engine's words. */
export function inputRow(
  label: string,
  unit: string,
  texts: string[],
  names: string[],
  apply: (texts: string[]) => Promise<unknown>,
  takesText = false,
): Keyed {
  return { key: `${label} ${texts.length}`, view: inputDirective({ label, unit, texts, names, apply, takesText }) };
}

/** A row whose inputs may be bound to expressions of the model's parameters: "=2*a". */
export function boundRow(
  label: string,
  unit: string,
  texts: string[],
  names: string[],
  binds: Binds,
  apply: Send,
): Keyed {
  const isBound = texts.length === 1 && (binds.paths[0] ?? "") in binds.expressions;
  const shown = isBound ? `= ${roundNumber(Number(texts[0]))} ${unit}` : unit;
  return inputRow(
    label,
    shown,
    shownTexts(texts, binds),
    names,
    (typed) => sendBound(typed, texts, binds, apply),
    true,
  );
}

/** The row of a parameter of any shape; with `binds`, of what expressions there are and where they are sent. */
export function parameterRow(parameter: Parameter, apply: Apply, binds?: Omit<Binds, "paths">, base = ""): Keyed {
  const label = parameter.name.replaceAll("_", " ");
  const { texts, names, read } = formOf(parameter, label);
  const send = async (typed: string[]): Promise<unknown> => apply(read(typed));
  if (!binds) return inputRow(label, parameter.unit, texts, names, send);
  const paths = pathsOf(base || (parameter.path ?? ""), parameter.name, names);
  return boundRow(label, parameter.unit, texts, names, { ...binds, paths }, send);
}

interface Choice {
  label: string;
  names: string[];
  value: string;
  apply: Apply<string>;
}

class SelectRow extends AsyncDirective {
  private row: Choice = { label: "", names: [], value: "", apply: async () => {} };
  private chosen: string | null = null; // instead of the world's value
  private isWalking = false; // arrow keys on a closed list choose every entry on the way; Enter or leaving it says which
  private problem: string | null = null;

  render(row: Choice): TemplateResult {
    if (row.value !== this.row.value) this.chosen = this.problem = null;
    this.row = row;
    return this.view();
  }

  private get isOther(): boolean {
    return this.chosen !== null && this.chosen !== this.row.value;
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Tab" || event.key === "Shift") return; // on the way out
    this.isWalking = /^(Arrow|Page|Home|End|[^ ]$)/.test(event.key) && !event.altKey;
    if (event.key === "Enter" && this.isOther) {
      void this.send();
      event.preventDefault();
    } else if (event.key === "Escape") {
      this.chosen = null;
      this.show();
    }
  }

  private choose(value: string): void {
    this.chosen = value;
    if (this.isWalking) this.show();
    else void this.send();
  }

  private leave(): void {
    if (this.isWalking && this.isOther && this.isConnected) void this.send();
  }

  private async send(): Promise<void> {
    this.isWalking = false;
    this.show();
    try {
      await this.row.apply(this.chosen ?? this.row.value);
      this.problem = null;
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
      this.chosen = null;
    }
    this.show();
  }

  private show(): void {
    if (this.isConnected) this.setValue(this.view());
  }

  private view(): TemplateResult {
    const { label, names, value } = this.row;
    const shown = this.chosen ?? value;
    return html`<div class="row" data-row=${label}>
      <span>${label}</span>
      <span class="values"
        ><select
          aria-label=${label}
          @keydown=${(event: KeyboardEvent) => this.key(event)}
          @pointerdown=${() => (this.isWalking = false)}
          @change=${(event: Event) => this.choose((event.target as HTMLSelectElement).value)}
          @blur=${() => this.leave()}
        >
          ${names.map((name) => html`<option value=${name} .selected=${live(name === shown)}>${name}</option>`)}
        </select></span
      >
      <span class="unit">${this.isWalking && this.isOther ? "Enter ↵" : ""}</span>
      <div class="error" role="alert" ?hidden=${this.problem === null}>${this.problem}</div>
    </div>`;
  }
}
const selectDirective = directive(SelectRow);

/** A row with a list to choose from. */
export function selectRow(label: string, names: string[], value: string, apply: Apply<string>): Keyed {
  return { key: `choice ${label}`, view: selectDirective({ label, names, value, apply }) };
}

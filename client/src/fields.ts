/** Rows of the inspector: a name, values, a unit, and under them why a value was refused. */

import { h, setText } from "./dom";
import type { Free, Real } from "./edits";
import type { Parameter } from "./messages";
import { exact, parseNumber } from "./numbers";

export type Apply<T extends Free = Free> = (value: T) => Promise<unknown>;

/** A row whose inputs are sent when they are changed; a refusal stands below it in the engine's words. */
export function inputRow(
  label: string,
  unit: string,
  texts: string[],
  names: string[],
  apply: (texts: string[]) => Promise<unknown>,
): HTMLElement {
  const error = h("div", { class: "error", role: "alert" });
  error.hidden = true;
  const inputs = texts.map((text, k) =>
    h("input", {
      value: text,
      inputmode: "decimal",
      autocomplete: "off",
      spellcheck: "false",
      "aria-label": [label, names[k], unit && `in ${unit}`].filter(Boolean).join(" "),
    }),
  );
  const row = h(
    "div",
    { class: inputs.length > 2 ? "row wide" : "row", "data-row": label },
    h("span", {}, label),
    h("span", { class: "values" }, ...inputs),
    h("span", { class: "unit" }, unit),
    error,
  );
  let sent = texts.join("\n"); // Enter and the browser's own change event are one change
  const send = async (): Promise<void> => {
    const now = inputs.map((input) => input.value);
    if (now.join("\n") === sent) return;
    sent = now.join("\n");
    try {
      await apply(now);
      fail(null);
    } catch (problem) {
      fail(problem instanceof Error ? problem.message : String(problem));
    }
  };
  const fail = (text: string | null): void => {
    error.hidden = text === null;
    setText(error, text ?? "");
    for (const input of inputs) input.setAttribute("aria-invalid", String(text !== null));
  };
  for (const input of inputs) {
    input.addEventListener("blur", () => {
      if (!row.closest("[inert]")) void send();
    });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") void send();
      if (event.key === "Escape") {
        inputs.forEach((entry, k) => (entry.value = texts[k]));
        sent = texts.join("\n");
        fail(null);
      }
    });
  }
  return row;
}

export function selectRow(label: string, names: string[], value: string, apply: Apply<string>): HTMLElement {
  const error = h("div", { class: "error", role: "alert" });
  error.hidden = true;
  const select = h(
    "select",
    { "aria-label": label },
    ...names.map((name) => h("option", { value: name, selected: name === value }, name)),
  );
  const unit = h("span", { class: "unit" });
  let isWalking = false; // arrow keys on a closed list choose every entry on the way; Enter or leaving it says which
  select.addEventListener("keydown", (event) => {
    isWalking = /^(Arrow|Page|Home|End|[^ ]$)/.test(event.key) && !event.altKey;
    if (event.key === "Enter" && select.value !== value) {
      void send();
      event.preventDefault();
    }
  });
  select.addEventListener("pointerdown", () => (isWalking = false));
  select.addEventListener("change", () => {
    setText(unit, isWalking && select.value !== value ? "Enter ↵" : "");
    if (!isWalking) void send();
  });
  select.addEventListener("blur", () => {
    if (isWalking && select.value !== value && !select.closest("[inert]")) void send();
  });
  const send = async (): Promise<void> => {
    isWalking = false;
    setText(unit, "");
    try {
      await apply(select.value);
      error.hidden = true;
    } catch (problem) {
      error.hidden = false;
      setText(error, problem instanceof Error ? problem.message : String(problem));
      select.value = value;
    }
  };
  return h(
    "div",
    { class: "row", "data-row": label },
    h("span", {}, label),
    h("span", { class: "values" }, select),
    unit,
    error,
  );
}

/** A row of live values, filled by `output`. */
export function liveRow(
  label: string,
  unit: string,
  isVector: boolean,
): { row: HTMLElement; output: HTMLOutputElement } {
  const output = h("output", { "aria-label": label, "aria-live": "off" });
  return {
    row: h(
      "div",
      { class: isVector ? "row wide" : "row", "data-row": label },
      h("span", {}, label),
      output,
      h("span", { class: "unit" }, unit),
    ),
    output,
  };
}

export function group(title: string, ...rows: HTMLElement[]): HTMLElement {
  return h("fieldset", {}, h("legend", {}, title), ...rows);
}

function read(text: string, what: string): number {
  const value = parseNumber(text);
  if (value === null) throw new Error(`${what}: ${text === "" ? "nothing" : `'${text}'`} is not a number`);
  return value;
}

/** As JSON has it: no infinity there. */
function plain(value: number): Real {
  return Number.isFinite(value) ? value : value > 0 ? "inf" : "-inf";
}

function text(value: unknown, ifNone = ""): string {
  return typeof value === "number" ? exact(value) : ifNone;
}

/** The row of a parameter of any shape: a number, a vector, a tensor, limits, limits of a ball. */
export function parameterRow(
  parameter: Parameter,
  apply: Apply,
  label = parameter.name.replaceAll("_", " "),
): HTMLElement {
  const { name, unit, value } = parameter;
  if (name === "limits") return limitsRow(parameter, label, apply);
  if (Array.isArray(value) && Array.isArray(value[0])) return tensorRow(label, unit, value as number[][], apply);
  if (Array.isArray(value)) {
    const numbers = value as number[];
    return inputRow(label, unit, numbers.map(exact), ["x", "y", "z"], (texts) =>
      apply(texts.map((item) => plain(read(item, label)))),
    );
  }
  const shown = value === null ? "inf" : text(value);
  return inputRow(label, unit, [shown], [""], ([item]) => apply(plain(read(item, label))));
}

function tensorRow(label: string, unit: string, tensor: number[][], apply: Apply): HTMLElement {
  const isDiagonal = tensor.every((line, i) => line.every((item, j) => i === j || item === 0));
  if (isDiagonal) {
    const texts = tensor.map((line, i) => exact(line[i]));
    return inputRow(label, unit, texts, ["xx", "yy", "zz"], (typed) => apply(typed.map((item) => read(item, label))));
  }
  const names = ["xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz"];
  return inputRow(label, unit, tensor.flat().map(exact), names, (typed) => {
    const flat = typed.map((item) => read(item, label));
    return apply([flat.slice(0, 3), flat.slice(3, 6), flat.slice(6, 9)]);
  });
}

function limitsRow(parameter: Parameter, label: string, apply: Apply): HTMLElement {
  const { unit, value } = parameter;
  const range = (lower: string, upper: string): Real[] | null =>
    lower === "" && upper === ""
      ? null
      : [plain(lower === "" ? -Infinity : read(lower, label)), plain(upper === "" ? Infinity : read(upper, label))];
  if (value && typeof value === "object" && !Array.isArray(value)) {
    const { swing, twist } = value as { swing: number | null; twist: (number | null)[] | null };
    const texts = [text(swing), text(twist?.[0]), text(twist?.[1])];
    return inputRow(label, unit, texts, ["swing", "least twist", "most twist"], ([a, b, c]) => {
      const found: Record<string, Free> = {};
      if (a !== "") found.swing = read(a, label);
      const turned = range(b, c);
      if (turned) found.twist = turned;
      return apply(Object.keys(found).length ? found : null);
    });
  }
  const pair = (value ?? [null, null]) as (number | null)[];
  return inputRow(label, unit, [text(pair[0]), text(pair[1])], ["lower", "upper"], ([a, b]) => apply(range(a, b)));
}

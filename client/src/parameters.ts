/** A parameter as texts of input fields, and back: a number, a vector, a tensor, limits, limits of a ball. */

import type { Free, Real } from "./edits";
import type { Parameter } from "./messages";
import { exact, readReal } from "./numbers";

export interface Form {
  texts: string[];
  names: string[]; // of the fields, "" where there is one
  read(texts: string[]): Free; // throws in words where a text is no number
}

export function formOf(parameter: Parameter, label: string): Form {
  const { name, value } = parameter;
  const read = (text: string | undefined): Real => readReal(text ?? "", label);
  if (name === "limits") return limitsForm(value, read);
  if (Array.isArray(value) && Array.isArray(value[0])) return tensorForm(value as number[][], read);
  if (Array.isArray(value))
    return { texts: value.map(textOf), names: ["x", "y", "z"], read: (texts) => texts.map(read) };
  if (parameter.optional)
    return { texts: [textOf(value)], names: [""], read: ([typed]) => (typed ? read(typed) : null) };
  const text = value === null ? "inf" : textOf(value); // JSON has no infinity
  return { texts: [text], names: [""], read: ([typed]) => read(typed) };
}

function textOf(value: unknown): string {
  return typeof value === "number" ? exact(value) : "";
}

function tensorForm(tensor: number[][], read: (text: string) => Real): Form {
  const isDiagonal = tensor.every((line, i) => line.every((item, j) => i === j || item === 0));
  if (isDiagonal) {
    const texts = tensor.map((line, i) => textOf(line[i]));
    return { texts, names: ["xx", "yy", "zz"], read: (typed) => typed.map(read) };
  }
  const names = ["xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz"];
  return {
    texts: tensor.flat().map(textOf),
    names,
    read: (typed) => [0, 3, 6].map((k) => typed.slice(k, k + 3).map(read)),
  };
}

/** Nothing typed means no limit on that side. */
function limitsForm(value: unknown, read: (text: string) => Real): Form {
  const range = (lower = "", upper = ""): Real[] | null =>
    lower === "" && upper === "" ? null : [lower === "" ? "-inf" : read(lower), upper === "" ? "inf" : read(upper)];
  if (value && typeof value === "object" && !Array.isArray(value)) {
    const { swing, twist } = value as { swing: number | null; twist: (number | null)[] | null };
    return {
      texts: [textOf(swing), textOf(twist?.[0]), textOf(twist?.[1])],
      names: ["swing", "least twist", "most twist"],
      read: ([cone = "", least, most]) => {
        const found: Record<string, Free> = {};
        if (cone !== "") found.swing = read(cone);
        const turned = range(least, most);
        if (turned) found.twist = turned;
        return Object.keys(found).length ? found : null;
      },
    };
  }
  const [lower, upper] = (value ?? [null, null]) as (number | null)[];
  return { texts: [textOf(lower), textOf(upper)], names: ["lower", "upper"], read: ([a, b]) => range(a, b) };
}

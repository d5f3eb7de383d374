/** Inputs that may be bound to expressions of the model's parameters: what they show, and what is sent. */

import type { Bind } from "./edits";
import type { Variable } from "./messages";
import { parseNumber } from "./numbers";

export type Send = (texts: string[]) => Promise<unknown>;

export interface Binds {
  expressions: Record<string, string>; // all of the scene, by path
  names: Set<string>; // of parameters
  paths: string[]; // of the inputs; "" where one cannot be bound
  bind: (edit: Bind) => Promise<unknown>;
}

/** Paths of the inputs of a parameter: its own, those of its axes, those of limits. */
export function pathsOf(path: string, name: string, names: string[]): string[] {
  if (!path) return names.map(() => "");
  const owner = path.slice(0, path.lastIndexOf("."));
  if (name === "limits")
    return names.map((end) => (["lower", "upper", "swing"].includes(end) ? `${owner}.${end}` : ""));
  const own = name === "limit_restitution" ? `${owner}.restitution` : path;
  if (names.length === 1) return [own];
  return names.map((axis) => (/^[xyzw]$/.test(axis) ? `${own}.${axis}` : ""));
}

/** A number is a number; what begins with "=" or has a parameter's name in it is an expression. */
export function isExpression(text: string, names: Set<string>): boolean {
  const typed = text.trim();
  if (typed.startsWith("=")) return true;
  const words = typed.match(/[\p{L}_][\p{L}\p{N}_]*/gu) ?? [];
  return parseNumber(typed) === null && words.some((word) => names.has(word));
}

/** What stands in the inputs: the expression where there is one. */
export function shownTexts(texts: string[], { expressions, paths }: Binds): string[] {
  return texts.map((text, k) => {
    const expression = expressions[paths[k] ?? ""];
    return expression === undefined ? text : `=${expression}`;
  });
}

/** Send what was typed over `texts`, the world's numbers: expressions one by one, then the numbers together. */
export async function sendBound(typed: string[], texts: string[], binds: Binds, send: Send): Promise<void> {
  const edits: Bind[] = [];
  const numbers = typed.map((text, k) => {
    const path = binds.paths[k] ?? "";
    const before = binds.expressions[path];
    const own = texts[k] ?? "";
    if (path && isExpression(text, binds.names)) {
      const expression = text.trim().replace(/^=\s*/, "");
      if (expression !== before) edits.push({ edit: "Bind", path, expression: expression || null });
      return own;
    }
    if (path && before !== undefined && (text.trim() === "" || text === own)) {
      edits.push({ edit: "Bind", path, expression: null });
      return own;
    }
    return text;
  });
  for (const edit of edits) await binds.bind(edit);
  if (numbers.some((text, k) => text !== texts[k])) await send(numbers);
}

/** The ends of a slider: those of the range, else about the value that it had when it was first shown. */
export function rangeOf({ minimum, maximum, value }: Variable): [number, number] {
  const reach = Math.abs(value) || 1;
  const least = minimum ?? (value >= 0 && (maximum ?? 1) > 0 ? 0 : value - reach);
  const most = maximum ?? Math.max(value, least) + reach;
  return [least, most];
}

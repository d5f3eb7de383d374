/**
 * Formulas of signals and of time: a small grammar, read by hand and never evaluated as code.
 *
 *   list    = sum ("," sum)*
 *   sum     = product (("+" | "-") product)*
 *   product = factor (("*" | "/") factor)*
 *   factor  = ("-" | "+") factor | power
 *   power   = atom ("^" factor)?
 *   atom    = number | "(" sum ")" | "|" sum "|" | function "(" list ")" | "t" | "pi" | "deg" | name
 *
 * A name is a signal such as `link3.velocity.x`, or any text in square brackets: `[work of hand]`.
 * The signs of print, − × · ÷, are read as - * * /. Formulas of motors and loads are of the same grammar
 * (author/formulas.py), with `t` as their only name.
 */

export type Node =
  | { kind: "number"; value: number }
  | { kind: "time" }
  | { kind: "signal"; name: string }
  | { kind: "negate" | "abs"; of: Node }
  | { kind: "call"; name: string; of: Node[] }
  | { kind: "+" | "-" | "*" | "/" | "^"; a: Node; b: Node };

export class ExpressionError extends Error {}

type Pointwise = { count: number; of: (...values: number[]) => number; unit?: "same" };

/** Functions of values at one time. */
const POINTWISE: Record<string, Pointwise> = {
  sin: { count: 1, of: Math.sin },
  cos: { count: 1, of: Math.cos },
  tan: { count: 1, of: Math.tan },
  asin: { count: 1, of: Math.asin },
  acos: { count: 1, of: Math.acos },
  atan: { count: 1, of: Math.atan },
  atan2: { count: 2, of: Math.atan2 },
  exp: { count: 1, of: Math.exp },
  log: { count: 1, of: Math.log },
  sqrt: { count: 1, of: Math.sqrt },
  abs: { count: 1, of: Math.abs, unit: "same" },
  sign: { count: 1, of: Math.sign },
  floor: { count: 1, of: Math.floor, unit: "same" },
  mod: { count: 2, of: (a, b) => a - b * Math.floor(a / b), unit: "same" },
  min: { count: 2, of: Math.min, unit: "same" },
  max: { count: 2, of: Math.max, unit: "same" },
  hypot: { count: 2, of: Math.hypot, unit: "same" },
};

/** Functions of what was before and, of ddt, after: by how many arguments, those behind the first being numbers. */
const HISTORIC: Record<string, { count: number; unit: (unit: string) => string }> = {
  ddt: { count: 1, unit: rateUnit },
  integral: { count: 1, unit: integralUnit },
  filter: { count: 2, unit: (unit) => unit },
  mean: { count: 2, unit: (unit) => unit },
};

const CONSTANTS: Record<string, number> = { pi: Math.PI, deg: Math.PI / 180 };

export const FUNCTIONS = [...Object.keys(POINTWISE), ...Object.keys(HISTORIC)];

const NUMBER = /\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?/.source;
const TOKEN = new RegExp(
  `\\s*(?:(${NUMBER})|\\[\\s*([^\\]\\s][^\\]]*)\\]|([A-Za-z_][\\w.]*)|(\\*\\*|[-+*/^(),|−×·÷]))`,
  "y",
);
const PRINTED: Record<string, string> = { "−": "-", "×": "*", "·": "*", "÷": "/", "**": "^" };
const DEEPEST = 50;
const LONGEST = 1000; // names, numbers and signs

interface Token {
  kind: "number" | "name" | "sign" | "end";
  text: string;
}

function tokens(text: string): Token[] {
  const found: Token[] = [];
  const end = text.trimEnd().length;
  let place = 0;
  while (place < end) {
    if (found.length === LONGEST)
      throw new ExpressionError(`expression: more than ${LONGEST} names, numbers and signs; make it shorter`);
    TOKEN.lastIndex = place;
    const match = TOKEN.exec(text);
    if (!match)
      throw new ExpressionError(
        `expression: cannot read '${text.slice(place).trim()}'; use names, numbers and + - * / ^ ( )`,
      );
    const [, number, bracketed, name, sign = ""] = match;
    const named = bracketed?.trim() ?? name;
    if (number !== undefined) found.push({ kind: "number", text: number });
    else if (named !== undefined) found.push({ kind: "name", text: named });
    else found.push({ kind: "sign", text: PRINTED[sign] ?? sign });
    place = TOKEN.lastIndex;
  }
  return found;
}

/** The tree of an expression; an error says where it cannot be read. */
export function parse(text: string): Node {
  return new Parser(tokens(text)).all();
}

/** Texts that have commas between them, those of arguments and names apart. */
export function splitList(text: string): string[] {
  const found = [""];
  let depth = 0;
  for (const sign of text) {
    if ("([".includes(sign)) depth += 1;
    if (")]".includes(sign)) depth -= 1;
    if (sign === "," && depth === 0) found.push("");
    else found[found.length - 1] += sign;
  }
  return found.map((one) => one.trim());
}

class Parser {
  private place = 0;

  constructor(private readonly items: Token[]) {}

  all(): Node {
    const tree = this.sum(0);
    const { kind, text } = this.peek();
    const before = this.items[this.place - 1];
    if (kind === "end") return tree;
    if (text === "(" && before?.kind === "name")
      throw new ExpressionError(
        `expression: '(' is not expected, '${before.text}' is no function; there are ${FUNCTIONS.join(", ")}`,
      );
    throw new ExpressionError(`expression: '${text}' is not expected; put + - * or / before it`);
  }

  private peek(): Token {
    return this.items[this.place] ?? { kind: "end", text: "" };
  }

  private take(sign: string): boolean {
    if (this.peek().kind !== "sign" || this.peek().text !== sign) return false;
    this.place += 1;
    return true;
  }

  private expect(sign: string): void {
    const { text } = this.peek();
    if (!this.take(sign))
      throw new ExpressionError(`expression: '${sign}' is missing ${text ? `before '${text}'` : "at the end"}`);
  }

  private list(depth: number): Node[] {
    const found = [this.sum(depth)];
    while (this.take(",")) found.push(this.sum(depth));
    return found;
  }

  private sum(depth: number): Node {
    let a = this.product(depth);
    for (;;) {
      if (this.take("+")) a = { kind: "+", a, b: this.product(depth) };
      else if (this.take("-")) a = { kind: "-", a, b: this.product(depth) };
      else return a;
    }
  }

  private product(depth: number): Node {
    let a = this.factor(depth);
    for (;;) {
      if (this.take("*")) a = { kind: "*", a, b: this.factor(depth) };
      else if (this.take("/")) a = { kind: "/", a, b: this.factor(depth) };
      else return a;
    }
  }

  private factor(depth: number): Node {
    if (depth > DEEPEST) throw new ExpressionError(`expression: nested more than ${DEEPEST} deep; make it shorter`);
    if (this.take("-")) return { kind: "negate", of: this.factor(depth + 1) };
    if (this.take("+")) return this.factor(depth + 1);
    const base = this.atom(depth);
    return this.take("^") ? { kind: "^", a: base, b: this.factor(depth + 1) } : base;
  }

  private atom(depth: number): Node {
    const token = this.peek();
    if (this.take("(")) {
      const inner = this.sum(depth + 1);
      this.expect(")");
      return inner;
    }
    if (this.take("|")) {
      const inner = this.sum(depth + 1);
      this.expect("|");
      return { kind: "abs", of: inner };
    }
    this.place += 1;
    if (token.kind === "number") return { kind: "number", value: numberOf(token.text) };
    if (token.kind === "name") return this.named(token.text, depth);
    throw new ExpressionError(
      `expression: a signal or a number is missing ${token.text ? `before '${token.text}'` : "at the end"}`,
    );
  }

  private named(name: string, depth: number): Node {
    if (FUNCTIONS.includes(name) && this.take("(")) {
      const of = this.list(depth + 1);
      this.expect(")");
      return called(name, of);
    }
    if (name === "t") return { kind: "time" };
    const value = CONSTANTS[name];
    return value === undefined ? { kind: "signal", name } : { kind: "number", value };
  }
}

/** A call with as many arguments as it takes, and numbers where it takes numbers. */
function called(name: string, of: Node[]): Node {
  const count = (POINTWISE[name] ?? HISTORIC[name])?.count;
  const isEnough = name === "min" || name === "max" ? of.length > 0 : of.length === count;
  if (!isEnough)
    throw new ExpressionError(`expression: ${name} of ${of.length} values, expected ${count}: ${usage(name)}`);
  const second = name in HISTORIC && of[1] ? evaluate(of[1], () => NaN) : 1;
  if (!(second > 0 && Number.isFinite(second)))
    throw new ExpressionError(`expression: ${name} wants a number above 0 behind the comma: ${usage(name)}`);
  return { kind: "call", name, of };
}

/** How a function is written. */
function usage(name: string): string {
  if (name === "filter") return "filter(x, Hz)";
  if (name === "mean") return "mean(x, seconds)";
  return (POINTWISE[name]?.count ?? 1) === 2 ? `${name}(x, y)` : `${name}(x)`;
}

function numberOf(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new ExpressionError(`expression: '${text}' is too large for a number`);
  return value;
}

const RATES: [string, string][] = [
  ["J", "W"],
  ["N s", "N"],
  ["N m s", "N m"],
];

/** The unit of a rate. */
function rateUnit(unit: string): string {
  const known = RATES.find(([of]) => of === unit);
  if (known) return known[1];
  if (unit.endsWith("/s")) return `${unit}²`;
  return unit.endsWith("/s²") ? `${unit.slice(0, -1)}³` : unit && `${unit}/s`;
}

/** The unit of an integral over time. */
function integralUnit(unit: string): string {
  const known = RATES.find(([, rate]) => rate === unit);
  if (known) return known[0];
  if (unit.endsWith("/s")) return unit.slice(0, -2);
  return unit.endsWith("/s²") ? unit.slice(0, -1) : unit && `${unit} s`;
}

/** The unit of an expression where `read` gives that of a signal: known of sums and of multiples, "" else. */
export function unitOf(node: Node, read: (name: string) => string): string {
  switch (node.kind) {
    case "number":
    case "^":
      return "";
    case "time":
      return "s";
    case "signal":
      return read(node.name);
    case "negate":
    case "abs":
      return unitOf(node.of, read);
    case "call": {
      const units = node.of.map((of) => unitOf(of, read));
      const historic = HISTORIC[node.name];
      if (historic) return historic.unit(units[0] ?? "");
      if (["asin", "acos", "atan", "atan2"].includes(node.name)) return "rad";
      return POINTWISE[node.name]?.unit && units.every((unit) => unit === units[0]) ? (units[0] ?? "") : "";
    }
    case "+":
    case "-": {
      const unit = unitOf(node.a, read);
      return unit === unitOf(node.b, read) ? unit : "";
    }
    case "*":
      return node.a.kind === "number" ? unitOf(node.b, read) : node.b.kind === "number" ? unitOf(node.a, read) : "";
    case "/":
      return node.b.kind === "number" ? unitOf(node.a, read) : "";
  }
}

/** What an expression is made of. */
function partsOf(node: Node): Node[] {
  switch (node.kind) {
    case "number":
    case "time":
    case "signal":
      return [];
    case "negate":
    case "abs":
      return [node.of];
    case "call":
      return node.of;
    default:
      return [node.a, node.b];
  }
}

/** The signals an expression reads, each once. */
export function signalsOf(node: Node): string[] {
  return node.kind === "signal" ? [node.name] : [...new Set(partsOf(node).flatMap(signalsOf))];
}

/** Does the value at a time depend on values at others? */
export function isHistoric(node: Node): boolean {
  return (node.kind === "call" && node.name in HISTORIC) || partsOf(node).some(isHistoric);
}

/** The value of an expression where `read` gives the value of a signal; not of one that needs others' times. */
export function evaluate(node: Node, read: (name: string) => number, time = NaN): number {
  switch (node.kind) {
    case "number":
      return node.value;
    case "time":
      return time;
    case "signal":
      return read(node.name);
    case "negate":
      return -evaluate(node.of, read, time);
    case "call":
      return POINTWISE[node.name]?.of(...node.of.map((of) => evaluate(of, read, time))) ?? NaN;
    case "abs":
      return Math.abs(evaluate(node.of, read, time));
    default:
      return combine(node.kind, evaluate(node.a, read, time), evaluate(node.b, read, time));
  }
}

function combine(sign: "+" | "-" | "*" | "/" | "^", a: number, b: number): number {
  switch (sign) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "^":
      return a ** b;
  }
}

/** The values of an expression at all times, where `read` gives those of a signal; NaN where it is no number. */
export function evaluateAll(
  node: Node,
  times: ArrayLike<number>,
  read: (name: string) => ArrayLike<number | null>,
  historic: Record<string, (times: ArrayLike<number>, values: Float64Array, number: number) => Float64Array>,
): Float64Array {
  const all = (of: Node): Float64Array => evaluateAll(of, times, read, historic);
  if (node.kind === "time") return Float64Array.from(times);
  if (node.kind === "number") return new Float64Array(times.length).fill(node.value);
  if (node.kind === "signal") return Float64Array.from(read(node.name), (value) => value ?? NaN);
  const parts = partsOf(node).map(all);
  const [first = new Float64Array(times.length), second] = parts;
  const past = node.kind === "call" ? historic[node.name] : undefined;
  if (past) return past(times, first, second?.[0] ?? NaN);
  return first.map((a, k) => {
    if (node.kind === "negate") return -a;
    if (node.kind === "abs") return Math.abs(a);
    if (node.kind === "call") return POINTWISE[node.name]?.of(...parts.map((part) => part[k] ?? NaN)) ?? NaN;
    return combine(node.kind, a, second?.[k] ?? NaN);
  });
}

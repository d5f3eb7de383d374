/**
 * Sums and differences of signals: a small grammar, read by hand and never evaluated as code.
 *
 *   sum     = product (("+" | "-") product)*
 *   product = factor (("*" | "/") factor)*
 *   factor  = number | ("-" | "+") factor | "(" sum ")" | "|" sum "|" | name
 *
 * A name is a signal such as `link3.velocity.x`, or any text in square brackets: `[work of hand]`.
 * The signs of print, − × · ÷, are read as - * * /.
 */

export type Node =
  | { kind: "number"; value: number }
  | { kind: "signal"; name: string }
  | { kind: "negate" | "abs"; of: Node }
  | { kind: "+" | "-" | "*" | "/"; a: Node; b: Node };

export class ExpressionError extends Error {}

const NUMBER = /\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?/.source;
const TOKEN = new RegExp(`\\s*(?:(${NUMBER})|\\[\\s*([^\\]\\s][^\\]]*)\\]|([A-Za-z_][\\w.]*)|([-+*/()|−×·÷]))`, "y");
const PRINTED: Record<string, string> = { "−": "-", "×": "*", "·": "*", "÷": "/" };
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
        `expression: cannot read '${text.slice(place).trim()}'; use names, numbers and + - * / ( )`,
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
  const items = tokens(text);
  let place = 0;
  const peek = (): Token => items[place] ?? { kind: "end", text: "" };
  const take = (sign: string): boolean => {
    if (peek().kind !== "sign" || peek().text !== sign) return false;
    place += 1;
    return true;
  };
  const expect = (sign: string): void => {
    if (!take(sign))
      throw new ExpressionError(
        `expression: '${sign}' is missing ${peek().text ? `before '${peek().text}'` : "at the end"}`,
      );
  };
  function sum(depth: number): Node {
    let a = product(depth);
    for (;;) {
      if (take("+")) a = { kind: "+", a, b: product(depth) };
      else if (take("-")) a = { kind: "-", a, b: product(depth) };
      else return a;
    }
  }
  function product(depth: number): Node {
    let a = factor(depth);
    for (;;) {
      if (take("*")) a = { kind: "*", a, b: factor(depth) };
      else if (take("/")) a = { kind: "/", a, b: factor(depth) };
      else return a;
    }
  }
  function factor(depth: number): Node {
    if (depth > DEEPEST) throw new ExpressionError(`expression: nested more than ${DEEPEST} deep; make it shorter`);
    const token = peek();
    if (take("-")) return { kind: "negate", of: factor(depth + 1) };
    if (take("+")) return factor(depth + 1);
    if (take("(")) {
      const inner = sum(depth + 1);
      expect(")");
      return inner;
    }
    if (take("|")) {
      const inner = sum(depth + 1);
      expect("|");
      return { kind: "abs", of: inner };
    }
    place += 1;
    if (token.kind === "number") return { kind: "number", value: numberOf(token.text) };
    if (token.kind === "name") return { kind: "signal", name: token.text };
    throw new ExpressionError(
      `expression: a signal or a number is missing ${token.text ? `before '${token.text}'` : "at the end"}`,
    );
  }
  const tree = sum(0);
  if (peek().kind !== "end")
    throw new ExpressionError(`expression: '${peek().text}' is not expected; put + - * or / before it`);
  return tree;
}

function numberOf(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new ExpressionError(`expression: '${text}' is too large for a number`);
  return value;
}

/** The unit of an expression where `read` gives that of a signal: known of sums and of multiples, "" else. */
export function unitOf(node: Node, read: (name: string) => string): string {
  switch (node.kind) {
    case "number":
      return "";
    case "signal":
      return read(node.name);
    case "negate":
    case "abs":
      return unitOf(node.of, read);
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

/** The signals an expression reads, each once. */
export function signalsOf(node: Node): string[] {
  switch (node.kind) {
    case "number":
      return [];
    case "signal":
      return [node.name];
    case "negate":
    case "abs":
      return signalsOf(node.of);
    default:
      return [...new Set([...signalsOf(node.a), ...signalsOf(node.b)])];
  }
}

/** The value of an expression where `read` gives the value of a signal. */
export function evaluate(node: Node, read: (name: string) => number): number {
  switch (node.kind) {
    case "number":
      return node.value;
    case "signal":
      return read(node.name);
    case "negate":
      return -evaluate(node.of, read);
    case "abs":
      return Math.abs(evaluate(node.of, read));
    case "+":
      return evaluate(node.a, read) + evaluate(node.b, read);
    case "-":
      return evaluate(node.a, read) - evaluate(node.b, read);
    case "*":
      return evaluate(node.a, read) * evaluate(node.b, read);
    case "/":
      return evaluate(node.a, read) / evaluate(node.b, read);
  }
}

/**
 * Sums and differences of signals: a small grammar, read by hand and never evaluated as code.
 *
 *   sum     = product (("+" | "-") product)*
 *   product = factor (("*" | "/") factor)*
 *   factor  = number | "-" factor | "(" sum ")" | "|" sum "|" | name
 *
 * A name is a signal such as `link3.velocity.x`, or any text in square brackets: `[work of hand]`.
 */

export type Node =
  | { kind: "number"; value: number }
  | { kind: "signal"; name: string }
  | { kind: "negate" | "abs"; of: Node }
  | { kind: "+" | "-" | "*" | "/"; a: Node; b: Node };

export class ExpressionError extends Error {}

const TOKEN = /\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|\[([^\]]+)\]|([A-Za-z_][\w.]*)|([-+*/()|]))/y;
const DEEPEST = 50;

interface Token {
  kind: "number" | "name" | "sign" | "end";
  text: string;
}

function tokens(text: string): Token[] {
  const found: Token[] = [];
  TOKEN.lastIndex = 0;
  let place = 0;
  while (text.slice(place).trim() !== "") {
    TOKEN.lastIndex = place;
    const match = TOKEN.exec(text);
    if (!match)
      throw new ExpressionError(
        `expression: cannot read '${text.slice(place).trim()}'; use names, numbers and + - * / ( )`,
      );
    const [, number, bracketed, name, sign] = match;
    if (number !== undefined) found.push({ kind: "number", text: number });
    else if (bracketed !== undefined || name !== undefined)
      found.push({ kind: "name", text: (bracketed ?? name).trim() });
    else found.push({ kind: "sign", text: sign });
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
    if (token.kind === "number") return { kind: "number", value: Number(token.text) };
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

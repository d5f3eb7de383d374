import assert from "node:assert/strict";
import { test } from "node:test";
import { ExpressionError, evaluate, parse, signalsOf, unitOf } from "../src/expression";

const VALUES: Record<string, number> = { a: 2, b: 3, c: 5, "link3.velocity.x": 7, "work of hand": 11 };
const value = (text: string): number => evaluate(parse(text), (name) => VALUES[name] ?? Number.NaN);

test("precedence and grouping are those of arithmetic", () => {
  for (const [text, expected] of [
    ["1 + 2 * 3", 7],
    ["(1 + 2) * 3", 9],
    ["10 - 4 - 3", 3],
    ["100 / 5 / 2", 10],
    ["2 * 3 - 4 / 2", 4],
    ["a + b * c", 17],
    ["a - (b - c)", 4],
    ["((((a))))", 2],
    ["  a+b ", 5],
    ["1.5e1 + .5 + 2.", 17.5],
    ["1E-1", 0.1],
  ] as const)
    assert.equal(value(text), expected, text);
});

test("a sign before a factor binds more tightly than * and /", () => {
  for (const [text, expected] of [
    ["-a", -2],
    ["--a", 2],
    ["+a", 2],
    ["2 - -3", 5],
    ["2 + -3", -1],
    ["2 - +3", -1],
    ["-a * -b", 6],
    ["a * -b + c", -1],
    ["-(a + b)", -5],
    ["6 / -a", -3],
    ["−a − −b", 1], // the minus of print
  ] as const)
    assert.equal(value(text), expected, text);
});

test("bars are absolute values, also inside each other", () => {
  for (const [text, expected] of [
    ["|a - c|", 3],
    ["|-a|", 2],
    ["-|a|", -2],
    ["||a - c| - 4|", 1],
    ["|a| * |b - c|", 4],
    ["| |a| - |c| |", 3],
  ] as const)
    assert.equal(value(text), expected, text);
});

test("other signs for times and over are read too", () => {
  assert.equal(value("a × b"), 6);
  assert.equal(value("a · b"), 6);
  assert.equal(value("b ÷ a"), 1.5);
});

test("names have dots, or stand in brackets as they are", () => {
  assert.equal(value("link3.velocity.x - 1"), 6);
  assert.equal(value("[work of hand] / [link3.velocity.x]"), 11 / 7);
  assert.equal(value("[ work of hand ]"), 11);
  assert.deepEqual(signalsOf(parse("a + 2 * [work of hand] - a / |b|")), ["a", "work of hand", "b"]);
  assert.deepEqual(signalsOf(parse("1 + 2")), []);
});

test("a slip of the hand is told where it is", () => {
  for (const [text, says] of [
    ["", /missing at the end/],
    ["   ", /missing at the end/],
    ["a +", /missing at the end/],
    ["* a", /missing before '\*'/],
    ["a + * b", /missing before '\*'/],
    ["(a + b", /'\)' is missing at the end/],
    ["(a + b]", /cannot read '\]'/],
    ["a + b)", /'\)' is not expected/],
    ["()", /missing before '\)'/],
    ["|a", /'\|' is missing at the end/],
    ["||", /missing at the end/],
    ["2 a", /'a' is not expected; put/],
    ["a b", /'b' is not expected; put/],
    ["2(a)", /'\(' is not expected; put/],
    ["a ^ 2", /cannot read '\^ 2'/],
    ["a ** 2", /missing before '\*'/],
    ["sin(a)", /'\(' is not expected/],
    ["1,5", /cannot read ',5'/],
    ["1.2.3", /'\.3' is not expected/],
    ["5 %", /cannot read '%'/],
    ["a = b", /cannot read '= b'/],
    ["[work of hand", /cannot read '\[work of hand'/],
    ["[]", /cannot read '\[\]'/],
    ["[  ]", /cannot read '\[ {2}\]'/],
    ["1e999", /'1e999' is too large/],
  ] as const) {
    assert.throws(() => parse(text), ExpressionError);
    assert.throws(() => parse(text), says);
  }
});

test("what is too long or too deep is refused before it can do harm", () => {
  assert.throws(() => parse(`${"(".repeat(60)}a${")".repeat(60)}`), /nested more than/);
  assert.throws(() => parse(`${"-".repeat(100)}a`), /nested more than/);
  assert.throws(() => parse(`a${" + a".repeat(100_000)}`), /more than 1000/);
  assert.throws(() => parse("(".repeat(100_000)), ExpressionError);
  const longest = `a${" + a".repeat(499)}`;
  assert.equal(value(longest), 1000);
  assert.deepEqual(signalsOf(parse(longest)), ["a"]);
});

test("what has no value has none, and a division by zero is not hidden", () => {
  assert(Number.isNaN(value("a + nosuch")));
  assert.equal(value("1 / 0"), Infinity);
  assert(Number.isNaN(value("0 / 0")));
});

test("the unit of a sum is that of its terms, that of a product is not said", () => {
  const UNITS: Record<string, string> = { a: "m", b: "m", c: "N" };
  const unit = (text: string): string => unitOf(parse(text), (name) => UNITS[name] ?? "");
  for (const [text, expected] of [
    ["a + b", "m"],
    ["a - b", "m"],
    ["-|a|", "m"],
    ["2 * a", "m"],
    ["a / 2 + b * 3", "m"],
    ["a + c", ""],
    ["a + 1", ""],
    ["a * b", ""],
    ["a / b", ""],
    ["1 / a", ""],
    ["c", "N"],
    ["nosuch", ""],
  ] as const)
    assert.equal(unit(text), expected, text);
});

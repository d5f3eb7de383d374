import assert from "node:assert/strict";
import { test } from "node:test";
import { ExpressionError, evaluate, isHistoric, parse, signalsOf, splitList, unitOf } from "../src/expression";

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

test("powers bind more tightly than signs, and from the right", () => {
  for (const [text, expected] of [
    ["a ^ 2", 4],
    ["a ** 2", 4],
    ["-a ^ 2", -4],
    ["a ^ -1", 0.5],
    ["2 ^ a ^ b", 256],
    ["2 * b ^ a", 18],
  ] as const)
    assert.equal(value(text), expected, text);
});

test("functions are those of the library, of as many values as they take", () => {
  for (const [text, expected] of [
    ["sin(pi / 2)", 1],
    ["cos(0) + sqrt(a + 2)", 3],
    ["atan2(1, 1) * 4 - pi", 0],
    ["max(a, b) - min(a, b)", 1],
    ["abs(-a) + sign(-3) + floor(2.7)", 3],
    ["mod(-1, a)", 1],
    ["max(a, b, c) + min(a)", 7],
    ["180 * deg - pi", 0],
    ["hypot(3, 4) + log(exp(1))", 6],
  ] as const)
    assert(Math.abs(value(text) - expected) < 1e-15, text);
  assert.equal(
    evaluate(parse("2 * t"), () => NaN, 3),
    6,
  );
  assert.deepEqual(signalsOf(parse("sin(a) + filter(ddt(b), 2 * pi) * t")), ["a", "b"]);
  assert(isHistoric(parse("1 + sin(ddt(a))")) && !isHistoric(parse("1 + sin(a)")));
  assert.deepEqual(splitList("max(a, b), [x, y] , c"), ["max(a, b)", "[x, y]", "c"]);
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
    ["a ^", /missing at the end/],
    ["a ** ", /missing at the end/],
    ["alert(a)", /'\(' is not expected, 'alert' is no function; there are sin, /],
    ["sin(a, b)", /sin of 2 values, expected 1: sin\(x\)/],
    ["atan2(a)", /expected 2: atan2\(x, y\)/],
    ["filter(a)", /expected 2: filter\(x, Hz\)/],
    ["filter(a, b)", /wants a number above 0 behind the comma/],
    ["mean(a, -1)", /wants a number above 0/],
    ["sin()", /missing before '\)'/],
    ["sin(a", /'\)' is missing at the end/],
    ["1,5", /',' is not expected/],
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
    ["ddt(a)", "m/s"],
    ["ddt(ddt(a))", "m/s²"],
    ["integral(ddt(a))", "m"],
    ["integral(c)", "N s"],
    ["filter(a, 3) + mean(b, 1)", "m"],
    ["max(a, b)", "m"],
    ["max(a, c)", ""],
    ["sin(a)", ""],
    ["atan2(a, b)", "rad"],
    ["a ^ 2", ""],
    ["t", "s"],
  ] as const)
    assert.equal(unit(text), expected, text);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  asVector,
  brief,
  exact,
  parseNumber,
  plain,
  quiet,
  readFinite,
  readNumber,
  roundNumber,
  roundVector,
  show,
} from "../src/numbers";

test("numbers are read as people write them", () => {
  for (const [text, value] of [
    ["1", 1],
    [" 2.5 ", 2.5],
    ["+3", 3],
    [".5", 0.5],
    ["5.", 5],
    ["-0.25", -0.25],
    ["−0.25", -0.25], // the minus of print
    ["1e-3", 1e-3],
    ["1E+3", 1e3],
    ["−2e−3", -2e-3],
    ["0,125", 0.125], // as most of Europe writes it
    ["007", 7],
    ["inf", Infinity],
    ["-Infinity", -Infinity],
    ["−∞", -Infinity],
  ] as const)
    assert.equal(parseNumber(text), value, text);
});

test("what is no number is none, whatever it looks like", () => {
  const typos = ["", " ", ".", "-", "+", "e5", "1e", "1e+", "1.2.3", "1,000,000", "1 000", "--1", "1-", "+-1", "0x10"];
  const units = ["5 m", "5m", "90°", "30deg", "12 N", "50 %", "2*3", "1/3", "pi"];
  const odd = ["nan", "NaN", "null", "true", "infinit", "１", "½", "1e1.5", "1_000", "\u0000", "[1]", "1;2"];
  for (const text of [...typos, ...units, ...odd]) assert.equal(parseNumber(text), null, text);
});

test("a number too large to hold is refused, not taken for infinity", () => {
  assert.equal(parseNumber("1.7976931348623157e308"), Number.MAX_VALUE);
  for (const text of ["1e309", "-1e400", "9".repeat(400)]) assert.equal(parseNumber(text), null, text.slice(0, 10));
  assert.equal(parseNumber("5e-324"), Number.MIN_VALUE);
});

test("what a field shows is read back to the bit", () => {
  for (const value of [0, 1 / 3, -1e-7, 1e21, 123456789.123, Number.MAX_VALUE, Number.MIN_VALUE, Infinity, -Infinity])
    assert.equal(parseNumber(exact(value)), value, exact(value));
  assert.equal(exact(Number.NaN), ""); // a field cannot say what it is not told
});

test("what the page shows can be pasted into a field, to the digits shown", () => {
  for (const value of [0.1234, -12.34, 1e5, -1.5e-5, 6.02e23, 1.6e-19, 99999, Infinity, -Infinity]) {
    const read = parseNumber(show(value));
    assert(read === value || Math.abs((read ?? 0) / value - 1) < 5e-3, `${show(value)} is read as ${read}`);
  }
});

test("numbers are shown plainly between 0.001 and 100000, by a power of ten else", () => {
  for (const [value, text] of [
    [0, "0"],
    [-0, "0"],
    [1, "1"],
    [-1.23456, "−1.235"],
    [0.001, "0.001"],
    [0.00099996, "1·10⁻³"],
    [99999.6, "100000"],
    [1e5, "1·10⁵"],
    [-1.2345e-12, "−1.23·10⁻¹²"],
    [6.02214e23, "6.02·10²³"],
    [Number.NaN, "–"],
    [null, "–"],
    [undefined, "–"],
    [Infinity, "∞"],
    [-Infinity, "−∞"],
  ] as const)
    assert.equal(show(value), text, String(value));
  assert.equal(show(0.123456, 2), "0.12");
  assert.equal(show(1.23456e-9, 1), "1·10⁻⁹");
});

test("a wrong text is told with what it was typed for", () => {
  assert.throws(() => readNumber("heavy", "mass"), /^Error: mass: 'heavy' is not a number$/);
  assert.throws(() => readNumber(" ", "mass"), /mass: nothing is not a number/);
  assert.equal(readNumber("1e-3", "mass"), 1e-3);
  assert.throws(() => readFinite("inf", "position"), /position: 'inf' is not finite/);
  assert.throws(() => readFinite("x", "position"), /position: 'x' is not a number/);
});

test("JSON has no infinity", () => {
  assert.deepEqual([plain(1), plain(Infinity), plain(-Infinity)], [1, "inf", "-inf"]);
});

test("three numbers are a vector, and nothing else", () => {
  assert.deepEqual(asVector([1, 2, 3]), [1, 2, 3]);
  for (const value of [null, undefined, 1, "123", [1, 2], [1, 2, 3, 4], [1, 2, "3"], { profile: "ramp" }])
    assert.equal(asVector(value), null);
});

test("a vector is rounded by digits of its length, at any size", () => {
  assert.deepEqual(roundVector([1.23456, -0.000123, 0]), [1.235, 0, 0]);
  assert.deepEqual(roundVector([12345.6, 0, -7]), [12350, 0, -10]);
  assert.deepEqual(roundVector([1000, 0, 0]), [1000, 0, 0]);
  assert.deepEqual(roundVector([9999.6, 0, 0]), [10000, 0, 0]);
  assert.deepEqual(roundVector([1.23456e-21, 0, 0]), [1.235e-21, 0, 0]);
  assert.deepEqual(roundVector([1.23456e30, 0, -1e29]), [1.235e30, 0, -1e29]);
  assert.deepEqual(roundVector([0, 0, 0]), [0, 0, 0]);
  assert.deepEqual(roundVector([Number.NaN, 1, 1]), [0, 0, 0]);
  assert(
    roundVector([1, -1e-9, 0]).every((item) => !Object.is(item, -0)),
    "no −0",
  );
});

test("what is rounded stays within half a digit of the last place", () => {
  for (let k = -300; k <= 300; k += 7) {
    const v = [1.2345678 * 10 ** k, -0.9876543 * 10 ** k, 0.5 * 10 ** k] as [number, number, number];
    const half = 0.5 * 10 ** (k - 3) * (1 + 1e-9);
    roundVector(v).forEach((item, i) => {
      assert(Math.abs(item - (v[i] ?? 0)) <= half, `${v} gives ${roundVector(v)}`);
      assert.equal(item, roundNumber(item, 4));
    });
  }
});

test("numbers are rounded to significant digits", () => {
  assert.equal(roundNumber(0.123456), 0.1235);
  assert.equal(roundNumber(123456), 123500);
  assert.equal(roundNumber(0), 0);
  assert(Number.isNaN(roundNumber(Number.NaN)));
});

test("rounding is no data, and stays where it is not typed over", () => {
  assert.deepEqual(quiet([0.15, -9.45e-18, 2e-12]), [0.15, 0, 2e-12]);
  assert.deepEqual(quiet([4.62e-33]), [0]);
  assert.deepEqual(quiet([1e-9]), [1e-9]);
  assert.equal(brief("0.24999999999999994"), "0.25");
  assert.equal(brief("0.1"), "0.1");
  assert.equal(brief("inf"), "inf");
  assert.equal(brief(""), "");
});

/**
 * What is typed while drawing: "0.1" a length, "0.1 < 60" with an angle in degrees, "< 60" the angle alone,
 * "0.25, 0" a point, "0.2 to 0.25, 0" a length up to a point. A comma between digits is a decimal comma.
 */

import { parseNumber } from "../numbers";
import type { Flat } from "./plane";

export interface Typed {
  at?: Flat;
  length?: number; // [m]
  angle?: number; // [rad]
}

/** Read it; throws in words where it is none of these. Nothing typed is nothing. */
export function readTyped(text: string): Typed {
  const plain = text.trim();
  if (plain === "") return {};
  const [before, after, ...more] = plain.split(/\s*\bto\b\s*/i) as [string, string?, ...string[]];
  if (more.length > 0) throw unreadable(text);
  if (after !== undefined) return { ...(before ? readWay(before, text) : {}), at: readPoint(after, text) };
  return isPoint(plain) ? { at: readPoint(plain, text) } : readWay(plain, text);
}

function isPoint(text: string): boolean {
  return !text.includes("<") && /[;\s]/.test(text);
}

function readPoint(text: string, all: string): Flat {
  const parts = text.split(/\s*;\s*|,?\s+/).filter((part) => part !== "");
  if (parts.length !== 2) throw unreadable(all);
  return [finite(parts[0] ?? "", all), finite(parts[1] ?? "", all)];
}

function readWay(text: string, all: string): Typed {
  const [length = "", angle, ...more] = text.split("<").map((part) => part.trim());
  if (more.length > 0 || (length === "" && !angle)) throw unreadable(all);
  const found: Typed = {};
  if (length !== "") {
    found.length = finite(length, all);
    if (found.length <= 0) throw new Error(`a link of ${text} m: give a length above 0`);
  }
  if (angle !== undefined) found.angle = (finite(angle.replace(/°$/, ""), all) * Math.PI) / 180;
  return found;
}

function finite(text: string, all: string): number {
  const value = parseNumber(text);
  if (value === null || !Number.isFinite(value)) throw unreadable(all);
  return value;
}

function unreadable(text: string): Error {
  return new Error(`'${text}': type a length (0.1), with an angle (0.1 < 60), a point (0.25, 0), or 0.2 to 0.25, 0`);
}

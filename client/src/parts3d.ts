/** Parts as they are named in the picture. */

import type * as THREE from "three";
import type { PartKind } from "./store";

export interface PartRef {
  kind: PartKind;
  name: string;
}

export function partKey({ kind, name }: PartRef): string {
  return `${kind} ${name}`;
}

/** The part that a ray has met; undefined where it met what is none. */
export function partOf(found: THREE.Intersection): PartRef | undefined {
  const { parts, part } = found.object.userData as { parts?: (PartRef | null)[]; part?: PartRef };
  if (!parts) return part;
  return (found.instanceId === undefined ? null : parts[found.instanceId]) ?? undefined;
}

/**
 * Colours of bodies by their names: neighbours, which a joint holds together, get different ones, and who has one keeps
 * it while others come and go.
 */
export class Hues {
  private known = new Map<string, number>();

  constructor(private readonly count: number) {}

  clear(): void {
    this.known.clear();
  }

  take(names: string[], joints: { first: string; second: string }[]): void {
    const next = new Map<string, string[]>();
    for (const { first, second } of joints) {
      next.set(first, [...(next.get(first) ?? []), second]);
      next.set(second, [...(next.get(second) ?? []), first]);
    }
    for (const name of names) {
      if (this.known.has(name)) continue;
      const taken = new Set((next.get(name) ?? []).map((other) => this.known.get(other)));
      let hue = hueOf(name, this.count);
      for (let k = 0; k < this.count && taken.has(hue); k++) hue = (hue + 1) % this.count;
      this.known.set(name, hue);
    }
  }

  of(name: string): number {
    return this.known.get(name) ?? hueOf(name, this.count);
  }
}

/** Which of so many colours a name has: names that count (link1, link2, ...) go through them in turn. */
export function hueOf(name: string, count: number): number {
  const [, stem = name, number = "0"] = /^(.*?)(\d*)\D*$/.exec(name) ?? [];
  let hash = 0;
  for (const letter of stem || name) hash = (31 * hash + (letter.codePointAt(0) ?? 0)) % 9973;
  return (hash + Number(number.slice(-6) || 0)) % count;
}

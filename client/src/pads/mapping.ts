/** What a gamepad's axes and buttons do: an axis drives a joint's motor by its speed, or moves the hand. */

import type { Scene } from "../messages";

export const WAYS = ["hand right", "hand up", "hand away"] as const;
export type Way = (typeof WAYS)[number];

/** What an axis does. */
export interface Axis {
  to: string; // "": nothing; a way of the hand; else a freedom as `freedomKey` writes it
  most: number; // at the stop: speed of the motor or of the hand [rad/s, m/s]
  isTurned: boolean; // the other way round
}

export interface Mapping {
  dead: number; // of the way to the stop: nothing happens within it
  grab: number; // number of the button that holds the picked body; -1: none
  axes: Axis[];
}

/** A freedom that may be driven. */
export interface Freedom {
  key: string;
  joint: string;
  group: string;
  isSlide: boolean;
}

export function freedomKey(joint: string, group: string): string {
  return JSON.stringify([joint, group]);
}

/** The freedoms of a scene, one number each, those with motors first. */
export function freedomsOf(scene: Scene, driven: { joint: string; group: string }[]): Freedom[] {
  const all = scene.joints.flatMap(({ name, groups }) =>
    groups
      .filter(({ kind }) => kind !== "ball")
      .map((group) => ({
        key: freedomKey(name, group.name),
        joint: name,
        group: group.name,
        isSlide: group.kind === "slide",
      })),
  );
  const isDriven = ({ joint, group }: Freedom) => driven.some((one) => one.joint === joint && one.group === group);
  return [...all.filter(isDriven), ...all.filter((freedom) => !isDriven(freedom))];
}

/** A share of the way to the stop, -1 to 1: nothing within the dead zone, all at the stop, and finer near the middle. */
export function shaped(value: number, dead: number): number {
  if (!Number.isFinite(value)) return 0;
  const way = Math.min(Math.abs(value), 1);
  if (way <= dead) return 0;
  const share = (way - dead) / (1 - dead);
  return Math.sign(value) * share * share;
}

const SOFTLY = 0.06; // in which a speed becomes another [s]

/** Speeds at times [s], straight between them. */
export type Course = (readonly [number, number])[];

/** A course that goes on to another speed, from a time on that is not before its end; what it has been just now stays. */
export function goOn(course: Course, from: number, speed: number): Course {
  const before = course.at(-2);
  const last: readonly [number, number] = course.at(-1) ?? [from, 0];
  const start = Math.max(from, last[0]);
  const wait: Course = start > last[0] ? [[start, last[1]]] : [];
  return [...(before ? [before] : []), last, ...wait, [start + SOFTLY, speed]];
}

/** Axes in order to what has motors, in order. */
export function inOrder(axes: number, freedoms: Freedom[], usual: (freedom: Freedom) => number): Axis[] {
  return Array.from({ length: axes }, (_, k) => {
    const freedom = freedoms[k];
    return { to: freedom?.key ?? "", most: freedom ? usual(freedom) : 1, isTurned: false };
  });
}

/** What was kept of a mapping, made to fit so many axes; strange values are as by default. */
export function fitted(kept: Partial<Mapping>, axes: number): Mapping {
  const number = (value: unknown, without: number) => (Number.isFinite(value) ? (value as number) : without);
  const known = Array.isArray(kept.axes) ? kept.axes : [];
  return {
    dead: Math.min(Math.max(number(kept.dead, 0.12), 0), 0.9),
    grab: number(kept.grab, 0),
    axes: Array.from({ length: axes }, (_, k) => ({
      to: typeof known[k]?.to === "string" ? known[k].to : "",
      most: number(known[k]?.most, 1),
      isTurned: known[k]?.isTurned === true,
    })),
  };
}

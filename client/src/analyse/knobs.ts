/** What a sweep can change, and by which values. */

import type { Live, Parameter, Scene, SweepRequest } from "../messages";

/** Something that a sweep can change: its value now, and how it is set. */
export interface Knob {
  name: string;
  value: number;
  unit: string;
  of: SweepRequest["of"];
  path: string;
  group: string | null;
}

/** Every number that can be set: parameters of parts, and motors that hold one. */
export function knobs(scene: Scene, live: Live | null): Knob[] {
  const plain = (parameters: Parameter[]): Knob[] =>
    parameters.flatMap(({ path, value, unit, set_by = "SetParameter" }) =>
      path && set_by === "SetParameter" && typeof value === "number" && Number.isFinite(value)
        ? [{ name: path, value, unit: unit ?? "", of: "parameter" as const, path, group: null }]
        : [],
    );
  const motors = (live?.motors ?? []).flatMap(({ joint, group, quantity, value, unit }): Knob[] => {
    if (typeof value !== "number") return [];
    const own = scene.joints.find(({ name }) => name === joint);
    const named = (own?.groups.length ?? 1) > 1 ? `${joint} ${group}` : joint;
    return [{ name: `${quantity} of the motor in ${named}`, value, unit, of: "motor", path: joint, group }];
  });
  return [
    ...motors,
    ...plain(scene.parameters),
    ...[...scene.bodies, ...scene.springs, ...scene.couplings, ...scene.elements].flatMap((part) =>
      plain(part.parameters),
    ),
    ...scene.joints.flatMap((joint) => joint.groups.flatMap((group) => plain(group.features))),
  ];
}

/** So many values from one to another, both among them. */
export function evenly(from: number, to: number, count: number): number[] {
  if (count < 2) return [from];
  return Array.from({ length: count }, (_, k) => (k === count - 1 ? to : from + ((to - from) * k) / (count - 1)));
}

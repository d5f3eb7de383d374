/** Which signals there are, and the one subscription that serves everybody on the page. */

import type { Connection } from "./connection";
import { type Frame, LONGEST_SIGNAL, type Scene } from "./messages";
import type { Pick, Store } from "./store";
import { tellError } from "./toasts";

export const AXES = ["x", "y", "z", "norm"] as const;
const BODY = ["position", "velocity", "angular_velocity", "acceleration", "angular_acceleration", "force", "torque"];
const ENERGIES = ["kinetic", "potential", "elastic", "total", "work", "loss", "imbalance"];
const MOST = 64;

/** A quantity of a part: its title and the signals it is made of. */
export interface Quantity {
  title: string;
  unit: string;
  signals: { label: string; name: string }[];
}

/** What may be plotted of the picked part; of the whole where nothing is picked. */
export function quantitiesOf(scene: Scene, pick: Pick | null): Quantity[] {
  const unit = (quantity: string): string => scene.units.find((entry) => entry.quantity === quantity)?.unit ?? "";
  const axes = (stem: string) =>
    AXES.map((axis) => ({ label: axis === "norm" ? "|·|" : axis, name: `${stem}.${axis}` }));
  if (pick?.kind === "body") {
    const of = `body.${pick.name}`;
    const found = BODY.map((quantity) => ({
      title: words(quantity),
      unit: unit(quantity),
      signals: axes(`${of}.${quantity}`),
    }));
    return [
      ...found,
      { title: "kinetic energy", unit: "J", signals: [{ label: "kinetic", name: `${of}.kinetic_energy` }] },
    ];
  }
  const joint = pick?.kind === "joint" && scene.joints.find((entry) => entry.name === pick.name);
  if (joint) {
    const found: Quantity[] = [];
    for (const group of joint.groups) {
      const suffix = joint.groups.length > 1 ? ` ${group.name}` : "";
      const each = (quantity: string) =>
        group.coordinates.map((name) => ({ label: label(name, joint.name), name: `coordinate.${name}.${quantity}` }));
      found.push({ title: `coordinate${suffix}`, unit: group.unit, signals: each("position") });
      found.push({ title: `speed${suffix}`, unit: `${group.unit}/s`, signals: each("velocity") });
      found.push({ title: `motor${suffix}`, unit: group.force_unit, signals: each("motor_torque") });
    }
    found.push({ title: "reaction force", unit: "N", signals: axes(`joint.${joint.name}.reaction.force`) });
    found.push({ title: "reaction torque", unit: "N m", signals: axes(`joint.${joint.name}.reaction.torque`) });
    return found;
  }
  if (pick?.kind === "spring") {
    return [
      { title: "force", unit: "N", signals: [{ label: "force", name: `spring.${pick.name}.force` }] },
      { title: "length", unit: "m", signals: [{ label: "length", name: `spring.${pick.name}.length` }] },
    ];
  }
  if (pick?.kind === "probe") {
    return [
      {
        title: "position",
        unit: "m",
        signals: ["x", "y", "z"].map((axis) => ({ label: axis, name: `probe.${pick.name}.${axis}` })),
      },
    ];
  }
  return wholeQuantities();
}

/** Quantities of the whole mechanism. */
export function wholeQuantities(): Quantity[] {
  return [
    {
      title: "energy",
      unit: "J",
      signals: ["kinetic", "potential", "elastic", "total"].map((kind) => ({ label: kind, name: `energy.${kind}` })),
    },
    {
      title: "work and loss",
      unit: "J",
      signals: ["work", "loss"].map((kind) => ({ label: kind, name: `energy.${kind}` })),
    },
    { title: "imbalance of the books", unit: "J", signals: [{ label: "imbalance", name: "energy.imbalance" }] },
    { title: "constraint error", unit: "m, rad", signals: [{ label: "error", name: "constraint_error" }] },
    { title: "iterations", unit: "1", signals: [{ label: "iterations", name: "iterations" }] },
    { title: "step time", unit: "s", signals: [{ label: "step", name: "step_time" }] },
  ];
}

function words(quantity: string): string {
  return quantity.replace("_", " ");
}

function label(coordinate: string, joint: string): string {
  return coordinate === joint ? "q" : coordinate.slice(joint.length + 1);
}

/** Every signal of a scene. */
export function allSignals(scene: Scene): Set<string> {
  const found = new Set<string>([
    ...ENERGIES.map((kind) => `energy.${kind}`),
    "constraint_error",
    "iterations",
    "step_time",
  ]);
  const parts: Pick[] = [
    ...scene.bodies.map((part) => ({ kind: "body" as const, name: part.name })),
    ...scene.joints.map((part) => ({ kind: "joint" as const, name: part.name })),
    ...scene.springs.map((part) => ({ kind: "spring" as const, name: part.name })),
    ...scene.probes.map((part) => ({ kind: "probe" as const, name: part.name })),
  ];
  for (const part of parts)
    for (const quantity of quantitiesOf(scene, part)) for (const signal of quantity.signals) found.add(signal.name);
  for (const joint of scene.joints) {
    if (joint.groups.length === 1 && joint.groups[0]?.coordinates.length === 1) {
      for (const quantity of ["position", "velocity", "motor_torque"]) found.add(`joint.${joint.name}.${quantity}`);
    }
  }
  return found;
}

/** The page's subscription: users say what they want, the union is asked for, values are read by name. */
export class Signals {
  private wanted = new Map<string, string[]>();
  private known = new Set<string>();
  private asked: string[] = [];
  private orders = new Map<number, string[]>(); // by id of the Subscribe
  private places = new Map<string, number>();
  private placesOf = -1;
  private unitOf = new Map<string, string>();
  private scheduled = false;

  constructor(
    private readonly store: Store,
    private readonly connection: Connection,
  ) {
    store.on("topology", (scene) => {
      this.known = new Set([...allSignals(scene)].filter((name) => name.length <= LONGEST_SIGNAL));
      this.schedule(true);
    });
    store.on("line", (connected) => {
      if (!connected) return;
      this.orders.clear();
      this.placesOf = -1;
      this.schedule(true);
    });
  }

  /** Is there such a signal in the scene? */
  has(name: string): boolean {
    return this.known.has(name);
  }

  names(): string[] {
    return [...this.known];
  }

  /** Have these signals for `user`, instead of those it had. */
  want(user: string, names: string[]): void {
    const before = this.wanted.get(user);
    if (before && before.length === names.length && before.every((name, k) => name === names[k])) return;
    this.wanted.set(user, names);
    this.schedule(false);
  }

  /** Value in the newest frame, NaN where the frame does not have it. */
  value(name: string): number {
    const frame = this.locate();
    const place = this.places.get(name);
    return frame && place !== undefined ? (frame.signals[place] ?? NaN) : NaN;
  }

  /** Is the value a choice that redundant constraints leave open? */
  isOpen(name: string): boolean {
    const frame = this.locate();
    const place = this.places.get(name);
    return frame !== null && place !== undefined && ((frame.marks[place] ?? 0) & 1) === 1;
  }

  unit(name: string): string {
    return this.unitOf.get(name) ?? "";
  }

  private locate(): Frame | null {
    const frame = this.store.frame;
    if (!frame) return null;
    if (frame.subscription !== this.placesOf) {
      this.places = new Map((this.orders.get(frame.subscription) ?? []).map((name, k) => [name, k]));
      this.placesOf = frame.subscription;
    }
    return frame;
  }

  private schedule(again: boolean): void {
    if (again) this.asked = [];
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      this.ask();
    });
  }

  private ask(): void {
    if (!this.store.connected || !this.store.scene) return;
    const union = [...new Set([...this.wanted.values()].flat())].filter((name) => this.known.has(name));
    if (union.length > MOST)
      tellError(new Error(`plots: ${union.length} signals wanted, ${MOST} are sent at most; close a plot`));
    const names = union.slice(0, MOST);
    if (names.length === this.asked.length && names.every((name, k) => name === this.asked[k])) return;
    this.asked = names;
    const id = this.connection.nextId;
    this.orders.set(id, names);
    for (const old of this.orders.keys()) if (this.orders.size > 20) this.orders.delete(old);
    this.connection.subscribe(names).then(
      (reply) => {
        for (const [k, name] of names.entries()) this.unitOf.set(name, reply.units[k] ?? "");
      },
      (error) => {
        this.asked = [];
        tellError(error);
      },
    );
  }
}

/** Which signals there are, and the one subscription that serves everybody on the page. */

import type { Connection } from "./connection";
import {
  type Element,
  type Frame,
  type Live,
  LONGEST_SIGNAL,
  type Quantity as Measured,
  type Point,
  type Rows,
  type Scene,
} from "./messages";
import type { Pick, Store } from "./store";
import { tellError } from "./toasts";

const ANOTHER = 500; // by when a scene that replaces one has come [ms]
const MOST = 64;

/** A quantity of a part: its title and the signals it is made of. */
export interface Quantity {
  title: string;
  unit: string;
  signals: { label: string; name: string }[];
}

/** Quantities of the server's table that are of a kind of part, those of one title together. */
function plots(scene: Scene, of: string, one: (measured: Measured) => Quantity): Quantity[] {
  const found = new Map<string, Quantity>();
  for (const measured of scene.quantities.filter((entry) => entry.of === of)) {
    const quantity = one(measured);
    const known = found.get(quantity.title);
    if (known) known.signals.push(...quantity.signals);
    else found.set(quantity.title, quantity);
  }
  return [...found.values()];
}

/** The quantities of a part, by what its signals' names begin with. */
function quantitiesOfPart(scene: Scene, of: string, stem: string): Quantity[] {
  return plots(scene, of, ({ title, unit, endings }) => ({
    title,
    unit,
    signals: endings.map((ending) => ({ label: label(ending), name: stem + ending })),
  }));
}

/** What may be plotted of the picked part; of the whole where nothing is picked. */
export function quantitiesOf(scene: Scene, pick: Pick | null): Quantity[] {
  const joint = pick?.kind === "joint" && scene.joints.find((entry) => entry.name === pick.name);
  const found: Quantity[] = [];
  for (const group of joint ? joint.groups : []) {
    const suffix = joint && joint.groups.length > 1 ? ` ${group.name}` : "";
    const each = ({ title, unit, slide_unit, endings }: Measured): Quantity => ({
      title: title + suffix,
      unit: group.unit === "m" ? slide_unit : unit,
      signals: group.coordinates.flatMap((name) =>
        endings.map((ending) => ({
          label: joint && name !== joint.name ? name.slice(joint.name.length + 1) : "q",
          name: `coordinate.${name}.${ending}`,
        })),
      ),
    });
    found.push(...plots(scene, "coordinate", each));
  }
  const element = pick?.kind === "element" && scene.elements.find((entry) => entry.name === pick.name);
  const kind = element ? element.kind : pick?.kind;
  if (element && kind === "sensor") found.push(...quantitiesOfSensor(element));
  else if (pick && kind) found.push(...quantitiesOfPart(scene, kind, `${kind}.${pick.name}.`));
  return found.length > 0 ? found : wholeQuantities(scene);
}

/** The channels of a sensor, those together that have a word and a unit in common: force.x, force.y, force.z. */
function quantitiesOfSensor({ name, channels }: Element): Quantity[] {
  const found = new Map<string, Quantity>();
  for (const channel of channels) {
    const cut = channel.name.lastIndexOf(".");
    const title = cut < 0 ? channel.name || "value" : channel.name.slice(0, cut);
    const quantity = found.get(title + channel.unit) ?? {
      title,
      unit: channel.unit === "1" ? "" : channel.unit,
      signals: [],
    };
    const stem = channel.name ? `sensor.${name}.${channel.name}` : `sensor.${name}`;
    quantity.signals.push({ label: channel.name.slice(cut + 1) || name, name: `${stem}.value` });
    found.set(title + channel.unit, quantity);
  }
  return [...found.values()];
}

/** Quantities of the whole mechanism. */
export function wholeQuantities(scene: Scene): Quantity[] {
  return quantitiesOfPart(scene, "", "");
}

function label(ending: string): string {
  const word = ending.slice(ending.lastIndexOf(".") + 1);
  return word === "norm" ? "|·|" : word.replaceAll("_", " ");
}

/** What was read of the signals and points asked for, step by step. */
export interface Batch {
  times: ArrayLike<number>; // [s]
  leapt: boolean; // the first row does not go on from the last one before
  follows: boolean; // steps are taken anew from the recording: what is known of their times holds
  stride: number; // steps between rows
  /** Value of a signal in a row; NaN where it was not asked for. */
  value(row: number, name: string): number;
  /** Places of a user's points in a row: x, y, z one behind the other. Null where they were not asked for. */
  places(row: number, user: string): ArrayLike<number> | null;
}

interface Asked {
  names: string[];
  columns: Map<string, number>; // of signals
  points: Map<string, [number, number]>; // columns of users' points, from and to
}

/** Every signal of a scene, and of the loads that act, with its unit. */
export function allSignals(scene: Scene, live: Live | null): Map<string, string> {
  const named = (kind: Pick["kind"], parts: { name: string }[]): Pick[] => parts.map(({ name }) => ({ kind, name }));
  const parts: Pick[] = [
    ...named("body", scene.bodies),
    ...named("joint", scene.joints),
    ...named("spring", scene.springs),
    ...named("coupling", scene.couplings),
    ...named("probe", scene.probes),
    ...named("load", live?.loads ?? []),
    ...named(
      "element",
      scene.elements.filter(({ kind }) => kind === "sensor"),
    ),
  ];
  const all = [...wholeQuantities(scene), ...parts.flatMap((part) => quantitiesOf(scene, part))];
  const found = new Map(all.flatMap(({ signals, unit }) => signals.map(({ name }) => [name, unit] as const)));
  for (const joint of scene.joints) {
    if (joint.groups.reduce((sum, group) => sum + group.coordinates.length, 0) !== 1) continue;
    const isSlide = joint.groups.some((group) => group.unit === "m");
    for (const { of, endings, unit, slide_unit } of scene.quantities)
      if (of === "coordinate")
        for (const ending of endings) found.set(`joint.${joint.name}.${ending}`, isSlide ? slide_unit : unit);
  }
  return found;
}

/** The page's subscription: users say what they want, the union is asked for, values are read by name. */
export class Signals {
  private wanted = new Map<string, string[]>();
  private wantedPoints = new Map<string, Point[]>();
  private known = new Map<string, string>(); // units
  private asked = "";
  private orders = new Map<number, Asked>(); // by id of the Subscribe
  private takers: ((batch: Batch) => void)[] = [];
  private places = new Map<string, number>();
  private placesOf = -1;
  private unitOf = new Map<string, string>();
  private scheduled = false;

  constructor(
    private readonly store: Store,
    private readonly connection: Connection,
  ) {
    store.on("topology", () => {
      this.learn();
      this.schedule(true);
    });
    store.on("live", () => this.learn());
    store.on("rows", (rows) => this.handOut(rows));
    store.on("line", (connected) => {
      if (!connected) return;
      this.orders.clear();
      this.placesOf = -1;
      this.schedule(true);
    });
  }

  private learn(): void {
    const { scene, live } = this.store;
    if (!scene) return;
    this.known = new Map([...allSignals(scene, live)].filter(([name]) => name.length <= LONGEST_SIGNAL));
  }

  /** Is there such a signal in the scene? */
  has(name: string): boolean {
    return this.known.has(name);
  }

  names(): string[] {
    return [...this.known.keys()];
  }

  /** Have these signals for `user`, instead of those it had. */
  want(user: string, names: string[]): void {
    const before = this.wanted.get(user);
    if (before && before.length === names.length && before.every((name, k) => name === names[k])) return;
    this.wanted.set(user, names);
    this.schedule(false);
  }

  /** Have the places of these points for `user`, instead of those it had. */
  wantPoints(user: string, points: Point[]): void {
    this.wantedPoints.set(user, points);
    this.schedule(false);
  }

  /** Have every batch of rows from now on. */
  onRows(take: (batch: Batch) => void): void {
    this.takers.push(take);
  }

  private handOut({ subscription, times, values, columns, stride, leapt }: Rows): void {
    const asked = this.orders.get(subscription);
    if (!asked) return;
    const batch: Batch = {
      times,
      leapt: (leapt & 1) !== 0,
      follows: (leapt & 2) !== 0,
      stride,
      value: (row, name) => values[row * columns + (asked.columns.get(name) ?? NaN)] ?? NaN,
      places: (row, user) => {
        const [from, to] = asked.points.get(user) ?? [0, 0];
        return to > from ? values.subarray(row * columns + from, row * columns + to) : null;
      },
    };
    for (const take of this.takers) take(batch);
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
    return this.unitOf.get(name) ?? this.known.get(name) ?? "";
  }

  private locate(): Frame | null {
    const frame = this.store.frame;
    if (!frame) return null;
    if (frame.subscription !== this.placesOf) {
      this.places = this.orders.get(frame.subscription)?.columns ?? new Map();
      this.placesOf = frame.subscription;
    }
    return frame;
  }

  private schedule(again: boolean): void {
    if (again) this.asked = "";
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
    const points = [...this.wantedPoints.values()].flat();
    const said = JSON.stringify([names, points]);
    if (said === this.asked) return;
    this.asked = said;
    const scene = this.store.scene;
    const columns = new Map<string, [number, number]>();
    let column = names.length;
    for (const [user, own] of this.wantedPoints) {
      columns.set(user, [column, column + 3 * own.length]);
      column += 3 * own.length;
    }
    const order = { names, columns: new Map(names.map((name, k) => [name, k])), points: columns };
    this.orders.set(this.connection.nextId, order);
    for (const old of this.orders.keys()) if (this.orders.size > 20) this.orders.delete(old);
    this.connection.subscribe(names, points).then(
      (reply) => {
        for (const [k, name] of names.entries()) this.unitOf.set(name, reply.units[k] ?? "");
      },
      (error) => {
        this.asked = "";
        setTimeout(() => {
          if (this.store.scene === scene) tellError(error); // else another took its place meanwhile: it is asked anew
        }, ANOTHER);
      },
    );
  }
}

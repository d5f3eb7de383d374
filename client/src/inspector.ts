/** The picked part: what it does now, and every parameter, live. */

import { html, nothing, render, type TemplateResult } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";
import * as THREE from "three";
import type { Adding } from "./adding";
import type { Binds } from "./bound";
import { openAlone } from "./build/alone";
import { openCopies, openMove } from "./build/copies";
import { makeGroup, removePicked, ungroup } from "./build/groups";
import type { Mirrors } from "./build/mirrors";
import type { PickPoints } from "./build/pickpoints";
import { byId, h } from "./dom";
import type { Edit, Free, JointOptions, Options, Value } from "./edits";
import {
  type Apply,
  actions,
  boundRow,
  button,
  group,
  inputRow,
  type Keyed,
  keyedList,
  parameterRow,
  selectRow,
} from "./fields";
import { JointPose } from "./jointpose";
import { Loads, type Mode } from "./loads";
import { pickMeasure } from "./measures";
import type {
  Body,
  Coupling,
  Element,
  Group,
  Joint,
  Load,
  Motor,
  Obstacle,
  Parameter,
  Reply,
  Scene,
  Shape,
  Spring,
} from "./messages";
import { Motions, type MotorKind } from "./motions";
import { asVector, exact, quiet, readFinite, readReal, roundNumber, show, type Vec3 } from "./numbers";
import { profileRows } from "./profilerows";
import { aimOf, componentsOf, kindOf, type One } from "./profiles";
import { type Quantity, quantitiesOf } from "./signals";
import { motorUnit } from "./spheres";
import type { Stage } from "./stage";
import type { PartKind } from "./store";
import { tell } from "./toasts";
import type { Traces } from "./traces";

const LIVE: Partial<Record<PartKind, string[]>> = {
  body: ["position", "velocity", "angular velocity", "force"],
  joint: ["coordinate", "speed", "motor", "reaction force", "reaction torque"],
  spring: ["force", "length"],
  probe: ["position"],
};
const AXES = ["x", "y", "z"];
const NONE = "(none)";
const GREY = "#808080"; // what the choice of a colour begins with
const CENTRE: Vec3 = [0, 0, 0];

export class Inspector {
  private box = byId("inspector-body");
  private measured = h("fieldset"); // drawn anew with every frame, the rest when it changes
  private quantities: Quantity[] = [];
  private part = "";
  private varied = new Map<string, string>(); // component that is shown over time, by load
  private pose: JointPose;
  private lacksPose = false; // parts came before the frame that says where they are

  constructor(
    private readonly stage: Stage,
    private readonly tools: {
      adding: Adding;
      loads: Loads;
      motions: Motions;
      traces: Traces;
      points: PickPoints;
      mirrors: Mirrors;
    },
  ) {
    const { store } = stage;
    this.pose = new JointPose(stage);
    store.on("pick", () => this.draw());
    store.on("scene", () => this.draw());
    store.on("live", () => this.draw());
    store.on("status", () => this.draw());
    store.on("frame", () => {
      if (this.lacksPose) this.draw();
      else this.measure();
    });
    this.draw();
  }

  private draw(): void {
    const { store } = this.stage;
    const { scene, pick } = store;
    if (!scene) return;
    this.lacksPose = false;
    const wanted = (pick && LIVE[pick.kind]) ?? [];
    const isSensor = pick?.kind === "element" && store.element(pick.name)?.kind === "sensor";
    this.quantities = quantitiesOf(scene, pick).filter(
      ({ title }) => isSensor || wanted.some((name) => title.startsWith(name)),
    );
    const part = `${pick?.kind ?? "model"} ${pick?.name ?? ""}`;
    render(keyed(part, keyedList(this.pieces(scene))), this.box);
    if (part !== this.part) byId("inspector").scrollTop = 0;
    this.part = part;
    this.stage.signals.want("inspector", this.quantities.flatMap(names));
    this.measure();
  }

  private pieces(scene: Scene): Keyed[] {
    const { store } = this.stage;
    const { pick } = store;
    const body = pick?.kind === "body" && store.body(pick.name);
    const joint = pick?.kind === "joint" && store.joint(pick.name);
    const spring = pick?.kind === "spring" && store.spring(pick.name);
    const obstacle = pick?.kind === "obstacle" && store.obstacle(pick.name);
    const element = pick?.kind === "element" && store.element(pick.name);
    const load = pick?.kind === "load" && this.tools.loads.find(pick.name);
    if (body) return this.body(body);
    if (joint) return this.joint(joint, scene);
    if (spring) return this.spring(spring);
    if (obstacle) return this.obstacle(obstacle);
    if (element) return this.element(element);
    if (load) return this.load(load.load, load.on);
    if (pick?.kind === "probe") return [title(pick.name, "probe"), this.now()];
    return this.model(scene);
  }

  /** What is measured of the picked part. */
  private now(): Keyed {
    return { key: "now", view: this.measured };
  }

  private measure(): void {
    const { signals } = this.stage;
    const rows = this.quantities.map((quantity) => ({
      ...quantity,
      values: quiet(names(quantity).map((name) => signals.value(name))).map((value) => show(value, 4)),
      open: names(quantity).map((name) => signals.isOpen(name)),
    }));
    const row = ({ title, unit, values, open }: (typeof rows)[number]): TemplateResult =>
      html`<div class=${values.length > 1 ? "row wide" : "row"} data-row=${title}>
        <span>${title}</span>
        <output aria-label=${title} aria-live="off"
          >${values.map((value, k) => html`<span class=${open[k] ? "open" : nothing}>${value}</span>`)}</output
        ><span class="unit">${unit}</span>
      </div>`;
    const note = "≈ redundant constraints leave this component open; the least one is shown";
    render(
      html`<legend>now</legend>
        ${rows.map(row)}
        <div class="note" ?hidden=${!rows.some(({ open }) => open.some(Boolean))}>${note}</div>`,
      this.measured,
    );
  }

  /** Carry out an edit; what refuses it is told beside the field. */
  private edit(edit: Edit): Promise<Reply> {
    return this.stage.actions.make(edit);
  }

  private setParameter({ path, name }: Parameter): Apply {
    return (value) => this.edit({ edit: "SetParameter", path: path ?? name, value });
  }

  /** What follows the model's parameters, and how something is made to. */
  private get binds(): Omit<Binds, "paths"> {
    const { scene } = this.stage.store;
    const names = new Set(scene?.variables.map((variable) => variable.name));
    return { expressions: scene?.expressions ?? {}, names, bind: (edit) => this.edit(edit) };
  }

  private parameters(title: string, parameters: Parameter[]): Keyed {
    const row = (parameter: Parameter): Keyed => parameterRow(parameter, this.setParameter(parameter), this.binds);
    return group(title, ...parameters.map(row));
  }

  private body(body: Body): Keyed[] {
    const { loads, traces } = this.tools;
    const at = this.stage.store.pick?.at ?? CENTRE;
    const state = (field: "position" | "velocity" | "angular_velocity", unit: string): Keyed =>
      inputRow(field.replace("_", " "), unit, ["", "", ""], AXES, async (texts) => {
        if (texts.some((text) => text === "")) return;
        const values = texts.map((text) => readFinite(text, field)) as Vec3;
        const { text } = await this.edit({ edit: "SetState", bodies: { [body.name]: { [field]: values } } });
        tell(text);
      });
    return [
      title(body.name, "body"),
      this.now(),
      this.parameters("parameters", body.parameters),
      group("look", this.name("body", body.name), this.colour(body), this.link(body)),
      group("contact", this.material(body.name, body.material)),
      group(
        "trace a point",
        inputRow("point", "m", ["", "", ""], AXES, async (texts) => {
          if (texts.some((text) => text === "")) return;
          const point = texts.map((text) => readFinite(text, "point")) as Vec3;
          traces.add(`point ${point.join(", ")} of ${body.name}`, body.name, point);
        }),
      ),
      group("set the state", state("position", "m"), state("velocity", "m/s"), state("angular_velocity", "rad/s")),
      actions(
        button("Force", () => void loads.attach("force", body.name, at)),
        button("Torque", () => void loads.attach("torque", body.name, at)),
        button("Trace", () => traces.add(`point of ${body.name}`, body.name, at)),
        button("Alone…", () => openAlone(this.stage)),
        ...this.placing(),
        ...this.grouping(),
        this.remove("body", body.name),
      ),
    ];
  }

  /** Where the author's frame is in the body's, a link's in a robot's file. */
  private link({ name, link }: Body): Keyed {
    const [p, q] = link ?? [
      [0, 0, 0],
      [0, 0, 0, 1],
    ];
    return inputRow("link frame", "m", (p ?? []).map(exact), AXES, async (texts) => {
      const value = [texts.map((text) => readFinite(text, "link frame")), q ?? [0, 0, 0, 1]];
      await this.edit({ edit: "SetParameter", path: `${name}.link`, value });
    });
  }

  /** What is done with all that is picked. */
  private placing(): TemplateResult[] {
    return [
      button("Copy…", () => openCopies(this.stage)),
      button("Mirror…", () => this.tools.mirrors.open()),
      button("Move…", () => openMove(this.stage)),
    ];
  }

  /** Where several parts are picked they can be made a group. */
  private grouping(): TemplateResult[] {
    return this.stage.store.more.length ? [button("Group", () => void makeGroup(this.stage))] : [];
  }

  /** A group: its parts, each a way to it, and what is done with all of them. */
  private group({ name, parts }: Element): Keyed[] {
    const { store, mechanism } = this.stage;
    return [
      title(name, "group"),
      about(parts.join(", ")),
      group("look", this.name("element", name)),
      actions(
        ...this.placing(),
        button("Hide or show", () => mechanism.toggle(store.pickedParts)),
        button("Ungroup", () => void ungroup(this.stage)),
        button("Remove all", () => removePicked(this.stage), "danger"),
      ),
    ];
  }

  /** Another name for a part. */
  private name(kind: PartKind, name: string): Keyed {
    return inputRow("name", "", [name], [""], async ([to = ""]) => {
      await this.edit({ edit: "Rename", name, to: to.trim() });
      this.stage.store.setPick({ kind, name: to.trim() });
    });
  }

  private colour(body: Body): Keyed {
    const set = (event: Event): void => {
      const value = (event.target as HTMLInputElement).value;
      void this.stage.actions.apply({ edit: "SetParameter", path: `${body.name}.colour`, value });
    };
    const shown = body.colour ?? GREY;
    return {
      key: "colour",
      view: html`<div class="row" data-row="colour">
        <span>colour</span
        ><span class="values"><input type="color" aria-label="colour" .value=${shown} @change=${set} /></span
        ><span class="unit"></span>
      </div>`,
    };
  }

  /** Where a joint is on its first body, and its axis in the world; nothing moves when they are changed. */
  private placeOf(joint: Joint, change: (changes: Partial<JointOptions>) => Promise<unknown>): Keyed[] {
    const binds = { ...this.binds, paths: AXES.map((axis) => `${joint.name}.p_PF.${axis}`) };
    const place = boundRow(`at, in ${joint.first}`, "m", joint.p_PF.map(exact), AXES, binds, async (texts) =>
      change({ at: [joint.first, texts.map((text) => readFinite(text, "at")) as Vec3] }),
    );
    const F = this.stage.mechanism.frameF(joint);
    this.lacksPose = !F;
    if (joint.joint_type === "distance" || !F) return [place];
    const axis = new THREE.Vector3(0, 0, 1)
      .applyQuaternion(F.q)
      .toArray()
      .map((x) => exact(Number(x.toFixed(6)) + 0));
    const turn = inputRow("axis", "", axis, AXES, async (texts) =>
      change({ axis: texts.map((text) => readFinite(text, "axis")) as Vec3 }),
    );
    const pick = (isPlaced: boolean): void =>
      this.tools.points.begin({
        count: 2,
        hint: (have) =>
          `axis of '${joint.name}': click ${have ? "the second point" : "the first of two points"}; Escape ends it`,
        done: ([a, b]) => {
          if (!a || !b) return;
          const changes: Partial<JointOptions> = { axis: [a.place, b.place], ...(isPlaced ? { at: a.place } : {}) };
          void this.stage.actions.apply({ edit: "ChangeJoint", joint: joint.name, changes });
        },
      });
    const byPoints = actions(
      button("Axis by two points", () => pick(false)),
      button("Axis and place", () => pick(true)),
    );
    return [place, turn, byPoints];
  }

  private joint(joint: Joint, scene: Scene): Keyed[] {
    const kinds = scene.joint_kinds.map((kind) => kind.name);
    const change = (changes: Partial<JointOptions>): Promise<unknown> =>
      this.edit({ edit: "ChangeJoint", joint: joint.name, changes });
    const rows = [
      selectRow("type", kinds, joint.joint_type, (type) => {
        const isNewScrew = type === "screw" && joint.pitch === null;
        return change(isNewScrew ? { type, pitch: roundNumber(0.02 * scene.size, 2) } : { type });
      }),
    ];
    if (joint.pitch !== null)
      rows.push(
        inputRow("pitch", "m/rad", [exact(joint.pitch)], [""], async ([text = ""]) =>
          change({ pitch: readReal(text, "pitch") }),
        ),
      );
    rows.push(...this.placeOf(joint, change), this.name("joint", joint.name));
    if (joint.closed === null) rows.push(this.loop(joint, change));
    return [
      title(joint.name, "joint"),
      about(`${joint.first} → ${joint.second}`),
      this.now(),
      group("joint", ...rows),
      ...joint.groups.map((entry) => this.features(joint, entry, change)),
      ...joint.groups.map((entry) => this.motor(joint, entry)),
      this.pose.piece(joint),
      actions(this.cut(joint), ...this.grouping(), this.remove("joint", joint.name)),
    ];
  }

  /** Open the mechanism here, or close it again; the session says what went through it and how far it was open. */
  private cut({ name, closed }: Joint): TemplateResult {
    const apply = async (edit: "Cut" | "Close"): Promise<void> => {
      const reply = await this.stage.actions.apply({ edit, joint: name });
      if (reply) tell(reply.text);
    };
    return closed === null
      ? button("Cut here", () => void apply("Cut"))
      : button(`Close (${closed})`, () => void apply("Close"));
  }

  /** Whether the builder chooses the joint of a loop that is left to rows, in generalized coordinates. */
  private loop(joint: Joint, change: (changes: Partial<JointOptions>) => Promise<unknown>): Keyed {
    const [chosen, here] = ["where the builder chooses", "here"] as const;
    return selectRow("loop closed", [chosen, here], joint.loop ? here : chosen, (value) =>
      change({ loop: value === here ? true : null }),
    );
  }

  private features(joint: Joint, entry: Group, change: (changes: Partial<JointOptions>) => Promise<unknown>): Keyed {
    const rows = entry.features.map((feature) => {
      const base = `${joint.name}.${joint.groups.length > 1 ? `${entry.name}.` : ""}${feature.name}`;
      if (feature.set_by === "SetParameter" && feature.path)
        return parameterRow(feature, this.setParameter(feature), this.binds, base);
      const set = (value: Free): Promise<unknown> => {
        if (joint.groups.length === 1) return change({ [feature.name]: value });
        const all = Object.fromEntries(
          joint.groups
            .map((other) => [
              other.name,
              other === entry ? value : other.features.find((item) => item.name === feature.name)?.value,
            ])
            .filter(([, item]) => item !== null && item !== 0),
        );
        return change({ [feature.name]: Object.keys(all).length ? all : feature.name === "limits" ? null : 0 });
      };
      return parameterRow(entry.kind === "ball" ? ballLimits(feature) : feature, set, this.binds, base);
    });
    return group(joint.groups.length > 1 ? entry.name : entry.kind, ...rows);
  }

  private motor(joint: Joint, entry: Group): Keyed {
    const { motions } = this.tools;
    const title = joint.groups.length > 1 ? `motor of ${entry.name}` : "motor";
    const kinds: MotorKind[] = entry.kind === "ball" ? ["speed", "torque"] : ["speed", "position", "torque"];
    const found = motions.of(joint.name).find(({ motor }) => motor.group === entry.name);
    if (!found) {
      const attach = (kind: MotorKind) => button(`By ${kind}`, () => void motions.attach(joint, kind, entry));
      return group(title, actions(...kinds.map(attach)));
    }
    const { motor, on } = found;
    const most = motor.max_torque === null ? "inf" : exact(motor.max_torque);
    return group(
      title,
      selectRow("drives", kinds, motor.quantity, (kind) => motions.attach(joint, kind as MotorKind, entry)),
      ...this.motorValue(motor, entry),
      inputRow("most", entry.force_unit, [most], [""], async ([text = ""]) =>
        this.edit(Motions.edit(motor, readReal(text, "most"))),
      ),
      actions(
        button(on ? "Switch off" : "Switch on", () => void motions.turn(motor, !on)),
        button("Remove", () => void motions.remove(motor), "danger"),
      ),
    );
  }

  private motorValue(motor: Motor, entry: Group): Keyed[] {
    const unit = motorUnit(entry, motor.quantity);
    const drive = (value: Value): Promise<unknown> =>
      this.edit({ edit: "Drive", joint: motor.joint, value, group: motor.group });
    const vector = asVector(motor.value);
    if (vector)
      return [
        inputRow("value", unit, vector.map(exact), AXES, async (texts) =>
          drive(texts.map((text) => readReal(text, "value")) as Vec3),
        ),
      ];
    const aim = aimOf(motor.value);
    const shown = aim === null ? "" : exact(aim);
    const row = inputRow("value", aim === null ? `${unit}, profile` : unit, [shown], [""], async ([text = ""]) =>
      drive(readReal(text, "value")),
    );
    const [value] = componentsOf(motor.value) ?? [];
    if (value === undefined || Array.isArray(motor.value)) return [row]; // a callable of Python, or of a ball
    const size = this.tools.motions.usual(entry, motor.quantity);
    return [row, ...profileRows({ label: "over time", value, unit, now: this.time, size, set: drive })];
  }

  /** The present time [s]. */
  private time = (): number => this.stage.store.frame?.time ?? 0;

  /** How a component of a load goes over time: which one is chosen above it. */
  private overTime(load: Load, set: (changes: Partial<Load>) => Promise<void>): Keyed {
    const parts = (["force", "torque"] as const).flatMap((what) =>
      (componentsOf(load[what]) ?? []).map((value, k) => ({ what, k, value, name: `${what} ${AXES[k]}` })),
    );
    const weight = ({ value }: (typeof parts)[number]): number =>
      typeof value === "number" ? Math.abs(value) : Infinity;
    const [largest] = [...parts].sort((a, b) => weight(b) - weight(a));
    const chosen = parts.find(({ name }) => name === this.varied.get(load.name)) ?? largest;
    if (!chosen) return group("over time", { key: "none", view: html`<p class="muted">a callable of Python</p>` });
    const { what, k, value, name } = chosen;
    const change = (to: One): Promise<void> =>
      set({ [what]: (componentsOf(load[what]) ?? []).map((item, other) => (other === k ? to : item)) as Vec3 });
    const { force, torque } = this.tools.loads.scale();
    const size = roundNumber(0.25 * this.stage.view.size * (what === "force" ? force : 0.5 * torque), 2);
    return group(
      "over time",
      selectRow(
        "component",
        parts.map((part) => part.name),
        name,
        async (other) => {
          this.varied.set(load.name, other);
          this.draw();
        },
      ),
      ...profileRows({ label: name, value, unit: what === "force" ? "N" : "N m", now: this.time, size, set: change }),
    );
  }

  /** Which material a body or an obstacle has; without one it is a picture. */
  private material(part: string, material: string | null): Keyed {
    return selectRow("material", [NONE, ...this.stage.store.materials], material ?? NONE, (name) =>
      this.edit({ edit: "SetMaterial", part, material: name === NONE ? null : name }),
    );
  }

  private obstacle({ name, position, orientation, shape, material }: Obstacle): Keyed[] {
    const place = (what: "position" | "orientation", unit: string, values: number[], names: string[]): Keyed =>
      inputRow(what, unit, values.map(exact), names, async (texts) =>
        this.edit({
          edit: "SetParameter",
          path: `${name}.${what}`,
          value: texts.map((text) => readFinite(text, what)),
        }),
      );
    return [
      title(name, "obstacle"),
      about(`${describe(shape)}${shape.material ? `, of ${shape.material}` : ""}`),
      group("contact", this.material(name, material)),
      group("place", place("position", "m", position, AXES), place("orientation", "", orientation, [...AXES, "w"])),
      actions(this.remove("obstacle", name)),
    ];
  }

  /** A part of a kind without a view of its own: what it is of, and what can be set. */
  private element(element: Element): Keyed[] {
    const { kind, name, refers, parameters } = element;
    if (kind === "group") return this.group(element);
    return [
      title(name, kind),
      about(Object.values(refers).join(" → ")),
      ...(kind === "sensor" ? [this.now()] : []),
      ...(parameters.length ? [this.parameters("parameters", parameters)] : []),
      actions(this.remove(kind as keyof Options, name)),
    ];
  }

  private spring(spring: Spring): Keyed[] {
    return [
      title(spring.name, "spring"),
      about(`${spring.first} → ${spring.second}`),
      this.now(),
      this.parameters("parameters", spring.parameters),
      actions(this.remove("spring", spring.name)),
    ];
  }

  private load(load: Load, on: boolean): Keyed[] {
    const { loads } = this.tools;
    const set = async (changes: Partial<Load>): Promise<void> => {
      const next = { ...load, ...changes };
      if (on) await this.edit(Loads.edit(next));
      else await loads.keep(next);
    };
    const vectorRow = (what: "force" | "torque" | "at", unit: string): Keyed => {
      const items: One[] = componentsOf(load[what] as Value | null) ?? [];
      const texts = AXES.map((_, k) =>
        typeof items[k] === "number" ? exact(items[k]) : items[k] ? kindOf(items[k]) : "",
      );
      return inputRow(what, unit, texts, AXES, (typed) =>
        set({ [what]: typed.map((text, k) => (text === texts[k] ? (items[k] ?? 0) : readReal(text, what))) as Vec3 }),
      );
    };
    const sizes = (["force", "torque"] as const).flatMap((what) => {
      const vector = asVector(load[what]);
      const size = Math.hypot(...(vector ?? []));
      if (!vector || size === 0) return [];
      const unit = what === "force" ? "N" : "N m";
      return inputRow(`|${what}|`, unit, [String(roundNumber(size, 6))], [""], async ([text = ""]) => {
        const wanted = readFinite(text, what);
        await set({ [what]: vector.map((item) => (item * wanted) / size) as Vec3 });
      });
    });
    const hasForce = Math.hypot(...(asVector(load.force) ?? [1])) > 0;
    const arrow = selectRow("arrow", ["push", "drag"], loads.modeOf(load.name), async (mode) =>
      loads.setMode(load.name, mode as Mode),
    );
    return [
      title(load.name, on ? "load" : "load, off"),
      about(`on ${load.body}`),
      group("values", vectorRow("force", "N"), vectorRow("torque", "N m"), vectorRow("at", "m"), ...sizes),
      this.overTime(load, set),
      group(
        "icon",
        selectRow("axes", ["world", "body"], load.frame, (frame) => set({ frame: frame as Load["frame"] })),
        ...(hasForce ? [arrow] : []),
      ),
      actions(
        button(on ? "Switch off" : "Switch on", () => void loads.turn(load.name, !on)),
        button("Remove", () => void loads.remove(load.name), "danger"),
      ),
    ];
  }

  private model(scene: Scene): Keyed[] {
    const { status } = this.stage.store;
    const coupling = ({ name, coordinate_a, coordinate_b, more, parameters }: Coupling): Keyed =>
      this.parameters(`${name}: ${coordinate_b} follows ${[coordinate_a, ...more].join(", ")}`, parameters);
    return [
      title(scene.name, "model"),
      this.parameters("parameters", scene.parameters),
      group(
        "method",
        selectRow("method", scene.methods, status?.method ?? "", (method) => this.edit({ edit: "SetMethod", method })),
        inputRow("step", "s", [status ? exact(status.dt) : ""], [""], async ([text = ""]) =>
          this.edit({ edit: "SetStep", dt: readReal(text, "step") }),
        ),
      ),
      group(
        "start",
        actions(
          button("Set as start", () => void this.setStart(true)),
          button("Set as start, at rest", () => void this.setStart(false)),
        ),
      ),
      ...scene.couplings.map(coupling),
      group(
        "measure",
        actions(
          button("Distance", () => pickMeasure(this.stage, this.tools.points, "distance")),
          button("Angle", () => pickMeasure(this.stage, this.tools.points, "angle")),
        ),
      ),
      group(
        "contact",
        actions(
          button("Add floor", () => void this.tools.adding.addFloor(this.stage.store.materials[0] ?? "steel")),
          button("Add material", () => void this.tools.adding.addMaterial()),
        ),
      ),
      {
        key: "advice",
        view: html`<p class="muted">Pick a part in the picture or in the list to see and set its parameters.</p>`,
      },
    ];
  }

  private async setStart(velocities: boolean): Promise<void> {
    const reply = await this.stage.actions.apply({ edit: "SetStart", velocities });
    if (reply) tell(reply.text);
  }

  private remove(kind: keyof Options, name: string): TemplateResult {
    return button("Remove", () => void this.stage.actions.apply({ edit: "Remove", kind, name }), "danger");
  }
}

function title(name: string, kind: string): Keyed {
  return { key: "title", view: html`<div class="name">${name}<small>${kind}</small></div>` };
}

function about(text: string): Keyed {
  return { key: "about", view: html`<div class="muted">${text}</div>` };
}

/** A shape in a few words. */
function describe({ kind, size, radius, length, triangles, heights }: Shape): string {
  const sizes = [...(size ?? []), radius, length].filter((value) => value !== null && value !== undefined);
  const metres = sizes.length ? `, ${sizes.map((value) => roundNumber(value, 4)).join(" × ")} m` : "";
  const count = kind === "mesh" ? ` of ${triangles?.length} triangles` : "";
  const grid = heights ? ` of ${heights.length} × ${heights[0]?.length}` : "";
  return `${kind.replace("-", " ")}${count}${grid}${metres}`;
}

/** The signals of a quantity by components. */
function names(quantity: Quantity): string[] {
  return quantity.signals.filter(({ name }) => !name.endsWith(".norm")).map(({ name }) => name);
}

/** Limits of a ball have a form of their own even where there are none yet. */
function ballLimits(feature: Parameter): Parameter {
  return feature.name === "limits" && feature.value === null
    ? { ...feature, value: { swing: null, twist: null } }
    : feature;
}

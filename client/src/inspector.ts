/** The picked part: what it does now, and every parameter, live. */

import { html, nothing, render, type TemplateResult } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";
import type { Adding } from "./adding";
import { byId, h } from "./dom";
import type { Edit, JointOptions, Options, Value } from "./edits";
import { type Apply, actions, button, group, inputRow, type Keyed, keyedList, parameterRow, selectRow } from "./fields";
import { Loads, type Mode } from "./loads";
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
  Scene,
  Shape,
  Spring,
} from "./messages";
import { Motions, type MotorKind } from "./motions";
import { asVector, exact, readFinite, readReal, roundNumber, show, type Vec3 } from "./numbers";
import { type Quantity, quantitiesOf } from "./signals";
import { motorUnit } from "./spheres";
import type { Stage } from "./stage";
import type { PartKind } from "./store";
import type { Traces } from "./traces";

const LIVE: Partial<Record<PartKind, string[]>> = {
  body: ["position", "velocity", "angular velocity", "force"],
  joint: ["coordinate", "speed", "motor", "reaction force", "reaction torque"],
  spring: ["force", "length"],
  probe: ["position"],
};
const AXES = ["x", "y", "z"];
const NONE = "(none)";
const CENTRE: Vec3 = [0, 0, 0];

export class Inspector {
  private box = byId("inspector-body");
  private measured = h("fieldset"); // drawn anew with every frame, the rest when it changes
  private quantities: Quantity[] = [];
  private part = "";

  constructor(
    private readonly stage: Stage,
    private readonly tools: { adding: Adding; loads: Loads; motions: Motions; traces: Traces },
  ) {
    const { store } = stage;
    store.on("pick", () => this.draw());
    store.on("scene", () => this.draw());
    store.on("live", () => this.draw());
    store.on("status", () => this.draw());
    store.on("frame", () => this.measure());
    this.draw();
  }

  private draw(): void {
    const { scene, pick } = this.stage.store;
    if (!scene) return;
    const wanted = (pick && LIVE[pick.kind]) ?? [];
    this.quantities = quantitiesOf(scene, pick).filter(({ title }) => wanted.some((name) => title.startsWith(name)));
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
      values: names(quantity).map((name) => show(signals.value(name), 4)),
      isOpen: names(quantity).some((name) => signals.isOpen(name)),
    }));
    const row = ({ title, unit, values, isOpen }: (typeof rows)[number]): TemplateResult =>
      html`<div class=${values.length > 1 ? "row wide" : "row"} data-row=${title}>
        <span>${title}</span>
        <output class=${isOpen ? "open" : nothing} aria-label=${title} aria-live="off"
          >${values.map((value) => html`<span>${value}</span>`)}</output
        ><span class="unit">${unit}</span>
      </div>`;
    const note = "≈ redundant constraints leave this reaction open; the least one is shown";
    render(
      html`<legend>now</legend>
        ${rows.map(row)}
        <div class="note" ?hidden=${!rows.some(({ isOpen }) => isOpen)}>${note}</div>`,
      this.measured,
    );
  }

  /** Carry out an edit; what refuses it is told beside the field. */
  private edit(edit: Edit): Promise<unknown> {
    return this.stage.connection.edit(edit);
  }

  private setParameter({ path, name }: Parameter): Apply {
    return (value) => this.edit({ edit: "SetParameter", path: path ?? name, value });
  }

  private parameters(title: string, parameters: Parameter[]): Keyed {
    return group(title, ...parameters.map((parameter) => parameterRow(parameter, this.setParameter(parameter))));
  }

  private body(body: Body): Keyed[] {
    const { loads, traces } = this.tools;
    const at = this.stage.store.pick?.at ?? CENTRE;
    const state = (field: "position" | "velocity" | "angular_velocity", unit: string): Keyed =>
      inputRow(field.replace("_", " "), unit, ["", "", ""], AXES, async (texts) => {
        if (texts.some((text) => text === "")) return;
        const values = texts.map((text) => readFinite(text, field)) as Vec3;
        await this.edit({ edit: "SetState", bodies: { [body.name]: { [field]: values } } });
      });
    return [
      title(body.name, "body"),
      this.now(),
      this.parameters("parameters", body.parameters),
      group("contact", this.material(body.name, body.material)),
      group("set the state", state("position", "m"), state("velocity", "m/s"), state("angular_velocity", "rad/s")),
      actions(
        button("Force", () => void loads.attach("force", body.name, at)),
        button("Torque", () => void loads.attach("torque", body.name, at)),
        button("Trace", () => traces.add(`point of ${body.name}`, body.name, at)),
        this.remove("body", body.name),
      ),
    ];
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
    return [
      title(joint.name, "joint"),
      about(`${joint.first} → ${joint.second}`),
      this.now(),
      group("joint", ...rows),
      ...joint.groups.map((entry) => this.features(joint, entry, change)),
      ...joint.groups.map((entry) => this.motor(joint, entry)),
      actions(this.remove("joint", joint.name)),
    ];
  }

  private features(joint: Joint, entry: Group, change: (changes: Partial<JointOptions>) => Promise<unknown>): Keyed {
    const rows = entry.features.map((feature) => {
      if (feature.set_by === "SetParameter" && feature.path) return parameterRow(feature, this.setParameter(feature));
      return parameterRow(entry.kind === "ball" ? ballLimits(feature) : feature, (value) => {
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
      });
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
      this.motorValue(motor, motorUnit(entry, motor.quantity)),
      inputRow("most", entry.force_unit, [most], [""], async ([text = ""]) =>
        this.edit(Motions.edit(motor, readReal(text, "most"))),
      ),
      actions(
        button(on ? "Switch off" : "Switch on", () => void motions.turn(motor, !on)),
        button("Remove", () => void motions.remove(motor), "danger"),
      ),
    );
  }

  private motorValue(motor: Motor, unit: string): Keyed {
    const drive = (value: Value): Promise<unknown> =>
      this.edit({ edit: "Drive", joint: motor.joint, value, group: motor.group });
    const vector = asVector(motor.value);
    if (vector)
      return inputRow("value", unit, vector.map(exact), AXES, async (texts) =>
        drive(texts.map((text) => readReal(text, "value")) as Vec3),
      );
    const isNumber = typeof motor.value === "number";
    return inputRow(
      "value",
      isNumber ? unit : `${unit}, profile`,
      [isNumber ? exact(motor.value as number) : ""],
      [""],
      async ([text = ""]) => drive(readReal(text, "value")),
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
  private element({ kind, name, refers, parameters }: Element): Keyed[] {
    return [
      title(name, kind),
      about(Object.values(refers).join(" → ")),
      this.parameters("parameters", parameters),
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
      const vector = asVector(load[what]);
      return inputRow(what, vector ? unit : "profile", vector?.map(exact) ?? ["", "", ""], AXES, (typed) =>
        set({ [what]: typed.map((text) => readReal(text, what)) as Vec3 }),
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
    const coupling = ({ name, coordinate_a, coordinate_b, parameters }: Coupling): Keyed =>
      this.parameters(`${name}: ${coordinate_b} follows ${coordinate_a}`, parameters);
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
      ...scene.couplings.map(coupling),
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

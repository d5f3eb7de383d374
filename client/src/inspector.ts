/** The picked part: what it does now, and every parameter, live. */

import { byId, h, setText } from "./dom";
import type { JointOptions, Motor as MotorData, Options, Value } from "./edits";
import { type Apply, group, inputRow, liveRow, parameterRow, selectRow } from "./fields";
import { asVector, Loads, type Mode } from "./loads";
import type { Body, Group, Joint, Load, Motor, Parameter, Scene } from "./messages";
import { type MotorKind, type Motions, motorUnit } from "./motions";
import { exact, parseNumber, show, type Vec3 } from "./numbers";
import { quantitiesOf } from "./signals";
import type { Stage } from "./stage";
import type { Traces } from "./traces";

const LIVE: Record<string, string[]> = {
  body: ["position", "velocity", "angular velocity", "force"],
  joint: ["coordinate", "speed", "motor", "reaction force", "reaction torque"],
  spring: ["force", "length"],
  probe: ["position"],
};

interface LiveRow {
  output: HTMLOutputElement;
  names: string[];
}

export class Inspector {
  private box = byId("inspector-body");
  private rows: LiveRow[] = [];
  private openNote = h(
    "div",
    { class: "note" },
    "≈ redundant constraints leave this reaction open; the least one is shown",
  );
  private shown = "";
  private part = "";

  constructor(
    private readonly stage: Stage,
    private readonly tools: { loads: Loads; motions: Motions; traces: Traces },
  ) {
    const { store } = stage;
    store.on("pick", () => this.build());
    store.on("scene", () => this.build());
    store.on("live", () => this.build());
    store.on("status", () => this.build());
    store.on("frame", () => this.fill());
    this.build();
  }

  private build(): void {
    const { scene, pick, live, status } = this.stage.store;
    const what = pick ?? { kind: "model" as const, name: "" };
    if (!scene) return;
    const load = what.kind === "load" ? this.tools.loads.find(what.name) : undefined;
    const state = JSON.stringify([
      what.kind,
      what.name,
      what.kind === "body" && scene.bodies.find((part) => part.name === what.name)?.parameters,
      what.kind === "joint" && [scene.joints.find((part) => part.name === what.name), this.tools.motions.of(what.name)],
      what.kind === "spring" && scene.springs.find((part) => part.name === what.name),
      load,
      what.kind === "model" && [scene.parameters, scene.couplings, status?.method, status?.dt, scene.methods],
      what.kind === "load" && this.tools.loads.modeOf(what.name),
      what.kind === "load" && live?.loads.length,
    ]);
    if (state === this.shown) return;
    const build = (): void => this.rebuild(scene, what.kind, what.name);
    const part = `${what.kind} ${what.name}`;
    if (part === this.part) this.keepFocus(build);
    else {
      build();
      byId("inspector").scrollTop = 0;
    }
    this.shown = state;
    this.part = part;
  }

  /** Build anew, put the focus back to the control of the same label, and leave there what is being typed. */
  private keepFocus(build: () => void): void {
    const before = this.box.contains(document.activeElement) ? (document.activeElement as HTMLElement) : null;
    this.box.inert = true; // what loses the focus now was not left by the user
    build();
    this.box.inert = false;
    const label = before && labelOf(before);
    const controls = [...this.box.querySelectorAll<HTMLElement>("input, select, button")];
    const now = controls.find((control) => labelOf(control) === label);
    if (!before || !now) return;
    now.focus();
    if (!(before instanceof HTMLInputElement && now instanceof HTMLInputElement)) return;
    if (before.value === before.defaultValue) {
      now.select();
      return;
    }
    now.value = before.value;
    now.setSelectionRange(before.selectionStart, before.selectionEnd);
  }

  private rebuild(scene: Scene, kind: string, name: string): void {
    this.rows = [];
    const body = scene.bodies.find((part) => part.name === name);
    const joint = scene.joints.find((part) => part.name === name);
    let parts: (HTMLElement | null)[] = [];
    if (kind === "body" && body) parts = this.body(body);
    else if (kind === "joint" && joint) parts = this.joint(joint, scene);
    else if (kind === "spring") parts = this.spring(name, scene);
    else if (kind === "load") parts = this.load(name);
    else if (kind === "probe") parts = [this.title(name, "probe"), this.now(scene)];
    else parts = this.model(scene);
    this.box.replaceChildren(...parts.filter((part) => part !== null));
    this.stage.signals.want(
      "inspector",
      this.rows.flatMap((row) => row.names),
    );
    this.fill();
  }

  private title(name: string, kind: string): HTMLElement {
    return h("div", { class: "name" }, name, h("small", {}, kind));
  }

  /** What is measured of the picked part. */
  private now(scene: Scene): HTMLElement | null {
    const { pick } = this.stage.store;
    if (!pick) return null;
    const wanted = LIVE[pick.kind] ?? [];
    const rows = quantitiesOf(scene, pick)
      .filter(({ title }) => wanted.some((name) => title.startsWith(name)))
      .map(({ title, unit, signals }) => {
        const names = signals.filter(({ name }) => !name.endsWith(".norm")).map(({ name }) => name);
        const { row, output } = liveRow(title, unit, names.length > 1);
        output.append(...names.map(() => h("span")));
        this.rows.push({ output, names });
        return row;
      });
    this.openNote.hidden = true;
    return group("now", ...rows, this.openNote);
  }

  private fill(): void {
    let isOpen = false;
    for (const { output, names } of this.rows) {
      names.forEach((name, k) => setText(output.children[k], show(this.stage.signals.value(name), 4)));
      const open = names.some((name) => this.stage.signals.isOpen(name));
      output.classList.toggle("open", open);
      isOpen ||= open;
    }
    this.openNote.hidden = !isOpen;
  }

  private setParameter({ path, name }: Parameter): Apply {
    return (value) => this.stage.actions.connection.edit({ edit: "SetParameter", path: path ?? name, value });
  }

  private body(body: Body): (HTMLElement | null)[] {
    const { scene, pick } = this.stage.store;
    const position = (field: "position" | "velocity" | "angular_velocity", unit: string): HTMLElement =>
      inputRow(field.replace("_", " "), unit, ["", "", ""], ["x", "y", "z"], async (texts) => {
        if (texts.some((text) => text === "")) return;
        const values = texts.map((text) => numberOf(text, field)) as Vec3;
        await this.stage.actions.connection.edit({ edit: "SetState", bodies: { [body.name]: { [field]: values } } });
      });
    return [
      this.title(body.name, "body"),
      this.now(scene!),
      group("parameters", ...body.parameters.map((parameter) => parameterRow(parameter, this.setParameter(parameter)))),
      group(
        "set the state",
        position("position", "m"),
        position("velocity", "m/s"),
        position("angular_velocity", "rad/s"),
      ),
      h(
        "div",
        { class: "actions" },
        this.button("Force", () => void this.tools.loads.attach("force", body.name, pick?.at ?? [0, 0, 0])),
        this.button("Torque", () => void this.tools.loads.attach("torque", body.name, pick?.at ?? [0, 0, 0])),
        this.button("Trace", () => this.tools.traces.add(`point of ${body.name}`, body.name, pick?.at ?? [0, 0, 0])),
        this.remove("body", body.name),
      ),
    ];
  }

  private joint(joint: Joint, scene: Scene): (HTMLElement | null)[] {
    const kinds = scene.joint_kinds.map((kind) => kind.name);
    const change = (changes: Partial<JointOptions>): Promise<unknown> =>
      this.stage.actions.connection.edit({ edit: "ChangeJoint", joint: joint.name, changes });
    const type = selectRow("type", kinds, joint.joint_type, (value) => {
      const changes: Partial<JointOptions> = { type: value };
      if (value === "screw" && joint.pitch === null) changes.pitch = Number((0.02 * scene.size).toPrecision(2));
      return change(changes);
    });
    const ends = h("div", { class: "muted" }, `${joint.first} → ${joint.second}`);
    const rows: HTMLElement[] = [type];
    if (joint.pitch !== null)
      rows.push(
        inputRow("pitch", "m/rad", [exact(joint.pitch)], [""], ([text]) => change({ pitch: numberOf(text, "pitch") })),
      );
    return [
      this.title(joint.name, "joint"),
      ends,
      this.now(scene),
      group("joint", ...rows),
      ...joint.groups.map((entry) => this.features(joint, entry, change)),
      ...joint.groups.map((entry) => this.motor(joint, entry)),
      h("div", { class: "actions" }, this.remove("joint", joint.name)),
    ];
  }

  private features(
    joint: Joint,
    entry: Group,
    change: (changes: Partial<JointOptions>) => Promise<unknown>,
  ): HTMLElement {
    const title = joint.groups.length > 1 ? entry.name : entry.kind;
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
    return group(title, ...rows);
  }

  private motor(joint: Joint, entry: Group): HTMLElement {
    const title = joint.groups.length > 1 ? `motor of ${entry.name}` : "motor";
    const found = this.tools.motions.of(joint.name).find(({ motor }) => motor.group === entry.name);
    if (!found) {
      const kinds: MotorKind[] = entry.kind === "ball" ? ["speed", "torque"] : ["speed", "position", "torque"];
      return group(
        title,
        h(
          "div",
          { class: "actions" },
          ...kinds.map((kind) => this.button(`By ${kind}`, () => void this.tools.motions.attach(joint, kind, entry))),
        ),
      );
    }
    const { motor, on } = found;
    const rows = [
      selectRow(
        "drives",
        entry.kind === "ball" ? ["speed", "torque"] : ["speed", "position", "torque"],
        motor.quantity,
        (kind) => this.tools.motions.attach(joint, kind as MotorKind, entry),
      ),
      this.motorValue(motor, motorUnit(entry, motor.quantity)),
      inputRow(
        "most",
        entry.force_unit,
        [motor.max_torque === null ? "inf" : exact(motor.max_torque)],
        [""],
        async ([text]) => {
          const most = numberOf(text, "most");
          const data: MotorData = { motor: motor.quantity, value: motor.value as Value };
          if (Number.isFinite(most)) data.max_torque = most;
          await this.stage.actions.connection.edit({
            edit: "SetMotor",
            joint: motor.joint,
            motor: data,
            group: motor.group,
          });
        },
      ),
      h(
        "div",
        { class: "actions" },
        this.button(
          on ? "Switch off" : "Switch on",
          () => void this.tools.motions.turn(motor, !on).then(() => this.again()),
        ),
        this.button("Remove", () => void this.tools.motions.remove(motor).then(() => this.again()), "danger"),
      ),
    ];
    return group(title, ...rows);
  }

  private motorValue(motor: Motor, unit: string): HTMLElement {
    const drive = (value: Value): Promise<unknown> =>
      this.stage.actions.connection.edit({ edit: "Drive", joint: motor.joint, value, group: motor.group });
    const vector = asVector(motor.value);
    if (vector)
      return inputRow("value", unit, vector.map(exact), ["x", "y", "z"], (texts) =>
        drive(texts.map((text) => numberOf(text, "value")) as Vec3),
      );
    const text = typeof motor.value === "number" ? exact(motor.value) : "";
    return inputRow("value", typeof motor.value === "number" ? unit : `${unit}, profile`, [text], [""], ([typed]) =>
      drive(numberOf(typed, "value")),
    );
  }

  private spring(name: string, scene: Scene): (HTMLElement | null)[] {
    const spring = scene.springs.find((part) => part.name === name);
    if (!spring) return [];
    return [
      this.title(spring.name, "spring"),
      h("div", { class: "muted" }, `${spring.first} → ${spring.second}`),
      this.now(scene),
      group(
        "parameters",
        ...spring.parameters.map((parameter) => parameterRow(parameter, this.setParameter(parameter))),
      ),
      h("div", { class: "actions" }, this.remove("spring", spring.name)),
    ];
  }

  private load(name: string): (HTMLElement | null)[] {
    const found = this.tools.loads.find(name);
    if (!found) return [];
    const { load, on } = found;
    const set = async (changes: Partial<Load>): Promise<void> => {
      const next = { ...load, ...changes };
      if (on) await this.stage.actions.connection.edit(Loads.edit(next));
      else await this.tools.loads.keep(next);
    };
    const vectorRow = (what: "force" | "torque" | "at", unit: string): HTMLElement => {
      const vector = asVector(load[what]);
      const texts = vector ? vector.map(exact) : ["", "", ""];
      return inputRow(what, vector ? unit : "profile", texts, ["x", "y", "z"], (typed) =>
        set({ [what]: typed.map((text) => numberOf(text, what)) as Vec3 }),
      );
    };
    const rows = [vectorRow("force", "N"), vectorRow("torque", "N m"), vectorRow("at", "m")];
    for (const what of ["force", "torque"] as const) {
      const vector = asVector(load[what]);
      const size = vector ? Math.hypot(...vector) : 0;
      if (!vector || size === 0) continue;
      const row = inputRow(
        `|${what}|`,
        what === "force" ? "N" : "N m",
        [String(Number(size.toPrecision(6)))],
        [""],
        ([text]) => {
          const wanted = numberOf(text, what);
          return set({ [what]: vector.map((item) => (item * wanted) / size) });
        },
      );
      rows.push(row);
    }
    const hasForce = Math.hypot(...(asVector(load.force) ?? [1])) > 0;
    const arrow = selectRow("arrow", ["push", "drag"], this.tools.loads.modeOf(name), async (mode) =>
      this.tools.loads.setMode(name, mode as Mode),
    );
    return [
      this.title(name, on ? "load" : "load, off"),
      h("div", { class: "muted" }, `on ${load.body}`),
      group("values", ...rows),
      group(
        "icon",
        selectRow("axes", ["world", "body"], load.frame, (frame) => set({ frame: frame as Load["frame"] })),
        ...(hasForce ? [arrow] : []),
      ),
      h(
        "div",
        { class: "actions" },
        this.button(
          on ? "Switch off" : "Switch on",
          () => void this.tools.loads.turn(name, !on).then(() => this.again()),
        ),
        this.button("Remove", () => void this.tools.loads.remove(name), "danger"),
      ),
    ];
  }

  private model(scene: Scene): HTMLElement[] {
    const { status } = this.stage.store;
    const methods = scene.methods;
    return [
      this.title(scene.name, "model"),
      group(
        "parameters",
        ...scene.parameters.map((parameter) => parameterRow(parameter, this.setParameter(parameter))),
      ),
      group(
        "method",
        selectRow("method", methods, status?.method ?? methods[0], (method) =>
          this.stage.actions.connection.edit({ edit: "SetMethod", method }),
        ),
        inputRow("step", "s", [status ? exact(status.dt) : ""], [""], ([text]) =>
          this.stage.actions.connection.edit({ edit: "SetStep", dt: numberOf(text, "step") }),
        ),
      ),
      ...scene.couplings.map((coupling) =>
        group(
          `${coupling.name}: ${coupling.coordinate_b} follows ${coupling.coordinate_a}`,
          ...coupling.parameters.map((parameter) => parameterRow(parameter, this.setParameter(parameter))),
        ),
      ),
      h("p", { class: "muted" }, "Pick a part in the picture or in the list to see and set its parameters."),
    ];
  }

  private again(): void {
    this.shown = "";
    this.build();
  }

  private button(text: string, action: () => void, kind = ""): HTMLButtonElement {
    return h("button", { type: "button", class: kind || undefined, onclick: action }, text);
  }

  private remove(kind: keyof Options, name: string): HTMLButtonElement {
    return this.button("Remove", () => void this.stage.actions.apply({ edit: "Remove", kind, name }), "danger");
  }
}

/** By which a control is known again; one that switches is the same whether on or off. */
function labelOf(control: HTMLElement): string {
  return control.getAttribute("aria-label") ?? control.textContent.replace(/ o(n|ff)$/, "");
}

function numberOf(text: string, what: string): number {
  const value = parseNumber(text);
  if (value === null) throw new Error(`${what}: ${text === "" ? "nothing" : `'${text}'`} is not a number`);
  return value;
}

/** Limits of a ball have a form of their own even where there are none yet. */
function ballLimits(feature: Parameter): Parameter {
  return feature.name === "limits" && feature.value === null
    ? { ...feature, value: { swing: null, twist: null } }
    : feature;
}

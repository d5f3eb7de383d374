/** A curve is drawn in the picture, and the linkage is fitted to it while one watches: its best curve so far is shown. */

import * as THREE from "three";
import type { LineSegments2 } from "three/addons/lines/LineSegments2.js";
import { WorkPlane } from "../build/plane";
import { h, setText } from "../dom";
import type { Drag, Press, Presser } from "../gestures";
import type { CurveDesign, CurveRequest, Joint } from "../messages";
import type { Vec3 } from "../numbers";
import { polyline, ribbonMaterial } from "../ribbons";
import type { Stage } from "../stage";
import { colour, onTheme } from "../theme";
import type { Traces } from "../traces";
import { fitCurve } from "./ask";
import { Chart } from "./chart";
import { evenlyAlong, isClosed } from "./outline";

const POINTS = 32; // of the curve that is sent
const WIDTH = 3; // pixels
const LEAST = 3; // pixels between points that are drawn

/** A point that can draw: a probe, or one whose path is traced. */
interface Pen {
  name: string;
  body: string;
  at: Vec3;
}

export class Curves implements Presser {
  readonly element = h("form", {});
  private readonly pen = h("select", { "aria-label": "Point that draws" });
  private readonly drive = h("select", { "aria-label": "Joint that drives" });
  private readonly ground = h("input", { type: "checkbox", checked: true, "aria-label": "Ground pins may move" });
  private readonly whole = h("input", { type: "checkbox", checked: true, "aria-label": "Crank turns right round" });
  private readonly draw = h("button", { type: "button", class: "primary", onclick: () => this.begin() }, "Draw");
  private readonly go = h("button", { type: "submit", disabled: true }, "Fit again");
  private readonly stop = h("button", { type: "button", disabled: true, onclick: () => this.cancel() }, "Stop");
  private readonly use = h("button", { type: "button", disabled: true, onclick: () => void this.apply() }, "Apply");
  private readonly said = h("p", { role: "status" });
  private readonly box = h("div", { class: "wide" });
  private readonly materials = { target: ribbonMaterial(WIDTH, "#888888"), found: ribbonMaterial(WIDTH, "#888888") };
  private lines: Partial<Record<"target" | "found", LineSegments2>> = {};
  private pens: Pen[] = [];
  private points: Vec3[] = [];
  private design: CurveDesign | null = null;
  private seen: { evaluations: number[]; errors: number[] } = { evaluations: [], errors: [] };
  private running: AbortController | null = null;
  private drawing = false;

  constructor(
    private readonly stage: Stage,
    private readonly traces: Traces,
    private readonly look: (atPicture: boolean) => void, // where only one of picture and panel is to be seen
  ) {
    onTheme(() => {
      this.materials.target.color.set(colour("hand"));
      this.materials.found.color.set(colour("accent"));
    });
    this.fill();
    this.element.append(
      h("label", {}, "point"),
      this.pen,
      h("label", {}, "driven at"),
      this.drive,
      h("label", { class: "wide" }, this.ground, " pins on the ground may move"),
      h("label", { class: "wide" }, this.whole, " the crank of a four-bar turns right round"),
      h("div", { class: "actions" }, this.draw, this.go, this.stop, this.use),
      this.said,
      this.box,
    );
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.run();
    });
    addEventListener("keydown", this.escape, { capture: true });
  }

  /** What has been drawn and found. */
  get state() {
    const { points, design, drawing, running } = this;
    return { points: structuredClone(points), design: structuredClone(design), drawing, running: running !== null };
  }

  cancel(): void {
    this.running?.abort();
  }

  /** Leave nothing behind. */
  end(): void {
    this.cancel();
    this.drawing = false;
    removeEventListener("keydown", this.escape, { capture: true });
    for (const which of ["target", "found"] as const) this.line(which, []);
  }

  press(press: Press): Drag | null {
    const pen = this.pens[this.pen.selectedIndex];
    const from = pen && this.stage.mechanism.point(pen.body, pen.at);
    const axis = this.axis();
    if (!this.drawing || !from || !axis) return null;
    const plane = new WorkPlane();
    plane.across(from, axis, "of the linkage");
    const drawn: Vec3[] = [];
    let last = press;
    const add = (x: number, y: number): void => {
      const flat = plane.under(this.stage.view, x, y);
      if (flat) drawn.push(plane.up(flat).toArray());
      this.line("target", drawn);
    };
    add(press.x, press.y);
    return {
      move: (x, y) => {
        if (Math.hypot(x - last.x, y - last.y) < LEAST) return;
        last = { ...last, x, y };
        add(x, y);
      },
      cancel: () => this.line("target", []),
      end: () => this.drawn(drawn),
    };
  }

  private readonly escape = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || !this.drawing) return;
    this.drawing = false;
    this.say("");
    event.stopImmediatePropagation();
  };

  /** What can draw and what can drive. */
  private fill(): void {
    const { scene, live } = this.stage.store;
    const probes = (scene?.probes ?? []).map(({ name, body, at }): Pen => ({ name, body, at: at as Vec3 }));
    this.pens = [...probes, ...this.traces.chosen().map(({ key, body, at }) => ({ name: key, body, at }))];
    this.pen.replaceChildren(...this.pens.map(({ name }) => h("option", {}, name)));
    const hinges = (scene?.joints ?? []).filter(({ joint_type }) => joint_type === "revolute");
    this.drive.replaceChildren(...hinges.map(({ name }) => h("option", { value: name }, name)));
    const hasMotor = ({ name }: Joint): boolean => (live?.motors ?? []).some(({ joint }) => joint === name);
    const isGround = ({ first, second }: Joint): boolean => first === "ground" || second === "ground";
    const own = hinges.find(hasMotor) ?? hinges.find((hinge) => isGround(hinge) && !hinge.loop);
    if (own) this.drive.value = own.name;
    if (this.pens.length === 0) this.say("No point draws: trace one first (P), on the coupler or beside it.");
    else this.say("Press Draw, then draw a curve in the picture.");
    this.draw.disabled = this.pens.length === 0 || hinges.length === 0;
  }

  /** The axis of the driving hinge, in the world. */
  private axis(): THREE.Vector3 | null {
    const { store } = this.stage;
    const joint = store.joint(this.drive.value);
    if (!joint) return null;
    const axis = new THREE.Vector3(0, 0, 1).applyQuaternion(new THREE.Quaternion().fromArray(joint.q_PF));
    const pose = joint.first === "ground" ? null : store.pose(joint.first);
    return pose ? axis.applyQuaternion(new THREE.Quaternion(...pose.q)) : axis;
  }

  private begin(): void {
    this.cancel();
    this.drawing = true;
    this.line("found", []);
    this.look(true);
    this.say("Draw with the pointer or a finger; where the ends come near each other they meet.");
  }

  private drawn(points: Vec3[]): void {
    const even = evenlyAlong(points, POINTS);
    if (even.length < 3) {
      this.say("That was a point; press and draw a line.");
      return;
    }
    this.drawing = false;
    this.points = even;
    this.line("target", isClosed(points) ? [...even, even[0] as Vec3] : even);
    this.go.disabled = false;
    this.look(false);
    void this.run();
  }

  private async run(): Promise<void> {
    const pen = this.pens[this.pen.selectedIndex];
    if (!pen || this.points.length === 0) return;
    this.cancel();
    const running = new AbortController();
    this.running = running;
    this.design = null;
    this.seen = { evaluations: [], errors: [] };
    this.busy(true);
    this.say("The linkage is taken to another process …");
    const request: CurveRequest = {
      drive: this.drive.value,
      body: pen.body,
      at: pen.at,
      points: this.points,
      ground: this.ground.checked,
      whole: this.whole.checked,
    };
    const chart = new Chart("designs", true);
    this.box.replaceChildren();
    try {
      for await (const design of fitCurve(request, running.signal)) this.show(design, chart);
    } catch (error) {
      if (!running.signal.aborted) this.say((error as Error).message, true);
      else if (this.running === running) this.say(this.design ? `Stopped at ${this.told()}.` : "Stopped.");
    }
    if (this.running !== running) return; // another one is under way
    this.running = null;
    this.busy(false);
  }

  private show(design: CurveDesign, chart: Chart): void {
    this.line("found", places(design.curve));
    if (design.error === null) {
      this.say(design.text, design.done);
      return;
    }
    this.design = design;
    this.seen.evaluations.push(design.evaluations);
    this.seen.errors.push(100 * design.error);
    if (!chart.element.isConnected) this.box.replaceChildren(chart.element);
    chart.draw(this.seen.evaluations, [{ label: "off", unit: "%", values: this.seen.errors }]);
    this.use.disabled = design.edit === null;
    this.say(design.done ? `Done: ${design.text}.` : this.told());
  }

  private told(): string {
    const { error, evaluations } = this.design ?? { error: null, evaluations: 0 };
    return `${(100 * (error ?? NaN)).toPrecision(2)} % of its size off, ${evaluations} designs`;
  }

  /** Make the linkage of the session the best one so far. */
  private async apply(): Promise<void> {
    const edit = this.design?.edit;
    this.cancel();
    if (edit && (await this.stage.actions.apply(edit)))
      this.say("The linkage has these dimensions now; undo takes them back.");
  }

  private busy(on: boolean): void {
    this.stop.disabled = !on;
    this.go.disabled = on || this.points.length === 0;
    this.use.disabled = !this.design?.edit;
  }

  private say(text: string, isError = false): void {
    setText(this.said, text);
    this.said.className = isError ? "error" : "";
  }

  private line(which: "target" | "found", points: Vec3[]): void {
    const { view } = this.stage;
    const old = this.lines[which];
    if (old) view.drop(old);
    delete this.lines[which];
    if (points.length > 1) {
      const made = polyline(points, this.materials[which]);
      this.lines[which] = made;
      view.scene.add(made);
    }
    view.touch();
  }
}

function places(flat: number[]): Vec3[] {
  return Array.from({ length: flat.length / 3 }, (_, k) => flat.slice(3 * k, 3 * k + 3) as Vec3);
}

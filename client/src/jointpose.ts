/** How the two sides of the picked joint are to each other: as matrix, Euler angles and Denavit-Hartenberg parameters. */

import { html, render, type TemplateResult } from "lit-html";
import { h } from "./dom";
import type { Keyed } from "./fields";
import {
  type Axle,
  chainTo,
  denavitHartenberg,
  eulerAngles,
  matrixRows,
  nextJoints,
  type Pose,
  type Row,
  relative,
  SEQUENCES,
} from "./kinematics";
import type { Joint } from "./messages";
import { show } from "./numbers";
import type { Stage } from "./stage";
import { tell } from "./toasts";

const OF = ["M in F", "second in first"] as const; // frames of the joint, or of its bodies
const NONE = "(none)";
const NOISE = 4e-7; // of 1 and of the mechanism's size: frames come with 24 bits
const DEGREE = Math.PI / 180;

export class JointPose {
  private box = h("fieldset", { id: "joint-pose" });
  private of: (typeof OF)[number] = OF[0];
  private sequence = "zyx";
  private next: string | null = null; // the axis after the picked joint's, where there is a choice
  private joint: Joint | null = null;

  constructor(private readonly stage: Stage) {
    stage.store.on("shown", () => this.draw());
  }

  /** The piece of the inspector for a joint. */
  piece(joint: Joint): Keyed {
    if (joint.name !== this.joint?.name) this.next = null;
    this.joint = joint;
    this.draw();
    return { key: "pose", view: this.box };
  }

  private draw(): void {
    const { store } = this.stage;
    const joint = store.pick?.kind === "joint" ? store.joint(store.pick.name) : undefined;
    if (!joint) return;
    this.joint = joint;
    const pose = this.of === OF[0] ? this.inF(joint) : this.inFirst(joint);
    if (pose) render(this.view(joint, pose), this.box);
  }

  private inF(joint: Joint): Pose | null {
    const { mechanism } = this.stage;
    const [F, M] = [mechanism.frameF(joint), mechanism.frameM(joint)];
    return F && M && relative(F, M);
  }

  private inFirst({ first, second }: Joint): Pose | null {
    const { mechanism } = this.stage;
    const [P, C] = [mechanism.bodyPose(first), mechanism.bodyPose(second)];
    return P && C && relative(P, C);
  }

  private view(joint: Joint, pose: Pose): TemplateResult {
    const rows = matrixRows(pose).map((row) => row.map((value, k) => this.calm(value, k === 3)));
    const { angles, isLocked } = eulerAngles(pose.q, this.sequence);
    const degrees = angles.map((angle) => calmed(angle / DEGREE, NOISE / DEGREE));
    return html`<legend>relative pose</legend>
      ${choice("of", OF, this.of, (value) => {
        this.of = value as typeof this.of;
        this.draw();
      })}
      <table class="matrix" aria-label="matrix of ${this.of}">
        ${rows.map((row) => html`<tr>${row.map((value) => html`<td>${show(value, 4)}</td>`)}</tr>`)}
      </table>
      ${choice("Euler angles", SEQUENCES, this.sequence, (value) => {
        this.sequence = value;
        this.draw();
      })}
      <div class="row wide" data-row="angles">
        <span>${[...this.sequence].map((axis, k) => `${axis}${"′".repeat(k)}`).join(", ")}</span>
        <output aria-label="Euler angles" aria-live="off">${degrees.map((value) => html`<span>${show(value, 5)}</span>`)}</output
        ><span class="unit">°</span>
      </div>
      ${isLocked ? html`<div class="note">only one combination of the first and third angle matters here; the third is set to 0</div>` : ""}
      <div class="actions">
        ${copy("Copy matrix", () => `[${rows.map((row) => `[${row.map(written).join(", ")}]`).join(",\n ")}]`)}
        ${copy("Copy angles", () => `[${degrees.map(written).join(", ")}]`)}
      </div>
      ${this.parameters(joint)}`;
  }

  /** Denavit-Hartenberg parameters of the joint in its chain. */
  private parameters(joint: Joint): TemplateResult {
    const { store } = this.stage;
    const joints = store.scene?.joints ?? [];
    const after = nextJoints(joints, joint);
    const next = this.next === NONE ? null : (after.find(({ name }) => name === this.next) ?? after[0] ?? null);
    const axles = chainTo(joints, joint, next, (one) => this.inF(one));
    if (typeof axles === "string") return html`<div class="muted" data-row="DH">Denavit-Hartenberg: ${axles}.</div>`;
    const rows = denavitHartenberg(axles, store.scene?.size ?? 1);
    const own = rows.find((row) => row.joint === joint.name);
    if (!own) return html`<div class="muted" data-row="DH">Denavit-Hartenberg: a fixed joint has no axis.</div>`;
    const cells = (values: number[]) => html`${values.map((value) => html`<td>${show(value, 4)}</td>`)}`;
    return html`<table class="matrix" data-row="DH" aria-label="Denavit-Hartenberg parameters">
        <tr><th></th><th>θ °</th><th>d m</th><th>a m</th><th>α °</th></tr>
        <tr><th>standard</th>${cells(this.standard(own))}</tr>
        <tr><th>modified</th>${cells(this.modified(own))}</tr>
      </table>
      ${
        after.length
          ? choice("next axis", [...after.map(({ name }) => name), NONE], next?.name ?? NONE, (value) => {
              this.next = value;
              this.draw();
            })
          : ""
      }
      <div class="muted">${told(axles, joint, next)}</div>
      <div class="actions">
        ${copy("Copy standard", () => this.table(rows, (row) => this.standard(row)))}
        ${copy("Copy modified", () => this.table(rows, (row) => this.modified(row)))}
      </div>`;
  }

  private standard({ theta, d, a, alpha }: Row): number[] {
    return this.quiet([theta, d, a, alpha]);
  }

  private modified({ theta, d, aBefore, alphaBefore }: Row): number[] {
    return this.quiet([theta, d, aBefore, alphaBefore]);
  }

  private quiet([theta, d, a, alpha]: [number, number, number, number]): number[] {
    const turn = (angle: number) => calmed(angle / DEGREE, NOISE / DEGREE);
    return [turn(theta), this.calm(d, true), this.calm(a, true), turn(alpha)];
  }

  private table(rows: Row[], of: (row: Row) => number[]): string {
    return [
      "joint\ttheta_deg\td_m\ta_m\talpha_deg",
      ...rows.map((row) => [row.joint, ...of(row).map(written)].join("\t")),
    ].join("\n");
  }

  /** Without what is rounding. */
  private calm(value: number, isLength: boolean): number {
    return calmed(value, NOISE * (isLength ? (this.stage.store.scene?.size ?? 1) : 1));
  }
}

function calmed(value: number, noise: number): number {
  return Math.abs(value) < noise ? 0 : value;
}

/** As many digits as frames have. */
function written(value: number): string {
  return String(Number(value.toPrecision(7)));
}

function told(axles: Axle[], joint: Joint, next: Joint | null): string {
  const k = axles.findIndex((axle) => axle.joint === joint.name);
  const from = k > 0 ? `the normal from '${axles[k - 1]?.joint}'` : "x of frame F";
  return `θ and d from ${from} to ${next ? `that to '${next.name}'` : "x of frame M"}; a and α standard: after this joint, modified: before it`;
}

function choice(label: string, names: readonly string[], value: string, set: (value: string) => void): TemplateResult {
  return html`<div class="row" data-row=${label}>
    <span>${label}</span
    ><span class="values"
      ><select aria-label=${label} @change=${(event: Event) => set((event.target as HTMLSelectElement).value)}>
        ${names.map((name) => html`<option value=${name} ?selected=${name === value}>${name}</option>`)}
      </select></span
    ><span class="unit"></span>
  </div>`;
}

function copy(text: string, content: () => string): TemplateResult {
  const put = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(content());
      tell(`${text.replace("Copy ", "")}: in the clipboard`);
    } catch {
      tell("there is no clipboard here: the page has to come by TLS or from this machine", "error");
    }
  };
  return html`<button type="button" @click=${() => void put()}>${text}</button>`;
}

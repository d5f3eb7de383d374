/** A gamepad's panel: which axis drives what, how fast, the dead zone, the button that grabs. */

import { html, render, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { byId, h } from "../dom";
import type { Grab } from "../grab";
import { recall, remember } from "../memory";
import type { Motions } from "../motions";
import { exact, parseNumber } from "../numbers";
import type { Stage } from "../stage";
import { tell } from "../toasts";
import { Driver } from "./driver";
import { type Axis, type Freedom, fitted, freedomsOf, inOrder, type Mapping, WAYS } from "./mapping";

const KEY = "gamepads"; // what was mapped, by scene and gamepad
const TURN = 1; // usual speed of a hinge at the stop [rad/s]; of a slide and of the hand: as a share of the size

export class PadPanel {
  private readonly box = h("section", { id: "pads", "aria-label": "Gamepad" });
  private readonly driver: Driver;
  private index = -1; // of the gamepad
  private id = "";
  private mapping: Mapping = fitted({}, 0);
  private buttons = 0;

  constructor(
    private readonly stage: Stage,
    grab: Grab,
    motions: Motions,
  ) {
    this.driver = new Driver(stage, grab, motions);
    byId("inspector").prepend(this.box);
    const { store, view } = stage;
    addEventListener("gamepadconnected", ({ gamepad }) => this.take(gamepad));
    addEventListener("gamepaddisconnected", ({ gamepad }) => {
      if (gamepad.index === this.index) this.lose();
    });
    addEventListener("blur", () => this.driver.stop()); // axes are not told to a page that is left
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.driver.stop();
    });
    view.onTick((now) => this.tick(now));
    store.on("topology", () => this.recallMapping());
    store.on("live", () => this.draw());
    for (const pad of navigator.getGamepads()) if (pad) this.take(pad);
  }

  /** What is mapped, and whether it holds something; for tests. */
  state(): { id: string; mapping: Mapping; isHolding: boolean } | null {
    if (this.index < 0) return null;
    return { id: this.id, mapping: structuredClone(this.mapping), isHolding: this.driver.isHolding };
  }

  private take(pad: Gamepad): void {
    if (this.index >= 0) return;
    this.index = pad.index;
    this.id = pad.id;
    this.buttons = pad.buttons.length;
    this.mapping = fitted({}, pad.axes.length);
    this.recallMapping();
  }

  /** It was unplugged: all that it drove stands still. */
  private lose(): void {
    this.driver.stop();
    tell(`gamepad: '${this.id}' is gone; what it drove stands still`, "warning");
    this.index = -1;
    this.draw();
    for (const pad of navigator.getGamepads()) if (pad?.connected) this.take(pad);
  }

  private tick(now: number): void {
    if (this.index < 0) return;
    const pad = navigator.getGamepads()[this.index];
    if (!pad?.connected) this.lose();
    else if (document.hasFocus() || this.stage.view.room) this.driver.tick(pad, this.mapping, now);
  }

  private get key(): string {
    return `${this.stage.store.scene?.name} ${this.id}`;
  }

  private recallMapping(): void {
    const kept = recall<Record<string, Partial<Mapping>>>(KEY, {})[this.key];
    this.mapping = fitted(kept ?? { dead: this.mapping.dead, grab: this.mapping.grab }, this.mapping.axes.length);
    this.draw();
  }

  private change(next: Partial<Mapping>): void {
    this.mapping = { ...this.mapping, ...next };
    remember(KEY, { ...recall<Record<string, Partial<Mapping>>>(KEY, {}), [this.key]: this.mapping });
    this.draw();
  }

  private changeAxis(k: number, next: Partial<Axis>): void {
    this.change({ axes: this.mapping.axes.map((axis, other) => (other === k ? { ...axis, ...next } : axis)) });
  }

  private usual(freedom: Freedom | null): number {
    const length = Number((0.2 * this.stage.view.size).toPrecision(1));
    return freedom && !freedom.isSlide ? TURN : length;
  }

  private get freedoms(): Freedom[] {
    const { scene, live: now } = this.stage.store;
    return scene ? freedomsOf(scene, now?.motors ?? []) : [];
  }

  private draw(): void {
    this.box.hidden = this.index < 0;
    if (this.index < 0) return;
    const freedoms = this.freedoms;
    const { dead, grab, axes } = this.mapping;
    const auto = () => this.change({ axes: inOrder(axes.length, freedoms, (freedom) => this.usual(freedom)) });
    render(
      html`<h2>Gamepad</h2>
        <p class="about">${this.id}</p>
        <div class="axes">${axes.map((axis, k) => this.axis(axis, k, freedoms))}</div>
        <div class="rest">
          <label>dead zone ${this.number("dead zone", dead, (value) => this.change(fitted({ ...this.mapping, dead: value }, axes.length)))}</label>
          <label>grab
            <select aria-label="button that grabs" @change=${(event: Event) => this.change({ grab: Number((event.target as HTMLSelectElement).value) })}>
              ${[-1, ...Array.from({ length: this.buttons }, (_, k) => k)].map(
                (k) => html`<option value=${k} ?selected=${k === grab}>${k < 0 ? "none" : `button ${k}`}</option>`,
              )}
            </select>
          </label>
          <button type="button" @click=${auto}>Axes to motors in order</button>
        </div>`,
      this.box,
    );
  }

  private axis(axis: Axis, k: number, freedoms: Freedom[]): TemplateResult {
    const freedom = freedoms.find(({ key }) => key === axis.to) ?? null;
    const choose = (to: string) => {
      const found = freedoms.find(({ key }) => key === to) ?? null;
      this.changeAxis(k, { to, most: this.usual(found) });
    };
    const option = (value: string, text: string) =>
      html`<option value=${value} ?selected=${value === axis.to}>${text}</option>`;
    const isSingle = ({ joint }: Freedom) => freedoms.filter((one) => one.joint === joint).length === 1;
    return html`<div class="axis" data-axis=${k}>
      <span>axis ${k}</span>
      <select aria-label=${`what axis ${k} drives`} @change=${(event: Event) => choose((event.target as HTMLSelectElement).value)}>
        ${option("", "nothing")}${WAYS.map((way) => option(way, way))}
        ${freedoms.map((one) => option(one.key, isSingle(one) ? one.joint : `${one.joint} ${one.group}`))}
      </select>
      ${this.number(`speed of axis ${k}`, axis.most, (most) => this.changeAxis(k, { most }))}
      <span class="unit">${freedom && !freedom.isSlide ? "rad/s" : "m/s"}</span>
      <button type="button" aria-pressed=${axis.isTurned} title="The other way round" aria-label=${`axis ${k} the other way round`} @click=${() => this.changeAxis(k, { isTurned: !axis.isTurned })}>±</button>
    </div>`;
  }

  private number(label: string, value: number, set: (value: number) => void): TemplateResult {
    const change = (event: Event) => {
      const input = event.target as HTMLInputElement;
      const typed = parseNumber(input.value);
      if (typed !== null && typed >= 0) set(typed);
      else {
        tell(`${label}: '${input.value}' is not a number ≥ 0; ${exact(value)} stays`, "error");
        input.value = exact(value);
      }
    };
    return html`<input type="text" inputmode="decimal" aria-label=${label} .value=${live(exact(value))} @change=${change} />`;
  }
}

/** The list of parts: another way to pick, by mouse, by keyboard and for screen readers. */

import { html, render, type TemplateResult } from "lit-html";
import { repeat } from "lit-html/directives/repeat.js";
import { byId } from "./dom";
import type { Loads } from "./loads";
import { roundNumber } from "./numbers";
import type { PartKind, Pick, Store } from "./store";

interface Entry {
  kind: PartKind;
  name: string;
  note: string;
}

export class Parts {
  private box = byId("parts-list");
  private filter = byId<HTMLInputElement>("parts-filter");
  private several = byId<HTMLButtonElement>("parts-several"); // what Shift does, for fingers
  private entries: Entry[] = [];

  constructor(
    private readonly store: Store,
    private readonly loads: Loads,
  ) {
    store.on("scene", () => this.draw());
    store.on("live", () => this.draw());
    store.on("books", () => this.draw());
    store.on("pick", () => this.drawPick());
    this.filter.addEventListener("input", () => this.drawPick());
    this.several.addEventListener("click", () => {
      this.several.setAttribute("aria-pressed", String(this.several.getAttribute("aria-pressed") !== "true"));
    });
    this.box.addEventListener("keydown", (event) => this.key(event));
  }

  /** Pick the next or the previous part of the list; `besides` those that are picked, from the last of them on. */
  cycle(step: number, besides = false): void {
    const count = this.entries.length;
    const last = this.store.picks[this.store.picks.length - 1];
    const now = this.entries.findIndex(({ kind, name }) => last?.kind === kind && last.name === name);
    const next = now < 0 ? (step > 0 ? 0 : count - 1) : (now + step + count) % count;
    const entry = this.entries[next];
    if (!entry) return;
    const pick = { kind: entry.kind, name: entry.name };
    if (!besides) this.store.setPick(pick);
    else if (!this.isPicked(entry)) this.store.addPick(pick);
  }

  private groups(): [string, Entry[]][] {
    const { scene, books } = this.store;
    if (!scene) return [];
    const open = new Set(books?.indeterminate ?? []); // reactions that redundant constraints leave open
    const bodies = scene.bodies.map(({ name, mass }) => entry("body", name, `${roundNumber(mass, 4)} kg`));
    const joints = scene.joints.map(({ name, joint_type }) =>
      entry("joint", name, open.has(name) ? `${joint_type} ≈` : joint_type),
    );
    const springs = scene.springs.map(({ name }) => entry("spring", name, ""));
    const loads = this.loads.all().map(({ load, on }) => entry("load", load.name, on ? load.body : "off"));
    const probes = scene.probes.map(({ name, body }) => entry("probe", name, body));
    const obstacles = scene.obstacles.map(({ name, material, shape }) =>
      entry("obstacle", name, material ?? shape.material ?? "picture"),
    );
    const others = new Map<string, Entry[]>();
    for (const { kind, name, refers, parts } of scene.elements) {
      const title = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}s`;
      const note = parts.length ? parts.join(", ") : Object.values(refers).join(" → ");
      others.set(title, [...(others.get(title) ?? []), entry("element", name, note)]);
    }
    const groups = others.get("Groups") ?? []; // first, as they stand for others
    others.delete("Groups");
    return [
      ["Groups", groups],
      ["Bodies", bodies],
      ["Joints", joints],
      ["Springs", springs],
      ["Loads", loads],
      ["Probes", probes],
      ["Obstacles", obstacles],
      ...others,
    ];
  }

  private draw(): void {
    const wanted = this.filter.value.trim().toLowerCase();
    const isWanted = ({ name, note }: Entry): boolean => `${name} ${note}`.toLowerCase().includes(wanted);
    const groups = this.groups().map(([title, entries]) => ({ title, entries: entries.filter(isWanted) }));
    this.entries = groups.flatMap(({ entries }) => entries);
    const group = ({ title, entries }: (typeof groups)[number]): TemplateResult =>
      html`<div role="group" aria-label=${title}>
        <div class="head" aria-hidden="true">${title}</div>
        ${repeat(entries, idOf, (entry) => this.option(entry))}
      </div>`;
    const shown = groups.filter(({ entries }) => entries.length);
    render(
      repeat(shown, ({ title }) => title, group),
      this.box,
    );
    const picked = this.entries.find((entry) => this.isPicked(entry));
    if (picked) this.box.setAttribute("aria-activedescendant", idOf(picked));
    else this.box.removeAttribute("aria-activedescendant");
  }

  /** Draw, and bring the picked part into sight. */
  private drawPick(): void {
    this.draw();
    this.box.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }

  private option(entry: Entry): TemplateResult {
    const { kind, name, note } = entry;
    return html`<div
      role="option"
      id=${idOf(entry)}
      data-kind=${kind}
      data-name=${name}
      aria-selected=${this.isPicked(entry)}
      @click=${(event: MouseEvent) => this.click({ kind, name }, event.shiftKey)}
    >
      <span>${name}</span><span>${note}</span>
    </div>`;
  }

  private click(pick: Pick, isShifted: boolean): void {
    if (isShifted || this.several.getAttribute("aria-pressed") === "true") this.store.addPick(pick);
    else this.store.setPick(pick);
  }

  private isPicked({ kind, name }: Entry): boolean {
    return this.store.picks.some((pick) => pick.kind === kind && pick.name === name);
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    this.cycle(step, event.shiftKey);
    event.preventDefault();
    event.stopPropagation();
  }
}

function entry(kind: PartKind, name: string, note: string): Entry {
  return { kind, name, note };
}

function idOf({ kind, name }: Entry): string {
  return `part-${kind}-${name}`;
}

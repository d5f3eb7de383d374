/** The list of parts: another way to pick, by mouse, by keyboard and for screen readers. */

import { html, render, type TemplateResult } from "lit-html";
import { repeat } from "lit-html/directives/repeat.js";
import { byId } from "./dom";
import type { Loads } from "./loads";
import { roundNumber } from "./numbers";
import type { PartKind, Store } from "./store";

interface Entry {
  kind: PartKind;
  name: string;
  note: string;
}

export class Parts {
  private box = byId("parts-list");
  private filter = byId<HTMLInputElement>("parts-filter");
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
    this.box.addEventListener("keydown", (event) => this.key(event));
  }

  /** Pick the next or the previous part of the list. */
  cycle(step: number): void {
    const count = this.entries.length;
    const now = this.entries.findIndex((entry) => this.isPicked(entry));
    const next = now < 0 ? (step > 0 ? 0 : count - 1) : (now + step + count) % count;
    const entry = this.entries[next];
    if (entry) this.store.setPick({ kind: entry.kind, name: entry.name });
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
    for (const { kind, name, refers } of scene.elements) {
      const title = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}s`;
      const note = Object.values(refers).join(" → ");
      others.set(title, [...(others.get(title) ?? []), entry("element", name, note)]);
    }
    return [
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
      @click=${() => this.store.setPick({ kind, name })}
    >
      <span>${name}</span><span>${note}</span>
    </div>`;
  }

  private isPicked({ kind, name }: Entry): boolean {
    return this.store.pick?.kind === kind && this.store.pick.name === name;
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    this.cycle(step);
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

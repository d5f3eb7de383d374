/** The list of parts: another way to pick, by mouse, by keyboard and for screen readers. */

import { byId, h } from "./dom";
import type { Loads } from "./loads";
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
  private shown = "";

  constructor(
    private readonly store: Store,
    private readonly loads: Loads,
  ) {
    store.on("scene", () => this.build());
    store.on("live", () => this.build());
    store.on("books", () => this.build());
    store.on("pick", () => this.mark());
    this.filter.addEventListener("input", () => this.build());
    this.box.addEventListener("keydown", (event) => this.key(event));
  }

  /** Pick the next or the previous part of the list. */
  cycle(step: number): void {
    if (!this.entries.length) return;
    const now = this.entries.findIndex(
      (entry) => entry.kind === this.store.pick?.kind && entry.name === this.store.pick?.name,
    );
    const next =
      now < 0 ? (step > 0 ? 0 : this.entries.length - 1) : (now + step + this.entries.length) % this.entries.length;
    this.store.setPick({ kind: this.entries[next].kind, name: this.entries[next].name });
  }

  private build(): void {
    const { scene } = this.store;
    if (!scene) return;
    const open = new Set(this.store.books?.indeterminate ?? []); // reactions that redundant constraints leave open
    const groups: [string, Entry[]][] = [
      [
        "Bodies",
        scene.bodies.map((part) => ({ kind: "body", name: part.name, note: `${Number(part.mass.toPrecision(4))} kg` })),
      ],
      [
        "Joints",
        scene.joints.map((part) => ({
          kind: "joint",
          name: part.name,
          note: open.has(part.name) ? `${part.joint_type} ≈` : part.joint_type,
        })),
      ],
      ["Springs", scene.springs.map((part) => ({ kind: "spring", name: part.name, note: "" }))],
      [
        "Loads",
        this.loads.all().map(({ load, on }) => ({ kind: "load", name: load.name, note: on ? load.body : "off" })),
      ],
      ["Probes", scene.probes.map((part) => ({ kind: "probe", name: part.name, note: part.body }))],
    ];
    const wanted = this.filter.value.trim().toLowerCase();
    for (const group of groups)
      group[1] = group[1].filter((entry) => `${entry.name} ${entry.note}`.toLowerCase().includes(wanted));
    const state = JSON.stringify(groups);
    if (state === this.shown) return;
    this.shown = state;
    this.entries = groups.flatMap(([, entries]) => entries);
    const option = (entry: Entry): HTMLElement =>
      h(
        "div",
        {
          role: "option",
          id: `part-${entry.kind}-${entry.name}`,
          "data-kind": entry.kind,
          "data-name": entry.name,
          "aria-selected": "false",
          onclick: () => this.store.setPick({ kind: entry.kind, name: entry.name }),
        },
        h("span", {}, entry.name),
        h("span", {}, entry.note),
      );
    this.box.replaceChildren(
      ...groups
        .filter(([, entries]) => entries.length)
        .map(([title, entries]) =>
          h(
            "div",
            { role: "group", "aria-label": title },
            h("div", { class: "head", "aria-hidden": "true" }, title),
            ...entries.map(option),
          ),
        ),
    );
    this.mark();
  }

  private mark(): void {
    const { pick } = this.store;
    for (const option of this.box.querySelectorAll<HTMLElement>("[role=option]")) {
      const isPicked = option.dataset.kind === pick?.kind && option.dataset.name === pick?.name;
      option.setAttribute("aria-selected", String(isPicked));
      if (isPicked) {
        this.box.setAttribute("aria-activedescendant", option.id);
        option.scrollIntoView({ block: "nearest" });
      }
    }
    if (!pick) this.box.removeAttribute("aria-activedescendant");
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    this.cycle(step);
    event.preventDefault();
    event.stopPropagation();
  }
}

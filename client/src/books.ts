/** The books, always in sight: energies and what they miss, constraint error, work and time of a step. */

import { openDialog } from "./dialogs";
import { byId, h, setText } from "./dom";
import { FLAGS } from "./messages";
import { show } from "./numbers";
import type { Store } from "./store";

type Grade = "" | "good" | "warn" | "bad";

const ROWS = [
  "kinetic",
  "potential",
  "elastic",
  "work",
  "losses",
  "imbalance",
  "constraint error",
  "iterations",
  "step / budget",
  "real time",
  "reactions",
] as const;

export class Books {
  private cells = new Map<string, { box: HTMLElement; value: HTMLElement }>();

  constructor(private readonly store: Store) {
    const entries = h("div", {});
    for (const name of ROWS) {
      const value = h("b", {}, "–");
      const box = h("span", { "data-book": name }, h("small", {}, name), value);
      this.cells.set(name, { box, value });
      entries.append(box);
    }
    const all = h(
      "button",
      { type: "button", title: "Every entry of the energy books", onclick: () => this.open() },
      "All entries",
    );
    byId("books").append(entries, all);
    store.on("frame", () => this.fill());
    store.on("books", ({ indeterminate }) => {
      const count = indeterminate.length;
      this.put("reactions", count === 0 ? "determinate" : `≈ partly open in ${count} joint${count > 1 ? "s" : ""}`);
      const cell = this.cells.get("reactions");
      if (cell)
        cell.box.title = count
          ? `Redundant constraints leave components of the reactions of ${indeterminate.join(", ")} open; the least ones are shown, and marked ≈ in the inspector. The joints hold.`
          : "";
    });
  }

  /** Imbalance in per cent of the scene's reference energy, NaN where it states none. */
  percent(): number {
    const reference = this.store.scene?.reference_energy;
    return reference ? (100 * Math.abs(this.store.book("imbalance"))) / reference : NaN;
  }

  /** The books entry by entry. */
  private open(): void {
    const { books } = this.store;
    if (!books) return;
    const line = (name: string, value: number): HTMLElement[] => [
      h("dt", {}, name),
      h("dd", {}, `${show(value, 6)} J`),
    ];
    const entries = [
      ...line("kinetic", books.kinetic),
      ...line("potential", books.potential),
      ...line("elastic", books.elastic),
      ...Object.entries(books.work).flatMap(([name, value]) => line(`work of ${name}`, value)),
      ...Object.entries(books.losses).flatMap(([name, value]) => line(`loss in ${name}`, value)),
      ...line("at the start", books.start),
      ...line("imbalance", books.imbalance),
    ];
    const more = [
      h("dt", {}, "worst joint"),
      h("dd", {}, books.worst_joint ?? "–"),
      h("dt", {}, "not right to its tolerance"),
      h("dd", {}, books.trouble.join("; ") || "nothing"),
      h("dt", {}, "redundant rows, and how far they are open"),
      h(
        "dd",
        {},
        Object.entries(books.openings)
          .map(([name, gap]) => `${name} ${show(gap, 2)}`)
          .join(", ") || "closed",
      ),
      h("dt", {}, "the last step was ended by"),
      h("dd", {}, books.ended_by),
      h("dt", {}, "reactions left open by redundant constraints"),
      h("dd", {}, books.indeterminate.join(", ") || "none"),
    ];
    openDialog(`Energy books at ${show(books.time, 6)} s`, h("dl", {}, ...entries, ...more));
  }

  private fill(): void {
    const { store } = this;
    const book = store.book.bind(store);
    const flags = store.frame?.flags ?? 0;
    for (const [name, key] of [
      ["kinetic", "kinetic"],
      ["potential", "potential"],
      ["elastic", "elastic"],
      ["work", "work"],
      ["losses", "loss"],
    ] as const) {
      this.put(name, `${show(book(key), 3)} J`);
    }
    const percent = this.percent();
    const share = Number.isNaN(percent) ? "" : ` (${show(percent, 2)} %)`;
    this.put(
      "imbalance",
      `${show(book("imbalance"), 2)} J${share}${store.books?.trouble.length ? " ⚠" : ""}`,
      store.books?.trouble.length
        ? "bad"
        : Number.isNaN(percent)
          ? ""
          : percent < 1
            ? "good"
            : percent < 5
              ? "warn"
              : "bad",
    );
    const error = book("constraint_error");
    this.put("constraint error", `${show(error, 2)} m, rad`, error < 1e-6 ? "good" : error < 1e-4 ? "warn" : "bad");
    this.put("iterations", `${show(book("iterations"), 3)} in ${show(book("substeps"), 3)} sub-steps`);
    const [time, budget] = [book("step_time"), book("step_budget")];
    this.put("step / budget", `${show(1e3 * time, 2)} / ${show(1e3 * budget, 2)} ms`, time < budget ? "good" : "bad");
    const factor = `×${show(book("real_time_factor"), 2)}`;
    const isSlow = (flags & FLAGS.slow) !== 0;
    const isBroken = (flags & FLAGS.broken) !== 0;
    const isPaused = (flags & FLAGS.paused) !== 0;
    this.put(
      "real time",
      isBroken ? "broken" : isPaused ? "paused" : isSlow ? `${factor} of ×${show(book("speed"), 2)}: too slow` : factor,
      isBroken ? "bad" : isSlow && !isPaused ? "warn" : "",
    );
  }

  private put(name: (typeof ROWS)[number], text: string, grade: Grade = ""): void {
    const cell = this.cells.get(name);
    if (!cell) return;
    setText(cell.value, text);
    if (cell.box.className !== grade) cell.box.className = grade;
  }
}

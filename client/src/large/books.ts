/** The books of a large world: how it does, in figures. */

import { byId, h, setText } from "../dom";
import type { LargeBooks, LargeScene, LargeStatus } from "../messages";
import { show } from "../numbers";

interface Row {
  label: string;
  title: string;
  text: (books: LargeBooks, scene: LargeScene, status: LargeStatus | null) => string | null; // null: not of this world
}

const joules = (value: number): string => `${show(value, 5)} J`;

const GROUPS: { name: string; rows: Row[] }[] = [
  {
    name: "World",
    rows: [
      { label: "Bodies", title: "All bodies of the world", text: (_, scene) => count(scene.bodies) },
      { label: "Joints", title: "Solved directly", text: (_, scene) => (scene.joints ? count(scene.joints) : null) },
      { label: "Device", title: "Where steps are taken", text: (_, scene) => scene.device },
      {
        label: "Step",
        title: "Nominal step",
        text: (_, __, status) => (status ? `${show(1e3 * status.dt)} ms` : null),
      },
      {
        label: "Parts of a step",
        title: "Sub-steps: those of contact, or as many as stiff joints and drag ask for",
        text: ({ parts }) => show(parts, 3),
      },
      { label: "Memory", title: "Of the device, a body", text: (books) => `${show(books.bytes_per_body, 3)} B a body` },
    ],
  },
  {
    name: "Rates",
    rows: [
      { label: "Steps", title: "Over the last 2 s", text: (books) => `${show(books.steps_per_second, 3)} /s` },
      { label: "A step takes", title: "Wall time", text: (books) => `${show(1e3 * books.step_time, 3)} ms` },
      {
        label: "Real time",
        title: "Simulated over wall time",
        text: (books) => `× ${show(books.real_time_factor, 3)}`,
      },
    ],
  },
  {
    name: "Energy",
    rows: [
      { label: "Kinetic", title: "", text: (books) => joules(books.kinetic) },
      { label: "Potential", title: "Of weight, from the origin", text: (books) => joules(books.potential) },
      {
        label: "Imbalance",
        title: "What no book explains, since the start",
        text: ({ closed, unbooked }) => (closed ? joules(unbooked) : null),
      },
      {
        label: "Since the start",
        title: "What contact, friction, motors and loads have added or taken; works below aside",
        text: ({ closed, unbooked }) => (closed ? null : joules(unbooked)),
      },
    ],
  },
  {
    name: "Joints",
    rows: [
      { label: "Gap", title: "Largest of all rows of joints [m, rad]", text: (books) => jointed(books.gap) },
      { label: "|J v|", title: "Largest rate of a row [m/s, rad/s]", text: (books) => jointed(books.velocity_error) },
      {
        label: "Unsettled",
        title: "Freedoms in which what acts is not met to rounding",
        text: ({ unsettled }) => (unsettled ? count(unsettled) : null),
      },
      { label: "Residual", title: "Of a net's solve", text: ({ residual }) => (residual ? show(residual, 2) : null) },
    ],
  },
  {
    name: "Contact",
    rows: [
      { label: "Contacts", title: "Those that are only near among them", text: ({ contacts }) => count(contacts) },
      {
        label: "Overlap",
        title: "Largest; of the least size of a body",
        text: ({ overlap, overlap_share: share }) =>
          `${show(overlap, 3)} m${share === null ? "" : `, ${show(100 * share, 2)} %`}`,
      },
    ],
  },
];

const jointed = (value: number): string => show(value, 2);

export function count(value: number): string {
  return value.toLocaleString("en").replaceAll(",", " ");
}

export class Books {
  private texts = new Map<Row, HTMLElement>();
  private works = h("dl", { class: "works" });

  constructor() {
    for (const { name, rows } of GROUPS) {
      const list = h("dl", {});
      for (const row of rows) {
        const value = h("dd", {});
        this.texts.set(row, value);
        list.append(h("div", { title: row.title, hidden: true }, h("dt", {}, row.label), value));
      }
      const section = h("section", {}, h("h2", {}, name), list);
      if (name === "Energy") section.append(this.works);
      byId("side").append(section);
    }
  }

  /** Show the newest; what a world does not have is not shown. */
  show(books: LargeBooks, scene: LargeScene, status: LargeStatus | null): void {
    for (const { name, rows } of GROUPS) {
      const there = (name !== "Joints" || scene.joints > 0) && (name !== "Contact" || scene.touches);
      for (const row of rows) {
        const value = this.texts.get(row) as HTMLElement;
        const text = there ? row.text(books, scene, status) : null;
        (value.parentElement as HTMLElement).hidden = text === null;
        if (text !== null) setText(value, text);
      }
      const section = this.texts.get(rows[0] as Row)?.closest("section");
      if (section) section.hidden = !there;
    }
    this.works.replaceChildren(
      ...Object.entries(books.works).map(([name, value]) =>
        h("div", {}, h("dt", {}, name), h("dd", {}, joules(value))),
      ),
    );
  }
}

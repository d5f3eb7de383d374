/** What of the mechanism is shown: kinds of parts, single parts, names, a section through it, the floor. */

import * as THREE from "three";
import { menuButton } from "./dialogs";
import { byId, h } from "./dom";
import { icon } from "./icons";
import type { Shown } from "./mechanism";
import type { Stage } from "./stage";
import type { Traces } from "./traces";
import { View } from "./view";

const MOST_NAMES = 120; // labels that are shown at once
const KINDS: [keyof Shown, string][] = [
  ["bodies", "Bodies"],
  ["obstacles", "Obstacles"],
  ["joints", "Joints"],
  ["springs", "Springs"],
  ["centres", "Centres of mass"],
  ["axes", "Body axes"],
];

export class ShowMenu {
  private names = false;
  private section: number | null = null; // where it is cut, 0: at the back, 1: at the front

  constructor(
    private readonly stage: Stage,
    private readonly traces: Traces,
    private readonly more: () => HTMLElement[],
  ) {
    const button = byId<HTMLButtonElement>("show-button");
    button.append(icon("show"));
    button.title = "What is shown";
    button.setAttribute("aria-label", "What is shown");
    menuButton(button, () => this.content());
    stage.store.on("shown", () => this.label());
    stage.store.on("topology", () => this.cut(null));
  }

  /** Leave the picked part out of the picture, or show it again. */
  hidePicked(): void {
    const { store, mechanism } = this.stage;
    mechanism.toggle(store.pickedParts);
  }

  showAll(): void {
    this.stage.mechanism.showAll();
  }

  private content(): HTMLElement[] {
    const { mechanism, store, view } = this.stage;
    const { pick } = store;
    const slider = h("input", {
      type: "range",
      min: "0",
      max: "1",
      step: "0.01",
      value: String(this.section ?? 0.5),
      "aria-label": "Where the section is, from the back to the front",
      disabled: this.section === null,
      oninput: (event: Event) => this.cut(Number((event.target as HTMLInputElement).value)),
    });
    return [
      ...KINDS.map(([what, text]) => checkbox(text, mechanism.shown[what], (on) => mechanism.show(what, on))),
      checkbox("Paths", this.traces.shown, (on) => this.traces.show(on)),
      checkbox("Names", this.names, (on) => this.showNames(on)),
      checkbox("Floor and grid", view.floor.shown, (on) => {
        view.floor.shown = on;
        view.touch();
      }),
      checkbox("Section", this.section !== null, (on) => {
        this.cut(on ? Number(slider.value) : null);
        slider.disabled = !on;
      }),
      slider,
      ...this.more(),
      action("Hide the picked part (H)", () => this.hidePicked(), pick === null),
      action("Show hidden parts (Shift+H)", () => this.showAll(), mechanism.hiddenCount === 0),
      action("Clear paths", () => this.traces.clear()),
      action(view.isFine ? "Draw faster (reloads)" : "Draw finely (reloads)", () => {
        View.wishFine(!view.isFine);
        location.reload();
      }),
    ];
  }

  private showNames(on: boolean): void {
    this.names = on;
    if (!on) this.stage.labels.keepOnly("name ", new Set());
    this.label();
    this.stage.view.touch();
  }

  /** Names of bodies at their centres and of joints where they are. */
  private label(): void {
    const { store, mechanism, labels } = this.stage;
    if (!this.names || !store.scene) return;
    const keep = new Set<string>();
    const put = (kind: "body" | "joint", name: string, at: THREE.Vector3 | null) => {
      if (!at || keep.size >= MOST_NAMES || mechanism.isHidden({ kind, name })) return;
      keep.add(`name ${kind} ${name}`);
      labels.set(`name ${kind} ${name}`, name, at, `name ${kind}`);
    };
    for (const { name } of store.scene.bodies) put("body", name, mechanism.point(name));
    for (const joint of store.scene.joints) put("joint", joint.name, mechanism.frameF(joint)?.p ?? null);
    labels.keepOnly("name ", keep);
  }

  /** Take away what is nearer to the viewer of the front view than a plane. */
  private cut(where: number | null): void {
    this.section = where;
    const { mechanism, view } = this.stage;
    if (where === null) {
      mechanism.cut(null);
      return;
    }
    const { front } = view.basis;
    const heights = mechanism.extent().points.map((point) => point.dot(front));
    const [low, high] = [Math.min(...heights), Math.max(...heights)];
    mechanism.cut(new THREE.Plane(front.clone().negate(), low + where * (high - low)));
  }
}

export function checkbox(text: string, isOn: boolean, set: (on: boolean) => void): HTMLElement {
  const input = h("input", {
    type: "checkbox",
    checked: isOn,
    onchange: (event: Event) => set((event.target as HTMLInputElement).checked),
  });
  return h("label", {}, input, text);
}

function action(text: string, act: () => void, disabled = false): HTMLElement {
  return h("button", { type: "button", onclick: act, disabled }, text);
}

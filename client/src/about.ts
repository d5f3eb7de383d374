/** What a scene is about: a sentence or two with what is measured now, and what is drawn for it. */

import * as THREE from "three";
import type { LineSegments2 } from "three/addons/lines/LineSegments2.js";
import { byId, h, setText } from "./dom";
import type { About as Message, Note, Tube } from "./messages";
import { show, type Vec3 } from "./numbers";
import { polyline, ribbonMaterial } from "./ribbons";
import type { Stage } from "./stage";
import { colour, onTheme } from "./theme";
import { tellError } from "./toasts";
import { Turns } from "./turns";

const WIDTH = 2; // of lines, pixels
const SMALL: [number, string, number][] = [
  [1e-6, "nm", 1e9],
  [1e-3, "µm", 1e6],
  [0.1, "mm", 1e3],
];

/** A measured value as it is said: lengths in the unit that fits them. */
export function said(value: number, unit: string): string {
  const [, small, times] = (unit === "m" && SMALL.find(([below]) => Math.abs(value) < below)) || [0, unit, 1];
  return `${show(value * times, 3)} ${small}`.trim();
}

export class About {
  private readonly box = h("div", { id: "about", role: "note", "aria-label": "What this is about", hidden: true });
  private readonly line = ribbonMaterial(WIDTH, "#888888");
  private readonly solid = new THREE.MeshStandardMaterial({ roughness: 0.35, metalness: 0.6 });
  private readonly glass = new THREE.MeshStandardMaterial({
    transparent: true,
    opacity: 0.22,
    side: THREE.DoubleSide,
    depthWrite: false,
  });
  private readonly root = new THREE.Group();
  private carried: { group: THREE.Group; body: string }[] = [];
  private lines: LineSegments2[] = [];
  private drawn = ""; // what is there, as text
  private isOn = true;
  readonly turns: Turns;

  constructor(private readonly stage: Stage) {
    const { store, view } = stage;
    this.turns = new Turns(stage);
    byId("stage").append(this.box);
    view.covered = () => this.box.offsetHeight;
    view.scene.add(this.root);
    store.on("about", (about) => this.take(about));
    store.on("shown", () => this.move());
    onTheme(() => {
      this.line.color.set(colour("accent"));
      this.solid.color.set(colour("support"));
      this.glass.color.set(colour("hover"));
    });
  }

  get shown(): boolean {
    return this.isOn;
  }

  show(on: boolean): void {
    this.isOn = on;
    this.root.visible = on;
    if (!on) this.turns.clear();
    this.drawn = "";
    if (this.stage.store.about) this.take(this.stage.store.about);
    this.stage.view.touch();
  }

  /** What is said, and how many things are drawn for it. */
  state(): { text: string; drawn: number; turn: Turns["state"] } {
    return { text: this.box.textContent ?? "", drawn: this.root.children.length, turn: this.turns.state };
  }

  private take({ notes }: Message): void {
    this.box.hidden = !this.isOn || notes.length === 0;
    while (this.box.children.length > notes.length) this.box.lastChild?.remove();
    while (this.box.children.length < notes.length) this.box.append(h("p", {}));
    for (const [k, { text, value = null, unit = "" }] of notes.entries()) {
      const line = this.box.children[k];
      if (line) setText(line, value === null ? text : `${text} ${said(value, unit)}.`);
    }
    const drawing = JSON.stringify(notes.map(({ lines, tubes, turns }) => [lines, tubes, turns]));
    if (drawing === this.drawn) return;
    this.drawn = drawing;
    this.draw(notes);
  }

  private draw(notes: Note[]): void {
    this.stage.view.drop(...this.lines, ...this.carried.map(({ group }) => group));
    this.root.clear();
    this.lines = notes.flatMap(({ lines = [] }) => lines.map((one) => polyline(one as Vec3[], this.line)));
    this.carried = notes.flatMap(({ tubes = [] }) =>
      tubes.map((tube) => ({ body: tube.body, group: this.tube(tube) })),
    );
    for (const one of [...this.lines, ...this.carried.map(({ group }) => group)]) this.root.add(one);
    const points = this.isOn ? notes.flatMap(({ turns = [] }) => turns) : [];
    this.turns.show(points).catch(tellError);
    this.move();
  }

  private tube({ start, end, radius, hollow }: Tube): THREE.Group {
    const [from, to] = [new THREE.Vector3().fromArray(start), new THREE.Vector3().fromArray(end)];
    const along = to.clone().sub(from);
    const geometry = new THREE.CylinderGeometry(radius, radius, along.length(), 40, 1, hollow);
    const mesh = new THREE.Mesh(geometry, hollow ? this.glass : this.solid);
    mesh.position.copy(from).addScaledVector(along, 0.5);
    mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.normalize());
    mesh.castShadow = !hollow;
    mesh.raycast = () => {}; // what is pressed is the part within
    const group = new THREE.Group();
    group.add(mesh);
    return group;
  }

  private move(): void {
    for (const { group, body } of this.carried) {
      const pose = this.stage.store.pose(body);
      group.visible = pose !== null;
      if (!pose) continue;
      group.position.set(...pose.p);
      group.quaternion.set(...pose.q);
    }
  }
}

/** Onion skin: where the bodies were at equal times before, paler the longer ago. */

import * as THREE from "three";
import { Instances, type Piece } from "./instances";
import { surface } from "./materials";
import type { Stage } from "./stage";
import { colour } from "./theme";

const COUNT = 8; // ghosts
const APART = 0.1; // simulated time between them [s]
const OPACITY = 0.16;

export class Ghosts {
  private readonly material = surface({ transparent: true, opacity: OPACITY, depthWrite: false });
  private readonly instances = new Instances({
    body: this.material,
    joint: this.material,
    spring: this.material,
    ground: this.material,
  });
  private past: THREE.Matrix4[][] = []; // oldest first
  private last = Number.NaN; // time of the newest [s]
  private isBuilt = false;
  private isOn = false;

  constructor(private readonly stage: Stage) {
    const { store, view } = stage;
    view.scene.add(this.instances.root);
    this.instances.root.renderOrder = -1;
    store.on("topology", () => this.clear());
    store.on("jump", () => this.clear());
    store.on("source", () => this.clear());
    store.on("shown", () => this.extend());
  }

  get shown(): boolean {
    return this.isOn;
  }

  show(on: boolean): void {
    this.isOn = on;
    this.clear();
    this.stage.view.touch();
  }

  /** How many are drawn. */
  get count(): number {
    return this.past.length;
  }

  private clear(): void {
    this.past = [];
    this.last = Number.NaN;
    this.isBuilt = false;
    this.instances.clear();
  }

  private extend(): void {
    const { playout } = this.stage.store;
    if (!this.isOn || Math.abs(playout.time - this.last) < APART) return;
    this.last = playout.time;
    const { mechanism } = this.stage;
    if (!this.isBuilt) this.build();
    this.past.push(mechanism.placed());
    if (this.past.length > COUNT) this.past.shift();
    const missing = Array.from({ length: COUNT - this.past.length }, () => this.past[0] ?? []);
    this.instances.move([...missing, ...this.past].flat());
  }

  /** The bodies' pieces once for each ghost, none of which can be picked. */
  private build(): void {
    this.isBuilt = true;
    const { mechanism } = this.stage;
    const count = mechanism.placed().length;
    const bodies = mechanism.drawnPieces().filter((one): one is Piece => one.look === "body" && "local" in one);
    for (let k = 0; k < COUNT; k++)
      for (const piece of bodies) {
        if (piece.part && mechanism.isHidden(piece.part)) continue;
        this.instances.add({ ...piece, carrier: k * count + piece.carrier, part: null, key: `${piece.key} ghost` });
      }
    this.instances.finish();
    this.instances.root.traverse((part) => {
      part.castShadow = part.receiveShadow = false;
      part.raycast = () => {};
    });
    const pale = new THREE.Color(colour("ghost"));
    this.instances.paint(() => pale);
  }
}

/** Surfaces of fluids: a sheet across gravity at the height of each, with its waves as they are now. */

import * as THREE from "three";
import type { Element, Scene } from "./messages";
import type { Store } from "./store";
import { colour, onTheme } from "./theme";
import type { View } from "./view";

const WIDE = 3; // of the mechanism's size
const CELLS = 64; // along each side of the sheet

interface Sheet {
  told: Element;
  mesh: THREE.Mesh<THREE.PlaneGeometry, THREE.MeshStandardMaterial>;
}

/** A number that a fluid says of itself; NaN where it has none. */
function told(element: Element, name: string): number {
  const value = element.parameters.find((own) => own.name === name)?.value;
  return typeof value === "number" ? value : Number.NaN;
}

export class Fluids {
  readonly root = new THREE.Group();
  private sheets = new Map<string, Sheet>();
  private gravity = new THREE.Vector3(0, 0, -9.81);
  private size = 0;

  constructor(
    private readonly store: Store,
    private readonly view: View,
  ) {
    store.on("scene", (scene) => this.take(scene));
    store.on("shown", () => this.wave());
    store.on("pick", () => this.colourAll());
    onTheme(() => this.colourAll());
  }

  private take(scene: Scene): void {
    const fluids = new Map(scene.elements.filter(({ kind }) => kind === "fluid").map((own) => [own.name, own]));
    const gravity = new THREE.Vector3().fromArray(scene.gravity);
    const isOther = this.size !== scene.size || !gravity.equals(this.gravity);
    this.size = scene.size;
    this.gravity.copy(gravity);
    for (const [name, { told: before, mesh }] of this.sheets) {
      if (fluids.get(name) === before && !isOther) continue;
      this.root.remove(mesh);
      mesh.geometry.dispose();
      mesh.material.dispose();
      this.sheets.delete(name);
    }
    for (const [name, own] of fluids) if (!this.sheets.has(name)) this.add(name, own);
    this.wave();
    this.colourAll();
  }

  private add(name: string, own: Element): void {
    const height = told(own, "surface");
    if (!Number.isFinite(height)) return; // it is everywhere
    const side = WIDE * this.size;
    const material = new THREE.MeshStandardMaterial({
      transparent: true,
      opacity: 0.4,
      roughness: 0.15,
      side: THREE.DoubleSide,
      depthWrite: false,
    });
    const mesh = new THREE.Mesh(new THREE.PlaneGeometry(side, side, CELLS, CELLS), material);
    const up = this.up();
    mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), up);
    mesh.position.copy(up.multiplyScalar(height));
    mesh.userData.part = { kind: "element", name };
    this.root.add(mesh);
    this.sheets.set(name, { told: own, mesh });
  }

  private up(): THREE.Vector3 {
    return this.gravity.lengthSq() > 0 ? this.gravity.clone().normalize().negate() : new THREE.Vector3(0, 0, 1);
  }

  /** The direction in which waves run, as engine/forces/waves.py has it, in the sheet's own axes. */
  private ahead(angle: number, turn: THREE.Quaternion): THREE.Vector3 {
    const up = this.up();
    const along = Math.abs(up.x) > 0.9 ? new THREE.Vector3(0, 1, 0) : new THREE.Vector3(1, 0, 0);
    along.addScaledVector(up, -along.dot(up)).normalize();
    const across = new THREE.Vector3().crossVectors(up, along);
    return along
      .multiplyScalar(Math.cos(angle))
      .addScaledVector(across, Math.sin(angle))
      .applyQuaternion(turn.clone().invert());
  }

  /** Raise and lower the sheets by their waves at the time that is shown. */
  private wave(): void {
    for (const { told: own, mesh } of this.sheets.values()) {
      const amplitude = told(own, "wave_amplitude");
      if (!(amplitude > 0)) continue;
      const k = told(own, "wave_number");
      const depth = told(own, "depth");
      const deep = Number.isFinite(depth) ? Math.tanh(k * depth) : 1;
      const omega = Math.sqrt(this.gravity.length() * k * deep);
      const ahead = this.ahead(told(own, "wave_direction"), mesh.quaternion);
      const late = told(own, "wave_phase") - omega * this.store.playout.time;
      const at = mesh.geometry.getAttribute("position") as THREE.BufferAttribute;
      for (let i = 0; i < at.count; i++) {
        at.setZ(i, amplitude * Math.cos(k * (ahead.x * at.getX(i) + ahead.y * at.getY(i)) + late));
      }
      at.needsUpdate = true;
      mesh.geometry.computeVertexNormals();
    }
  }

  private colourAll(): void {
    const { pick } = this.store;
    for (const [name, { mesh }] of this.sheets) {
      mesh.material.color.set(colour("water"));
      mesh.material.emissive.set(pick?.kind === "element" && pick.name === name ? colour("pick") : "#000000");
      mesh.material.emissiveIntensity = 0.4;
    }
    this.view.touch();
  }
}

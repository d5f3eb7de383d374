/** Shapes of the ground: they stand still, and are built anew where an edit made them others. */

import * as THREE from "three";
import { isThere, onCome } from "./geometries";
import type { Obstacle, Scene, Shape } from "./messages";
import { shapeObject } from "./shapes";
import type { Store } from "./store";
import { colour, onTheme } from "./theme";
import type { View } from "./view";

const LARGEST = 4; // times the mechanism's size: what is larger is seen in part

export class Obstacles {
  readonly root = new THREE.Group();
  private known = new Map<string, { told: Obstacle; group: THREE.Group; material: THREE.MeshStandardMaterial }>();
  private edges = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.35 });
  private ground = new THREE.Group(); // shapes of the ground itself, which are no parts
  private groundMaterial = new THREE.MeshStandardMaterial({ roughness: 0.9 });
  private told: Shape[] = [];
  private size = 0;

  constructor(
    private readonly store: Store,
    private readonly view: View,
  ) {
    this.root.add(this.ground);
    store.on("scene", (scene) => this.take(scene));
    onCome(() => {
      if (store.scene) this.take(store.scene);
    });
    store.on("pick", () => this.colourAll());
    onTheme(() => this.colourAll());
  }

  /** Corners of what is about as large as the mechanism, for fitting the view. */
  extent(): THREE.Vector3[] {
    const box = new THREE.Box3();
    return [...this.known.values()].flatMap(({ told, group }) => {
      if (told.shape.kind === "plane" || box.setFromObject(group).isEmpty()) return [];
      if (box.getSize(new THREE.Vector3()).length() > LARGEST * this.size) return [];
      return [box.min.clone(), box.max.clone()];
    });
  }

  private take(scene: Scene): void {
    if (!isThere(scene)) return;
    const isOther = this.size !== scene.size;
    this.size = scene.size;
    const told = new Map(scene.obstacles.map((obstacle) => [obstacle.name, obstacle]));
    for (const [name, { told: before, group }] of this.known) {
      if (told.get(name) === before && !isOther) continue;
      this.root.remove(group);
      dispose(group);
      this.known.delete(name);
    }
    if (this.told !== scene.ground || isOther) {
      this.told = scene.ground;
      dispose(this.ground);
      this.ground.clear();
      for (const shape of scene.ground) this.ground.add(shapeObject(shape, this.groundMaterial, this.edges, this.size));
    }
    for (const [name, obstacle] of told) if (!this.known.has(name)) this.add(name, obstacle);
    this.colourAll();
  }

  private add(name: string, told: Obstacle): void {
    const material = new THREE.MeshStandardMaterial({
      roughness: 0.9,
      flatShading: told.shape.kind === "height-field",
    });
    const group = new THREE.Group();
    group.position.fromArray(told.position);
    group.quaternion.fromArray(told.orientation);
    const mesh = shapeObject(told.shape, material, this.edges, this.size);
    if (told.shape.kind === "plane") {
      material.transparent = true;
      material.opacity = 0.55;
      material.depthWrite = false;
      this.centre(group, mesh);
    }
    mesh.userData.part = { kind: "obstacle", name };
    mesh.receiveShadow = true;
    mesh.castShadow = told.shape.kind !== "plane";
    group.add(mesh);
    this.root.add(group);
    this.known.set(name, { told, group, material });
  }

  /** Draw a plane's patch about the point of it that is nearest to the world's origin. */
  private centre(group: THREE.Group, mesh: THREE.Mesh): void {
    const turn = group.quaternion.clone().multiply(mesh.quaternion);
    const normal = new THREE.Vector3(0, 0, 1).applyQuaternion(turn);
    const at = mesh.position.clone().applyQuaternion(group.quaternion).add(group.position);
    const nearest = normal.multiplyScalar(at.dot(normal));
    mesh.position.copy(nearest.sub(group.position).applyQuaternion(group.quaternion.clone().invert()));
  }

  private colourAll(): void {
    const { pick } = this.store;
    this.edges.color.set(colour("edge"));
    this.groundMaterial.color.set(colour("stone"));
    for (const [name, { material }] of this.known) {
      material.color.set(colour("stone"));
      material.emissive.set(pick?.kind === "obstacle" && pick.name === name ? colour("pick") : "#000000");
      material.emissiveIntensity = 0.4;
    }
    this.view.touch();
  }
}

function dispose(group: THREE.Group): void {
  group.traverse((object) => {
    if (object instanceof THREE.Mesh || object instanceof THREE.Line) object.geometry.dispose();
  });
}

/** Shapes of the ground: they stand still, and are built anew where an edit made them others. */

import * as THREE from "three";
import { isThere, onCome } from "./geometries";
import type { Obstacle, Scene, Shape } from "./messages";
import { CELLS, patchOf, shapeObject } from "./shapes";
import type { Store } from "./store";
import { colour, onTheme } from "./theme";
import type { View } from "./view";

const LINES = 3; // of a plane's grid: by so many its patch moves
const LARGEST = 4; // times the mechanism's size: what is larger is seen in part

/** The part of a plane that is drawn. */
interface Patch {
  mesh: THREE.Mesh;
  centre: THREE.Vector3; // the plane's point nearest to the world's origin
  normal: THREE.Vector3;
  along: THREE.Vector3; // lines of its grid
  across: THREE.Vector3;
}

interface Known {
  told: Obstacle;
  group: THREE.Group;
  material: THREE.MeshStandardMaterial;
  plane: Patch | null;
}

export class Obstacles {
  readonly root = new THREE.Group();
  private known = new Map<string, Known>();
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
    view.onDraw(() => this.face());
  }

  /** Planes have no end: their patches lie where one looks. They are seen from the side they hold things up on. */
  private face(): void {
    const sight = this.view.camera.getWorldDirection(new THREE.Vector3());
    for (const { group, plane } of this.known.values()) {
      if (!plane) continue;
      const { normal, along, across } = plane;
      const eye = this.view.camera.getWorldPosition(new THREE.Vector3());
      const away = this.view.isOrthographic ? -sight.dot(normal) : eye.sub(plane.centre).dot(normal);
      group.visible = away > 0;
      const target = this.view.controls.target.clone().sub(plane.centre);
      const step = (LINES * patchOf(this.size)) / CELLS;
      const [u, v] = [along, across].map((axis) => Math.round(target.dot(axis) / step) * step) as [number, number];
      const place = plane.centre.clone().addScaledVector(along, u).addScaledVector(across, v);
      plane.mesh.position.copy(group.worldToLocal(place));
    }
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
    }
    mesh.userData.part = { kind: "obstacle", name };
    mesh.receiveShadow = true;
    mesh.castShadow = told.shape.kind !== "plane";
    group.add(mesh);
    this.root.add(group);
    group.updateMatrixWorld(true);
    this.known.set(name, { told, group, material, plane: told.shape.kind === "plane" ? patch(mesh) : null });
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

/** How a plane lies whose mesh is in its place. */
function patch(mesh: THREE.Mesh): Patch {
  const turn = mesh.getWorldQuaternion(new THREE.Quaternion());
  const [along, across, normal] = [0, 1, 2].map((k) =>
    new THREE.Vector3().setComponent(k, 1).applyQuaternion(turn),
  ) as [THREE.Vector3, THREE.Vector3, THREE.Vector3];
  const height = mesh.getWorldPosition(new THREE.Vector3()).dot(normal);
  return { mesh, centre: normal.clone().multiplyScalar(height), normal, along, across };
}

function dispose(group: THREE.Group): void {
  group.traverse((object) => {
    if (object instanceof THREE.Mesh || object instanceof THREE.Line) object.geometry.dispose();
  });
}

/** What bodies lie on and between: planes within the world's box, and obstacles. */

import * as THREE from "three";
import type { LargeScene } from "../messages";
import { geometryOf } from "../shapes";
import { colour } from "../theme";
import { within } from "./box";

const LEVEL = 0.7; // upward share of the normal of a floor
const AROUND = { wide: 0.04, narrow: 0.5 }; // of the box's longer and shorter side: how far the floor goes on
const CELLS = 10; // of the floor's grid, across the box

export class Ground {
  readonly root = new THREE.Group();
  private readonly floor = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.35, side: THREE.DoubleSide });
  private readonly lines = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.55 });
  private readonly stone = new THREE.MeshStandardMaterial({ transparent: true, opacity: 0.45, roughness: 1 });

  constructor() {
    this.floor.depthWrite = false;
    this.stone.depthWrite = false;
    this.floor.polygonOffset = true;
    this.floor.polygonOffsetFactor = 2;
  }

  /** Draw what a world stands on. */
  begin(scene: LargeScene, box: THREE.Box3): void {
    this.root.traverse((one) => {
      if (one instanceof THREE.Mesh || one instanceof THREE.LineSegments) one.geometry.dispose();
    });
    this.root.clear();
    const inside = within(scene.planes, box);
    const floors = scene.planes.filter(([, , z = 0]) => z > LEVEL);
    const walled = scene.planes.length - floors.length >= 3;
    for (const plane of floors) this.addFloor(plane, inside, walled);
    if (walled) this.addWalls(inside);
    for (const shape of scene.obstacles) {
      const mesh = new THREE.Mesh(geometryOf(shape, inside.getSize(new THREE.Vector3()).length()), this.stone);
      mesh.position.fromArray(shape.offset);
      mesh.quaternion.fromArray(shape.orientation);
      this.root.add(mesh, outline(mesh, this.lines));
    }
    this.paint();
  }

  paint(): void {
    this.floor.color.set(colour("grid"));
    this.lines.color.set(colour("muted"));
    this.stone.color.set(colour("stone"));
  }

  private addFloor([nx = 0, ny = 0, nz = 1, offset = 0]: number[], box: THREE.Box3, walled: boolean): void {
    const size = box.getSize(new THREE.Vector3());
    const around = AROUND.wide * Math.max(size.x, size.y) + AROUND.narrow * Math.min(size.x, size.y);
    const more = walled ? 0 : around;
    const [x0, x1] = [box.min.x - more, box.max.x + more];
    const [y0, y1] = [box.min.y - more, box.max.y + more];
    const at = (x: number, y: number) => new THREE.Vector3(x, y, (offset - nx * x - ny * y) / nz);
    const corners = [at(x0, y0), at(x1, y0), at(x1, y1), at(x0, y1)];
    const flat = new THREE.BufferGeometry().setFromPoints(corners).setIndex([0, 1, 2, 0, 2, 3]);
    this.root.add(new THREE.Mesh(flat, this.floor));
    const cell = nice(Math.max(x1 - x0, y1 - y0) / CELLS);
    const points: THREE.Vector3[] = [];
    for (let x = Math.ceil(x0 / cell) * cell; x <= x1; x += cell) points.push(at(x, y0), at(x, y1));
    for (let y = Math.ceil(y0 / cell) * cell; y <= y1; y += cell) points.push(at(x0, y), at(x1, y));
    points.push(...[0, 1, 1, 2, 2, 3, 3, 0].map((k) => (corners[k] as THREE.Vector3).clone()));
    this.root.add(new THREE.LineSegments(new THREE.BufferGeometry().setFromPoints(points), this.lines));
  }

  /** Of walls the edges: bodies are seen through them. */
  private addWalls({ min, max }: THREE.Box3): void {
    const box = new THREE.BoxGeometry(max.x - min.x, max.y - min.y, max.z - min.z);
    const edges = new THREE.LineSegments(new THREE.EdgesGeometry(box), this.lines);
    edges.position.set((min.x + max.x) / 2, (min.y + max.y) / 2, (min.z + max.z) / 2);
    this.root.add(edges);
    box.dispose();
  }
}

function outline(mesh: THREE.Mesh, material: THREE.Material): THREE.LineSegments {
  const lines = new THREE.LineSegments(new THREE.EdgesGeometry(mesh.geometry, 30), material);
  lines.position.copy(mesh.position);
  lines.quaternion.copy(mesh.quaternion);
  return lines;
}

/** 1, 2 or 5 times a power of ten, not less than a length. */
function nice(length: number): number {
  const power = 10 ** Math.floor(Math.log10(length));
  return power * ([1, 2, 5, 10].find((n) => n * power >= length) ?? 10);
}

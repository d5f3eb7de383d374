/** Meshes of bodies and obstacles. */

import * as THREE from "three";
import { geometryBy } from "./geometries";
import type { Joint, Shape, Spring } from "./messages";

const ROUND = 24;
const PATCH = 4; // of the scene's size: the part of a plane that is drawn
export const CELLS = 24; // along it
const MOST_EDGED = 20_000; // triangles: to find the edges of more takes seconds
const SHARP = 30; // degrees between faces whose edge is drawn
const SMOOTH = new Set(["sphere", "capsule", "plane", "height-field"]); // have no edges to draw

/** How wide the part of a plane is that is drawn, of a scene so large [m]. */
export function patchOf(size: number): number {
  return PATCH * size;
}

/** Geometry of a shape in its own frame; of a plane a patch as wide as `patch`. */
export function geometryOf(shape: Shape, patch: number): THREE.BufferGeometry {
  const radius = shape.radius ?? 0;
  const length = shape.length ?? 0;
  switch (shape.kind) {
    case "box":
      return new THREE.BoxGeometry(...(shape.size as [number, number, number]));
    case "sphere":
      return new THREE.SphereGeometry(radius, ROUND, ROUND / 2);
    case "cylinder":
      return new THREE.CylinderGeometry(radius, radius, length, ROUND).rotateX(Math.PI / 2);
    case "capsule":
      return new THREE.CapsuleGeometry(radius, length, 6, ROUND).rotateX(Math.PI / 2);
    case "cone":
      return new THREE.ConeGeometry(radius, length, ROUND).rotateX(Math.PI / 2);
    case "plane":
      return new THREE.PlaneGeometry(patch, patch);
    case "height-field":
      return fieldGeometry(shape.heights ?? [], shape.size ?? [1, 1]);
    case "mesh":
    case "hull": {
      if (shape.digest) return geometryBy(shape) ?? new THREE.BoxGeometry(0, 0, 0);
      const corners = (shape.triangles ?? []).flat().flatMap((corner) => shape.points?.[corner] ?? []);
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.Float32BufferAttribute(corners, 3));
      geometry.computeVertexNormals();
      return geometry;
    }
  }
}

/** Cells of a height field as two triangles each, divided as they are met: from the corner of least x and y. */
function fieldGeometry(heights: number[][], [width = 1, depth = 1]: number[]): THREE.BufferGeometry {
  const nx = heights.length;
  const ny = heights[0]?.length ?? 0;
  const points = heights.flatMap((row, i) =>
    row.flatMap((z, j) => [width * (i / (nx - 1) - 0.5), depth * (j / (ny - 1) - 0.5), z]),
  );
  const corners: number[] = [];
  for (let i = 0; i + 1 < nx; i++)
    for (let j = 0; j + 1 < ny; j++) {
      const low = i * ny + j;
      corners.push(low, low + ny, low + ny + 1, low, low + ny + 1, low + 1);
    }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
  geometry.setIndex(corners);
  geometry.computeVertexNormals();
  return geometry;
}

/** A shape where it is in its body's frame, with its edges; a plane is a patch with a grid. */
export function shapeObject(shape: Shape, material: THREE.Material, edges: THREE.Material, size: number): THREE.Mesh {
  const geometry = geometryOf(shape, patchOf(size));
  const mesh = new THREE.Mesh(geometry, material);
  mesh.position.fromArray(shape.offset);
  mesh.quaternion.fromArray(shape.orientation);
  const isEdged = !SMOOTH.has(shape.kind) && !shape.digest && (shape.triangles?.length ?? 0) < MOST_EDGED;
  if (isEdged) mesh.add(new THREE.LineSegments(new THREE.EdgesGeometry(geometry, SHARP), edges));
  if (shape.kind === "plane" || shape.kind === "height-field") material.side = THREE.DoubleSide;
  if (shape.kind === "plane") mesh.add(new THREE.LineSegments(gridGeometry(patchOf(size)), edges));
  return mesh;
}

function gridGeometry(width: number): THREE.BufferGeometry {
  const points: number[] = [];
  for (let k = 0; k <= CELLS; k++) {
    const at = width * (k / CELLS - 0.5);
    points.push(at, -width / 2, 0, at, width / 2, 0, -width / 2, at, 0, width / 2, at, 0);
  }
  return new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
}

/** A thin bar between two points, along which a body without shape is drawn. */
export function bar(a: THREE.Vector3, b: THREE.Vector3, radius: number): THREE.BufferGeometry {
  const along = new THREE.Vector3().subVectors(b, a);
  const geometry = new THREE.CylinderGeometry(radius, radius, along.length(), 10).rotateX(Math.PI / 2);
  const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), along.clone().normalize());
  return geometry.applyQuaternion(turn).translate((a.x + b.x) / 2, (a.y + b.y) / 2, (a.z + b.z) / 2);
}

/** Where joints and springs hold on to a body, in its frame. */
export function holds(body: string, joints: Joint[], springs: Spring[]): THREE.Vector3[] {
  const found: number[][] = [];
  for (const joint of joints) {
    if (joint.first === body) found.push(joint.p_PF);
    if (joint.second === body) found.push(joint.p_CM);
  }
  for (const spring of springs) {
    if (spring.first === body) found.push(spring.at_first);
    if (spring.second === body) found.push(spring.at_second);
  }
  return found.map((p) => new THREE.Vector3(p[0], p[1], p[2]));
}

/** The usual mark of a centre of mass: a ball of four dark and four light eighths. */
export function centreMark(radius: number): THREE.Group {
  const group = new THREE.Group();
  const dark = new THREE.MeshBasicMaterial({ color: 0x15181d, depthTest: false, transparent: true });
  const light = new THREE.MeshBasicMaterial({ color: 0xffffff, depthTest: false, transparent: true });
  for (let k = 0; k < 8; k++) {
    const upper = k >= 4;
    const geometry = new THREE.SphereGeometry(
      radius,
      6,
      4,
      (k % 4) * (Math.PI / 2),
      Math.PI / 2,
      upper ? Math.PI / 2 : 0,
      Math.PI / 2,
    );
    const mesh = new THREE.Mesh(geometry, (k % 2 === 0) === upper ? dark : light);
    mesh.renderOrder = 4;
    group.add(mesh);
  }
  return group;
}

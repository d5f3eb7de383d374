/** Large meshes, which a scene names by digests: each is fetched once, and kept as long as the page is open. */

import * as THREE from "three";
import { acceleratedRaycast, MeshBVH } from "three-mesh-bvh";
import { ask } from "./exports";
import type { Scene, Shape } from "./messages";
import { tellError } from "./toasts";

interface Data {
  vertices: Float32Array<ArrayBuffer>;
  triangles: Uint32Array<ArrayBuffer>;
  ready: { geometry: THREE.BufferGeometry; tree: MeshBVH } | null; // found once
}

THREE.Mesh.prototype.raycast = acceleratedRaycast; // by a geometry's tree, where it has one

const known = new Map<string, Data | null>(); // null: on its way
const waiting: (() => void)[] = [];

/** Keep a mesh: src/impulsar/studio/geometry.py has the layout. */
export function keep(digest: string, data: ArrayBuffer): void {
  const [vertices = 0, triangles = 0] = new Uint32Array(data, 0, 2);
  known.set(digest, {
    vertices: new Float32Array(data, 8, 3 * vertices),
    triangles: new Uint32Array(data, 8 + 12 * vertices, 3 * triangles),
    ready: null,
  });
}

/** Is all there that a scene's bodies and obstacles are drawn of? What is not is fetched, and then told by `onCome`. */
export function isThere({ bodies, ground, obstacles }: Scene): boolean {
  const shapes = [
    ...bodies.flatMap(({ shapes, visuals }) => [...shapes, ...visuals]),
    ...ground,
    ...obstacles.map(({ shape }) => shape),
  ];
  const missing = shapes.flatMap(({ digest }) => (digest && !known.get(digest) ? [digest] : []));
  for (const digest of missing) {
    if (known.has(digest)) continue;
    known.set(digest, null);
    void fetched(digest).catch(tellError);
  }
  return missing.length === 0;
}

/** Do this when meshes have come. */
export function onCome(action: () => void): void {
  waiting.push(action);
}

/** The geometry of a shape that has a digest; its corners are shared by its triangles, so its shading is smooth. */
export function geometryBy({ digest }: Shape): THREE.BufferGeometry | null {
  const data = digest ? known.get(digest) : null;
  if (!data) return null;
  data.ready ??= readied(data);
  const geometry = data.ready.geometry.clone();
  geometry.boundsTree = data.ready.tree;
  return geometry;
}

/** Normals, and a tree by which rays find triangles. */
function readied({ vertices, triangles }: Data): NonNullable<Data["ready"]> {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(vertices, 3));
  geometry.setIndex(new THREE.BufferAttribute(triangles, 1));
  geometry.computeVertexNormals();
  geometry.setAttribute("smoothed", geometry.getAttribute("normal")); // by which an outline grows
  return { geometry, tree: new MeshBVH(geometry) };
}

async function fetched(digest: string): Promise<void> {
  try {
    keep(digest, await (await ask(`api/geometry/${digest}`)).arrayBuffer());
  } catch (error) {
    known.delete(digest); // the next scene asks again
    throw error;
  }
  for (const action of waiting) action();
}

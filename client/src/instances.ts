/**
 * Parts drawn by instances: pieces of one geometry are one draw call, however many bodies carry them. A piece moves with
 * the body that carries it, or is stretched between points of two.
 */

import * as THREE from "three";
import { grown, outlineMaterial, smoothNormals } from "./materials";
import { type PartRef, partKey } from "./parts3d";

export type Look = "body" | "joint" | "spring" | "ground";

/** Something rigid on a body; -1 carries what stands still. */
export interface Piece {
  key: string; // of the geometry: pieces of one key share it
  make: () => THREE.BufferGeometry;
  thin: number; // half of its least thickness [m]: it is drawn at least two pixels wide
  look: Look;
  part: PartRef | null;
  carrier: number;
  local: THREE.Matrix4; // in the carrier's frame
  colour?: string; // its own, whatever its part's is
}

/** Something from a point of one body to one of another: a geometry from z = 0 to 1, `radius` across. */
export interface Stretched extends Omit<Piece, "carrier" | "local"> {
  from: { carrier: number; at: THREE.Vector3 };
  to: { carrier: number; at: THREE.Vector3 };
  radius: number;
}

interface Batch {
  mesh: THREE.InstancedMesh;
  pieces: (Piece | Stretched)[];
  look: Look;
}

const STILL = new THREE.Matrix4();
const NOTHING = new THREE.Matrix4().makeScale(0, 0, 0);

export class Instances {
  readonly root = new THREE.Group();
  readonly shown = new Set<Look>(["body", "joint", "spring", "ground"]);
  private batches: Batch[] = [];
  private waiting = new Map<string, (Piece | Stretched)[]>();
  private carriers: THREE.Matrix4[] = [];
  private hidden: (part: PartRef) => boolean = () => false;
  private outlines = new Map<string, { meshes: { mesh: THREE.Mesh; batch: Batch; at: number }[] }>();
  private scratch = { a: new THREE.Vector3(), b: new THREE.Vector3(), q: new THREE.Quaternion() };

  constructor(private readonly materials: Record<Look, THREE.Material>) {}

  clear(): void {
    for (const name of [...this.outlines.keys()]) this.outline(name, [], "");
    for (const { mesh } of this.batches) {
      mesh.geometry.dispose();
      mesh.dispose();
    }
    this.root.clear();
    this.batches = [];
    this.waiting.clear();
  }

  add(piece: Piece | Stretched): void {
    const key = `${piece.look} ${piece.key}`;
    const list = this.waiting.get(key);
    if (list) list.push(piece);
    else this.waiting.set(key, [piece]);
  }

  /** Make the meshes of what was added. */
  finish(): void {
    for (const pieces of this.waiting.values()) {
      const [{ make, thin, look }] = pieces as [Piece | Stretched];
      const geometry = grown(make(), thin);
      const mesh = new THREE.InstancedMesh(geometry, this.materials[look], pieces.length);
      mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
      mesh.frustumCulled = false;
      mesh.castShadow = true;
      mesh.receiveShadow = true;
      mesh.visible = this.shown.has(look);
      mesh.userData.parts = pieces.map(({ part }) => part);
      this.batches.push({ mesh, pieces, look });
      this.root.add(mesh);
    }
    this.waiting.clear();
  }

  show(look: Look, on: boolean): void {
    if (on) this.shown.add(look);
    else this.shown.delete(look);
    for (const { mesh, look: own } of this.batches) if (own === look) mesh.visible = on;
  }

  /** Leave out parts. */
  hide(hidden: (part: PartRef) => boolean): void {
    this.hidden = hidden;
    this.move(this.carriers);
  }

  /** Put everything where bodies are. */
  move(carriers: THREE.Matrix4[]): void {
    this.carriers = carriers;
    for (const { mesh, pieces } of this.batches) {
      const out = mesh.instanceMatrix.array as Float32Array;
      pieces.forEach((piece, k) => {
        if (piece.part && this.hidden(piece.part)) NOTHING.toArray(out, 16 * k);
        else if ("local" in piece) product(carriers[piece.carrier] ?? STILL, piece.local, out, 16 * k);
        else this.stretch(piece, out, 16 * k);
      });
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null;
      mesh.boundingBox = null;
    }
    for (const { meshes } of this.outlines.values())
      for (const { mesh, batch, at } of meshes) batch.mesh.getMatrixAt(at, mesh.matrix);
  }

  paint(colourOf: (part: PartRef | null, look: Look) => THREE.Color): void {
    for (const { mesh, pieces, look } of this.batches) {
      for (const [k, { part, colour }] of pieces.entries())
        mesh.setColorAt(k, colour ? new THREE.Color(colour) : colourOf(part, look));
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  /** The same for what is often painted anew. */
  paintLook(look: Look, colourOf: (part: PartRef | null) => THREE.Color): void {
    for (const { mesh, pieces, look: own } of this.batches) {
      if (own !== look) continue;
      for (const [k, { part }] of pieces.entries()) mesh.setColorAt(k, colourOf(part));
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  /** Draw a line around parts, under a name; none: no longer. */
  outline(name: string, parts: PartRef[], colour: string): void {
    for (const { mesh } of this.outlines.get(name)?.meshes ?? []) {
      this.root.remove(mesh);
      (mesh.material as THREE.Material).dispose();
    }
    this.outlines.delete(name);
    if (parts.length === 0) return;
    const meshes: { mesh: THREE.Mesh; batch: Batch; at: number }[] = [];
    const keys = new Set(parts.map(partKey));
    for (const batch of this.batches)
      for (const [at, piece] of batch.pieces.entries()) {
        if (!piece.part || !keys.has(partKey(piece.part))) continue;
        const mesh = new THREE.Mesh(smoothNormals(batch.mesh.geometry), outlineMaterial(colour));
        mesh.matrixAutoUpdate = false;
        mesh.frustumCulled = false;
        mesh.renderOrder = 1;
        batch.mesh.getMatrixAt(at, mesh.matrix);
        mesh.raycast = () => {};
        this.root.add(mesh);
        meshes.push({ mesh, batch, at });
      }
    this.outlines.set(name, { meshes });
  }

  /** Boxes of the parts that are drawn, by part. */
  boxes(): Map<string, { part: PartRef; box: THREE.Box3 }> {
    const found = new Map<string, { part: PartRef; box: THREE.Box3 }>();
    const [box, matrix] = [new THREE.Box3(), new THREE.Matrix4()];
    for (const { mesh, pieces } of this.batches) {
      if (!mesh.geometry.boundingBox) mesh.geometry.computeBoundingBox();
      for (const [k, { part }] of pieces.entries()) {
        if (!part || !mesh.geometry.boundingBox || this.hidden(part)) continue;
        mesh.getMatrixAt(k, matrix);
        box.copy(mesh.geometry.boundingBox).applyMatrix4(matrix);
        const known = found.get(partKey(part));
        if (known) known.box.union(box);
        else found.set(partKey(part), { part, box: box.clone() });
      }
    }
    return found;
  }

  private stretch({ from, to, radius }: Stretched, out: Float32Array, offset: number): void {
    const { a, b, q } = this.scratch;
    a.copy(from.at).applyMatrix4(this.carriers[from.carrier] ?? STILL);
    b.copy(to.at)
      .applyMatrix4(this.carriers[to.carrier] ?? STILL)
      .sub(a);
    const length = b.length();
    q.setFromUnitVectors(Z, length > 0 ? b.divideScalar(length) : Z);
    matrix.compose(a, q, scale.set(radius, radius, length)).toArray(out, offset);
  }
}

const Z = new THREE.Vector3(0, 0, 1);
const matrix = new THREE.Matrix4();
const scale = new THREE.Vector3();

/** The product of two placings, written into an array. */
function product(A: THREE.Matrix4, B: THREE.Matrix4, out: Float32Array, at: number): void {
  const a = A.elements as unknown as Float32Array;
  const b = B.elements as unknown as Float32Array;
  for (let c = 0; c < 4; c++) {
    const [x, y, z] = [b[4 * c] as number, b[4 * c + 1] as number, b[4 * c + 2] as number];
    const last = c === 3 ? 1 : 0;
    for (let r = 0; r < 3; r++)
      out[at + 4 * c + r] =
        (a[r] as number) * x + (a[4 + r] as number) * y + (a[8 + r] as number) * z + last * (a[12 + r] as number);
    out[at + 4 * c + 3] = last;
  }
}

/**
 * The bodies of a large world: an InstancedMesh for each block of them, which frames fill, as fine as it is large in the
 * picture. Where all together are too many triangles, of each block the first few bodies stand for all.
 */

import * as THREE from "three";
import { surface } from "../materials";
import type { LargeFrame, LargeScene } from "../messages";
import { colour } from "../theme";
import { LEVELS, type Level, levelFor, levelsOf } from "./geometry";
import { type Ball, matrices } from "./unpack";

const NEAR = 8; // pixels beside a body that still are a press on it
const FEW = 6; // kinds that have colours of their own
const RAMP = ["b1", "b5", "b2", "b3", "b6"]; // along which bodies are told by where they began

interface Block {
  mesh: THREE.InstancedMesh;
  kind: number;
  start: number; // number of its first body
  size: number;
  reach: number; // of a body, beyond its place [m]
  ball: Ball | null; // around its places; null: nothing came yet
  at: number; // when it came [ms]
}

/** A body under the pointer. */
export interface Hit {
  body: number;
  at: THREE.Vector3; // in its frame
  point: THREE.Vector3; // in the world
}

/** How much of the world the picture has. */
export interface Shown {
  drawn: number; // bodies
  inSight: number; // bodies whose blocks the eye may see
  here: number; // bodies that have come
  oldest: number; // since the block in sight came that came first [ms]; 0 where time stands still
}

export class Bodies {
  readonly root = new THREE.Group();
  private blocks: Block[] = [];
  private levels: Level[][] = [];
  private shades: Uint8Array | null = null;
  private scene: LargeScene | null = null;
  private readonly material = surface({ roughness: 0.7, metalness: 0 });
  shown: Shown = { drawn: 0, inSight: 0, here: 0, oldest: 0 };

  /** Begin another world. */
  begin(scene: LargeScene): void {
    for (const { mesh } of this.blocks) mesh.dispose();
    for (const { geometry } of this.levels.flat()) geometry.dispose();
    this.root.clear();
    this.scene = scene;
    this.shades = null;
    this.levels = scene.kinds.map(levelsOf);
    let start = 0;
    this.blocks = scene.block_sizes.map((size, k) => {
      const kind = scene.block_kinds[k] as number;
      const finest = (this.levels[kind] as Level[])[0] as Level;
      finest.geometry.computeBoundingSphere();
      const own = finest.geometry.boundingSphere as THREE.Sphere;
      const mesh = new THREE.InstancedMesh((this.levels[kind] as Level[])[LEVELS - 1]?.geometry, this.material, size);
      mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
      mesh.boundingSphere = new THREE.Sphere();
      mesh.visible = false;
      this.root.add(mesh);
      const block = { mesh, kind, start, size, reach: own.center.length() + own.radius, ball: null, at: 0 };
      start += size;
      return block;
    });
    this.paint();
  }

  /** Tell bodies by where they began. */
  setShades(shades: Uint8Array): void {
    this.shades = shades;
    this.paint();
  }

  paint(): void {
    const scene = this.scene;
    if (!scene) return;
    const ramp = RAMP.map((name) => new THREE.Color(colour(name)));
    const most = scene.kinds.reduce((best, { count }, k) => (count >= (scene.kinds[best]?.count ?? 0) ? k : best), 0);
    const painted = new THREE.Color();
    for (const { mesh, kind, start, size } of this.blocks) {
      const own = scene.kinds[kind]?.colour;
      const plain = own ?? (scene.kinds.length > FEW || kind === most ? null : colour("stone"));
      for (let k = 0; k < size; k++) {
        const shade = (this.shades?.[start + k] ?? 128) / 255;
        if (plain) painted.set(plain);
        else if (scene.kinds.length > FEW) painted.copy(ramp[kind % ramp.length] as THREE.Color);
        else along(ramp, shade, painted);
        mesh.setColorAt(k, painted.multiplyScalar(0.88 + 0.24 * noise(start + k)));
      }
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  /** Take what came; whether it was of this world. */
  take(frame: LargeFrame, now: number): boolean {
    if (frame.generation !== this.scene?.generation) return false;
    let from = 0;
    for (const which of frame.which) {
      const block = this.blocks[which] as Block;
      block.ball = matrices(frame, from, block.size, block.mesh.instanceMatrix.array as Float32Array);
      block.mesh.instanceMatrix.needsUpdate = true;
      const { x, y, z, radius } = block.ball;
      block.mesh.boundingSphere?.set(new THREE.Vector3(x, y, z), radius + block.reach);
      block.at = now;
      from += block.size;
    }
    return true;
  }

  /** Have each block as fine as it is large, and no more triangles than are wanted. */
  refine(eye: THREE.Vector3, frustum: THREE.Frustum, pixel: number, most: number, now: number): void {
    const seen: { block: Block; levels: Level[]; level: number }[] = [];
    const shown = { drawn: 0, inSight: 0, here: 0, oldest: 0 };
    let sum = 0;
    for (const block of this.blocks) {
      const { mesh, ball, kind, size } = block;
      const sphere = mesh.boundingSphere as THREE.Sphere;
      if (ball) shown.here += size;
      mesh.visible = ball !== null && frustum.intersectsSphere(sphere);
      if (!mesh.visible) continue;
      const away = Math.max(sphere.center.distanceTo(eye) - sphere.radius, block.reach);
      const level = levelFor((this.scene?.kinds[kind]?.size ?? 0) / (pixel * away));
      const levels = this.levels[kind] as Level[];
      seen.push({ block, levels, level });
      shown.inSight += size;
      shown.oldest = Math.max(shown.oldest, now - block.at);
      sum += size * (levels[level] as Level).triangles;
    }
    const coarser = sum > most ? LEVELS : 0;
    const least = seen.reduce(
      (all, { block, levels }) => all + block.size * (levels[LEVELS - 1] as Level).triangles,
      0,
    );
    const share = coarser ? Math.min(1, most / least) : 1;
    for (const { block, levels, level } of seen) {
      block.mesh.geometry = (levels[Math.min(level + coarser, LEVELS - 1)] as Level).geometry;
      block.mesh.count = Math.ceil(share * block.size);
      shown.drawn += block.mesh.count;
    }
    this.shown = shown;
  }

  /** The box around all places that have come, without the few that are far from all others. */
  box(): THREE.Box3 | null {
    const axes: number[][] = [[], [], []];
    const known = this.blocks.filter(({ ball }) => ball);
    const each = Math.max(1, Math.ceil(20_000 / Math.max(1, known.length)));
    for (const { mesh, size } of known)
      for (let k = 0; k < Math.min(size, each); k++)
        for (let i = 0; i < 3; i++) axes[i]?.push(mesh.instanceMatrix.array[16 * k + 12 + i] as number);
    if (!axes[0]?.length) return null;
    const ends = axes.map((values) => {
      const sorted = Float32Array.from(values).sort();
      const out = Math.floor(sorted.length / 500);
      return [sorted[out] as number, sorted[sorted.length - 1 - out] as number];
    }) as [number, number][];
    const reach = Math.max(...known.map((block) => block.reach));
    const box = new THREE.Box3();
    box.min.fromArray(ends.map(([low]) => low));
    box.max.fromArray(ends.map(([, high]) => high));
    return box.expandByScalar(reach);
  }

  /** The body that a ray meets first, by its number, or else passes within some pixels of; where, and its own point. */
  at(ray: THREE.Ray, pixel: (at: THREE.Vector3) => number): Hit | null {
    let best: { block: Block; k: number; away: number } | null = null;
    let [exact, near] = [Infinity, NEAR];
    const one = new THREE.Mesh();
    const caster = new THREE.Raycaster(ray.origin, ray.direction);
    const [centre, on] = [new THREE.Vector3(), new THREE.Vector3()];
    for (const block of this.blocks) {
      const { mesh, reach } = block;
      const around = mesh.boundingSphere as THREE.Sphere;
      if (!mesh.visible || ray.distanceToPoint(around.center) > around.radius + NEAR * pixel(around.center)) continue;
      const out = mesh.instanceMatrix.array as Float32Array;
      one.geometry = mesh.geometry;
      one.material = mesh.material;
      for (let k = 0; k < mesh.count; k++) {
        centre.set(out[16 * k + 12] as number, out[16 * k + 13] as number, out[16 * k + 14] as number);
        const away = on.subVectors(centre, ray.origin).dot(ray.direction);
        if (away <= 0 || away - reach > exact) continue;
        const miss = ray.distanceToPoint(centre);
        if (miss < reach) {
          one.matrixWorld.fromArray(out, 16 * k);
          const [hit] = caster.intersectObject(one, false);
          if (hit && hit.distance < exact) {
            exact = hit.distance;
            best = { block, k, away: hit.distance };
            continue;
          }
        }
        const pixels = Math.max(0, miss - reach) / pixel(centre);
        if (exact === Infinity && pixels < near) {
          near = pixels;
          best = { block, k, away };
        }
      }
    }
    if (!best) return null;
    const point = ray.at(best.away, new THREE.Vector3());
    const matrix = new THREE.Matrix4().fromArray(best.block.mesh.instanceMatrix.array, 16 * best.k);
    const at = exact === Infinity ? new THREE.Vector3() : point.clone().applyMatrix4(matrix.clone().invert());
    return { body: best.block.start + best.k, at, point: at.clone().applyMatrix4(matrix) };
  }

  /** Where a point of a body is. */
  point(body: number, at: THREE.Vector3): THREE.Vector3 | null {
    const block = this.blocks.find(({ start, size }) => body >= start && body < start + size);
    if (!block?.ball) return null;
    const matrix = new THREE.Matrix4().fromArray(block.mesh.instanceMatrix.array, 16 * (body - block.start));
    return at.clone().applyMatrix4(matrix);
  }

  /** How long ago each block came [ms]; for tests. */
  ages(now: number): number[] {
    return this.blocks.map(({ at }) => (at ? now - at : Infinity));
  }
}

/** The colour at a share of the way along others. */
function along(ramp: THREE.Color[], share: number, out: THREE.Color): void {
  const at = share * (ramp.length - 1);
  const k = Math.min(Math.floor(at), ramp.length - 2);
  out.lerpColors(ramp[k] as THREE.Color, ramp[k + 1] as THREE.Color, at - k);
}

/** A number from 0 to 1 that looks random. */
function noise(k: number): number {
  let x = Math.imul(k ^ 0x9e3779b9, 0x85ebca6b);
  x ^= x >>> 13;
  x = Math.imul(x, 0xc2b2ae35);
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
}

/**
 * What a mechanism stands before: a floor with a soft shadow that fades out, and for one that moves in a plane a sheet
 * behind it. Both have a grid of round lengths with numbers.
 */

import * as THREE from "three";
import { gridText, roundLength } from "./lengths";
import { colour } from "./theme";
import type { Basis } from "./views";

const LINES = 7; // of the grid along the mechanism's size, about
const WIDE = 1.8; // of the sizes: where the floor has faded out
const NUMBER = 64; // pixels between numbers, at least
const TEXT = 18; // pixels that a number is high, with its room
const SHADOW = 1024; // pixels of the shadow map
const REACH = 0.5; // of the size: how far the grid is left behind by what is followed
const BELOW = 0.04; // of the size, under the lowest point
const BEHIND = 0.06; // of the size, behind the mechanism
const SEEN = 0.12; // sine of the angle to the floor under which it is not drawn
const FACED = 0.9; // cosine of the angle to the sheet's normal under which it is not drawn

const VERTEX = `
varying vec2 at;
void main() {
  at = position.xy;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;

const FRAGMENT = `
uniform vec3 ink;
uniform vec2 centre;
uniform float cell;
uniform float reach;
uniform float strength;
varying vec2 at;
float lines(vec2 p, float wide) {
  vec2 w = fwidth(p);
  vec2 near = abs(fract(p - 0.5) - 0.5) / w;
  vec2 thin = 1.0 - smoothstep(vec2(wide - 0.5), vec2(wide + 0.5), near);
  thin *= 1.0 - smoothstep(0.2, 0.5, w);
  return max(thin.x, thin.y);
}
void main() {
  float fade = 1.0 - smoothstep(0.35, 1.0, length(at - centre) / reach);
  float shade = max(0.35 * lines(at / cell, 0.5), 0.8 * lines(at / (5.0 * cell), 0.7));
  gl_FragColor = vec4(ink, strength * fade * shade);
  #include <colorspace_fragment>
}`;

/** Of every so many numbers one is shown: 1, 2, 5, 10, ... */
function roundCount(wish: number): number {
  return wish <= 1 ? 1 : wish <= 2 ? 2 : wish <= 5 ? 5 : 10;
}

type Pixel = { x: number; y: number };
type Project = (at: THREE.Vector3) => Pixel;

/** Can two numbers at these pixels be read beside each other? */
function isApart(a: Pixel, b: Pixel): boolean {
  return Math.abs(a.x - b.x) > NUMBER || Math.abs(a.y - b.y) > TEXT;
}

const place = new THREE.Vector3();

/** A grid in the x-y plane of a group, with numbers along two of its sides. */
class Grid {
  readonly group = new THREE.Group();
  private readonly material = new THREE.ShaderMaterial({
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    transparent: true,
    depthWrite: false,
    side: THREE.DoubleSide,
    uniforms: {
      ink: { value: new THREE.Color() },
      centre: { value: new THREE.Vector2() },
      cell: { value: 0.1 },
      reach: { value: 1 },
      strength: { value: 1 },
    },
  });
  private plane = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), this.material);
  private numbers = new THREE.Group();
  private state = "";

  constructor(readonly strength: number) {
    this.material.uniforms.strength = { value: strength };
    this.plane.renderOrder = -2;
    this.group.add(this.plane, this.numbers);
    for (const part of [this.plane]) part.raycast = () => {};
  }

  colour(): void {
    this.material.uniforms.ink = { value: new THREE.Color(colour("grid")) };
    this.state = "";
  }

  /** Keep the numbers as large as the page's text, and leave out those that there is no room for. */
  scale(pixel: (at: THREE.Vector3) => number, project: Project, larger: number): void {
    const shown: Pixel[] = [];
    for (const sprite of this.numbers.children) {
      const length = pixel(sprite.getWorldPosition(place));
      const every = roundCount((NUMBER * length) / this.step);
      const at = project(place);
      sprite.visible = (sprite.userData.count as number) % every === 0 && shown.every((other) => isApart(at, other));
      if (sprite.visible) shown.push(at);
      sprite.scale.set(TEXT * 4 * length * larger, TEXT * length * larger, 1);
    }
  }

  private step = 1; // between numbers [m]

  /** Around a point of the plane, so far; numbers at the low sides of a box. */
  place(centre: THREE.Vector2, cell: number, reach: number, box: THREE.Box2): void {
    Object.assign(this.material.uniforms, {
      centre: { value: centre.clone() },
      cell: { value: cell },
      reach: { value: reach },
    });
    const state = JSON.stringify([centre, cell, reach, box, colour("muted")]);
    if (state === this.state) return;
    this.state = state;
    this.plane.geometry.dispose();
    this.plane.geometry = new THREE.PlaneGeometry(2 * reach, 2 * reach).translate(centre.x, centre.y, 0);
    for (const sprite of this.numbers.children as THREE.Sprite[]) {
      sprite.material.map?.dispose();
      sprite.material.dispose();
    }
    this.numbers.clear();
    const step = 5 * cell;
    this.step = step;
    const edge = { x: Math.ceil(box.min.x / step) * step, y: Math.ceil(box.min.y / step) * step };
    for (const [low, high, put] of [
      [box.min.x, box.max.x, (v: number) => [v, edge.y] as const],
      [box.min.y, box.max.y, (v: number) => [edge.x, v] as const],
    ] as const) {
      for (let k = Math.floor(low / step); k <= Math.ceil(high / step); k++) {
        const [x, y] = put(k * step);
        const sprite = numberSprite(gridText(k * step, step));
        sprite.position.set(x, y, 0);
        sprite.userData.count = k;
        this.numbers.add(sprite);
      }
    }
  }
}

/** A text that always faces the viewer. */
function numberSprite(text: string): THREE.Sprite {
  const canvas = document.createElement("canvas");
  canvas.width = 192;
  canvas.height = 48;
  const pen = canvas.getContext("2d");
  if (pen) {
    pen.font = "28px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = colour("muted");
    pen.fillText(text, 96, 24);
  }
  const map = new THREE.CanvasTexture(canvas);
  map.colorSpace = THREE.SRGBColorSpace;
  const sprite = new THREE.Sprite(new THREE.SpriteMaterial({ map, depthWrite: false, transparent: true }));
  sprite.center.set(0.5, 1.1);
  sprite.renderOrder = -1;
  sprite.raycast = () => {};
  return sprite;
}

export class Floor {
  private readonly level = new Grid(0.6);
  private readonly sheet = new Grid(0.55);
  private readonly shade = new THREE.Mesh(
    new THREE.PlaneGeometry(1, 1),
    new THREE.ShadowMaterial({ depthWrite: false }),
  );
  private readonly sun = new THREE.DirectionalLight(0xffffff, 1.7);
  private basis: Basis | null = null;
  private size = 1; // of the mechanism [m]
  private readonly box = new THREE.Box3(); // what it is under and behind
  private readonly gone = new THREE.Vector3(); // since it was put there
  shown = true;
  isDrafting = false; // the work plane has a grid of its own
  isOver = false; // a camera's picture has a table of its own

  constructor(scene: THREE.Scene) {
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(SHADOW, SHADOW);
    this.sun.shadow.radius = 5;
    this.shade.receiveShadow = true;
    this.shade.renderOrder = -3;
    this.shade.raycast = () => {};
    this.level.group.add(this.shade);
    scene.add(this.level.group, this.sheet.group, this.sun, this.sun.target);
  }

  colour(): void {
    this.level.colour();
    this.sheet.colour();
    (this.shade.material as THREE.ShadowMaterial).opacity = Number(colour("shade")) || 0.25;
  }

  /** Under and behind what is in a box. */
  place(basis: Basis, size: number, box: THREE.Box3): void {
    this.basis = basis;
    this.size = size;
    this.box.copy(box);
    this.gone.set(0, 0, 0);
    const cell = roundLength(size / LINES) / 5;
    const centre = box.getCenter(new THREE.Vector3());
    const corners = cornersOf(box);
    this.lay(this.level, basis.up, basis.front, -BELOW * size, size, cell, corners, centre);
    this.lay(this.sheet, basis.front, basis.up.clone().negate(), -BEHIND * size, size, cell, corners, centre);
    this.shade.scale.setScalar(4 * WIDE * size);
    const flat = this.level.group.worldToLocal(centre.clone());
    this.shade.position.set(flat.x, flat.y, 0);
    this.shine(basis, size, box, centre);
  }

  /** Go with what has moved: light and shadow at once, the grid where it has gone far enough. */
  follow(moved: THREE.Vector3): void {
    if (!this.basis) return;
    this.box.translate(moved);
    this.gone.add(moved);
    if (this.gone.length() > REACH * this.size) this.place(this.basis, this.size, this.box.clone());
    else this.shine(this.basis, this.size, this.box, this.box.getCenter(new THREE.Vector3()));
  }

  /** Show what is seen from a direction of sight, where a pixel at a point is so long [m] and the world so much larger. */
  face(sight: THREE.Vector3, pixel: (at: THREE.Vector3) => number, project: Project, larger = 1): void {
    if (!this.basis) return;
    const { up, front, isPlanar } = this.basis;
    const isShown = this.shown && !this.isDrafting && !this.isOver;
    this.sheet.group.visible = isShown && isPlanar && Math.abs(sight.dot(front)) > FACED;
    this.level.group.visible = isShown && !this.sheet.group.visible && Math.abs(sight.dot(up)) > SEEN;
    for (const grid of [this.level, this.sheet]) if (grid.group.visible) grid.scale(pixel, project, larger);
  }

  /** Put a grid across a normal, lower than all corners by some way along it; its lines go through the origin. */
  private lay(
    grid: Grid,
    normal: THREE.Vector3,
    towards: THREE.Vector3,
    lower: number,
    size: number,
    cell: number,
    corners: THREE.Vector3[],
    centre: THREE.Vector3,
  ): void {
    const y = towards.clone().addScaledVector(normal, -towards.dot(normal)).negate();
    if (y.lengthSq() < 1e-6) y.set(normal.y, normal.z, normal.x);
    y.normalize();
    const x = y.clone().cross(normal);
    const height = Math.min(...corners.map((corner) => corner.dot(normal))) + lower;
    grid.group.matrixAutoUpdate = false;
    grid.group.matrix.makeBasis(x, y, normal).setPosition(normal.clone().multiplyScalar(height));
    grid.group.matrix.decompose(grid.group.position, grid.group.quaternion, grid.group.scale);
    grid.group.updateMatrixWorld(true);
    const flat = (p: THREE.Vector3) => new THREE.Vector2(p.dot(x), p.dot(y));
    grid.place(
      flat(centre),
      cell,
      WIDE * size,
      new THREE.Box2().setFromPoints(corners.map(flat)).expandByScalar(0.2 * size),
    );
  }

  private shine(basis: Basis, size: number, box: THREE.Box3, centre: THREE.Vector3): void {
    const right = basis.up.clone().cross(basis.front);
    const reach = Math.max(0.75 * box.getSize(new THREE.Vector3()).length(), 0.8 * size);
    this.sun.target.position.copy(centre);
    this.sun.position
      .copy(centre)
      .addScaledVector(basis.up, 2.2 * reach)
      .addScaledVector(right, 0.7 * reach)
      .addScaledVector(basis.front, 1.1 * reach);
    const camera = this.sun.shadow.camera;
    Object.assign(camera, {
      left: -reach,
      right: reach,
      top: reach,
      bottom: -reach,
      near: 0.1 * reach,
      far: 6 * reach,
    });
    camera.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.004 * size;
    this.sun.shadow.bias = -0.0004;
    this.sun.target.updateMatrixWorld();
  }
}

function cornersOf({ min, max }: THREE.Box3): THREE.Vector3[] {
  return Array.from(
    { length: 8 },
    (_, k) => new THREE.Vector3(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z),
  );
}

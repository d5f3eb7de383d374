/** The picture of a large world: camera, light, ground and bodies; drawn when something has changed. */

import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { byId } from "../dom";
import { pixelSize } from "../materials";
import type { LargeFrame, LargeScene } from "../messages";
import { drawsInSoftware, Rest, restTimes } from "../rest";
import { onTheme } from "../theme";
import { Bodies } from "./bodies";
import { within } from "./box";
import { Ground } from "./ground";
import type { Look } from "./line";

const FOV = 32; // degrees
const MARGIN = 1.2; // around what is fitted
const LIFT = 0.035; // of the picture's height, by which that is above its middle: words stand below it
const TRIANGLES = { quick: 12e6, slow: 6e5 }; // in a picture at most
const DIRECTION = new THREE.Vector3(-0.55, -1, 0.5); // from the target to the eye, at first

export class Picture {
  readonly canvas = byId<HTMLCanvasElement>("canvas");
  readonly bodies = new Bodies();
  private readonly stage = byId("stage");
  private readonly scene = new THREE.Scene();
  private readonly ground = new Ground();
  private readonly camera = new THREE.PerspectiveCamera(FOV, 1, 0.01, 100);
  private readonly renderer: THREE.WebGLRenderer;
  private readonly controls: OrbitControls;
  private readonly rest: Rest | null;
  private readonly most: number;
  private readonly frustum = new THREE.Frustum();
  private readonly preparing: (() => void)[] = [];
  private world: LargeScene | null = null;
  private size = 1; // of the world [m]
  private dirty = true;
  private newest = 0; // frame that was taken
  private told = 0; // frame that was answered
  private isTouched = false; // somebody has turned the view
  drawn = 0; // pictures
  scripted = 0; // time that the page's own script took for the last of them [ms]

  /** look: tell what was drawn, and where the eye is. */
  constructor(private readonly look: (look: Look) => void) {
    const isSlow = drawsInSoftware();
    this.most = isSlow ? TRIANGLES.slow : TRIANGLES.quick;
    this.renderer = new THREE.WebGLRenderer({
      canvas: this.canvas,
      alpha: true,
      antialias: !isSlow,
      preserveDrawingBuffer: true,
    });
    this.rest = isSlow ? new Rest(this.renderer.getContext() as WebGL2RenderingContext, restTimes()) : null;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, isSlow ? 1 : 2));
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableDamping = false;
    this.controls.zoomToCursor = true;
    this.controls.addEventListener("start", () => {
      this.isTouched = true;
    });
    this.controls.addEventListener("change", () => this.touch());
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x59616e, 1.7));
    const sun = new THREE.DirectionalLight(0xffffff, 1.9);
    sun.position.set(-0.5, -0.7, 1);
    this.scene.add(sun, this.ground.root, this.bodies.root);
    new ResizeObserver(() => this.resize()).observe(this.stage);
    onTheme(() => {
      this.ground.paint();
      this.bodies.paint();
      this.touch();
    });
    this.renderer.setAnimationLoop((now) => this.tick(now));
  }

  begin(scene: LargeScene): void {
    this.world = scene;
    this.bodies.begin(scene);
    const box = new THREE.Box3(new THREE.Vector3().fromArray(scene.low), new THREE.Vector3().fromArray(scene.high));
    const reach = Math.max(...scene.kinds.map(({ size }) => size), 1e-6);
    this.ground.begin(scene, box.clone().expandByScalar(reach / 2));
    this.isTouched = false;
    this.fitTo(this.shape(box.expandByScalar(reach)), DIRECTION);
  }

  /** Take a frame; whether it is of this world. */
  take(frame: LargeFrame): boolean {
    this.newest = frame.number;
    const isOurs = this.bodies.take(frame, performance.now());
    this.touch();
    return isOurs;
  }

  /** The newest frames belong to another line. */
  forget(): void {
    this.newest = this.told = 0;
  }

  touch(): void {
    this.dirty = true;
  }

  get isDrawn(): boolean {
    return !this.dirty;
  }

  /** Draw something more. */
  add(object: THREE.Object3D): void {
    this.scene.add(object);
  }

  /** Do this before each picture. */
  before(action: () => void): void {
    this.preparing.push(action);
  }

  /** Whether the pointer turns the view. */
  set turns(on: boolean) {
    this.controls.enabled = on;
  }

  /** The ray through a pixel of the canvas, and where the eye looks. */
  ray(x: number, y: number): { ray: THREE.Ray; sight: THREE.Vector3 } {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    const caster = new THREE.Raycaster();
    caster.setFromCamera(new THREE.Vector2((2 * x) / w - 1, 1 - (2 * y) / h), this.camera);
    return { ray: caster.ray, sight: this.camera.getWorldDirection(new THREE.Vector3()) };
  }

  /** World length of a pixel at a point. */
  readonly pixel = (at: THREE.Vector3): number =>
    (at.distanceTo(this.camera.position) * 2 * Math.tan((FOV * Math.PI) / 360)) / Math.max(1, this.canvas.clientHeight);

  /** Pixel of a point of the world, on the page. */
  project(at: THREE.Vector3): { x: number; y: number } {
    const box = this.canvas.getBoundingClientRect();
    const { x, y } = at.clone().project(this.camera);
    return { x: box.left + ((x + 1) / 2) * box.width, y: box.top + ((1 - y) / 2) * box.height };
  }

  /** Everything into the picture, as one looks now. */
  fit(): void {
    const box = this.bodies.box();
    const eye = this.camera.position.clone().sub(this.controls.target);
    if (box) this.fitTo(this.shape(box), eye);
  }

  /** What is to be seen: bodies, and of planes what stands around them. */
  private shape(box: THREE.Box3): THREE.Box3 {
    const walls = within(this.world?.planes ?? [], box);
    return (this.world?.planes.length ?? 0) > 1 ? box.clone().union(walls) : box;
  }

  private fitTo(box: THREE.Box3, direction: THREE.Vector3): void {
    const middle = box.getCenter(new THREE.Vector3());
    this.size = Math.max(box.getSize(new THREE.Vector3()).length(), 1e-6);
    this.camera.position.copy(middle).add(direction);
    this.camera.lookAt(middle);
    this.camera.updateMatrixWorld();
    const turned = this.camera.matrixWorldInverse.clone().setPosition(0, 0, 0);
    const high = Math.tan((FOV * Math.PI) / 360) / MARGIN;
    let away = 0;
    for (let k = 0; k < 8; k++) {
      const corner = new THREE.Vector3(
        k & 1 ? box.max.x : box.min.x,
        k & 2 ? box.max.y : box.min.y,
        k & 4 ? box.max.z : box.min.z,
      );
      const { x, y, z } = corner.sub(middle).applyMatrix4(turned);
      away = Math.max(away, Math.abs(y) / high + z, Math.abs(x) / (high * this.camera.aspect) + z);
    }
    away = Math.max(away, 1e-6);
    const up = new THREE.Vector3().setFromMatrixColumn(this.camera.matrixWorld, 1);
    middle.addScaledVector(up, -LIFT * 2 * away * Math.tan((FOV * Math.PI) / 360));
    this.camera.position.copy(middle).addScaledVector(direction.clone().normalize(), away);
    this.controls.target.copy(middle);
    this.controls.update();
    this.touch();
  }

  private resize(): void {
    const { clientWidth: w, clientHeight: h } = this.stage;
    if (w === 0 || h === 0) return;
    this.renderer.setSize(w, h, false);
    this.camera.aspect = w / h;
    this.camera.updateProjectionMatrix();
    if (this.world && !this.isTouched) this.fit();
    this.touch();
  }

  private tick(now: number): void {
    if (!this.dirty || (this.rest && !this.rest.isOver(now))) return;
    this.dirty = false;
    const began = performance.now();
    const away = this.camera.position.distanceTo(this.controls.target);
    this.camera.near = Math.max(0.01 * away, 1e-4 * this.size);
    this.camera.far = away + 6 * this.size;
    this.camera.updateProjectionMatrix();
    this.camera.updateMatrixWorld();
    const pixel = (2 * Math.tan((FOV * Math.PI) / 360)) / Math.max(1, this.canvas.clientHeight);
    pixelSize.value.set(pixel, 0);
    const matrix = new THREE.Matrix4().multiplyMatrices(this.camera.projectionMatrix, this.camera.matrixWorldInverse);
    this.frustum.setFromProjectionMatrix(matrix);
    this.bodies.refine(this.camera.position, this.frustum, pixel, this.most, began);
    for (const action of this.preparing) action();
    this.renderer.render(this.scene, this.camera);
    this.drawn += 1;
    this.scripted = performance.now() - began;
    this.rest?.begin(now);
    this.tell();
  }

  /** Answer the frames that are in this picture. */
  private tell(): void {
    this.told = this.newest;
    this.look({
      frame: this.told,
      eye: this.camera.position.toArray(),
      planes: this.frustum.planes.map(({ normal, constant }) => [normal.x, normal.y, normal.z, constant]),
    });
  }
}

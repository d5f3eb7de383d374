/** The picture's stage: renderer, camera, light, grid; it draws when something has changed. */

import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { byId } from "./dom";
import type { Scene } from "./messages";
import type { Store } from "./store";
import { colour, onTheme } from "./theme";

/** Is there no graphics processor? Then smooth edges cost more than they are worth. */
function drawsInSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}

export class View {
  readonly canvas = byId<HTMLCanvasElement>("canvas");
  private readonly frame = byId("stage");
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(38, 1, 0.001, 1000);
  readonly up = new THREE.Vector3(0, 0, 1);
  size = 1; // of the mechanism [m]
  drawn = 0; // pictures drawn
  follow: (() => THREE.Vector3 | null) | null = null;
  controls: OrbitControls;
  private renderer: THREE.WebGLRenderer;
  private grid: THREE.GridHelper | null = null;
  private dirty = true;
  private before: (() => void)[] = [];
  private followed: THREE.Vector3 | null = null;

  constructor(private readonly store: Store) {
    const isSlow = drawsInSoftware();
    this.renderer = new THREE.WebGLRenderer({
      canvas: this.canvas,
      alpha: true,
      antialias: !isSlow,
      preserveDrawingBuffer: true,
    });
    this.renderer.setPixelRatio(isSlow ? 1 : Math.min(devicePixelRatio, 2));
    const key = new THREE.DirectionalLight(0xffffff, 2.0);
    key.position.set(0.6, -0.5, 1);
    this.camera.add(key);
    this.scene.add(this.camera, new THREE.HemisphereLight(0xffffff, 0x8894a8, 1.5));
    this.controls = this.newControls();
    new ResizeObserver(() => this.resize()).observe(this.frame);
    onTheme(() => this.placeGrid());
    const loop = (): void => {
      requestAnimationFrame(loop);
      this.draw();
    };
    requestAnimationFrame(loop);
  }

  /** Do this before every picture. */
  onDraw(action: () => void): void {
    this.before.push(action);
  }

  /** Take objects out of the scene for good. */
  drop(...objects: THREE.Object3D[]): void {
    this.scene.remove(...objects);
    for (const object of objects) {
      object.traverse((part) => {
        if (part instanceof THREE.Mesh || part instanceof THREE.Line) part.geometry.dispose();
      });
    }
  }

  touch(): void {
    this.dirty = true;
  }

  /** Look at a new scene: which way is up, how large it is, from where it is seen best. */
  enter(scene: Scene, points: THREE.Vector3[]): void {
    const gravity = new THREE.Vector3().fromArray(scene.gravity);
    this.up.set(0, 0, 1);
    if (gravity.length() > 0) this.up.copy(gravity).negate().normalize();
    this.size = scene.size;
    this.camera.up.copy(this.up);
    this.camera.near = 0.005 * this.size;
    this.camera.far = 60 * this.size;
    this.controls.dispose();
    this.controls = this.newControls();
    this.fit(points, this.bestDirection(scene));
    this.placeGrid();
  }

  /** Bring all points into the picture, from the present side or from `direction`. */
  fit(points: THREE.Vector3[], direction?: THREE.Vector3): void {
    const box = new THREE.Box3().setFromPoints(points.length ? points : [new THREE.Vector3()]);
    const ball = box.getBoundingSphere(new THREE.Sphere());
    const radius = Math.max(ball.radius, 0.3 * this.size);
    const tan = Math.tan((this.camera.fov * Math.PI) / 360) * Math.min(1, this.camera.aspect);
    const away = direction ?? new THREE.Vector3().subVectors(this.camera.position, this.controls.target).normalize();
    this.controls.target.copy(ball.center).addScaledVector(this.up, -0.1 * radius); // room for the hint below
    this.camera.position.copy(this.controls.target).addScaledVector(away, (1.2 * radius) / tan);
    this.controls.update();
    this.camera.updateMatrixWorld(); // a press may come before the next picture
    this.low = Math.min(...points.map((p) => p.dot(this.up)), 0);
    this.touch();
  }

  /** World vector of a way in pixels at a point: right, up, away. */
  across(right: number, up: number, away: number, at: THREE.Vector3): THREE.Vector3 {
    return new THREE.Vector3(right, up, -away)
      .transformDirection(this.camera.matrixWorld)
      .multiplyScalar(Math.hypot(right, up, away) * this.pixel(at));
  }

  private low = 0;

  /** Pixel of a world point, from the canvas's corner. */
  project(p: THREE.Vector3): { x: number; y: number; ahead: boolean } {
    const v = p.clone().project(this.camera);
    const { clientWidth: w, clientHeight: h } = this.canvas;
    return { x: ((v.x + 1) / 2) * w, y: ((1 - v.y) / 2) * h, ahead: v.z < 1 };
  }

  /** World point under a pixel, on the plane through `through` that faces the camera. */
  unproject(x: number, y: number, through: THREE.Vector3): THREE.Vector3 {
    const ray = this.ray(x, y);
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(
      this.camera.getWorldDirection(new THREE.Vector3()),
      through,
    );
    return ray.intersectPlane(plane, new THREE.Vector3()) ?? through.clone();
  }

  ray(x: number, y: number): THREE.Ray {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    const caster = new THREE.Raycaster();
    caster.setFromCamera(new THREE.Vector2((2 * x) / w - 1, 1 - (2 * y) / h), this.camera);
    return caster.ray;
  }

  /** World length of one pixel at a point. */
  pixel(at: THREE.Vector3): number {
    const away = at.clone().sub(this.camera.position).dot(this.camera.getWorldDirection(new THREE.Vector3()));
    return (
      (2 * Math.max(away, this.camera.near) * Math.tan((this.camera.fov * Math.PI) / 360)) /
      Math.max(1, this.canvas.clientHeight)
    );
  }

  private newControls(): OrbitControls {
    const controls = new OrbitControls(this.camera, this.canvas);
    controls.enableDamping = false;
    controls.zoomToCursor = true;
    controls.addEventListener("change", () => this.touch());
    return controls;
  }

  /** Against the plane most joints turn in, from a little above and aside. */
  private bestDirection(scene: Scene): THREE.Vector3 {
    const normal = new THREE.Vector3();
    for (const joint of scene.joints) {
      if (joint.joint_type !== "revolute" && joint.joint_type !== "pin-slot") continue;
      const pose = this.store.pose(joint.first);
      if (!pose) continue;
      const axis = new THREE.Vector3(0, 0, 1)
        .applyQuaternion(new THREE.Quaternion().fromArray(joint.q_PF))
        .applyQuaternion(new THREE.Quaternion().fromArray(pose.q));
      normal.addScaledVector(axis, axis.dot(normal) < 0 ? -1 : 1);
    }
    if (normal.lengthSq() === 0 || Math.abs(normal.clone().normalize().dot(this.up)) > 0.9)
      normal.set(1, 0.2, 0).cross(this.up).cross(this.up).negate();
    normal.normalize();
    if (normal.dot(new THREE.Vector3(1, -0.3, 0.2)) < 0) normal.negate();
    const aside = normal.clone().cross(this.up).normalize();
    return normal.addScaledVector(aside, -0.32).addScaledVector(this.up, 0.2).normalize();
  }

  private placeGrid(): void {
    if (this.grid) {
      this.scene.remove(this.grid);
      this.grid.geometry.dispose();
    }
    const cell = 10 ** Math.round(Math.log10(this.size / 6));
    const count = 2 * Math.ceil((2.2 * this.size) / cell / 2) * 1;
    const lines = new THREE.Color(colour("grid"));
    this.grid = new THREE.GridHelper(count * cell, count, lines, lines);
    const material = this.grid.material as THREE.LineBasicMaterial;
    material.transparent = true;
    material.opacity = 0.55;
    this.grid.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), this.up);
    this.grid.position.copy(this.up).multiplyScalar(this.low - 0.05 * this.size);
    this.scene.add(this.grid);
    this.touch();
  }

  private resize(): void {
    const { clientWidth: w, clientHeight: h } = this.frame;
    if (w === 0 || h === 0) return;
    this.renderer.setSize(w, h, false);
    this.camera.aspect = w / h;
    this.camera.updateProjectionMatrix();
    this.touch();
  }

  private draw(): void {
    const place = this.follow?.() ?? null;
    if (place && this.followed) {
      const moved = place.clone().sub(this.followed);
      if (moved.lengthSq() > 0) {
        this.camera.position.add(moved);
        this.controls.target.add(moved);
        this.dirty = true;
      }
    }
    this.followed = place?.clone() ?? null;
    if (!this.dirty) return;
    this.dirty = false;
    this.camera.updateMatrixWorld();
    for (const action of this.before) action();
    this.renderer.render(this.scene, this.camera);
    this.drawn += 1;
  }
}

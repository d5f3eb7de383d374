/**
 * Two pictures side by side over the whole screen, for headsets that only show what a screen shows: the eyes' cameras
 * are apart by a share of the distance to what is looked at, and both look at it (off-axis).
 */

import * as THREE from "three";
import type { Stage } from "../stage";

const APART = 1 / 30; // of the distance to what is looked at
const FOV = 60; // degrees, of each eye, upwards

export class Pair {
  private readonly camera = new THREE.PerspectiveCamera(FOV);
  private readonly eyes = new THREE.StereoCamera();

  constructor(
    private readonly stage: Stage,
    private readonly area: HTMLElement,
    private readonly ended: () => void,
  ) {}

  /** Show it; a browser that gives no full screen has it in the page. */
  async begin(): Promise<void> {
    this.area.classList.add("pair");
    this.stage.view.paint((renderer) => this.paint(renderer));
    document.addEventListener("fullscreenchange", this.left);
    document.addEventListener("keydown", this.key);
    await this.area.requestFullscreen?.().catch(() => {});
  }

  end(): void {
    document.removeEventListener("fullscreenchange", this.left);
    document.removeEventListener("keydown", this.key);
    if (document.fullscreenElement === this.area) void document.exitFullscreen();
    this.area.classList.remove("pair");
    this.stage.view.paint(null);
    this.ended();
  }

  private readonly left = (): void => {
    if (!document.fullscreenElement) this.end();
  };

  private readonly key = (event: KeyboardEvent): void => {
    if (event.key === "Escape") this.end();
  };

  private paint(renderer: THREE.WebGLRenderer): void {
    const { view } = this.stage;
    const size = renderer.getSize(new THREE.Vector2());
    const target = view.controls.target;
    const way = view.camera.getWorldDirection(new THREE.Vector3());
    const tan = (degrees: number): number => Math.tan((degrees * Math.PI) / 360);
    const half =
      view.camera instanceof THREE.PerspectiveCamera
        ? target.distanceTo(view.camera.position) * tan(view.camera.fov)
        : view.camera.top / view.camera.zoom;
    const distance = half / tan(FOV); // as large as in the page
    this.camera.up.copy(view.up);
    this.camera.position.copy(target).addScaledVector(way, -distance);
    this.camera.quaternion.copy(view.camera.quaternion);
    this.camera.aspect = size.x / size.y; // of both halves; StereoCamera halves it by its own aspect
    this.camera.near = 0.02 * distance;
    this.camera.far = 100 * distance;
    this.camera.focus = distance;
    this.camera.updateProjectionMatrix();
    this.camera.updateMatrixWorld();
    this.eyes.aspect = 0.5;
    this.eyes.eyeSep = APART * distance;
    this.eyes.update(this.camera);
    renderer.setScissorTest(true);
    for (const [eye, x] of [
      [this.eyes.cameraL, 0],
      [this.eyes.cameraR, size.x / 2],
    ] as const) {
      renderer.setScissor(x, 0, size.x / 2, size.y);
      renderer.setViewport(x, 0, size.x / 2, size.y);
      renderer.render(view.scene, eye);
    }
    renderer.setScissorTest(false);
    renderer.setViewport(0, 0, size.x, size.y);
  }
}

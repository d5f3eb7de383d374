/** A camera that sees as a real one does: by its focal lengths and centre, from where it was. */

import * as THREE from "three";
import type { Lens } from "../messages";

/** Where an OpenCV camera (x right, y down, z ahead) looks, seen from a camera of three.js. */
const FLIP = new THREE.Matrix4().makeScale(1, -1, -1);

/** Projection of a lens without its distortion; pixel centres are at whole numbers. */
export function projection(lens: Lens, near: number, far: number, share: THREE.Vector2): THREE.Matrix4 {
  const { width: w, height: h, fx, fy, cx, cy } = lens;
  const deep = [-(far + near) / (far - near), (-2 * far * near) / (far - near)] as const;
  const [x, y] = [share.x, share.y];
  // biome-ignore format: rows of a matrix
  return new THREE.Matrix4().set(
    (x * 2 * fx) / w, 0, x * (1 - (2 * (cx + 0.5)) / w), 0,
    0, (y * 2 * fy) / h, y * ((2 * (cy + 0.5)) / h - 1), 0,
    0, 0, deep[0], deep[1],
    0, 0, -1, 0,
  );
}

/** Which share of a canvas a picture fills that lies in it whole. */
export function shareOf(picture: number, canvas: number): THREE.Vector2 {
  return picture < canvas ? new THREE.Vector2(picture / canvas, 1) : new THREE.Vector2(1, canvas / picture);
}

export class SeenCamera extends THREE.PerspectiveCamera {
  readonly share = new THREE.Vector2(1, 1); // of the canvas
  unit = 1; // a metre of the room, in lengths of the mechanism's world
  private canvas = 1; // its width over its height

  constructor(readonly lens: Lens) {
    super();
    this.updateProjectionMatrix();
  }

  /** The canvas has another shape. */
  fitTo(aspect: number): void {
    this.canvas = aspect;
    this.updateProjectionMatrix();
  }

  /** Stand where the mechanism's world is seen as X_KW, column by column, a similarity [m]. */
  stand(X_KW: THREE.Matrix4, size: number): void {
    const X_WK = X_KW.clone().invert().multiply(FLIP);
    X_WK.decompose(this.position, this.quaternion, this.scale);
    const scale = this.scale.x;
    this.unit = scale;
    this.scale.set(1, 1, 1);
    const away = this.position.length();
    this.near = Math.max(0.01 * scale, 1e-3 * away);
    this.far = Math.max(20 * scale, 2 * away + 10 * size);
    this.updateMatrixWorld(true);
    this.updateProjectionMatrix();
  }

  override updateProjectionMatrix(): void {
    if (!this.lens) return; // called before there is one
    this.share.copy(shareOf(this.lens.width / this.lens.height, this.canvas));
    this.projectionMatrix.copy(projection(this.lens, this.near, this.far, this.share));
    this.projectionMatrixInverse.copy(this.projectionMatrix).invert();
  }
}

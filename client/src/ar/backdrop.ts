/** The camera's picture behind everything, with the bend of its lens taken out. */

import * as THREE from "three";
import type { Lens } from "../messages";
import { PICTURE_LAYER } from "../view";

const VERTEX = `
varying vec2 at;
void main() {
  at = position.xy;
  gl_Position = vec4(position.xy, 1.0, 1.0);
}`;
// x' = x (1 + k1 r² + k2 r⁴ + k3 r⁶) + 2 p1 x y + p2 (r² + 2 x²), y' alike: src/impulsar/ar/optics.py
const FRAGMENT = `
precision highp float;
uniform sampler2D map;
uniform vec2 share, size, focal, centre;
uniform float bend[5];
varying vec2 at;
void main() {
  vec2 ideal = ((at * vec2(1.0, -1.0) / share + 1.0) * size / 2.0 - 0.5 - centre) / focal;
  float x = ideal.x, y = ideal.y, rr = dot(ideal, ideal);
  float radial = 1.0 + rr * (bend[0] + rr * (bend[1] + rr * bend[4]));
  vec2 bent = ideal * radial + vec2(
    2.0 * bend[2] * x * y + bend[3] * (rr + 2.0 * x * x),
    bend[2] * (rr + 2.0 * y * y) + 2.0 * bend[3] * x * y);
  vec2 uv = (bent * focal + centre + 0.5) / size;
  if (any(greaterThan(abs(at), share)) || any(lessThan(uv, vec2(0.0))) || any(greaterThan(uv, vec2(1.0)))) discard;
  gl_FragColor = vec4(texture2D(map, uv).rgb, 1.0);
  #include <colorspace_fragment>
}`;

export class Backdrop {
  readonly mesh: THREE.Mesh;
  private readonly texture = new THREE.Texture();
  private readonly material: THREE.ShaderMaterial;

  constructor(lens: Lens, share: THREE.Vector2) {
    this.texture.flipY = false;
    this.texture.generateMipmaps = false;
    this.texture.minFilter = THREE.LinearFilter;
    this.texture.colorSpace = THREE.SRGBColorSpace;
    this.material = new THREE.ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      depthTest: false,
      depthWrite: false,
      uniforms: {
        map: { value: this.texture },
        share: { value: share },
        size: { value: new THREE.Vector2(lens.width, lens.height) },
        focal: { value: new THREE.Vector2(lens.fx, lens.fy) },
        centre: { value: new THREE.Vector2(lens.cx, lens.cy) },
        bend: { value: lens.distortion },
      },
    });
    const corners = new Float32Array([-1, -1, 0, 3, -1, 0, -1, 3, 0]); // one triangle over all of the canvas
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(corners, 3));
    this.mesh = new THREE.Mesh(geometry, this.material);
    this.mesh.renderOrder = -1000;
    this.mesh.layers.enable(PICTURE_LAYER);
    this.mesh.frustumCulled = false;
    this.mesh.raycast = () => {};
  }

  /** Show a picture from now on. */
  show(picture: ImageBitmap): void {
    const before = this.texture.image as ImageBitmap | null;
    if (before && (before.width !== picture.width || before.height !== picture.height)) this.texture.dispose();
    this.texture.image = picture;
    this.texture.needsUpdate = true;
    before?.close();
  }

  dispose(): void {
    (this.texture.image as ImageBitmap | null)?.close();
    this.texture.dispose();
    this.material.dispose();
    this.mesh.geometry.dispose();
  }
}

/** The camera's picture behind everything, with the bend of its lens taken out. */

import * as THREE from "three";
import type { Lens } from "../messages";
import { overAll, WHOLE } from "../realdepth";
import { PICTURE_LAYER } from "../view";

/** Where a place of the canvas is in the picture as the lens bends it, from its top left corner. */
// x' = x (1 + k1 r² + k2 r⁴ + k3 r⁶) + 2 p1 x y + p2 (r² + 2 x²), y' alike: src/impulsar/ar/optics.py
export const BENT = `
uniform vec2 share, size, focal, centre;
uniform float bend[5];
vec2 place(vec2 at) {
  vec2 ideal = ((at * vec2(1.0, -1.0) / share + 1.0) * size / 2.0 - 0.5 - centre) / focal;
  float x = ideal.x, y = ideal.y, rr = dot(ideal, ideal);
  float radial = 1.0 + rr * (bend[0] + rr * (bend[1] + rr * bend[4]));
  vec2 bent = ideal * radial + vec2(
    2.0 * bend[2] * x * y + bend[3] * (rr + 2.0 * x * x),
    bend[2] * (rr + 2.0 * y * y) + 2.0 * bend[3] * x * y);
  return (bent * focal + centre + 0.5) / size;
}`;
const FRAGMENT = `
precision highp float;
uniform sampler2D map;
varying vec2 at;
${BENT}
void main() {
  vec2 uv = place(at);
  if (any(greaterThan(abs(at), share)) || any(lessThan(uv, vec2(0.0))) || any(greaterThan(uv, vec2(1.0)))) discard;
  gl_FragColor = vec4(texture2D(map, uv).rgb, 1.0);
  #include <colorspace_fragment>
}`;

/** Values of BENT; `share` is of the canvas, and may change. */
export function bentBy(lens: Lens, share: THREE.Vector2): Record<string, THREE.IUniform> {
  return {
    share: { value: share },
    size: { value: new THREE.Vector2(lens.width, lens.height) },
    focal: { value: new THREE.Vector2(lens.fx, lens.fy) },
    centre: { value: new THREE.Vector2(lens.cx, lens.cy) },
    bend: { value: lens.distortion },
  };
}

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
      vertexShader: WHOLE,
      fragmentShader: FRAGMENT,
      depthTest: false,
      depthWrite: false,
      uniforms: {
        map: { value: this.texture },
        ...bentBy(lens, share),
      },
    });
    this.mesh = overAll(this.material);
    this.mesh.renderOrder = -1000;
    this.mesh.layers.enable(PICTURE_LAYER);
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

/**
 * How far what is real is, measured by a camera or a headset: written into the depth buffer and into nothing else, it
 * hides what is drawn behind it, as somebody's hand does.
 */

import * as THREE from "three";

const MARGIN = 0.01; // by which something real must be nearer to hide something: the noise of depths [m]

/** Vertices of one triangle over all of the canvas. */
export const WHOLE = `
varying vec2 at;
void main() {
  at = position.xy;
  gl_Position = vec4(position.xy, 1.0, 1.0);
}`;

// clip z = P₂₂ (-z) + P₂₃ and clip w = z, z the distance along the sight
const fragment = (place: string) => `
precision highp float;
uniform sampler2D depths;
uniform vec2 ends;
uniform float scale;
varying vec2 at;
${place}
void main() {
  vec2 uv = place(at);
  if (any(lessThan(uv, vec2(0.0))) || any(greaterThan(uv, vec2(1.0)))) discard;
  float depth = texture2D(depths, uv).r;
  if (!(depth > 0.0)) discard;
  float z = (depth + ${MARGIN.toFixed(4)}) * scale;
  gl_FragDepth = clamp(0.5 + 0.5 * (ends.y - ends.x * z) / z, 0.0, 1.0);
  gl_FragColor = vec4(0.0);
}`;

/** A mesh over all of the canvas. */
export function overAll(material: THREE.Material): THREE.Mesh {
  const geometry = new THREE.BufferGeometry();
  const corners = new Float32Array([-1, -1, 0, 3, -1, 0, -1, 3, 0]);
  geometry.setAttribute("position", new THREE.BufferAttribute(corners, 3));
  const mesh = new THREE.Mesh(geometry, material);
  mesh.frustumCulled = false;
  mesh.raycast = () => {};
  return mesh;
}

/** Depths of one eye; `place` is GLSL of where a place of the canvas is in them, from their top left corner. */
export class RealDepth {
  readonly mesh: THREE.Mesh;
  private readonly material: THREE.ShaderMaterial;
  private texture: THREE.DataTexture | null = null;

  constructor(place: string, uniforms: Record<string, THREE.IUniform>) {
    this.material = new THREE.ShaderMaterial({
      vertexShader: WHOLE,
      fragmentShader: fragment(place),
      colorWrite: false,
      uniforms: { ...uniforms, depths: { value: null }, ends: { value: new THREE.Vector2() }, scale: { value: 1 } },
    });
    this.mesh = overAll(this.material);
    this.mesh.renderOrder = -999;
    this.mesh.visible = false;
    this.mesh.onBeforeRender = (_renderer, _scene, camera) => this.look(camera);
  }

  /** Lengths of the scene over metres. */
  set scale(value: number) {
    (this.material.uniforms.scale as THREE.IUniform<number>).value = value;
  }

  /** Take depths [m], row by row from the top; 0: nobody knows. */
  take(depths: Float32Array<ArrayBuffer>, columns: number, rows: number): void {
    const { texture } = this;
    if (texture && texture.image.width === columns && texture.image.height === rows) {
      (texture.image.data as Float32Array).set(depths);
    } else {
      texture?.dispose();
      this.texture = new THREE.DataTexture(depths, columns, rows, THREE.RedFormat, THREE.FloatType);
      (this.material.uniforms.depths as THREE.IUniform).value = this.texture;
    }
    if (this.texture) this.texture.needsUpdate = true;
    this.mesh.visible = true;
  }

  /** Through this camera. */
  private look({ projectionMatrix: { elements } }: THREE.Camera): void {
    (this.material.uniforms.ends as THREE.IUniform<THREE.Vector2>).value.set(elements[10] ?? 0, elements[14] ?? 0);
    this.material.uniformsNeedUpdate = true;
  }

  dispose(): void {
    this.texture?.dispose();
    this.material.dispose();
    this.mesh.geometry.dispose();
  }
}

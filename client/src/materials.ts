/** How things look: surfaces at least two pixels wide, and the line around what is picked. */

import * as THREE from "three";

const LEAST = 1; // pixels to each side of a thin part's middle
const LINE = 2.2; // pixels of the line around what is picked

/** World length of a pixel: x times the distance, plus y. Set before every picture. */
export const pixelSize = { value: new THREE.Vector2(0, 0) };

const GROWN = `
#include <begin_vertex>
{
  vec4 seen = vec4(transformed, 1.0);
  #ifdef USE_INSTANCING
    seen = instanceMatrix * seen;
  #endif
  seen = modelViewMatrix * seen;
  float pixel = pixelSize.y - pixelSize.x * seen.z;
  transformed += GROWTH;
}`;

/** Have a material's surfaces moved outwards by what the shader says. */
function growing<M extends THREE.Material>(material: M, growth: string, declared: string): M {
  material.onBeforeCompile = (shader) => {
    shader.uniforms.pixelSize = pixelSize;
    shader.vertexShader = `uniform vec2 pixelSize;\n${declared}\n${shader.vertexShader.replace(
      "#include <begin_vertex>",
      GROWN.replace("GROWTH", growth),
    )}`;
  };
  material.customProgramCacheKey = () => growth;
  return material;
}

/** A painted surface that is never thinner than two pixels. */
export function surface(options: THREE.MeshStandardMaterialParameters = {}): THREE.MeshStandardMaterial {
  const material = new THREE.MeshStandardMaterial({ roughness: 0.55, metalness: 0.05, ...options });
  return growing(material, `normal * max(0.0, ${LEAST.toFixed(1)} * pixel - thin)`, "attribute float thin;");
}

/** A geometry that knows half of its least thickness [m]. */
export function grown(geometry: THREE.BufferGeometry, thin: number): THREE.BufferGeometry {
  const count = geometry.getAttribute("position").count;
  geometry.setAttribute("thin", new THREE.BufferAttribute(new Float32Array(count).fill(thin), 1));
  return geometry;
}

/** What shows only where it stands out behind a part: a line around it. */
export function outlineMaterial(colour: string): THREE.Material {
  const material = new THREE.MeshBasicMaterial({ color: colour, side: THREE.BackSide });
  const growth = `smoothed * (${LINE.toFixed(1)} * pixel + max(0.0, ${LEAST.toFixed(1)} * pixel - thin))`;
  return growing(material, growth, "attribute float thin;\nattribute vec3 smoothed;");
}

/** Give a geometry normals that are the same for all corners at one place, so that what grows by them has no gaps. */
export function smoothNormals(geometry: THREE.BufferGeometry): THREE.BufferGeometry {
  if (geometry.getAttribute("smoothed")) return geometry;
  const [at, normal] = [geometry.getAttribute("position"), geometry.getAttribute("normal")];
  const sums = new Map<string, THREE.Vector3>();
  const place = (k: number) => `${at.getX(k).toFixed(6)} ${at.getY(k).toFixed(6)} ${at.getZ(k).toFixed(6)}`;
  for (let k = 0; k < at.count; k++) {
    const own = new THREE.Vector3().fromBufferAttribute(normal as THREE.BufferAttribute, k);
    const known = sums.get(place(k));
    if (known) known.add(own);
    else sums.set(place(k), own);
  }
  for (const sum of sums.values()) sum.normalize();
  const values = new Float32Array(3 * at.count);
  for (let k = 0; k < at.count; k++) sums.get(place(k))?.toArray(values, 3 * k);
  geometry.setAttribute("smoothed", new THREE.BufferAttribute(values, 3));
  return geometry;
}

/** What a headset measures of the room, eye by eye: hands and furniture hide what is behind them. */

import * as THREE from "three";
import { RealDepth } from "../realdepth";

// of a place of the eye's picture, from its top left corner, to one of the depths
const PLACE = `
uniform mat4 toDepths;
vec2 place(vec2 at) {
  return (toDepths * vec4(0.5 + 0.5 * at.x, 0.5 - 0.5 * at.y, 0.0, 1.0)).xy;
}`;

/** What to ask of a session for it; browsers that have none leave it out. */
export const DEPTH_SENSING: XRDepthStateInit = {
  usagePreference: ["cpu-optimized"],
  dataFormatPreference: ["luminance-alpha", "float32", "unsigned-short"],
};

/** Does a session measure depths that scripts can read? Browsers throw where it was not granted. */
function measures(session: XRSession): boolean {
  try {
    const isGranted = session.enabledFeatures?.includes("depth-sensing") ?? true;
    return isGranted && session.depthUsage === "cpu-optimized";
  } catch {
    return false;
  }
}

export class RoomDepth {
  readonly group = new THREE.Group();
  private readonly isOn: boolean;
  private eyes: { depth: RealDepth; toDepths: THREE.Matrix4 }[] = [];

  constructor(private readonly session: XRSession) {
    this.isOn = measures(session);
  }

  /** How many eyes it was measured for, at the last picture. */
  get measured(): number {
    return this.eyes.filter(({ depth }) => depth.mesh.visible).length;
  }

  update(frame: XRFrame, views: readonly XRView[]): void {
    if (!this.isOn) return;
    views.forEach((view, k) => {
      const found = frame.getDepthInformation(view);
      const eye = this.eyes[k] ?? this.open(k);
      eye.depth.mesh.visible = false;
      if (!found) return;
      eye.toDepths.fromArray(found.normDepthBufferFromNormView.matrix);
      eye.depth.take(this.metres(found), found.width, found.height);
    });
  }

  dispose(): void {
    for (const { depth } of this.eyes) depth.dispose();
    this.group.clear();
  }

  /** An eye's own mesh: three.js gives its left eye layer 1 and its right one layer 2. */
  private open(k: number): (typeof this.eyes)[number] {
    const toDepths = new THREE.Matrix4();
    const depth = new RealDepth(PLACE, { toDepths: { value: toDepths } });
    const eye = { depth, toDepths };
    depth.mesh.layers.set(k + 1);
    this.eyes[k] = eye;
    this.group.add(depth.mesh);
    return eye;
  }

  private metres({ data, rawValueToMeters, width, height }: XRCPUDepthInformation): Float32Array<ArrayBuffer> {
    const count = width * height;
    const raw = this.session.depthDataFormat === "float32" ? new Float32Array(data) : new Uint16Array(data);
    return Float32Array.from(raw.subarray(0, count), (value) => rawValueToMeters * value);
  }
}

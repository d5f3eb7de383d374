/** Joints that are cut: the frames of both sides, the gap between them, and how wide it is. */

import * as THREE from "three";
import { IconColours, path } from "./icons3d";
import { relative } from "./kinematics";
import { show } from "./numbers";
import type { Stage } from "./stage";
import { colour, onTheme } from "./theme";

const LABEL = "cut ";
const LONG = 4; // axes of a frame, of a pin's radius

interface Drawn {
  sides: [THREE.AxesHelper, THREE.AxesHelper]; // F and M
  gap: THREE.Line;
}

export class Cuts {
  private root = new THREE.Group();
  private drawn = new Map<string, Drawn>();
  private colours = new IconColours();

  constructor(private readonly stage: Stage) {
    onTheme(() => this.colours.set(colour("bad")));
    stage.view.scene.add(this.root);
    stage.store.on("topology", () => this.build());
    stage.store.on("shown", () => this.place());
  }

  /** How far the sides of a joint are apart, for tests: metres and radians. */
  gapOf(name: string): [number, number] | null {
    const joint = this.stage.store.joint(name);
    const [F, M] = joint ? [this.stage.mechanism.frameF(joint), this.stage.mechanism.frameM(joint)] : [null, null];
    if (!F || !M) return null;
    const { p, q } = relative(F, M);
    return [p.length(), 2 * Math.atan2(Math.hypot(q.x, q.y, q.z), Math.abs(q.w))];
  }

  private build(): void {
    this.root.clear();
    this.drawn.clear();
    for (const { name, closed } of this.stage.store.scene?.joints ?? []) {
      if (closed === null) continue;
      const side = (): THREE.AxesHelper => {
        const axes = new THREE.AxesHelper(1);
        (axes.material as THREE.Material).depthTest = false;
        axes.renderOrder = 6;
        return axes;
      };
      const found: Drawn = { sides: [side(), side()], gap: path(this.colours) };
      this.root.add(...found.sides, found.gap);
      this.drawn.set(name, found);
    }
    this.stage.labels.keepOnly(LABEL, new Set([...this.drawn.keys()].map((name) => `${LABEL}${name}`)));
    this.place();
  }

  private place(): void {
    const { store, mechanism, labels, view } = this.stage;
    for (const [name, { sides, gap }] of this.drawn) {
      const joint = store.joint(name);
      const frames = joint && [mechanism.frameF(joint), mechanism.frameM(joint)];
      const [F, M] = frames ?? [];
      const width = this.gapOf(name);
      if (!F || !M || !width) continue;
      [F, M].forEach(({ p, q }, k) => {
        sides[k]?.position.copy(p);
        sides[k]?.quaternion.copy(q);
        sides[k]?.scale.setScalar(LONG * mechanism.pin);
      });
      gap.geometry.setFromPoints([F.p, M.p]);
      const text = `${name}, cut: ${show(width[0] < 1e-6 * view.size ? 0 : width[0], 3)} m apart`;
      labels.set(`${LABEL}${name}`, text, F.p.clone().lerp(M.p, 0.5), "name joint");
    }
  }
}

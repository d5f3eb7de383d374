/** Modes in the picture: a pale copy of the mechanism that vibrates about where it rests; the world is as it was. */

import * as THREE from "three";
import { Instances, type Piece } from "../instances";
import { surface } from "../materials";
import type { Mode } from "../messages";
import type { Stage } from "../stage";
import { colour } from "../theme";

const SHOWN = 0.7; // times a second that a mode is shown to swing, whatever its frequency
const OPACITY = 0.55;

export class Swinging {
  amplitude = 0.6; // of the largest swing there are poses of
  private readonly material = surface({ transparent: true, opacity: OPACITY, depthWrite: false });
  private readonly instances = new Instances({
    body: this.material,
    joint: this.material,
    spring: this.material,
    ground: this.material,
  });
  private mode: Mode | null = null;
  private order: number[] = []; // place of each of the scene's bodies in the poses
  private carriers: THREE.Matrix4[] = [];
  private share = 0; // of the swing that is shown, -1 to 1

  constructor(private readonly stage: Stage) {
    const { store, view } = stage;
    view.scene.add(this.instances.root);
    store.on("topology", () => this.stop());
  }

  get isOn(): boolean {
    return this.mode !== null;
  }

  /** How far from rest it is shown, of the largest swing, and where bodies are shown. */
  get state(): { share: number; places: number[][] } | null {
    if (!this.mode) return null;
    return { share: this.share, places: this.carriers.map((one) => one.elements.slice(12, 15) as unknown as number[]) };
  }

  start(mode: Mode, bodies: string[]): void {
    this.stop();
    const scene = this.stage.store.scene;
    if (!scene) return;
    this.mode = mode;
    this.order = scene.bodies.map(({ name }) => bodies.indexOf(name));
    this.carriers = scene.bodies.map(() => new THREE.Matrix4());
    this.build();
    const tick = (now: number): void => {
      if (this.mode !== mode) return;
      this.show(Math.sin(2e-3 * Math.PI * SHOWN * now));
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  stop(): void {
    this.mode = null;
    this.instances.clear();
    this.stage.view.touch();
  }

  /** Where bodies are at a share of the swing, -1 to 1. */
  private show(phase: number): void {
    if (!this.mode) return;
    this.share = this.amplitude * phase;
    const { poses } = this.mode;
    const place = ((this.share + 1) / 2) * (poses.length - 1);
    const k = Math.min(Math.floor(place), poses.length - 2);
    const [from = [], to = []] = [poses[k], poses[k + 1]];
    for (const [n, carrier] of this.carriers.entries()) {
      const at = 7 * (this.order[n] ?? 0);
      position.fromArray(from, at).lerp(next.fromArray(to, at), place - k);
      turn.fromArray(from, at + 3).slerp(nextTurn.fromArray(to, at + 3), place - k);
      carrier.compose(position, turn, ONE);
    }
    this.instances.move(this.carriers);
    this.stage.view.touch();
  }

  private build(): void {
    const { mechanism } = this.stage;
    const carried = mechanism
      .drawnPieces()
      .filter((one): one is Piece => "local" in one && one.carrier >= 0 && one.look !== "spring");
    for (const piece of carried) {
      if (piece.part && mechanism.isHidden(piece.part)) continue;
      this.instances.add({ ...piece, part: null, key: `${piece.key} mode` });
    }
    this.instances.finish();
    this.instances.root.traverse((part) => {
      part.castShadow = part.receiveShadow = false;
      part.raycast = () => {};
    });
    const pale = new THREE.Color(colour("hover"));
    this.instances.paint(() => pale);
  }
}

const ONE = new THREE.Vector3(1, 1, 1);
const position = new THREE.Vector3();
const next = new THREE.Vector3();
const turn = new THREE.Quaternion();
const nextTurn = new THREE.Quaternion();

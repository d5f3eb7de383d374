/** Taking hold: press on a body and pull. With time stopped the same gesture drags kinematically. */

import * as THREE from "three";
import { Stream } from "./actions";
import type { Drag, Press, Presser } from "./gestures";
import { coil } from "./glyphs";
import { show, type Vec3 } from "./numbers";
import type { Stage } from "./stage";
import { colour, onTheme } from "./theme";

const COIL_POINTS = 140;

interface HandLine {
  line: THREE.Line;
  points: Float32Array;
  ball: THREE.Mesh;
}

/** Holds one body, by hand or, while time is stopped, by dragging it. */
export class Hold {
  private stream: Stream;
  private readonly hand: string | null;
  private through: THREE.Vector3; // the target lies in the plane through it that faces the camera
  private target: THREE.Vector3;

  constructor(
    private readonly stage: Stage,
    private readonly grip: { body: string; at: Vec3; start: THREE.Vector3 },
    hand: { name: string; stiffness: number; damping: number } | null,
  ) {
    const { body, at, start } = grip;
    this.stream = new Stream(stage.actions, hand ? 3 : 1);
    this.hand = hand?.name ?? null;
    this.through = start.clone();
    this.target = start.clone();
    if (!hand) return;
    const { name, stiffness, damping } = hand;
    void stage.actions.apply({ edit: "Grab", hand: name, body, at, stiffness, damping });
  }

  toPixel(x: number, y: number): void {
    this.to(this.stage.view.unproject(x, y, this.through));
  }

  to(target: THREE.Vector3): void {
    this.target.copy(target);
    const point = target.toArray();
    if (this.hand) this.stream.send({ edit: "Move", hand: this.hand, target: point });
    else this.stream.send({ edit: "DragTo", body: this.grip.body, target: point, at: this.grip.at });
  }

  /** Move the target by pixels: right, up, away. */
  nudge(right: number, up: number, away: number): void {
    const target = this.target.clone().add(this.stage.view.across(right, up, away, this.target));
    this.through.copy(target);
    this.to(target);
  }

  release(): void {
    this.stream.flush();
    if (this.hand) void this.stage.actions.apply({ edit: "Release", hand: this.hand });
  }
}

export class Grab implements Presser {
  stiffness = 1000; // [N/m]
  damping = 10; // [N s/m]
  private readonly id = Math.floor(Math.random() * 0xffff)
    .toString(16)
    .padStart(4, "0");
  private count = 0;
  private lines = new Map<string, HandLine>();
  private material = new THREE.LineBasicMaterial({ depthTest: false, transparent: true });
  private ballMaterial = new THREE.MeshBasicMaterial({ depthTest: false, transparent: true });
  private byKeys: Hold | null = null;

  constructor(private readonly stage: Stage) {
    const { store } = stage;
    onTheme(() => {
      this.material.color.set(colour("hand"));
      this.ballMaterial.color.set(colour("hand"));
    });
    store.on("frame", () => this.draw());
    store.on("live", () => this.draw());
    store.on("line", (connected) => {
      if (!connected) this.byKeys = null;
    });
    store.on("pick", (pick) => {
      if (this.byKeys && pick === null) this.releaseKeys();
    });
  }

  press({ x, y, isTouch }: Press): Drag | null {
    const hit = this.stage.picking.hit(x, y, ["body"], isTouch);
    if (!hit) {
      const other = this.stage.picking.hit(x, y, ["joint", "spring"], isTouch);
      return (
        other && {
          move: () => {},
          end: () => this.stage.store.setPick({ kind: other.kind, name: other.name }),
          cancel: () => {},
        }
      );
    }
    let hold: Hold | null = null;
    let last = { x, y };
    const begin = (): Hold => (hold ??= this.hold(hit.name, hit.at));
    return {
      move: (toX, toY) => {
        last = { x: toX, y: toY };
        begin().toPixel(toX, toY);
      },
      deepen: (pixels) => {
        const holding = begin();
        holding.nudge(0, 0, pixels);
        holding.toPixel(last.x, last.y);
      },
      end: (moved) => {
        hold?.release();
        if (moved) return;
        const front = this.stage.picking.hit(x, y, ["joint", "spring", "body"], isTouch) ?? hit;
        this.stage.store.setPick({
          kind: front.kind,
          name: front.name,
          at: front.kind === "body" ? front.at : undefined,
        });
      },
      cancel: () => hold?.release(),
    };
  }

  /** Take the picked body with the keyboard, or let it go. */
  toggleKeys(): void {
    const pick = this.stage.store.pick;
    if (this.byKeys) this.releaseKeys();
    else if (pick?.kind === "body") this.byKeys = this.hold(pick.name, pick.at ?? [0, 0, 0]);
  }

  get holdsByKeys(): boolean {
    return this.byKeys !== null;
  }

  nudge(right: number, up: number, away: number): void {
    this.byKeys?.nudge(right, up, away);
  }

  releaseKeys(): void {
    this.byKeys?.release();
    this.byKeys = null;
  }

  private hold(body: string, at: Vec3): Hold {
    const start = this.stage.mechanism.point(body, at) ?? new THREE.Vector3();
    const isStopped = this.stage.store.status?.paused ?? false;
    this.count += 1;
    const hand = { name: `hand ${this.id}-${this.count}`, stiffness: this.stiffness, damping: this.damping };
    return new Hold(this.stage, { body, at, start }, isStopped ? null : hand);
  }

  /** Every hand of every client, as its spring with its force. */
  private draw(): void {
    const { live, frame } = this.stage.store;
    if (!live || !frame || frame.revision !== live.revision) return;
    const keys = new Set<string>();
    live.hands.forEach((hand, k) => {
      const held = new THREE.Vector3().fromArray(frame.hands, 9 * k);
      const target = new THREE.Vector3().fromArray(frame.hands, 9 * k + 3);
      const force = new THREE.Vector3().fromArray(frame.hands, 9 * k + 6);
      const key = `hand ${hand.name}`;
      keys.add(key);
      const line = this.line(key);
      coil(line.points, held, target, 0.6 * this.stage.mechanism.pin, 14);
      line.line.geometry.getAttribute("position").needsUpdate = true;
      line.ball.position.copy(target);
      line.ball.scale.setScalar(0.9 * this.stage.mechanism.pin);
      this.stage.labels.set(key, `${show(force.length())} N`, target, "hand");
    });
    for (const [key, line] of this.lines) {
      if (keys.has(key)) continue;
      this.stage.view.drop(line.line, line.ball);
      this.lines.delete(key);
    }
    this.stage.labels.keepOnly("hand ", keys);
    this.stage.view.touch();
  }

  private line(key: string): HandLine {
    let found = this.lines.get(key);
    if (!found) {
      const points = new Float32Array(3 * COIL_POINTS);
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(points, 3));
      found = {
        line: new THREE.Line(geometry, this.material),
        points,
        ball: new THREE.Mesh(new THREE.SphereGeometry(1, 14, 10), this.ballMaterial),
      };
      found.line.frustumCulled = false;
      found.line.renderOrder = found.ball.renderOrder = 5;
      this.lines.set(key, found);
      this.stage.view.scene.add(found.line, found.ball);
    }
    return found;
  }
}

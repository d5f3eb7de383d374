/**
 * A headset's session: the mechanism stands in the room, is held by controllers and hands, and a board is in reach.
 *
 * The scene stays in the world's coordinates. The room is a group in it that has the headset's camera and all that is
 * of the room; placing, turning and scaling the mechanism moves the room about it.
 */

import * as THREE from "three";
import { show } from "../numbers";
import type { Hit } from "../picking";
import type { Eye } from "../view";
import { Board, type BoardButton } from "./board";
import { RoomDepth } from "./depth";
import { Holding } from "./holding";
import type { Mode, Parts } from "./modes";
import { byThreePoints, clampScale, facing, foot, matrixOf, type Placed, scaled, standing } from "./placement";
import { Placing } from "./placing";
import { type Pointer, Pointers } from "./pointers";
import { Tags } from "./tags";
import { Whole } from "./whole";

const NEAR = 0.03; // reach of a tip [m]
const SPREAD = 0.014; // of a ray [rad]
const STEP = 1.25; // of the scale, by a button
const FITS = 0.5; // size of a mechanism that was fitted [m]
const TOLD = 6000; // that a message stays [ms]
const BOARD = { ahead: 0.5, left: 0.27, below: 0.24, far: 0.95, aside: 0.25 }; // [m]; cosine of the angle to the sight

export class Headset implements Eye {
  readonly camera = new THREE.PerspectiveCamera(60, 1, 0.02, 60); // the session has its own angles
  placed: Placed = { p: new THREE.Vector3(0, 0.9, -0.8), q: new THREE.Quaternion(), scale: 1 };
  private readonly rig = new THREE.Group();
  private readonly board = new Board();
  private readonly tags: Tags;
  private readonly pointers: Pointers;
  private readonly holding: Holding;
  private readonly placing: Placing;
  private readonly whole = new Whole();
  private readonly depth: RoomDepth;
  private readonly head = new THREE.Matrix4();
  private isPlaced = false; // somebody, or the first picture, has put it somewhere
  private isBoardPlaced = false;
  private over: string | null = null; // the button that is pointed at
  private message = { text: "", until: 0 };
  private now = 0; // [ms]
  private isOver = false;

  constructor(
    private readonly parts: Parts,
    private readonly session: XRSession,
    readonly mode: Mode,
  ) {
    const { view, labels } = parts.stage;
    this.tags = new Tags(labels);
    this.placing = new Placing(session);
    this.depth = new RoomDepth(session);
    this.rig.matrixAutoUpdate = false;
    this.holding = new Holding(parts.stage, parts.grab, this.rig.matrix);
    this.pointers = new Pointers(session, () => view.room, {
      press: (pointer) => this.press(pointer),
      release: (pointer) => {
        this.holding.release(pointer);
        this.takeWhole();
      },
      squeeze: () => this.takeWhole(),
    });
    this.rig.add(this.camera, this.board.mesh, this.pointers.group, this.placing.group, this.tags.group);
    this.rig.add(this.depth.group);
    session.addEventListener("end", () => this.end());
    session.addEventListener("visibilitychange", () => {
      if (session.visibilityState !== "visible") this.pointers.letGoAll(); // taken off, or a menu of the system's
    });
  }

  get scale(): number {
    return this.placed.scale;
  }

  async begin(): Promise<void> {
    const { view } = this.parts.stage;
    view.scene.add(this.rig);
    this.place(this.placed);
    if (this.placing.canHit) this.placing.begin("hit");
    await view.present(this.session, this);
  }

  /** Say something on the board. */
  tell(text: string): void {
    this.message = { text, until: this.now + TOLD };
  }

  /** What there is, for tests: lengths and places of the room. */
  state(): unknown {
    const { p, q, scale } = this.placed;
    return {
      mode: this.mode,
      placed: { p: p.toArray(), q: q.toArray(), scale },
      placing: this.placing.mode,
      told: this.lines(),
      held: this.holding.told(),
      buttons: Object.fromEntries(Object.entries(this.board.places()).map(([name, at]) => [name, at.toArray()])),
      tags: this.tags.group.children.length,
      measured: this.depth.measured,
    };
  }

  /** A picture is wanted. */
  tick(now: number, frame: XRFrame): void {
    const room = this.parts.stage.view.room;
    const viewer = room && frame.getViewerPose(room);
    if (this.isOver || !room) return;
    this.now = now;
    if (viewer) this.head.fromArray(viewer.transform.matrix);
    if (viewer) this.depth.update(frame, viewer.views);
    this.pointers.update(frame, room);
    this.placing.update(frame, room, this.aiming());
    if (viewer && !this.isPlaced) this.standAhead();
    if (viewer) this.placeBoard();
    const carried = this.whole.carried();
    if (carried) this.place(carried);
    this.holding.follow(this.scale);
    this.holding.shake(now);
    this.point();
    this.board.show(this.lines(), this.buttons(), this.over);
    this.tags.update(matrixOf(this.placed), this.eyes(), this.scale, now);
  }

  /** Pointers that point beside the board, the right hand's first. */
  private aiming(): Pointer[] {
    const beside = this.pointers.all.filter((pointer) => !this.board.meet(pointer.origin, pointer.direction));
    const isRight = ({ source }: Pointer) => Number(source.handedness === "right");
    return beside.sort((a, b) => isRight(b) - isRight(a));
  }

  private eyes(): THREE.Vector3 {
    return new THREE.Vector3().setFromMatrixPosition(this.head);
  }

  private place(placed: Placed): void {
    this.placed = placed;
    this.rig.matrix.copy(matrixOf(placed)).invert();
    this.rig.updateMatrixWorld(true);
    this.parts.stage.view.touch();
  }

  /** The foot of the mechanism in the world, with room for its first seconds. */
  private foot(): THREE.Vector3 {
    const { mechanism, store, view } = this.parts.stage;
    const { sweep, scene } = store;
    const ends = sweep && sweep.topology === scene?.topology ? [sweep.low, sweep.high] : [];
    const points = [...mechanism.extent().points, ...ends.map((corner) => new THREE.Vector3().fromArray(corner))];
    return foot(points, view.basis.up);
  }

  /** Put its foot at a point of the room, facing who looks. */
  private stand(at: THREE.Vector3): void {
    const { basis } = this.parts.stage.view;
    this.isPlaced = true;
    this.place(standing(this.foot(), at, facing(basis, this.eyes().sub(at)), this.scale));
  }

  /** Before who looks: on a table that is not there, or on the floor where it is tall. */
  private standAhead(): void {
    const eyes = this.eyes();
    const size = this.parts.stage.view.size * this.scale;
    const ahead = new THREE.Vector3(0, 0, -1).transformDirection(this.head).setY(0).normalize();
    const at = eyes.addScaledVector(ahead, 0.4 + 0.6 * size);
    this.stand(at.setY(Math.max(0, at.y - 0.35 - 0.8 * size)));
  }

  /** The board stays in reach: beside the sight, below the eyes, facing them. */
  private placeBoard(): void {
    const { mesh } = this.board;
    const eyes = this.eyes();
    const sight = new THREE.Vector3(0, 0, -1).transformDirection(this.head).setY(0).normalize();
    const away = mesh.position.clone().sub(eyes);
    const aside = away.clone().setY(0).normalize().dot(sight);
    if (this.isBoardPlaced && (this.over !== null || (away.length() < BOARD.far && aside > BOARD.aside))) return;
    this.isBoardPlaced = true;
    const left = new THREE.Vector3(0, 1, 0).cross(sight);
    mesh.position
      .copy(eyes)
      .addScaledVector(sight, BOARD.ahead)
      .addScaledVector(left, BOARD.left)
      .add(new THREE.Vector3(0, -BOARD.below, 0));
    const z = eyes.sub(mesh.position).normalize();
    const x = new THREE.Vector3(0, 1, 0).cross(z).normalize();
    mesh.quaternion.setFromRotationMatrix(new THREE.Matrix4().makeBasis(x, z.clone().cross(x), z));
  }

  /** What a pointer meets of the mechanism: what its tip touches, else what its ray meets. */
  private find(pointer: Pointer): { hit: Hit; isTouched: boolean } | null {
    const { picking } = this.parts.stage;
    const X_WR = this.rig.matrix;
    const near = picking.near(pointer.tip.clone().applyMatrix4(X_WR), ["body"], NEAR / this.scale);
    if (near) return { hit: near, isTouched: true };
    const ray = new THREE.Ray(pointer.origin.applyMatrix4(X_WR), pointer.direction.transformDirection(X_WR));
    const hit = picking.along(ray, ["body"], SPREAD);
    return hit && { hit, isTouched: false };
  }

  private press(pointer: Pointer): void {
    const onBoard = this.board.meet(pointer.origin, pointer.direction);
    if (onBoard) {
      onBoard.button?.press();
      pointer.pulse(0.4, 15);
      return;
    }
    if (this.placing.mode === "hit") {
      const at = this.placing.hit(pointer);
      if (at) {
        this.placing.begin("none");
        this.stand(at);
      }
      return;
    }
    if (this.placing.mode === "points") {
      this.touch(pointer.tip);
      return;
    }
    const found = this.find(pointer);
    if (found) this.holding.take(pointer, found.hit, found.isTouched);
    this.takeWhole();
  }

  private touch(point: THREE.Vector3): void {
    const touched = this.placing.touch(point);
    if (!touched) return;
    try {
      this.place(byThreePoints(touched, this.parts.stage.view.basis.up, this.scale));
      this.isPlaced = true;
      this.placing.begin("none");
    } catch (error) {
      this.placing.begin("points");
      this.tell(error instanceof Error ? error.message : String(error));
    }
  }

  /** Whoever squeezes has the whole; so have two that pinch beside everything. */
  private takeWhole(): void {
    const squeezing = this.pointers.all.filter((pointer) => pointer.isSqueezed && !this.holding.has(pointer));
    const free = this.pointers.all.filter((pointer) => pointer.isPressed && !this.holding.has(pointer));
    const pinching = this.placing.mode === "none" && this.over === null && free.length === 2 ? free : [];
    this.whole.take(squeezing.length ? squeezing : pinching, this.placed);
    if (squeezing.length && this.placing.mode === "hit") this.placing.begin("none");
  }

  /** Show what each pointer points at. */
  private point(): void {
    const { mechanism } = this.parts.stage;
    this.over = null;
    let hovered: Hit | null = null;
    for (const pointer of this.pointers.all) {
      if (!pointer.isTracked) continue;
      const isHolding = this.holding.has(pointer);
      const target = this.holding.target(pointer);
      if (target) pointer.length = target.applyMatrix4(matrixOf(this.placed)).distanceTo(pointer.origin);
      const met = isHolding ? null : this.board.meet(pointer.origin, pointer.direction);
      if (met) {
        pointer.length = met.distance;
        this.over = met.button?.name ?? this.over;
      } else if (!isHolding && this.placing.mode === "none") {
        const found = this.find(pointer);
        hovered ??= found?.hit ?? null;
        if (found)
          pointer.length = found.hit.point.clone().applyMatrix4(matrixOf(this.placed)).distanceTo(pointer.origin);
      }
      pointer.draw(isHolding || pointer.isSqueezed);
    }
    mechanism.hover(hovered);
  }

  private lines(): string[] {
    const { store } = this.parts.stage;
    const held = this.holding
      .told()
      .map(({ body, force }) => `${body}  ${force === null ? "…" : `${show(force, 3)} N`}`);
    const said = this.now < this.message.until ? this.message.text : "";
    const time = `${(store.frame?.time ?? 0).toFixed(1)} s`;
    const line = store.connected ? "" : "  ·  the line to the studio is lost";
    return [
      `${time}   ${ratio(this.scale)}${line}`,
      held.length ? `Held: ${held.join(",  ")}` : "Nothing held",
      said || this.placing.told,
    ];
  }

  private buttons(): BoardButton[] {
    const { stage, time, forces, sounds } = this.parts;
    const { status } = stage.store;
    const isPaused = status?.paused ?? false;
    const rescale = (wish: number) => () => this.place(scaled(this.placed, wish, this.footInRoom()));
    const mode = (name: "hit" | "points") => () => this.placing.begin(this.placing.mode === name ? "none" : name);
    const { mode: placing } = this.placing;
    return [
      { name: "play", text: isPaused ? "Run" : "Stop time", press: () => time.toggle() },
      { name: "step", text: "Step", press: () => void time.step() },
      { name: "undo", text: "Undo", isOff: !status?.undo, press: () => time.undoLast() },
      { name: "redo", text: "Redo", isOff: !status?.redo, press: () => time.redoLast() },
      { name: "smaller", text: "Smaller", press: rescale(this.scale / STEP) },
      { name: "true", text: "1 : 1", isOn: this.scale === 1, press: rescale(1) },
      { name: "larger", text: "Larger", press: rescale(this.scale * STEP) },
      { name: "fit", text: "Fit", press: rescale(clampScale(FITS / stage.view.size)) },
      { name: "place", text: "Place", isOn: placing === "hit", isOff: !this.placing.canHit, press: mode("hit") },
      { name: "points", text: "3 points", isOn: placing === "points", press: mode("points") },
      { name: "forces", text: "Forces", isOn: forces.isOn, press: () => forces.toggle() },
      { name: "sound", text: "Sound", isOn: sounds.isOn, press: () => sounds.toggle() },
      { name: "reset", text: "To the start", columns: 2, press: () => void stage.actions.control("reset") },
      { name: "exit", text: "Leave", columns: 2, press: () => void this.session.end() },
    ];
  }

  private footInRoom(): THREE.Vector3 {
    return this.foot().applyMatrix4(matrixOf(this.placed));
  }

  /** The session is over: nothing is held, nothing of the room is left. */
  private end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.pointers.letGoAll();
    this.placing.begin("none");
    this.tags.clear();
    this.board.dispose();
    this.depth.dispose();
    const { view, mechanism } = this.parts.stage;
    mechanism.hover(null);
    view.scene.remove(this.rig);
    view.touch();
  }
}

/** Scale in words: 1 : 1, 1 : 4, 2.5 : 1. */
function ratio(scale: number): string {
  return scale >= 1 ? `${show(scale, 3)} : 1` : `1 : ${show(1 / scale, 3)}`;
}

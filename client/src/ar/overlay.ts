/** The mechanism over a camera's picture: every picture is drawn with the pose that was found in that very picture. */

import * as THREE from "three";
import { byId, setText } from "../dom";
import { ask } from "../exports";
import { request } from "../host";
import { icon } from "../icons";
import { DEPTH_UNIT, type Device, decodeSight, type Lens, type Occluder, type Seeing, type Sight } from "../messages";
import { RealDepth } from "../realdepth";
import type { Stage } from "../stage";
import { tellError } from "../toasts";
import { Backdrop, BENT, bentBy } from "./backdrop";
import { OwnCamera } from "./owncamera";
import { SeenCamera } from "./seen";

const TITLE = "Over the camera's picture";
const LATENCIES = 30; // that are kept
const AGAIN = 1000; // before a lost line is taken up again, or something is told anew [ms]
const TABLE = 4; // sizes of the mechanism that a shadow may fall on

interface Pose {
  position: THREE.Vector3;
  turn: THREE.Quaternion;
}

function poseOf(values: readonly number[]): Pose {
  const [x = 0, y = 0, z = 0, qx = 0, qy = 0, qz = 0, qw = 1] = values;
  return { position: new THREE.Vector3(x, y, z), turn: new THREE.Quaternion(qx, qy, qz, qw) };
}

function matrixOf({ position, turn }: Pose, scale = 1): THREE.Matrix4 {
  return new THREE.Matrix4().compose(position, turn, new THREE.Vector3(scale, scale, scale));
}

export class Overlay {
  replay: { state: unknown } | null = null; // of a result, where there is one
  shown: { number: number; time: number } | null = null; // the picture that is seen, and when it was taken [ms]
  readonly latencies: number[] = []; // from the last pictures' being taken to their being drawn with bodies over them [ms]
  private readonly button = byId<HTMLButtonElement>("ar");
  private readonly words = byId("ar-words");
  private socket: WebSocket | null = null;
  private seeing: Seeing | null = null;
  private camera: SeenCamera | null = null;
  private backdrop: Backdrop | null = null;
  private near: RealDepth | null = null; // what the camera measures of how far things are
  private own: OwnCamera | null = null;
  private room: THREE.Group | null = null; // of what is real: the table, what hides
  private hiders: THREE.Mesh[] = [];
  private wanted = false;
  private toldAt = 0; // when the button said how late pictures are [ms]
  private drawn = -1; // number of the last picture whose lateness is known
  private lineEnded = false;

  constructor(private readonly stage: Stage) {
    this.button.append(icon("camera"));
    this.button.title = TITLE;
    this.button.setAttribute("aria-label", this.button.title);
    this.button.addEventListener("click", () => this.toggle());
    stage.view.onDraw(() => this.measureLatency());
    void this.offer().catch(tellError);
  }

  /** A picture is being drawn: how late, if it is a new one; half of the last are later than what the button says. */
  private measureLatency(): void {
    const { shown, latencies } = this;
    if (!shown || shown.number === this.drawn) return;
    this.drawn = shown.number;
    latencies.push(Date.now() - shown.time);
    if (latencies.length > LATENCIES) latencies.shift();
    if (Date.now() - this.toldAt < AGAIN) return;
    this.toldAt = Date.now();
    this.button.title = `${TITLE}, drawn ${this.latency.toFixed(0)} ms after it is taken`;
  }

  /** Median of the last pictures [ms]. */
  get latency(): number {
    const sorted = this.latencies.toSorted((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  }

  get isOn(): boolean {
    return this.wanted;
  }

  /** What is told of camera, marker and tracker. */
  get told(): Seeing | null {
    return this.seeing;
  }

  toggle(): void {
    this.wanted = !this.wanted;
    this.button.setAttribute("aria-pressed", String(this.wanted));
    if (this.wanted) this.connect();
    else this.end();
  }

  /** Show the button where the studio has eyes; at once the picture, if it was started for that. */
  private async offer(): Promise<void> {
    const answer = await request("api/ar");
    const { eyes, result } = (await answer.json()) as { eyes: boolean; result?: boolean };
    this.button.hidden = !eyes;
    if (eyes && !this.wanted) this.toggle();
    if (!result) return;
    const { Replay } = await import("./replay");
    this.replay = new Replay(this.stage, await (await ask("api/ar/result")).json());
  }

  private connect(): void {
    const url = new URL("ar", location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    url.search = url.hash = "";
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", ({ data }) => {
      if (typeof data === "string") this.hear(JSON.parse(data) as Seeing);
      else void this.look(decodeSight(data as ArrayBuffer)).catch(tellError);
    });
    socket.addEventListener("close", () => {
      this.lineEnded = true;
      this.tell();
      if (this.wanted && this.socket === socket) setTimeout(() => this.wanted && this.connect(), AGAIN);
    });
    this.lineEnded = false;
    this.socket = socket;
  }

  private end(): void {
    const { socket } = this;
    this.socket = null;
    socket?.close();
    this.own?.close();
    this.own = null;
    this.leaveRoom();
    this.seeing = this.shown = null;
    this.words.hidden = true;
    this.stage.view.see(null);
  }

  /** Something about camera, marker, tracker or place has changed. */
  private hear(seeing: Seeing): void {
    const isNew = JSON.stringify(seeing.lens) !== JSON.stringify(this.seeing?.lens);
    const isOther = JSON.stringify(shapesOf(seeing)) !== JSON.stringify(this.seeing && shapesOf(this.seeing));
    this.seeing = seeing;
    if (isNew) this.enterRoom(seeing.lens);
    if (isNew || isOther) this.furnish(seeing);
    seeing.occluders.forEach(({ pose }, k) => {
      const { position, turn } = poseOf(pose);
      this.hiders[k]?.position.copy(position);
      this.hiders[k]?.quaternion.copy(turn);
    });
    if (seeing.own && !this.own && this.socket) {
      this.own = new OwnCamera(this.socket, seeing.lens, (why) => this.tell(why));
    }
    this.tell();
  }

  private enterRoom(lens: Lens): void {
    this.leaveRoom();
    this.camera = new SeenCamera(lens);
    this.backdrop = new Backdrop(lens, this.camera.share);
    this.near = new RealDepth(BENT, bentBy(lens, this.camera.share));
    this.room = new THREE.Group();
    this.room.visible = false;
    this.stage.view.scene.add(this.backdrop.mesh, this.near.mesh, this.room);
    this.backdrop.mesh.visible = false;
  }

  private leaveRoom(): void {
    if (this.backdrop) this.stage.view.scene.remove(this.backdrop.mesh);
    if (this.near) this.stage.view.scene.remove(this.near.mesh);
    if (this.room) this.stage.view.drop(this.room);
    this.backdrop?.dispose();
    this.near?.dispose();
    this.backdrop = this.camera = this.room = this.near = null;
  }

  /** What is real in the room: shadows fall on the table, and what stands there hides what is behind it. */
  private furnish(seeing: Seeing): void {
    const { room, stage } = this;
    if (!room) return;
    stage.view.drop(...room.children);
    room.clear();
    const X_RW = matrixOf(poseOf(seeing.pose), seeing.scale);
    room.matrixAutoUpdate = false;
    room.matrix.copy(X_RW).invert();
    const size = TABLE * stage.view.size * seeing.scale;
    const shade = new THREE.Mesh(new THREE.PlaneGeometry(size, size), new THREE.ShadowMaterial({ opacity: 0.35 }));
    shade.receiveShadow = true;
    shade.renderOrder = -998;
    shade.raycast = () => {};
    this.hiders = seeing.occluders.map(hider);
    room.add(shade, ...this.hiders);
  }

  /** A picture came, or of the page's own one the pose in it. */
  private async look(sight: Sight | null): Promise<void> {
    if (!sight) return;
    const own = sight.own ? this.own?.take(sight.number) : null;
    if (sight.own && !own) return; // a newer one was drawn already
    const picture = own?.picture ?? (await createImageBitmap(new Blob([sight.jpeg], { type: "image/jpeg" })));
    const { camera, backdrop, room, seeing, stage } = this;
    if (!camera || !backdrop || !room || !seeing || (this.shown && sight.number < this.shown.number)) {
      picture.close();
      return;
    }
    backdrop.show(picture);
    backdrop.mesh.visible = true;
    room.visible = sight.found !== 0;
    if (sight.found) {
      const X_KR = matrixOf(poseOf([sight.x, sight.y, sight.z, sight.qx, sight.qy, sight.qz, sight.qw]));
      camera.stand(X_KR.multiply(matrixOf(poseOf(seeing.pose), seeing.scale)), stage.view.size);
    }
    this.measure(sight, camera.unit);
    stage.view.see(camera, sight.found !== 0);
    this.shown = { number: sight.number, time: 1000 * (own?.time ?? sight.time) };
  }

  /** What is real and nearer hides what is behind it, where the camera says how far it is. */
  private measure({ found, depth, columns, rows }: Sight, unit: number): void {
    const { near } = this;
    if (!near) return;
    near.mesh.visible = false;
    if (!found || depth.length === 0) return;
    near.scale = unit;
    near.take(
      Float32Array.from(depth, (value) => DEPTH_UNIT * value),
      columns,
      rows,
    );
  }

  /** Say what is amiss, or who holds what. */
  private tell(problem = ""): void {
    const { seeing } = this;
    const amiss = [seeing?.camera, seeing?.marker, seeing?.tracker]
      .filter((device): device is Device => !!device && device.state !== "ok")
      .map(({ name, state, why }) => `${name}: ${why || state}`);
    if (this.lineEnded) amiss.unshift("the line to the camera is lost; trying again");
    if (problem) amiss.unshift(problem);
    const held = seeing?.holds ? `The tracker holds ${seeing.holds}.` : "";
    setText(this.words, amiss.length ? amiss.join("; ") : held);
    this.words.hidden = !this.wanted || this.words.textContent === "";
  }
}

/** What stands in the room and where the mechanism does, without where things have moved to. */
function shapesOf({ occluders, pose, scale }: Seeing): unknown {
  return [occluders.map(({ name, kind, size }) => [name, kind, size]), pose, scale];
}

/** Something that is not drawn and hides what is behind it, at the room's origin. */
function hider({ kind, size }: Occluder): THREE.Mesh {
  const [a = 0, b = 0, c = 0] = size;
  const shape = kind === "box" ? new THREE.BoxGeometry(a, b, c) : new THREE.CapsuleGeometry(a, b).rotateX(Math.PI / 2);
  const mesh = new THREE.Mesh(shape, new THREE.MeshBasicMaterial({ colorWrite: false }));
  mesh.renderOrder = -999;
  mesh.raycast = () => {};
  return mesh;
}

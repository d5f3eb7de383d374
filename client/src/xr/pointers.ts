/** Controllers and hands: where they are in the room, what they press, and the rays that are drawn of them. */

import * as THREE from "three";

const RAY = 1.2; // length of a ray that meets nothing [m]
const BALL = 0.006; // radius of a tip [m]
const FREE = 0x4aa8ff;
const BUSY = 0xffb020;

export class Pointer {
  readonly ray = new THREE.Matrix4(); // target ray in the room: from its origin along -z
  readonly grip = new THREE.Matrix4(); // what is held in the hand
  readonly tip = new THREE.Vector3(); // of a controller, or between the fingers that pinch
  isTracked = false;
  isPressed = false;
  isSqueezed = false;
  length = RAY; // of the ray that is drawn [m]
  readonly drawn = new THREE.Group();
  private readonly colour = new THREE.MeshBasicMaterial({ color: FREE });
  private readonly line = new THREE.Mesh(new THREE.CylinderGeometry(0.0012, 0.0012, 1, 6), this.colour);
  private readonly ball = new THREE.Mesh(new THREE.SphereGeometry(BALL, 12, 8), this.colour);
  private wasReal = false; // its place was measured, not guessed

  constructor(readonly source: XRInputSource) {
    this.line.geometry.rotateX(-Math.PI / 2).translate(0, 0, -0.5);
    this.line.matrixAutoUpdate = this.ball.matrixAutoUpdate = false;
    this.drawn.add(this.line, this.ball);
  }

  /** Is it on a screen that is looked through, with nothing to be drawn of it? */
  private get isTouch(): boolean {
    return this.source.targetRayMode === "screen";
  }

  /** Origin of the ray in the room. */
  get origin(): THREE.Vector3 {
    return new THREE.Vector3().setFromMatrixPosition(this.ray);
  }

  /** Direction of the ray in the room. */
  get direction(): THREE.Vector3 {
    return new THREE.Vector3(0, 0, -1).transformDirection(this.ray);
  }

  /** Where it is now; false where nobody knows, or what was measured is only guessed any more. */
  update(frame: XRFrame, room: XRReferenceSpace): boolean {
    const ray = frame.getPose(this.source.targetRaySpace, room);
    this.isTracked = ray != null && !(ray.emulatedPosition && this.wasReal && this.isPressed);
    if (!ray || !this.isTracked) return false;
    this.wasReal = !ray.emulatedPosition;
    this.ray.fromArray(ray.transform.matrix);
    const grip = this.source.gripSpace ? frame.getPose(this.source.gripSpace, room) : null;
    this.grip.fromArray((grip ?? ray).transform.matrix);
    const fingers = this.fingers(frame, room);
    if (fingers) {
      this.tip.copy(fingers);
      this.grip.setPosition(fingers);
    } else this.tip.copy(this.origin);
    return true;
  }

  draw(isBusy: boolean): void {
    this.drawn.visible = this.isTracked && !this.isTouch;
    this.colour.color.set(isBusy ? BUSY : FREE);
    this.line.matrix.copy(this.ray).multiply(new THREE.Matrix4().makeScale(1, 1, this.length));
    this.ball.matrix.makeTranslation(this.tip);
    this.length = RAY;
  }

  /** Shake it, by 0 to 1, for a while [ms]; where it can. */
  pulse(strength: number, duration: number): void {
    const pad = this.source.gamepad as (Gamepad & { hapticActuators?: readonly Shaker[] }) | undefined;
    void pad?.hapticActuators?.[0]?.pulse?.(strength, duration);
  }

  /** Between the tips of thumb and index finger, of a hand. */
  private fingers(frame: XRFrame, room: XRReferenceSpace): THREE.Vector3 | null {
    const { hand } = this.source;
    const spaces = [hand?.get("thumb-tip"), hand?.get("index-finger-tip")];
    const found = spaces.map((space) => (space ? frame.getJointPose?.(space, room) : null));
    if (!found[0] || !found[1]) return null;
    const [a, b] = found.map((pose) => new THREE.Vector3().copy((pose as XRJointPose).transform.position)) as [
      THREE.Vector3,
      THREE.Vector3,
    ];
    return a.add(b).multiplyScalar(0.5);
  }
}

interface Shaker {
  pulse?(strength: number, duration: number): Promise<unknown>;
}

interface Listener {
  press(pointer: Pointer): void;
  release(pointer: Pointer): void; // also where it was lost
  squeeze(pointer: Pointer, on: boolean): void;
}

export class Pointers {
  private known = new Map<XRInputSource, Pointer>();
  readonly group = new THREE.Group();

  constructor(
    private readonly session: XRSession,
    private readonly room: () => XRReferenceSpace | null,
    private readonly listener: Listener,
  ) {
    const on = (name: "selectstart" | "selectend" | "squeezestart" | "squeezeend", act: (one: Pointer) => void): void =>
      session.addEventListener(name, (event) => {
        const pointer = this.of(event.inputSource);
        const space = this.room();
        if (space) pointer.update(event.frame, space);
        act(pointer);
      });
    on("selectstart", (pointer) => {
      pointer.isPressed = true;
      listener.press(pointer);
    });
    on("selectend", (pointer) => this.up(pointer));
    on("squeezestart", (pointer) => this.squeeze(pointer, true));
    on("squeezeend", (pointer) => this.squeeze(pointer, false));
    session.addEventListener("inputsourceschange", ({ removed }) => {
      for (const source of removed) this.drop(source);
    });
  }

  get all(): Pointer[] {
    return [...this.known.values()];
  }

  update(frame: XRFrame, room: XRReferenceSpace): void {
    const sources = new Set(this.session.inputSources);
    for (const source of sources) if (!this.of(source).update(frame, room)) this.letGo(this.of(source));
    for (const source of [...this.known.keys()]) if (!sources.has(source)) this.drop(source);
  }

  /** Nothing is pressed any more. */
  letGoAll(): void {
    for (const pointer of this.all) this.letGo(pointer);
  }

  private of(source: XRInputSource): Pointer {
    let found = this.known.get(source);
    if (!found) {
      found = new Pointer(source);
      this.known.set(source, found);
      this.group.add(found.drawn);
    }
    return found;
  }

  private drop(source: XRInputSource): void {
    const pointer = this.known.get(source);
    if (!pointer) return;
    this.letGo(pointer);
    this.group.remove(pointer.drawn);
    this.known.delete(source);
  }

  private letGo(pointer: Pointer): void {
    this.up(pointer);
    this.squeeze(pointer, false);
  }

  private up(pointer: Pointer): void {
    if (!pointer.isPressed) return;
    pointer.isPressed = false;
    this.listener.release(pointer);
  }

  private squeeze(pointer: Pointer, on: boolean): void {
    if (pointer.isSqueezed === on) return;
    pointer.isSqueezed = on;
    this.listener.squeeze(pointer, on);
  }
}

/** The picture's stage: renderer, cameras, light; it draws when something has changed. */

import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { RoomEnvironment } from "three/addons/environments/RoomEnvironment.js";
import type { SeenCamera } from "./ar/seen";
import { byId } from "./dom";
import { Floor } from "./floor";
import { pixelSize } from "./materials";
import type { Scene } from "./messages";
import { drawsInSoftware, Rest, restTimes } from "./rest";
import type { Store } from "./store";
import { onTheme, theme } from "./theme";
import { type Basis, basisOf, direction, firstDirection, framing, type Named } from "./views";

const FOV = 32; // degrees
const AWAY = 20; // sizes of the mechanism between the eye and the target where nothing gets smaller with distance
const MARGIN = { side: 0.08, top: 0.08, bottom: 0.13 }; // of the picture, around what is fitted; the hint is below
const MOST_COVERED = 0.2; // of the picture, by texts at its bottom, where room is made for them
const FINEST = 1e-3; // what counts as a pixel in a headset [rad]
export const PICTURE_LAYER = 1; // of what is seen though nobody knows where the mechanism is
const FINE = "impulsar.fine"; // in the browser's storage: "yes" or "no", whatever draws

/** Pictures of a size of their own, as for a video. */
export interface Film {
  draw(): HTMLCanvasElement;
  end(): void;
}

/** An eye that is not the page's: a headset's. */
export interface Eye {
  readonly camera: THREE.PerspectiveCamera;
  readonly scale: number; // lengths in the room over those of the world
}

type Painter = (renderer: THREE.WebGLRenderer) => void;

export class View {
  readonly canvas = byId<HTMLCanvasElement>("canvas");
  private readonly frame = byId("stage");
  readonly scene = new THREE.Scene();
  readonly up = new THREE.Vector3(0, 0, 1);
  readonly isFine: boolean; // smooth edges, environment light
  basis: Basis = { up: this.up, front: new THREE.Vector3(0, -1, 0), isPlanar: false, turns: false };
  size = 1; // of the mechanism [m]
  drawn = 0; // pictures drawn
  scripted = 0; // time that the page's own script took for the last of them [ms]
  controls: OrbitControls;
  covered = (): number => 0; // height of what stands above the hint [pixels]
  isTouched = false; // somebody has turned, shifted or zoomed since the scene was entered
  readonly floor: Floor;
  private readonly perspective = new THREE.PerspectiveCamera(FOV, 1, 0.001, 1000);
  private readonly orthographic = new THREE.OrthographicCamera();
  private isFlat = false;
  private seen: SeenCamera | null = null; // a real camera's, while the picture lies over its own
  private half = 1; // of the orthographic picture's height, at zoom 1 [m]
  private aspect = 1;
  private renderer: THREE.WebGLRenderer;
  private dirty = true;
  private readonly rest: Rest | null; // between pictures, where there is no graphics processor
  private isFilming = false; // pictures are of another size, and drawn when they are asked for
  private eye: Eye | null = null;
  private painter: Painter | null = null;
  private before: (() => void)[] = [];
  private ticking: ((now: number, frame?: XRFrame) => void)[] = [];
  private turned: (() => void)[] = [];
  private whom: (() => THREE.Vector3 | null) | null = null;
  private followed: THREE.Vector3 | null = null;

  constructor(private readonly store: Store) {
    const isSlow = drawsInSoftware();
    const wish = localStorage.getItem(FINE);
    this.isFine = wish ? wish === "yes" : !isSlow;
    this.renderer = new THREE.WebGLRenderer({
      canvas: this.canvas,
      alpha: true,
      antialias: this.isFine,
      preserveDrawingBuffer: true,
    });
    this.rest = isSlow ? new Rest(this.renderer.getContext() as WebGL2RenderingContext, restTimes()) : null;
    this.renderer.setPixelRatio(this.isFine ? Math.min(devicePixelRatio, 2) : 1);
    this.renderer.localClippingEnabled = true;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.light();
    this.floor = new Floor(this.scene);
    this.controls = this.newControls();
    new ResizeObserver(() => this.resize()).observe(this.frame);
    onTheme(() => {
      this.floor.colour();
      this.scene.environmentIntensity = theme() === "dark" ? 0.4 : 0.5;
      this.touch();
    });
    this.renderer.setAnimationLoop((now, frame) => {
      try {
        this.tick(now, frame);
      } catch (error) {
        reportError(error); // three ends a loop that throws
      }
    });
  }

  /** The camera that is looked through. */
  get camera(): THREE.PerspectiveCamera | THREE.OrthographicCamera {
    return this.eye?.camera ?? this.seen ?? this.own;
  }

  /** The page's own camera. */
  private get own(): THREE.PerspectiveCamera | THREE.OrthographicCamera {
    return this.isFlat ? this.orthographic : this.perspective;
  }

  /** See as a real camera does, with the mechanism or, where nobody knows its place, without; null: as before. */
  see(camera: SeenCamera | null, isPlaced = true): void {
    if (camera && camera !== this.seen) camera.fitTo(this.aspect);
    this.seen = camera;
    camera?.layers.set(isPlaced ? 0 : PICTURE_LAYER);
    this.floor.isOver = camera !== null;
    this.controls.enabled = camera === null;
    this.changed();
  }

  /** Does nothing get smaller with distance? */
  get isOrthographic(): boolean {
    return this.isFlat;
  }

  /** Is there nothing to draw that has not been drawn? */
  get isDrawn(): boolean {
    return !this.dirty;
  }

  /** Draw finely or fast from the next time the page is opened; "yes", "no". */
  static wishFine(on: boolean): void {
    localStorage.setItem(FINE, on ? "yes" : "no");
  }

  /** Do this before every picture. */
  onDraw(action: () => void): void {
    this.before.push(action);
  }

  /** Do this whenever the screen, or the headset, wants a picture, also where none is drawn. */
  onTick(action: (now: number, frame?: XRFrame) => void): void {
    this.ticking.push(action);
  }

  /** Draw for a headset, through its eye, until its session ends. */
  async present(session: XRSession, eye: Eye): Promise<void> {
    const { xr } = this.renderer;
    xr.enabled = true;
    session.addEventListener("end", () => {
      xr.enabled = false;
      this.eye = null;
      this.resize();
    });
    await xr.setSession(session);
    this.eye = eye;
  }

  /** What a headset's poses are given in; null without one. */
  get room(): XRReferenceSpace | null {
    return this.eye && this.renderer.xr.getReferenceSpace();
  }

  /** Have the picture painted otherwise: two of them, side by side; null: as always. */
  paint(painter: Painter | null): void {
    this.painter = painter;
    this.resize();
  }

  /** Do this when the camera has moved. */
  onTurn(action: () => void): void {
    this.turned.push(action);
  }

  /** Take objects out of the scene for good. */
  drop(...objects: THREE.Object3D[]): void {
    this.scene.remove(...objects);
    for (const object of objects) {
      object.traverse((part) => {
        if (part instanceof THREE.Mesh || part instanceof THREE.Line) part.geometry.dispose();
      });
    }
  }

  touch(): void {
    this.dirty = true;
  }

  /** How a scene stands, with its bodies as they are shown. */
  basisFor(scene: Scene): Basis {
    return basisOf(scene, (body) => this.store.pose(body));
  }

  /** Look at a new scene: which way is up, how large it is, from where it is seen best. */
  enter(scene: Scene, points: THREE.Vector3[]): void {
    this.basis = this.basisFor(scene);
    this.up.copy(this.basis.up);
    this.size = scene.size;
    for (const camera of [this.perspective, this.orthographic]) camera.up.copy(this.up);
    this.controls.dispose();
    this.setOrthographic(this.basis.isPlanar);
    this.fit(points, firstDirection(this.basis));
    this.isTouched = false;
  }

  /** Look from a named side, at what is looked at. */
  look(named: Named): void {
    const away = direction(named, this.basis);
    const distance = this.own.position.distanceTo(this.controls.target);
    this.own.position.copy(this.controls.target).addScaledVector(away, distance);
    this.moved();
  }

  /** Turn the view about what is looked at: to the right and up [rad]. */
  turn(right: number, up: number): void {
    const arm = this.own.position.clone().sub(this.controls.target);
    const across = this.up.clone().cross(arm).normalize();
    const tilt = Math.min(Math.max(arm.angleTo(this.up) - up, 1e-3), Math.PI - 1e-3) - arm.angleTo(this.up);
    arm.applyAxisAngle(across, tilt).applyAxisAngle(this.up, right);
    this.own.position.copy(this.controls.target).add(arm);
    this.moved();
  }

  /** Nearer (below 1) or farther. */
  zoom(factor: number): void {
    if (this.isFlat) this.orthographic.zoom /= factor;
    const arm = this.own.position.clone().sub(this.controls.target);
    if (!this.isFlat) this.own.position.copy(this.controls.target).addScaledVector(arm, factor);
    this.moved();
  }

  /** Shift by pixels. */
  shift(right: number, up: number): void {
    const way = this.across(right, up, 0, this.controls.target);
    this.own.position.add(way);
    this.controls.target.add(way);
    this.moved();
  }

  /** Parallel lines stay parallel, or not; what is looked at stays as large. */
  setOrthographic(on: boolean): void {
    const [from, target] = [this.own, this.controls.target.clone()];
    const arm = from.position.clone().sub(target);
    const tan = Math.tan((FOV * Math.PI) / 360);
    const half = this.isFlat ? this.half / this.orthographic.zoom : arm.length() * tan;
    this.isFlat = on;
    this.half = half;
    this.orthographic.zoom = 1;
    const distance = on ? AWAY * this.size : half / tan;
    this.own.position.copy(target).addScaledVector(arm.normalize(), distance);
    this.own.quaternion.copy(from.quaternion);
    this.controls.dispose();
    this.controls = this.newControls();
    this.controls.target.copy(target);
    this.project_();
    this.moved();
  }

  /** Bring all points into the picture, from the present side or from `direction`. */
  fit(points: THREE.Vector3[], from?: THREE.Vector3): void {
    const away = from ?? this.own.position.clone().sub(this.controls.target).normalize();
    const box = new THREE.Box3().setFromPoints(points.length ? points : [new THREE.Vector3()]);
    const corners = points.length ? allCorners(points) : [0, 1].map((s) => new THREE.Vector3(s - 0.5, 0, 0));
    const bottom = MARGIN.bottom + Math.min(this.covered() / Math.max(1, this.frame.clientHeight), MOST_COVERED);
    const { target, half, depth } = framing(corners, away, this.up, this.aspect, { ...MARGIN, bottom });
    this.half = Math.max(half, 0.18 * this.size);
    const tan = Math.tan((FOV * Math.PI) / 360);
    this.orthographic.zoom = 1;
    this.controls.target.copy(target);
    const distance = this.isFlat ? AWAY * this.size : this.half / tan + 0.5 * depth;
    this.own.position.copy(target).addScaledVector(away, distance);
    this.project_();
    this.moved();
    this.floor.place(this.basis, this.size, box);
  }

  /** World vector of a way in pixels at a point: right, up, away. */
  across(right: number, up: number, away: number, at: THREE.Vector3): THREE.Vector3 {
    return new THREE.Vector3(right, up, -away)
      .transformDirection(this.camera.matrixWorld)
      .multiplyScalar(Math.hypot(right, up, away) * this.pixel(at));
  }

  /** Pixel of a world point, from the canvas's corner. */
  project(p: THREE.Vector3): { x: number; y: number; ahead: boolean } {
    const v = p.clone().project(this.camera);
    const { clientWidth: w, clientHeight: h } = this.canvas;
    return { x: ((v.x + 1) / 2) * w, y: ((1 - v.y) / 2) * h, ahead: v.z < 1 };
  }

  /** World point under a pixel, on the plane through `through` that faces the camera. */
  unproject(x: number, y: number, through: THREE.Vector3): THREE.Vector3 {
    const ray = this.ray(x, y);
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(
      this.camera.getWorldDirection(new THREE.Vector3()),
      through,
    );
    return ray.intersectPlane(plane, new THREE.Vector3()) ?? through.clone();
  }

  ray(x: number, y: number): THREE.Ray {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    const caster = new THREE.Raycaster();
    caster.setFromCamera(new THREE.Vector2((2 * x) / w - 1, 1 - (2 * y) / h), this.camera);
    return caster.ray;
  }

  /** World length of one pixel at a point. */
  pixel(at: THREE.Vector3): number {
    if (this.eye) return FINEST * at.distanceTo(this.eye.camera.getWorldPosition(new THREE.Vector3()));
    const away = at.clone().sub(this.camera.position).dot(this.camera.getWorldDirection(new THREE.Vector3()));
    const { x, y } = this.pixelLength();
    return x * Math.max(away, this.camera.near) + y;
  }

  /** World length of a pixel: x times the distance, plus y. */
  private pixelLength(): THREE.Vector2 {
    if (this.eye) return new THREE.Vector2(FINEST / this.eye.scale, 0);
    const height = Math.max(1, this.canvas.clientHeight);
    if (this.seen) return new THREE.Vector2(2 / ((this.seen.projectionMatrix.elements[5] ?? 1) * height), 0);
    if (this.isFlat) return new THREE.Vector2(0, (2 * this.half) / this.orthographic.zoom / height);
    return new THREE.Vector2((2 * Math.tan((FOV * Math.PI) / 360)) / height, 0);
  }

  private tick(now: number, frame?: XRFrame): void {
    const began = performance.now();
    if (this.isFilming) return;
    this.store.advance(now / 1000);
    for (const action of this.ticking) action(now, frame);
    if (this.eye) this.dirty = true; // heads move always
    const rests = this.rest !== null && !this.rest.isOver(now); // what is to be drawn is, a little later
    if (rests || !this.draw()) return;
    this.scripted = performance.now() - began;
    this.rest?.begin(now);
  }

  private light(): void {
    if (this.isFine) {
      const maker = new THREE.PMREMGenerator(this.renderer);
      this.scene.environment = maker.fromScene(new RoomEnvironment(), 0.04).texture;
      maker.dispose();
    }
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x8894a8, this.isFine ? 0.35 : 1.35));
  }

  private newControls(): OrbitControls {
    const controls = new OrbitControls(this.own, this.canvas);
    controls.enableDamping = false;
    controls.zoomToCursor = true;
    controls.enabled = this.seen === null;
    controls.addEventListener("start", () => {
      this.isTouched = true;
    });
    controls.addEventListener("change", () => this.changed());
    return controls;
  }

  /** The camera was put somewhere. */
  private moved(): void {
    this.isTouched = true;
    this.own.updateProjectionMatrix();
    this.controls.update();
    this.own.updateMatrixWorld(); // a press may come before the next picture
    this.changed();
  }

  private changed(): void {
    for (const action of this.turned) action();
    this.touch();
  }

  /** The cameras' pictures for the size of the canvas and of the mechanism. */
  private project_(): void {
    this.perspective.aspect = this.aspect;
    this.seen?.fitTo(this.aspect);
    this.perspective.near = 0.005 * this.size;
    this.perspective.far = 80 * this.size;
    const wide = this.half * this.aspect;
    Object.assign(this.orthographic, { left: -wide, right: wide, top: this.half, bottom: -this.half });
    this.orthographic.near = 0;
    this.orthographic.far = 3 * AWAY * this.size;
    for (const camera of [this.perspective, this.orthographic]) camera.updateProjectionMatrix();
  }

  private resize(): void {
    const { clientWidth: w, clientHeight: h } = this.frame;
    if (w === 0 || h === 0 || this.isFilming || this.renderer.xr.isPresenting) return;
    this.renderer.setSize(w, h, false);
    this.aspect = w / h;
    this.project_();
    this.touch();
  }

  /** The picture as PNG, so many times as large as on the screen: drawn anew, not stretched. */
  async picture(scale: number): Promise<Blob> {
    const { clientWidth: w, clientHeight: h } = this.frame;
    let made: Promise<Blob | null> | null = null;
    this.shoot(scale * w, scale * h, (canvas) => {
      made = new Promise((done) => canvas.toBlob(done));
    });
    const blob = await (made as Promise<Blob | null> | null);
    if (!blob) throw new Error(`picture: ${scale} times the screen is more than this browser can draw; take less`);
    return blob;
  }

  /** Draw at a size in pixels, whatever the screen's, and hand the canvas over while it is so. */
  shoot(width: number, height: number, take: (canvas: HTMLCanvasElement) => void): void {
    const film = this.film(width, height);
    take(film.draw());
    film.end();
  }

  /** Draw at a size in pixels, and only when told to, until the end. */
  film(width: number, height: number): Film {
    const ratio = this.renderer.getPixelRatio();
    this.isFilming = true;
    this.renderer.setPixelRatio(1);
    this.renderer.setSize(width, height, false);
    this.aspect = width / height;
    this.project_();
    return {
      draw: () => {
        this.touch();
        this.draw();
        return this.canvas;
      },
      end: () => {
        this.isFilming = false;
        this.renderer.setPixelRatio(ratio);
        this.resize();
      },
    };
  }

  /** Go where a point goes, from where it is now; null: stay. */
  follow(point: (() => THREE.Vector3 | null) | null): void {
    this.whom = point;
    this.followed = point?.() ?? null;
  }

  get isFollowing(): boolean {
    return this.whom !== null;
  }

  private draw(): boolean {
    const place = this.whom?.() ?? null;
    if (place && this.followed) {
      const moved = place.clone().sub(this.followed);
      if (moved.lengthSq() > 0) {
        this.own.position.add(moved);
        this.controls.target.add(moved);
        this.floor.follow(moved);
        this.dirty = true;
      }
    }
    this.followed = place?.clone() ?? null;
    if (!this.dirty) return false;
    this.dirty = false;
    this.camera.updateMatrixWorld();
    pixelSize.value.copy(this.pixelLength());
    this.floor.face(
      this.camera.getWorldDirection(new THREE.Vector3()),
      (at) => this.pixel(at),
      (at) => this.project(at),
      this.eye?.scale,
    );
    for (const action of this.before) action();
    if (this.painter && !this.eye) this.painter(this.renderer);
    else this.renderer.render(this.scene, this.camera);
    this.drawn += 1;
    return true;
  }
}

/** Corners of the boxes whose lowest and highest corners follow each other in a list. */
function allCorners(points: THREE.Vector3[]): THREE.Vector3[] {
  const found: THREE.Vector3[] = [];
  for (let k = 0; k < points.length; k += 2) {
    const [a, b] = [points[k], points[k + 1] ?? points[k]] as [THREE.Vector3, THREE.Vector3];
    for (let j = 0; j < 8; j++) found.push(new THREE.Vector3(j & 1 ? b.x : a.x, j & 2 ? b.y : a.y, j & 4 ? b.z : a.z));
  }
  return found;
}

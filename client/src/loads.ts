/**
 * Forces and torques as icons (Wang 2011 §5.1): an arrow whose head (push) or tail (drag) is on the
 * body, an arc whose radius is the torque. Numbers are rounded before they are shown and sent, so
 * what is read is what acts.
 */

import * as THREE from "three";
import { Stream } from "./actions";
import type { ApplyLoad, Value } from "./edits";
import type { Drag, Press, Presser } from "./gestures";
import { Arc, Arrow, across, handleBall, IconColours } from "./icons3d";
import type { Load } from "./messages";
import { asVector, roundVector, show, type Vec3 } from "./numbers";
import type { Stage } from "./stage";
import { colour, onTheme } from "./theme";

export type Mode = "push" | "drag";
type HandleName = "force" | "rim" | "axis" | "base";

interface Icon {
  force: IconColours;
  torque: IconColours;
  arrow: Arrow;
  arc: Arc;
  handles: Record<HandleName, THREE.Mesh>;
}

const NEAR = 14; // pixels
const AXIS_REACH = 0.2; // of the mechanism's size, from which keys turn a torque's axis
const FINGER = 26;

export class Loads implements Presser {
  mode: Mode = "push"; // of the next force
  frame: "world" | "body" = "world";
  private modes = new Map<string, Mode>();
  private icons = new Map<string, Icon>();
  private draft: Load | null = null; // what a handle says while it is held
  private keyed: Load | null = null; // what keys said last
  private stream: Stream;
  private frozen: { force: number; torque: number } | null = null;

  constructor(private readonly stage: Stage) {
    const { store, view, actions } = stage;
    this.stream = new Stream(actions);
    onTheme(() => {
      for (const icon of this.icons.values()) this.tint(icon);
    });
    store.on("live", () => view.touch());
    store.on("frame", () => this.draw());
    store.on("pick", () => this.draw());
    view.onDraw(() => this.draw());
  }

  /** All loads, those that are off too. */
  all(): { load: Load; on: boolean }[] {
    const { live, scene } = this.stage.store;
    const loads = live?.loads ?? [];
    const off = (live?.off ?? []).filter(
      (edit) =>
        edit.edit === "ApplyLoad" &&
        !loads.some((load) => load.name === edit.name) &&
        scene?.bodies.some((part) => part.name === edit.body),
    ) as ApplyLoad[];
    return [
      ...loads.map((load) => ({ load, on: true })),
      ...off.map((edit) => ({ load: Loads.fromEdit(edit), on: false })),
    ];
  }

  find(name: string): { load: Load; on: boolean } | undefined {
    return this.all().find(({ load }) => load.name === name);
  }

  modeOf(name: string): Mode {
    return this.modes.get(name) ?? "drag";
  }

  setMode(name: string, mode: Mode): void {
    this.modes.set(name, mode);
    this.stage.view.touch();
  }

  /** The edit that gives a load these values. */
  static edit({ name, body, force, torque, at, frame }: Load): ApplyLoad {
    // A callable's value is null here, which the engine refuses in its words.
    return {
      edit: "ApplyLoad",
      name,
      body,
      force: force as Value,
      torque: torque as Value,
      at: at as Vec3,
      frame,
    };
  }

  /** The load that an edit gives. */
  private static fromEdit({ name, body, force, torque, at, frame }: ApplyLoad): Load {
    return {
      name,
      body,
      force: force ?? [0, 0, 0],
      torque: torque ?? [0, 0, 0],
      at: (at ?? [0, 0, 0]) as Vec3,
      frame: frame === "body" ? "body" : "world",
    };
  }

  async turn(name: string, on: boolean): Promise<void> {
    const found = this.find(name);
    if (!found || found.on === on) return;
    if (on) {
      await this.stage.actions.apply(Loads.edit(found.load));
      return;
    }
    if (await this.keep(found.load)) await this.stage.actions.apply({ edit: "RemoveLoad", name });
  }

  /** Have the session keep a load for all pages, to be switched on again. */
  keep(load: Load): Promise<unknown> {
    return this.stage.actions.control("keep", { parameters: Loads.edit(load) });
  }

  async remove(name: string): Promise<void> {
    const found = this.find(name);
    if (!found) return;
    await this.stage.actions.control("forget", { parameters: Loads.edit(found.load) });
    if (found.on) await this.stage.actions.apply({ edit: "RemoveLoad", name });
    this.stage.store.setPick(null);
    this.stage.view.touch();
  }

  /** Newtons per metre of arrow, and newton metres per metre of an arc's radius. */
  scale(): { force: number; torque: number } {
    if (this.frozen) return this.frozen;
    const scene = this.stage.store.scene;
    const size = this.stage.view.size;
    const weight = 9.81 * (scene?.bodies.reduce((sum, body) => sum + body.mass, 0) ?? 1);
    const most = (what: "force" | "torque"): number =>
      Math.max(0, ...this.all().map(({ load }) => Math.hypot(...(asVector(load[what]) ?? [0]))));
    return {
      force: Math.max(weight / (0.4 * size), most("force") / (0.6 * size)),
      torque: Math.max((0.1 * weight * size) / (0.25 * size), most("torque") / (0.4 * size)),
    };
  }

  /** Place a force or a torque where a body is pressed; pulling away from there aims and scales it. */
  place(kind: "force" | "torque", { x, y, isTouch }: Press): Drag | null {
    const hit = this.stage.picking.hit(x, y, ["body"], isTouch);
    if (!hit) return null;
    const load = this.fresh(kind, hit.name, hit.at);
    const drag = this.dragHandle(load, kind === "force" ? "force" : "rim", true);
    return {
      ...drag,
      end: (moved) => {
        if (!moved) this.draft = this.usual(kind, load);
        drag.end(true);
        this.stage.store.setPick({ kind: "load", name: load.name });
      },
    };
  }

  /** Put a force or a torque of the usual size on a body, and pick it as soon as the session says that it acts. */
  async attach(kind: "force" | "torque", body: string, at: Vec3): Promise<void> {
    const load = this.usual(kind, this.fresh(kind, body, at));
    if (!(await this.stage.actions.apply(Loads.edit(load)))) return;
    const look = (): void => {
      if (this.find(load.name)) this.stage.store.setPick({ kind: "load", name: load.name });
      else setTimeout(look, 30);
    };
    look();
  }

  /** Move the picked load's handle by pixels: right, up, away. A force is aimed and scaled by it, a torque aimed. */
  nudge(right: number, up: number, away: number): boolean {
    return this.byKeys((load) => {
      const centre = this.stage.mechanism.point(load.body, load.at);
      const handle = Math.hypot(...(asVector(load.force) ?? [0])) > 0 ? "force" : "axis";
      const along = this.inWorld(load, handle === "force" ? load.force : load.torque);
      if (!centre || !along) return null;
      const { force: perMetre } = this.scale();
      const way = this.stage.view.across(right, up, away, centre);
      if (handle === "force") {
        along.addScaledVector(way, (this.modeOf(load.name) === "drag" ? 1 : -1) * perMetre);
        return { ...load, force: this.inFrame(load, along, along.length()) };
      }
      const size = along.length();
      along
        .normalize()
        .multiplyScalar(AXIS_REACH * this.stage.view.size)
        .add(way);
      return { ...load, torque: this.inFrame(load, along, size) };
    });
  }

  /** Scale the picked load. */
  scaleBy(factor: number): boolean {
    return this.byKeys((load) => {
      const scaled = (value: Value | null): Value | null => {
        const vector = asVector(value);
        return vector ? roundVector(vector.map((item) => factor * item) as Vec3) : value;
      };
      return { ...load, force: scaled(load.force), torque: scaled(load.torque) };
    });
  }

  /** Change the picked load; keys may come faster than the session answers. */
  private byKeys(change: (load: Load) => Load | null): boolean {
    const { pick } = this.stage.store;
    const found = pick?.kind === "load" ? this.find(pick.name) : undefined;
    if (!found) return false;
    const isAhead = !this.stream.isIdle && this.keyed?.name === found.load.name;
    this.keyed = change((isAhead && this.keyed) || found.load);
    if (!this.keyed) return false;
    if (found.on) this.stream.send(Loads.edit(this.keyed));
    else void this.keep(this.keyed);
    return true;
  }

  private fresh(kind: "force" | "torque", body: string, at: Vec3): Load {
    const name = this.stage.store.freeName(kind);
    this.modes.set(name, this.mode);
    return { name, body, at: roundVector(at, 6), frame: this.frame, force: [0, 0, 0], torque: [0, 0, 0] };
  }

  /** A force downwards or a torque about the line of sight, of a size that is well seen. */
  private usual(kind: "force" | "torque", load: Load): Load {
    const { force, torque } = this.scale();
    if (kind === "force")
      return {
        ...load,
        force: this.inFrame(load, this.stage.view.up.clone().negate(), 0.25 * this.stage.view.size * force),
      };
    return { ...load, torque: this.inFrame(load, this.viewAxis(), 0.12 * this.stage.view.size * torque) };
  }

  /** Take a handle of a load. */
  press({ x, y, isTouch }: Press): Drag | null {
    let best: { load: Load; on: boolean; handle: HandleName; far: number } | null = null;
    for (const { load, on } of this.all()) {
      const icon = this.icons.get(load.name);
      if (!icon) continue;
      for (const [handle, ball] of Object.entries(icon.handles) as [HandleName, THREE.Mesh][]) {
        if (!ball.visible || (handle === "base" && this.stage.store.pick?.name !== load.name)) continue;
        const pixel = this.stage.view.project(ball.position);
        const far = Math.hypot(pixel.x - x, pixel.y - y);
        if (far < (isTouch ? FINGER : NEAR) && (!best || far < best.far)) best = { load, on, handle, far };
      }
    }
    if (!best) return null;
    const { load, on, handle } = best;
    const drag = this.dragHandle(load, handle, on);
    return {
      ...drag,
      end: (moved) => {
        drag.end(moved);
        this.stage.store.setPick({ kind: "load", name: load.name });
      },
    };
  }

  /** Screen pixels of a load's handles. */
  handlePixels(name: string): Record<string, { x: number; y: number }> {
    const icon = this.icons.get(name);
    const found: Record<string, { x: number; y: number }> = {};
    if (icon)
      for (const [handle, ball] of Object.entries(icon.handles))
        if (ball.visible) found[handle] = this.stage.view.project(ball.position);
    return found;
  }

  private dragHandle(load: Load, handle: HandleName, on: boolean): Drag {
    this.frozen = this.scale();
    const { force: perMetre, torque: perRadius } = this.frozen;
    const original = load;
    const axis = this.axis(load);
    let now = load;
    let through =
      this.icons.get(load.name)?.handles[handle].position.clone() ??
      this.stage.mechanism.point(load.body, load.at) ??
      new THREE.Vector3();
    let last: { x: number; y: number } | null = null;
    const update = (x: number, y: number): void => {
      last = { x, y };
      const centre = this.stage.mechanism.point(load.body, now.at);
      if (!centre) return;
      const point = this.stage.view.unproject(x, y, through);
      if (handle === "force") {
        const along = this.modeOf(load.name) === "drag" ? point.sub(centre) : centre.sub(point);
        now = { ...now, force: this.inFrame(load, along, along.length() * perMetre) };
      } else if (handle === "rim") {
        const rim = this.onArc(x, y, centre, axis) ?? point;
        now = { ...now, torque: this.inFrame(load, axis, rim.distanceTo(centre) * perRadius) };
      } else if (handle === "axis") {
        now = { ...now, torque: this.inFrame(load, point.sub(centre), this.size(now)) };
      } else {
        const hit = this.stage.picking.hit(x, y, ["body"]);
        if (hit?.name === load.body) now = { ...now, at: roundVector(hit.at, 6) };
      }
      this.draft = now;
      if (on) this.stream.send(Loads.edit(now));
      this.stage.view.touch();
    };
    const finish = (): void => {
      this.frozen = null;
      const said = this.draft ?? now;
      this.draft = null;
      this.stage.view.touch();
      if (!on) void this.keep(said);
      else this.stream.send(Loads.edit(said));
    };
    return {
      move: update,
      deepen: (pixels) => {
        const away = this.stage.view.camera.getWorldDirection(new THREE.Vector3());
        through = through.clone().addScaledVector(away, pixels * this.stage.view.pixel(through));
        if (last) update(last.x, last.y);
      },
      end: (moved) => {
        if (moved) finish();
        else {
          this.frozen = null;
          this.draft = null;
        }
      },
      cancel: () => {
        this.frozen = null;
        this.draft = null;
        if (this.stage.store.live?.loads.some((entry) => entry.name === load.name))
          void this.stage.actions.apply(Loads.edit(original));
      },
    };
  }

  /** What of an arc's plane is under a pixel; null where one looks along it. */
  private onArc(x: number, y: number, centre: THREE.Vector3, axis: THREE.Vector3): THREE.Vector3 | null {
    const ray = this.stage.view.ray(x, y);
    if (Math.abs(ray.direction.dot(axis)) < 0.2) return null;
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(axis, centre);
    return ray.intersectPlane(plane, new THREE.Vector3());
  }

  /** A world direction times a size, in the axes the load is given in, rounded. */
  private inFrame(load: Load, along: THREE.Vector3, size: number): Vec3 {
    const vector = along.clone().normalize();
    const pose = this.stage.store.pose(load.body);
    if (load.frame === "body" && pose) vector.applyQuaternion(new THREE.Quaternion(...pose.q).invert());
    return roundVector(vector.multiplyScalar(size).toArray());
  }

  private size(load: Load): number {
    return Math.hypot(...(asVector(load.torque) ?? [0]));
  }

  private axis(load: Load): THREE.Vector3 {
    const torque = this.inWorld(load, load.torque);
    return torque && torque.lengthSq() > 0 ? torque.normalize() : this.viewAxis();
  }

  /** The world axis nearest to the line of sight, towards the viewer. */
  private viewAxis(): THREE.Vector3 {
    const sight = this.stage.view.camera.getWorldDirection(new THREE.Vector3()).negate();
    const parts = sight.toArray().map(Math.abs);
    const k = parts.indexOf(Math.max(...parts));
    return new THREE.Vector3().setComponent(k, Math.sign(sight.getComponent(k)));
  }

  private inWorld(load: Load, value: unknown): THREE.Vector3 | null {
    const given = asVector(value);
    const pose = this.stage.store.pose(load.body);
    if (!given || !pose) return null;
    const vector = new THREE.Vector3(...given);
    return load.frame === "body" ? vector.applyQuaternion(new THREE.Quaternion(...pose.q)) : vector;
  }

  /** Force and torque of a load in the world, now. */
  private now(load: Load, on: boolean): [THREE.Vector3, THREE.Vector3] {
    const { live, frame } = this.stage.store;
    const k = live?.loads.indexOf(load) ?? -1;
    if (on && this.draft?.name !== load.name && frame && live && frame.revision === live.revision && k >= 0) {
      const at = (offset: number) => new THREE.Vector3().fromArray(frame.loads, 6 * k + offset);
      return [at(0), at(3)];
    }
    return [
      this.inWorld(load, load.force) ?? new THREE.Vector3(),
      this.inWorld(load, load.torque) ?? new THREE.Vector3(),
    ];
  }

  private draw(): void {
    const keep = new Set<string>();
    const seen = this.all().filter(({ load }) => load.name !== this.draft?.name);
    const found = this.draft ? [...seen, { load: this.draft, on: true }] : seen;
    const scale = this.scale();
    const { pin } = this.stage.mechanism;
    for (const { load, on } of found) {
      const centre = this.stage.mechanism.point(load.body, load.at);
      if (!centre) continue;
      const icon = this.icon(load.name);
      keep.add(load.name);
      icon.force.off = icon.torque.off = !on;
      const [force, torque] = this.now(load, on);
      const isPicked = this.stage.store.pick?.kind === "load" && this.stage.store.pick.name === load.name;
      const arm = force.clone().divideScalar(scale.force);
      const isForce = force.length() > 1e-9;
      const isTorque = torque.length() > 1e-9;
      const free = this.modeOf(load.name) === "drag" ? centre.clone().add(arm) : centre.clone().sub(arm);
      if (this.modeOf(load.name) === "drag") icon.arrow.set(centre, free, 0.45 * pin);
      else icon.arrow.set(free, centre, 0.45 * pin);
      icon.arrow.group.visible = isForce;
      const axis = this.axis({ ...load, frame: "world", torque: torque.toArray() });
      const start = across(axis, new THREE.Vector3(1, 0, 0).applyQuaternion(this.stage.view.camera.quaternion));
      const radius = torque.length() / scale.torque;
      const reach = 0.2 * this.stage.view.size;
      icon.arc.set(centre, axis, start, radius, 0.4 * pin, reach);
      icon.arc.group.visible = isTorque && radius > 0;
      const ball = Math.max((isPicked ? 6 : 4.5) * this.stage.view.pixel(centre), 0);
      this.put(icon.handles.force, free, ball, isForce);
      this.put(icon.handles.rim, centre.clone().addScaledVector(start, radius), ball, isTorque);
      this.put(icon.handles.axis, centre.clone().addScaledVector(axis, reach), ball, isTorque && isPicked);
      this.put(icon.handles.base, centre, 0.8 * ball, isPicked);
      if (isForce)
        this.stage.labels.set(
          `load ${load.name} f`,
          `${show(this.shown(load, "force", force))} N`,
          free,
          on ? "force" : "force off",
        );
      else this.stage.labels.remove(`load ${load.name} f`);
      const mark = centre.clone().addScaledVector(start, radius);
      if (isTorque)
        this.stage.labels.set(
          `load ${load.name} t`,
          `${show(this.shown(load, "torque", torque))} N m`,
          mark,
          on ? "torque" : "torque off",
        );
      else this.stage.labels.remove(`load ${load.name} t`);
    }
    for (const [name, icon] of this.icons) {
      if (keep.has(name)) continue;
      this.stage.view.drop(icon.arrow.group, icon.arc.group, ...Object.values(icon.handles));
      this.icons.delete(name);
      this.stage.labels.remove(`load ${name} f`);
      this.stage.labels.remove(`load ${name} t`);
    }
  }

  /** The size that is shown: of the numbers given, or of a profile's value now. */
  private shown(load: Load, what: "force" | "torque", now: THREE.Vector3): number {
    const given = asVector(load[what]);
    return given ? Math.hypot(...given) : now.length();
  }

  private put(ball: THREE.Mesh, at: THREE.Vector3, radius: number, visible: boolean): void {
    ball.position.copy(at);
    ball.scale.setScalar(radius);
    ball.visible = visible;
  }

  private icon(name: string): Icon {
    let found = this.icons.get(name);
    if (!found) {
      const force = new IconColours();
      const torque = new IconColours();
      found = {
        force,
        torque,
        arrow: new Arrow(force),
        arc: new Arc(torque),
        handles: {
          force: handleBall(force),
          rim: handleBall(torque),
          axis: handleBall(torque),
          base: handleBall(force),
        },
      };
      this.tint(found);
      this.icons.set(name, found);
      this.stage.view.scene.add(found.arrow.group, found.arc.group, ...Object.values(found.handles));
    }
    return found;
  }

  private tint(icon: Icon): void {
    icon.force.set(colour("force"));
    icon.torque.set(colour("torque"));
  }
}

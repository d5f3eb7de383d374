// Generated from src/impulsar/studio/messages.py by `python -m impulsar.studio.typescript`. Do not edit.

import type { ApplyLoad, ConvexHull, Edit, SetMotor, Value } from "./edits";

/**
 * A value that may be set: by SetParameter(path, value) where there is a path, else as `set_by` says.
 */
export interface Parameter {
  name: string;
  value: unknown;
  unit: string;
  path: string | null;
  set_by: "SetParameter" | "ChangeJoint" | "none";
  optional: boolean;
}

/**
 * A shape in its body's frame; `kind` says which of the sizes it has. A plane, z = 0 of its frame, has none.
 */
export interface Shape {
  kind: "box" | "sphere" | "cylinder" | "capsule" | "cone" | "hull" | "plane" | "mesh" | "height-field";
  offset: number[];
  orientation: number[];
  size: number[] | null;
  radius: number | null;
  length: number | null;
  points: number[][] | null;
  triangles: number[][] | null;
  heights: number[][] | null;
  material: string | null;
}

export interface Body {
  name: string;
  mass: number;
  shapes: Shape[];
  material: string | null;
  parameters: Parameter[];
}

/**
 * A named freedom of a joint, or the three of a ball, with its features.
 */
export interface Group {
  name: string;
  kind: "slide" | "angle" | "ball";
  unit: string;
  force_unit: string;
  coordinates: string[];
  features: Parameter[];
}

/**
 * Frame F on `first` and frame M on `second` ("ground" is the world); z is the axis, x the second axis.
 */
export interface Joint {
  name: string;
  joint_type: string;
  first: string;
  second: string;
  p_PF: number[];
  q_PF: number[];
  p_CM: number[];
  q_CM: number[];
  length: number | null;
  pitch: number | null;
  groups: Group[];
}

export interface Spring {
  name: string;
  first: string;
  second: string;
  at_first: number[];
  at_second: number[];
  parameters: Parameter[];
}

export interface Probe {
  name: string;
  body: string;
  at: number[];
}

export interface Coupling {
  name: string;
  coordinate_a: string;
  coordinate_b: string;
  parameters: Parameter[];
}

/**
 * A shape of the ground, in a frame that SetParameter places: NAME.position, NAME.orientation.
 */
export interface Obstacle {
  name: string;
  position: number[];
  orientation: number[];
  shape: Shape;
  material: string | null;
}

/**
 * A point of a body, in its frame.
 */
export interface Point {
  body: string;
  at: number[];
}

/**
 * A part of a kind that has no message of its own, as the table of part kinds has it.
 */
export interface Element {
  name: string;
  kind: string;
  refers: Record<string, string>;
  points: Point[];
  parameters: Parameter[];
}

/**
 * A line of the joint catalogue, for drop-downs.
 */
export interface JointKind {
  name: string;
  groups: string[];
  axes: number;
}

/**
 * A scene; parameters by name with their default values.
 */
export interface SceneEntry {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}

/**
 * What can be measured of a kind of part, in one plot: a signal is `of`.NAME.ending, without a part the ending.
 */
export interface Quantity {
  of: string;
  title: string;
  unit: string;
  slide_unit: string;
  endings: string[];
  doc: string;
}

export interface Scene {
  generation: number;
  topology: number;
  name: string;
  gravity: number[];
  size: number;
  reference_energy: number | null;
  ground: Shape[];
  bodies: Body[];
  joints: Joint[];
  springs: Spring[];
  probes: Probe[];
  couplings: Coupling[];
  obstacles: Obstacle[];
  elements: Element[];
  parameters: Parameter[];
  joint_kinds: JointKind[];
  methods: string[];
  quantities: Quantity[];
  scenes: SceneEntry[];
  materials: string[];
  suffixes: string[];
  type: "scene";
}

/**
 * What of the Scene is another: each part takes the place of that of its name, or comes behind the others.
 *
 * `order` has all names of a kind of which parts came, went or changed places, by "bodies", "joints", ...; of what
 * it does not name nothing is left.
 */
export interface Patch {
  generation: number;
  topology: number;
  size: number;
  gravity: number[];
  parameters: Parameter[];
  bodies: Body[];
  joints: Joint[];
  springs: Spring[];
  probes: Probe[];
  couplings: Coupling[];
  obstacles: Obstacle[];
  elements: Element[];
  order: Record<string, string[]>;
  type: "patch";
}

export interface Hand {
  name: string;
  body: string;
  at: number[];
  stiffness: number;
  damping: number;
}

/**
 * A load that acts; `force` and `torque` as given: 3 numbers, or a profile as in scene files, or null.
 */
export interface Load {
  name: string;
  body: string;
  at: number[];
  frame: "world" | "body";
  force: Value | null;
  torque: Value | null;
}

export interface Motor {
  joint: string;
  group: string;
  quantity: "speed" | "position" | "torque";
  value: Value | null;
  unit: string;
  max_torque: number | null;
}

export interface Live {
  revision: number;
  hands: Hand[];
  loads: Load[];
  motors: Motor[];
  off: (ApplyLoad | SetMotor)[];
  type: "live";
}

/**
 * Clock and history. Times are simulated [s].
 */
export interface Status {
  paused: boolean;
  replaying: boolean;
  speed: number;
  steps_per_frame: number;
  dt: number;
  method: string;
  coordinates: string;
  device: string;
  scene: string;
  first_time: number;
  last_time: number;
  recorded_since: number;
  undo: string | null;
  redo: string | null;
  journal: string | null;
  clients: number;
  type: "status";
}

/**
 * What the numbers in the frames are made of.
 */
export interface Books {
  time: number;
  kinetic: number;
  potential: number;
  elastic: number;
  start: number;
  work: Record<string, number>;
  losses: Record<string, number>;
  imbalance: number;
  imbalance_percent: number | null;
  worst_joint: string | null;
  ended_by: string;
  trouble: string[];
  openings: Record<string, number>;
  indeterminate: string[];
  type: "books";
}

export interface Reply {
  id: number;
  ok: boolean;
  text: string;
  merged: boolean;
  energy: number;
  momentum: number[];
  angular_momentum: number[];
  moved: number;
  step: number;
  time: number;
  units: string[];
  type: "reply";
}

/**
 * An uploaded mesh as a convex hull, to be drawn and to stand in an edit.
 */
export interface MeshReply {
  ok: boolean;
  text: string;
  shape: ConvexHull;
  triangles: number;
}

export interface Notice {
  level: "info" | "warning" | "error";
  text: string;
  type: "notice";
}

export interface EditMessage {
  id: number;
  edit: Edit;
  type: "edit";
}

/**
 * The session's clock, history and scene.
 *
 * pause, run; step (value: how many, default 1); speed (value: times real time, 0.001 to 100);
 * steps_per_frame (value); seek (value: time [s]); undo, redo; revert (the inverse of the last edit, applied now);
 * reset (the scene anew, history dropped); scene (name, parameters: of /api/scenes); record (the results
 * begin here); keep (parameters: an ApplyLoad or SetMotor edit: show it to all clients as switched off while no
 * such load or motor acts), forget (the same: no longer); hash (the reply's text is the digest of the state's bits).
 */
export interface Control {
  id: number;
  action: "pause" | "run" | "step" | "speed" | "steps_per_frame" | "seek" | "undo" | "redo" | "revert" | "reset" | "scene" | "record" | "keep" | "forget" | "hash";
  value?: number | null;
  name?: string | null;
  parameters?: Record<string, unknown> | ApplyLoad | SetMotor | null;
  type: "control";
}

/**
 * Have these signals in every frame from now on, instead of those before; at most 64.
 */
export interface Subscribe {
  id: number;
  signals: string[];
  type: "subscribe";
}

export type ServerMessage = Scene | Patch | Live | Status | Books | Reply | Notice;

export type ClientMessage = EditMessage | Control | Subscribe;

export const LONGEST_SIGNAL = 280;
export const MAGIC = 0x31504d49;
export const HEADER_BYTES = 68;
export const FLAGS = { paused: 1, slow: 2, broken: 4, replaying: 8 } as const;
export const BOOKS = ["kinetic", "potential", "elastic", "work", "loss", "imbalance", "constraint_error", "iterations", "substeps", "step_time", "step_budget", "real_time_factor", "speed"] as const;
export const BOOK_UNITS: Record<(typeof BOOKS)[number], string> = { kinetic: "J", potential: "J", elastic: "J", work: "J", loss: "J", imbalance: "J", constraint_error: "m and rad", iterations: "1", substeps: "1", step_time: "s", step_budget: "s", real_time_factor: "1", speed: "1" };

export interface FrameHeader {
  magic: number;
  generation: number;
  time: number;
  wall: number;
  step: number;
  flags: number;
  revision: number;
  applied: number;
  subscription: number;
  bodies: number;
  hands: number;
  loads: number;
  contacts: number;
  signals: number;
  books: number;
}

export interface Frame extends Omit<FrameHeader, "bodies" | "hands" | "loads" | "contacts" | "signals" | "books"> {
  books: Float32Array;
  poses: Float32Array;
  hands: Float32Array;
  loads: Float32Array;
  contacts: Float32Array;
  signals: Float32Array;
  marks: Uint8Array;
}

/** Reads a binary frame; throws where it is not one. The arrays are views into the buffer. */
export function decodeFrame(buffer: ArrayBuffer): Frame {
  if (buffer.byteLength < HEADER_BYTES) throw new Error(`frame of ${buffer.byteLength} bytes`);
  const view = new DataView(buffer);
  const header: FrameHeader = {
    magic: view.getUint32(0, true),
    generation: view.getUint32(4, true),
    time: view.getFloat64(8, true),
    wall: view.getFloat64(16, true),
    step: view.getUint32(24, true),
    flags: view.getUint32(28, true),
    revision: view.getUint32(32, true),
    applied: view.getUint32(36, true),
    subscription: view.getUint32(40, true),
    bodies: view.getUint32(44, true),
    hands: view.getUint32(48, true),
    loads: view.getUint32(52, true),
    contacts: view.getUint32(56, true),
    signals: view.getUint32(60, true),
    books: view.getUint32(64, true),
  };
  if (header.magic !== MAGIC) throw new Error("not a frame of this protocol");
  let offset = HEADER_BYTES;
  const take = (count: number): Float32Array => {
    const block = new Float32Array(buffer, offset, count);
    offset += 4 * count;
    return block;
  };
  const books = take(header.books);
  const poses = take(7 * header.bodies);
  const hands = take(9 * header.hands);
  const loads = take(6 * header.loads);
  const contacts = take(7 * header.contacts);
  const signals = take(header.signals);
  const marks = new Uint8Array(buffer, offset, header.signals);
  return { ...header, books, poses, hands, loads, contacts, signals, marks };
}

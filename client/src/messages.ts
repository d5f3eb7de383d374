// Generated from src/impulsar/studio/*messages.py by `python -m impulsar.studio.typescript`. Do not edit.

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
  digest: string | null;
  triangles: number[][] | null;
  heights: number[][] | null;
  material: string | null;
  colour: string | null;
}

export interface Body {
  name: string;
  mass: number;
  shapes: Shape[];
  visuals: Shape[];
  link: number[][] | null;
  material: string | null;
  colour: string | null;
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
  loop: boolean;
  closed: string | null;
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

/**
 * A parameter of the model; `expression` where it follows others.
 */
export interface Variable {
  name: string;
  value: number;
  minimum: number | null;
  maximum: number | null;
  unit: string;
  expression: string | null;
}

export interface Coupling {
  name: string;
  joint_a: string;
  joint_b: string;
  ratio: number;
  belt: number | null;
  coordinate_a: string;
  coordinate_b: string;
  more: string[];
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
  parts: string[];
  points: Point[];
  parameters: Parameter[];
  channels: SensorChannel[];
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
 * A scene; parameters by name with their default values, the texts that some may be, a line on what to try.
 */
export interface SceneEntry {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  choices: Record<string, string[]>;
  invite: string;
  picture: boolean;
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
  variables: Variable[];
  expressions: Record<string, string>;
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
  variables: Variable[];
  expressions: Record<string, string>;
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
  opened: number;
  changed: boolean;
  left: string | null;
  choosing: boolean;
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

/**
 * What the scene will fill in its first seconds, found by a copy that runs ahead: for the first picture.
 */
export interface Sweep {
  topology: number;
  low: number[];
  high: number[];
  follow: string | null;
  type: "sweep";
}

/**
 * An event that is watched: a signal that passes a level, rising (direction 1), falling (-1) or both ways (0).
 */
export interface Watched {
  name: string;
  signal: string;
  level: number;
  direction: number;
  terminal: boolean;
}

export interface Occurred {
  name: string;
  time: number;
}

/**
 * Those that are watched, and the last that took place.
 */
export interface Events {
  watched: Watched[];
  found: Occurred[];
  type: "events";
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
  warning: string;
  type: "reply";
}

/**
 * What a closed mesh encloses, in the file's unit of length, about its centre of mass.
 */
export interface MeshSolid {
  vertices: number[][];
  triangles: number[][];
  volume: number;
  inertia: number[][];
}

/**
 * An uploaded mesh in its own unit of length: its convex hull and, where it is closed and not too large, itself.
 */
export interface MeshReply {
  ok: boolean;
  text: string;
  shape: ConvexHull;
  triangles: number;
  size: number[];
  solid: MeshSolid | null;
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
 * begin here); recover (go on with the session that was left), discard (forget it); keep (parameters: an ApplyLoad or
 * SetMotor edit: show it to all clients as switched off while no such load or motor acts), forget (the same: no
 * longer); vectors (name: which of reactions, motors and accelerations this client's frames are to have from now on,
 * with spaces between); hash (the reply's text is the digest of the state's bits); mobility (the reply's text says how
 * many freedoms there are, and which parts hold what others hold already); watch (name of an event, parameters:
 * signal, level, direction, terminal), unwatch (name).
 */
export interface Control {
  id: number;
  action: "pause" | "run" | "step" | "speed" | "steps_per_frame" | "seek" | "undo" | "redo" | "revert" | "reset" | "scene" | "record" | "recover" | "discard" | "keep" | "forget" | "mobility" | "vectors" | "hash" | "watch" | "unwatch";
  value?: number | null;
  name?: string | null;
  parameters?: Record<string, unknown> | ApplyLoad | SetMotor | null;
  type: "control";
}

/**
 * Have these signals in every frame from now on, and in rows with points; instead of those before.
 *
 * At most 64 signals and 32 points.
 */
export interface Subscribe {
  id: number;
  signals: string[];
  points?: Point[];
  type: "subscribe";
}

/**
 * What to read at every step of the recording, from a time on [s]; with `strict` refused where a signal is none.
 */
export interface SeriesRequest {
  signals: string[];
  points: Point[];
  since: number;
  strict: boolean;
}

/**
 * Another scene of these bodies only, stopped.
 *
 * instead of the rest: what is joined to them held on the ground where it is, following as it moved since the last
 * change, or its reactions since then as loads.
 */
export interface AloneRequest {
  bodies: string[];
  instead: "held" | "following" | "reactions";
}

/**
 * A piston or its cylinder: around a line in a body's frame.
 */
export interface Tube {
  body: string;
  start: number[];
  end: number[];
  radius: number;
  hollow: boolean;
}

/**
 * What a scene is about: a sentence, what it is measured by now, and what is drawn for it.
 */
export interface Note {
  text: string;
  value: number | null;
  unit: string;
  lines: number[][][];
  tubes: Tube[];
  turns: Point[];
}

/**
 * What the scene is about; again when what is measured has changed, about four times a second.
 */
export interface About {
  notes: Note[];
  type: "about";
}

/**
 * A hand that holds a body at a point of its frame.
 */
export interface Hand {
  name: string;
  body: string;
  at: number[];
  stiffness: number;
  damping: number;
  angular_stiffness: number;
  angular_damping: number;
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

/**
 * A motor, its gains and gear those of its own side.
 */
export interface Motor {
  joint: string;
  group: string;
  quantity: "speed" | "position" | "torque";
  value: Value | null;
  unit: string;
  max_torque: number | null;
  kp: number | null;
  kv: number | null;
  gear: number;
}

/**
 * One number that a sensor gives; the signal is sensor.SENSOR.NAME.value, without a name sensor.SENSOR.value.
 */
export interface SensorChannel {
  name: string;
  unit: string;
}

/**
 * What a camera saw, row by row from the top, as bytes in base64: red, green and blue of each pixel, and one for
 * its depth, 255 at `near`, 1 at `far` [m], 0 where there is nothing.
 */
export interface Picture {
  width: number;
  height: number;
  colour: string;
  depth: string;
  near: number | null;
  far: number | null;
}

/**
 * The newest that has come of a sensor. `values` are of its first channels, null where there is no number.
 */
export interface Sensed {
  name: string;
  kind: string;
  body: string | null;
  time: number | null;
  valid: boolean;
  values: (number | null)[];
  eye: number[] | null;
  points: number[][];
  picture: Picture | null;
  said: string;
}

/**
 * All sensors of the model, about four times a second; none where it has none.
 */
export interface Sensors {
  sensors: Sensed[];
  type: "sensors";
}

/**
 * An analysis of the world as it is now, made on a copy.
 *
 * motions, of `inverse`: the speed of each coordinate that is driven [rad/s, m/s], null: as it was recorded; none at
 * all: what has a motor, as it was recorded. duration [s] is that of motions by speed.
 */
export interface AnalysisRequest {
  kind: "mobility" | "statics" | "modes" | "inverse";
  motions: Record<string, number | null>;
  duration: number;
}

/**
 * A line of a table, and the part that it is about, where there is one.
 */
export interface AnalysisRow {
  cells: unknown[];
  kind: string;
  part: string;
}

/**
 * Rows below a head.
 */
export interface AnalysisTable {
  title: string;
  head: string[];
  rows: AnalysisRow[];
}

/**
 * A vibration, and poses of it: position and orientation of each body, from one end of its swing to the other.
 */
export interface Mode {
  frequency: number;
  growth: number;
  damping_ratio: number;
  where: string;
  poses: number[][];
}

/**
 * Values at the times of its AnalysisReply.
 */
export interface Curve {
  label: string;
  unit: string;
  values: number[];
}

/**
 * What an analysis found: in words, as tables, as curves over time; what a page may do with it.
 */
export interface AnalysisReply {
  ok: boolean;
  text: string;
  tables: AnalysisTable[];
  edit: Edit | null;
  bodies: string[];
  modes: Mode[];
  times: number[];
  curves: Curve[];
}

/**
 * Run copies of the model from its start, one for each value of a parameter, and measure a signal of each.
 */
export interface SweepRequest {
  path: string;
  values: number[];
  signal: string;
  measure: "largest" | "least" | "mean" | "rms" | "last" | "range";
  duration: number;
  of: "parameter" | "motor";
  group: string | null;
}

/**
 * A line of the answer to a SweepRequest, which comes run by run; a client that leaves ends it.
 */
export interface SweepPoint {
  value: number;
  result: number | null;
  unit: string;
  text: string;
}

/**
 * Dimensions of a planar linkage for which a point of it draws a curve, while one hinge turns.
 */
export interface CurveRequest {
  drive: string;
  body: string;
  at: number[];
  points: number[][];
  ground: boolean;
  whole: boolean;
}

/**
 * A line of the answer to a CurveRequest, whenever a better linkage is found; a client that leaves ends it.
 */
export interface CurveDesign {
  error: number | null;
  evaluations: number;
  curve: number[];
  edit: Edit | null;
  done: boolean;
  text: string;
}

/**
 * Where points go in a whole turn of the mechanism from where it is now.
 */
export interface TurnRequest {
  points: Point[];
}

/**
 * Paths: x, y and z one behind the other; of a crank that goes round, or else of the next seconds.
 */
export interface TurnReply {
  ok: boolean;
  text: string;
  closed: boolean;
  paths: number[][];
}

/**
 * A camera's intrinsics [px] and its distortion k1, k2, p1, p2, k3; see src/impulsar/ar/optics.py.
 */
export interface Lens {
  width: number;
  height: number;
  fx: number;
  fy: number;
  cx: number;
  cy: number;
  distortion: number[];
}

/**
 * Something real that hides what is behind it: about its pose in R a box of three sizes, or a capsule along z.
 */
export interface Occluder {
  name: string;
  kind: "box" | "capsule";
  size: number[];
  pose: number[];
}

/**
 * A camera or tracker and how it is.
 */
export interface Device {
  name: string;
  state: "waiting" | "ok" | "lost" | "ended";
  why: string;
}

/**
 * Who sees what, and where the mechanism stands in the room: its origin at p_RW, q_RW, so many times its size.
 */
export interface Seeing {
  lens: Lens;
  pose: number[];
  scale: number;
  camera: Device;
  marker: Device;
  own: boolean;
  tracker: Device | null;
  holds: string | null;
  tip: number[];
  occluders: Occluder[];
  type: "seeing";
}

/**
 * To a phone that is a tracker: what it should send, how it is doing, and what its hand holds.
 */
export interface Guide {
  width: number;
  height: number;
  pixel: number[];
  state: "waiting" | "ok" | "lost" | "ended";
  why: string;
  holds: string | null;
  told: string;
  taken: number;
  type: "guide";
}

/**
 * Bodies that look alike.
 */
export interface LargeKind {
  name: string;
  shapes: Shape[];
  colour: string | null;
  size: number;
  count: number;
}

/**
 * What there is to draw. `block_*` are lists over all blocks.
 */
export interface LargeScene {
  generation: number;
  name: string;
  scene: string;
  parameters: Record<string, unknown>;
  bodies: number;
  joints: number;
  kinds: LargeKind[];
  block_kinds: number[];
  block_sizes: number[];
  low: number[];
  high: number[];
  gravity: number[];
  planes: number[][];
  obstacles: Shape[];
  fluid: boolean;
  method: string;
  device: string;
  substeps: number;
  touches: boolean;
  frame_bytes: number;
  frame_bodies: number;
  frames_per_second: number;
  type: "large-scene";
}

/**
 * The clock, and what is being built.
 */
export interface LargeStatus {
  paused: boolean;
  broken: boolean;
  slow: boolean;
  speed: number;
  dt: number;
  building: string | null;
  clients: number;
  type: "large-status";
}

/**
 * How the world does. Energies in J, lengths in m, times in s.
 */
export interface LargeBooks {
  time: number;
  step: number;
  kinetic: number;
  potential: number;
  works: Record<string, number>;
  unbooked: number;
  closed: boolean;
  pull: number;
  gap: number;
  velocity_error: number;
  contacts: number;
  overlap: number;
  overlap_share: number | null;
  unsettled: number;
  residual: number;
  parts: number;
  steps_per_second: number;
  step_time: number;
  real_time_factor: number;
  bytes_per_body: number;
  type: "large-books";
}

/**
 * Scenes of large worlds, and what runs now.
 */
export interface LargeCatalogue {
  scenes: SceneEntry[];
  running: string | null;
  most_bodies: number;
}

/**
 * Open a scene of the catalogue.
 */
export interface LargeRequest {
  name: string;
  parameters: Record<string, unknown>;
}

/**
 * pause, run; step (value: how many, default 1); speed (value: times real time, 0.001 to 100); reset (as it began);
 * cancel (what is being built); hash (the reply's text is the digest of the state's bits).
 */
export interface LargeControl {
  id: number;
  action: "pause" | "run" | "step" | "speed" | "reset" | "cancel" | "hash";
  value?: number | null;
  type: "large-control";
}

/**
 * What a small world would take; a large one refuses it by name.
 */
export interface LargeEdit {
  id: number;
  edit: Edit;
  type: "edit";
}

/**
 * Pull a body to a place of the world by a spring, or let go of it. Not answered; a refusal is a Notice.
 *
 * There is one hand: it is of the client that pulls first, until it lets go or leaves. Of a client's pulls that wait
 * for the same step the newest counts.
 */
export interface LargePull {
  id: number;
  generation: number;
  body: number;
  at?: number[];
  target?: number[];
  type: "large-pull";
}

/**
 * A frame was drawn, and where the eye is. Not answered.
 *
 * Planes of what is seen: unit normals inwards and their offsets, n · x + d >= 0; none: everything is.
 */
export interface LargeLook {
  id: number;
  frame: number;
  eye?: number[];
  planes?: number[][];
  type: "large-look";
}

export type ServerMessage = About | Scene | Patch | Live | Status | Books | Sweep | Events | Sensors | Reply | Notice;

export type ClientMessage = EditMessage | Control | Subscribe;

export type LargeServerMessage = LargeScene | LargeStatus | LargeBooks | Reply | Notice;

export type LargeClientMessage = LargeControl | LargeEdit | LargePull | LargeLook;

export const LONGEST_SIGNAL = 280;
export const MAGIC = 0x31504d49;
export const HEADER_BYTES = 84;
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
  leaps: number;
  bodies: number;
  hands: number;
  loads: number;
  contacts: number;
  reactions: number;
  motors: number;
  accelerations: number;
  signals: number;
  books: number;
}

export interface Frame extends Omit<FrameHeader, "books" | "bodies" | "hands" | "loads" | "contacts" | "reactions" | "motors" | "accelerations" | "signals"> {
  books: Float32Array;
  poses: Float32Array;
  twists: Float32Array;
  hands: Float32Array;
  loads: Float32Array;
  contacts: Float32Array;
  reactions: Float32Array;
  motors: Float32Array;
  accelerations: Float32Array;
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
    leaps: view.getUint32(44, true),
    bodies: view.getUint32(48, true),
    hands: view.getUint32(52, true),
    loads: view.getUint32(56, true),
    contacts: view.getUint32(60, true),
    reactions: view.getUint32(64, true),
    motors: view.getUint32(68, true),
    accelerations: view.getUint32(72, true),
    signals: view.getUint32(76, true),
    books: view.getUint32(80, true),
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
  const twists = take(6 * header.bodies);
  const hands = take(16 * header.hands);
  const loads = take(6 * header.loads);
  const contacts = take(7 * header.contacts);
  const reactions = take(6 * header.reactions);
  const motors = take(header.motors);
  const accelerations = take(6 * header.accelerations);
  const signals = take(header.signals);
  const marks = new Uint8Array(buffer, offset, header.signals);
  return { ...header, books, poses, twists, hands, loads, contacts, reactions, motors, accelerations, signals, marks };
}


export const ROWS_MAGIC = 0x31524d49;
export const ROWS_HEADER_BYTES = 24;

export interface RowsHeader {
  magic: number;
  subscription: number;
  rows: number;
  columns: number;
  stride: number;
  leapt: number;
}

export interface Rows extends RowsHeader {
  times: Float64Array;
  values: Float64Array;
}

/** Reads a binary message of rows, or null where it is none. */
export function decodeRows(buffer: ArrayBuffer): Rows | null {
  const view = new DataView(buffer);
  if (buffer.byteLength < ROWS_HEADER_BYTES || view.getUint32(0, true) !== ROWS_MAGIC) return null;
  const header: RowsHeader = {
    magic: view.getUint32(0, true),
    subscription: view.getUint32(4, true),
    rows: view.getUint32(8, true),
    columns: view.getUint32(12, true),
    stride: view.getUint32(16, true),
    leapt: view.getUint32(20, true),
  };
  const { rows, columns } = header;
  const times = new Float64Array(buffer, ROWS_HEADER_BYTES, rows);
  const values = new Float64Array(buffer, ROWS_HEADER_BYTES + 8 * rows, rows * columns);
  return { ...header, times, values };
}


export const SIGHT_MAGIC = 0x52414d49;
export const DEPTH_UNIT = 0.00025;
export const PICTURE_MAGIC = 0x43414d49;
export const PICTURE_HEADER_BYTES = 16;
export const PHONE_MAGIC = 0x48504d49;
export const PHONE_HEADER_BYTES = 12;

export interface Sight {
  magic: number;
  number: number;
  time: number;
  found: number;
  own: number;
  columns: number;
  rows: number;
  x: number;
  y: number;
  z: number;
  qx: number;
  qy: number;
  qz: number;
  qw: number;
  depth: Uint16Array<ArrayBuffer>;
  jpeg: Uint8Array<ArrayBuffer>;
}

/** Reads a picture and where the marker is in it, or null where it is none. */
export function decodeSight(buffer: ArrayBuffer): Sight | null {
  const view = new DataView(buffer);
  if (buffer.byteLength < 88 || view.getUint32(0, true) !== SIGHT_MAGIC) return null;
  const header = {
    magic: view.getUint32(0, true),
    number: view.getUint32(4, true),
    time: view.getFloat64(8, true),
    found: view.getUint32(16, true),
    own: view.getUint32(20, true),
    columns: view.getUint32(24, true),
    rows: view.getUint32(28, true),
    x: view.getFloat64(32, true),
    y: view.getFloat64(40, true),
    z: view.getFloat64(48, true),
    qx: view.getFloat64(56, true),
    qy: view.getFloat64(64, true),
    qz: view.getFloat64(72, true),
    qw: view.getFloat64(80, true),
  };
  const depths = header.columns * header.rows;
  return {
    ...header,
    depth: new Uint16Array(buffer, 88, depths),
    jpeg: new Uint8Array(buffer, 88 + 2 * depths),
  };
}


export const LARGE_MAGIC = 0x314c4d49;

export interface LargeFrame {
  magic: number;
  generation: number;
  time: number;
  wall: number;
  low_x: number;
  low_y: number;
  low_z: number;
  span_x: number;
  span_y: number;
  span_z: number;
  step: number;
  still: number;
  number: number;
  blocks: number;
  bodies: number;
  seen: number;
  which: Uint32Array; // blocks
  places: Uint32Array;
  turns: Uint32Array;
}

/** Reads a frame of a large world; throws where it is not one. The arrays are views into the buffer. */
export function decodeLarge(buffer: ArrayBuffer): LargeFrame {
  if (buffer.byteLength < 96) throw new Error(`frame of ${buffer.byteLength} bytes`);
  const view = new DataView(buffer);
  const header = {
    magic: view.getUint32(0, true),
    generation: view.getUint32(4, true),
    time: view.getFloat64(8, true),
    wall: view.getFloat64(16, true),
    low_x: view.getFloat64(24, true),
    low_y: view.getFloat64(32, true),
    low_z: view.getFloat64(40, true),
    span_x: view.getFloat64(48, true),
    span_y: view.getFloat64(56, true),
    span_z: view.getFloat64(64, true),
    step: view.getUint32(72, true),
    still: view.getUint32(76, true),
    number: view.getUint32(80, true),
    blocks: view.getUint32(84, true),
    bodies: view.getUint32(88, true),
    seen: view.getUint32(92, true),
  };
  if (header.magic !== LARGE_MAGIC) throw new Error("not a frame of a large world");
  const { blocks, bodies } = header;
  return {
    ...header,
    which: new Uint32Array(buffer, 96, blocks),
    places: new Uint32Array(buffer, 96 + 4 * blocks, 2 * bodies),
    turns: new Uint32Array(buffer, 96 + 4 * blocks + 8 * bodies, bodies),
  };
}

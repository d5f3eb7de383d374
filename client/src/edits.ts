// Generated from src/impulsar/edits/data.py by `python -m impulsar.studio.typescript`. Do not edit.

/** A number; JSON has no infinity. */
export type Real = number | "inf" | "-inf";

/** A number or 3 of them. */
export type Sample = Real | [Real, Real, Real];

/** What the outside imposes: a number, a profile, 3 of these, or an array of one row per world. */
export type Value = Real | Profile | [Real | Profile, Real | Profile, Real | Profile] | { array: number[][] };

/** {"motor": "speed", "value": ..., "max_torque": ...}: exactly one of speed, position and torque. */
export interface Motor {
  motor: "speed" | "position" | "torque";
  value: Value;
  max_torque?: Real;
}

/** Anything that a keyword argument may be. */
export type Free = null | boolean | Real | string | Profile | Shape | Motor | Free[] | { [name: string]: Free };

/**
 * `start` until t0, linear to `end` at t1 [s], `end` from there on.
 *
 * `start=None` stands for the value at the moment the ramp is applied: only a hand knows that
 * moment and completes the ramp by `with_start`.
 */
export interface Ramp {
  profile: "ramp";
  start: Sample | null;
  end: Sample;
  t0: Real;
  t1: Real;
}

/**
 * `start` until t0, to `end` at t1 [s] with rate and acceleration 0 at both and continuous between:
 * the quintic s = u³ (10 - 15 u + 6 u²), u = (t - t0) / (t1 - t0), of least mean square jerk.
 *
 * Its rate is at most 15/8, its acceleration 10/√3 of the way over the time, or its square. `start=None` as in a
 * Ramp.
 */
export interface Smooth {
  profile: "smooth";
  start: Sample | null;
  end: Sample;
  t0: Real;
  t1: Real;
}

/**
 * mean + amplitude · sin(omega t + phase); omega [rad/s], phase [rad].
 */
export interface Harmonic {
  profile: "harmonic";
  amplitude: Sample;
  omega: Sample;
  phase?: Sample;
  mean?: Sample;
}

/**
 * Samples at ascending times [s], linear between them, held beyond the ends.
 *
 * A repeated time is a jump: the later value holds from that time on.
 */
export interface Table {
  profile: "table";
  times: Real[];
  values: Sample[];
}

export type Profile =
  | Ramp
  | Smooth
  | Harmonic
  | Table;

/**
 * A box of edge lengths `size` along x, y, z [m].
 */
export interface Box {
  shape: "box";
  offset?: [number, number, number];
  orientation?: [number, number, number, number];
  material?: string | null;
  size: [number, number, number];
}

/**
 * A ball of `radius` [m].
 */
export interface Sphere {
  shape: "sphere";
  offset?: [number, number, number];
  orientation?: [number, number, number, number];
  material?: string | null;
  radius: Real;
}

/**
 * A cylinder along z of `radius` and `length` [m].
 */
export interface Cylinder {
  shape: "cylinder";
  offset?: [number, number, number];
  orientation?: [number, number, number, number];
  material?: string | null;
  radius: Real;
  length: Real;
}

/**
 * A cylinder along z of `radius` and `length` [m], closed by two half balls beyond `length`.
 */
export interface Capsule {
  shape: "capsule";
  offset?: [number, number, number];
  orientation?: [number, number, number, number];
  material?: string | null;
  radius: Real;
  length: Real;
}

/**
 * A cone along z of base `radius` and `length` [m], its base at -length/2 and its tip at +length/2.
 */
export interface Cone {
  shape: "cone";
  offset?: [number, number, number];
  orientation?: [number, number, number, number];
  material?: string | null;
  radius: Real;
  length: Real;
}

/**
 * The convex hull of `points` (n, 3) [m].
 */
export interface ConvexHull {
  shape: "convex-hull";
  offset?: [number, number, number];
  orientation?: [number, number, number, number];
  material?: string | null;
  points: [number, number, number][];
}

/**
 * The half space below the plane z = 0 of its frame; what it carries is on the side of +z.
 */
export interface Plane {
  shape: "plane";
  offset?: [number, number, number];
  orientation?: [number, number, number, number];
  material?: string | null;
}

/**
 * A surface of `triangles` (n, 3), indices of `vertices` (m, 3) [m], anticlockwise seen from outside.
 *
 * It encloses a solid, or with `open` it is a terrain that things touch from the side that its triangles face.
 */
export interface Mesh {
  shape: "mesh";
  offset?: [number, number, number];
  orientation?: [number, number, number, number];
  material?: string | null;
  vertices: [number, number, number][];
  triangles: [number, number, number][];
  open?: boolean;
}

/**
 * A terrain of `heights` (nx, ny) [m] on a grid over `size` (along x and y) [m] about its frame's origin.
 *
 * Solid below; each cell is two triangles, divided from its corner of least x and y.
 */
export interface HeightField {
  shape: "height-field";
  offset?: [number, number, number];
  orientation?: [number, number, number, number];
  material?: string | null;
  heights: number[][];
  size: [number, number];
}

export type Shape =
  | Box
  | Sphere
  | Cylinder
  | Capsule
  | Cone
  | ConvexHull
  | Plane
  | Mesh
  | HeightField;

export interface BodyOptions {
  mass?: Real | null;
  inertia?: [number, number, number] | [number, number, number][] | null;
  position?: [number, number, number];
  orientation?: [number, number, number, number];
  velocity?: [number, number, number];
  angular_velocity?: [number, number, number];
  shape?: Shape | Shape[] | null;
  density?: Real | null;
  material?: string | null;
}

export interface JointOptions {
  type: string;
  first: string;
  second: string;
  at?: [number, number, number] | null;
  axis?: [number, number, number] | null;
  axis2?: [number, number, number] | null;
  at_b?: [number, number, number] | null;
  frame_a?: Free | null;
  frame_b?: Free | null;
  limits?: Free;
  limit_restitution?: Real | Record<string, Real>;
  friction?: Real | Record<string, Real>;
  static_friction?: Real | Record<string, Real>;
  viscous?: Real | Record<string, Real>;
  motor?: Motor | Record<string, Motor> | null;
  stiffness?: Real | Record<string, Real>;
  damping?: Real | Record<string, Real>;
  rest?: Real | Record<string, Real>;
  pitch?: Real | null;
  loop?: boolean | null;
  contact?: boolean;
}

export interface SpringOptions {
  first: string;
  second: string;
  at_a: [number, number, number];
  at_b: [number, number, number];
  stiffness: Real;
  damping?: Real;
  free_length?: Real | null;
}

export interface LoadOptions {
  body: string;
  force?: Value;
  torque?: Value;
  at?: [number, number, number] | null;
  frame?: string;
}

export interface ProbeOptions {
  body: string;
  at: [number, number, number];
}

export interface CouplingOptions {
  joint_a: string;
  joint_b: string;
  ratio?: Real;
  group_a?: string | null;
  group_b?: string | null;
}

export interface MaterialOptions {
  friction: Real;
  static?: Real | null;
  restitution?: Real;
  rolling?: Real;
  spinning?: Real;
}

export interface MaterialPairOptions {
  a: string;
  b: string;
  friction?: Real | null;
  static?: Real | null;
  restitution?: Real | null;
  rolling?: Real | null;
  spinning?: Real | null;
}

export interface ObstacleOptions {
  shape: Shape;
  position?: [number, number, number];
  orientation?: [number, number, number, number];
  material?: string | null;
}

export interface NoContactOptions {
  a: string;
  b: string;
}

/** Keyword arguments of the calls of `Model`, by kind of part. */
export interface Options {
  body: BodyOptions;
  joint: JointOptions;
  spring: SpringOptions;
  load: LoadOptions;
  probe: ProbeOptions;
  coupling: CouplingOptions;
  material: MaterialOptions;
  material_pair: MaterialPairOptions;
  obstacle: ObstacleOptions;
  no_contact: NoContactOptions;
}

/**
 * Take hold of a body's point by a spring [N/m] and damper [N s/m] (Mariti 2012 eq. 10).
 */
export interface Grab {
  edit: "Grab";
  hand: string;
  body: string;
  at?: [Real, Real, Real];
  stiffness?: Real;
  damping?: Real;
}

/**
 * Send a hand to a world point [m], or along a profile; a Ramp or Smooth without start begins where the hand is.
 */
export interface Move {
  edit: "Move";
  hand: string;
  target: Value;
}

/**
 * Let go. The energy left in the hand's spring is booked to the hand.
 */
export interface Release {
  edit: "Release";
  hand: string;
}

/**
 * Put a load on a body, or change the one of that name.
 */
export interface ApplyLoad {
  edit: "ApplyLoad";
  name: string;
  body: string;
  force?: Value;
  torque?: Value;
  at?: [Real, Real, Real];
  frame?: string;
}

/**
 * Take a load away; its work stays in the books.
 */
export interface RemoveLoad {
  edit: "RemoveLoad";
  name: string;
}

/**
 * Set "part.parameter" to a value, or to one value per world.
 */
export interface SetParameter {
  edit: "SetParameter";
  path: string;
  value: Free;
}

/**
 * Give a body or an obstacle, or one of its shapes, another material; None: its body's, or none.
 */
export interface SetMaterial {
  edit: "SetMaterial";
  part: string;
  material: string | null;
  shape?: number | null;
}

/**
 * Change the nominal step [s].
 */
export interface SetStep {
  edit: "SetStep";
  dt: Real;
}

/**
 * Give the motor in a joint a new value: a number, a profile, or point by point what a handle says.
 */
export interface Drive {
  edit: "Drive";
  joint: string;
  value: Value;
  group?: string | null;
}

/**
 * Attach a motor to a joint, replace the one it has, or detach it (None).
 */
export interface SetMotor {
  edit: "SetMotor";
  joint: string;
  motor: Motor | null;
  group?: string | null;
}

/**
 * Change a joint by keyword arguments of `Model.joint`: type, first, second, axis, limits, friction, ...
 *
 * The joint is made anew at the present pose; frames="authored" keeps its frames and moves the bodies.
 */
export interface ChangeJoint {
  edit: "ChangeJoint";
  joint: string;
  changes: Partial<JointOptions>;
  frames?: string;
}

/**
 * Add a part of a kind of `author.parts.PARTS` ("body", "joint", "material", ...), and its keyword arguments.
 */
export interface AddPart<K extends keyof Options> {
  edit: "Add";
  kind: K;
  name: string;
  options?: Options[K];
}

export type Add = { [K in keyof Options]: AddPart<K> }[keyof Options];

/**
 * Remove a part of one of the kinds of `Add`, and with a body everything that holds on to it.
 */
export interface Remove {
  edit: "Remove";
  kind: keyof Options;
  name: string;
}

/**
 * Put bodies where they are given (position, orientation, velocity, angular_velocity by body name).
 *
 * What the joints do not allow is taken out of it, in the mass norm.
 */
export interface SetState {
  edit: "SetState";
  bodies: Record<string, Partial<Pick<BodyOptions, "position" | "orientation" | "velocity" | "angular_velocity">>>;
}

/**
 * With time stopped, bring a point of a body as near to a world point as the joints allow [m].
 */
export interface DragTo {
  edit: "DragTo";
  body: string;
  target: [Real, Real, Real];
  at?: [Real, Real, Real];
}

/**
 * Go back to the start: the model as it is now, at its authored pose, with fresh books.
 */
export interface Reset {
  edit: "Reset";
}

/**
 * Stop time, or let it run again.
 */
export interface Pause {
  edit: "Pause";
  paused?: boolean;
}

/**
 * Go on with another method, by name and options.
 */
export interface SetMethod {
  edit: "SetMethod";
  method: string;
  options?: Record<string, Free>;
}

export type Edit =
  | Grab
  | Move
  | Release
  | ApplyLoad
  | RemoveLoad
  | SetParameter
  | SetMaterial
  | SetStep
  | Drive
  | SetMotor
  | ChangeJoint
  | Add
  | Remove
  | SetState
  | DragTo
  | Reset
  | Pause
  | SetMethod;

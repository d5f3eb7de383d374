// Generated from src/impulsar/edits/data.py by `python -m impulsar.studio.typescript`. Do not edit.

/** A number; JSON has no infinity. */
export type Real = number | "inf" | "-inf";

/** A number or 3 of them. */
export type Sample = Real | [Real, Real, Real];

/** What the outside imposes: a number, a profile, 3 of these, or an array of one row per world. */
export type Value = Real | Profile | [Real | Profile, Real | Profile, Real | Profile] | { array: number[][] };

/** {"motor": "speed", "value": ..., "max_torque": ..., "kp": ..., "kv": ..., "gear": ...}: exactly one of speed,
position and torque. */
export interface Motor {
  motor: "speed" | "position" | "torque";
  value: Value;
  max_torque?: Real;
  kp?: Real;
  kv?: Real;
  gear?: Real;
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

/**
 * A formula of time t [s], such as "2*sin(3*t)": data, in the grammar of `author.expressions`.
 *
 * It is evaluated on the host at the ends of steps and linear between them, as a callable is.
 */
export interface Formula {
  profile: "formula";
  text: string;
}

export type Profile =
  | Ramp
  | Smooth
  | Harmonic
  | Table
  | Formula;

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

/**
 * A shape to be drawn, placed in its body's frame as shapes are; it never touches.
 */
export interface Visual {
  visual: "drawn";
  shape: Shape;
  colour?: string | null;
  name?: string;
}

export interface BodyOptions {
  mass?: Real | null;
  inertia?: [number, number, number] | [number, number, number][] | null;
  position?: [number, number, number] | [string, [number, number, number]] | [string, [number, number, number], string];
  orientation?: [number, number, number, number];
  velocity?: [number, number, number];
  angular_velocity?: [number, number, number];
  shape?: Shape | Shape[] | null;
  density?: Real | null;
  material?: string | null;
  colour?: string | null;
  visual?: Visual | Shape | (Visual | Shape)[] | null;
  link?: [[number, number, number], [number, number, number, number]] | null;
}

export interface JointOptions {
  type: string;
  first: string;
  second: string;
  at?: [number, number, number] | [string, [number, number, number]] | [string, [number, number, number], string] | null;
  axis?: [number, number, number] | [[number, number, number] | [string, [number, number, number]] | [string, [number, number, number], string], [number, number, number] | [string, [number, number, number]] | [string, [number, number, number], string]] | null;
  axis2?: [number, number, number] | null;
  at_b?: [number, number, number] | [string, [number, number, number]] | [string, [number, number, number], string] | null;
  frame_a?: [[number, number, number], [number, number, number, number]] | null;
  frame_b?: [[number, number, number], [number, number, number, number]] | null;
  limits?: Free;
  limit_restitution?: Real | Record<string, Real>;
  friction?: Real | Record<string, Real>;
  static_friction?: Real | Record<string, Real>;
  viscous?: Real | Record<string, Real>;
  motor?: Motor | Record<string, Motor> | null;
  stiffness?: Real | Record<string, Real>;
  damping?: Real | Record<string, Real>;
  rest?: Real | Record<string, Real>;
  armature?: Real | Record<string, Real>;
  pitch?: Real | null;
  loop?: boolean | null;
  contact?: boolean;
  closed?: Record<string, Free> | null;
}

export interface SpringOptions {
  first: string;
  second: string;
  at_a: [number, number, number] | [string, [number, number, number]] | [string, [number, number, number], string];
  at_b: [number, number, number] | [string, [number, number, number]] | [string, [number, number, number], string];
  stiffness: Real;
  damping?: Real;
  free_length?: Real | null;
}

export interface LoadOptions {
  body: string;
  force?: Value;
  torque?: Value;
  at?: [number, number, number] | [string, [number, number, number]] | [string, [number, number, number], string] | null;
  frame?: string;
}

export interface ProbeOptions {
  body: string;
  at: [number, number, number] | [string, [number, number, number]] | [string, [number, number, number], string];
}

export interface DistanceOptions {
  first: string;
  second: string;
  at_a: [number, number, number] | [string, [number, number, number]];
  at_b: [number, number, number] | [string, [number, number, number]];
}

export interface AngleOptions {
  first: string;
  second: string;
  from_a: [number, number, number] | [string, [number, number, number]];
  to_a: [number, number, number] | [string, [number, number, number]];
  from_b: [number, number, number] | [string, [number, number, number]];
  to_b: [number, number, number] | [string, [number, number, number]];
}

export interface CouplingOptions {
  joint_a: string | Record<string, Real>;
  joint_b?: string | null;
  ratio?: Real;
  group_a?: string | null;
  group_b?: string | null;
  belt?: Real | null;
  offset?: Real;
  more?: Record<string, Real> | null;
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

export interface VariableOptions {
  value: Real | string;
  minimum?: Real | null;
  maximum?: Real | null;
  unit?: string;
}

export interface ObstacleOptions {
  shape: Shape;
  position?: [number, number, number];
  orientation?: [number, number, number, number];
  material?: string | null;
}

export interface FluidOptions {
  density?: Real;
  viscosity?: Real;
  surface?: Real | null;
  current?: Value;
  drag?: Real | boolean | null;
  added_mass?: boolean;
  bodies?: string[] | null;
  without?: string[];
  wave_amplitude?: Real;
  wave_number?: Real;
  wave_direction?: Real;
  wave_phase?: Real;
  depth?: Real;
  wave_period?: Real | null;
}

export interface NoContactOptions {
  a: string;
  b: string;
}

export interface GroupingOptions {
  parts: string[];
}

export interface KeyframeOptions {
  positions: Record<string, Real>;
  velocities?: Record<string, Real> | null;
}

export interface MountedOptions {
  sensor: Free;
}

export interface TyreOptions {
  wheel: string;
  axle?: [number, number, number];
  radius?: Real;
  width?: Real;
  stiffness?: Real;
  damping?: Real;
  coefficients?: Record<string, Real> | null;
  relaxation?: [Real, Real] | null;
  rolling?: Real;
  shifts?: boolean;
  law?: string;
  load?: Real;
  grip?: Real;
  at?: [number, number, number] | [string, [number, number, number]] | null;
  axle_end?: [number, number, number] | [string, [number, number, number]] | null;
  relaxation_along?: Real;
  relaxation_across?: Real;
}

/** Keyword arguments of the calls of `Model`, by kind of part. */
export interface Options {
  body: BodyOptions;
  joint: JointOptions;
  spring: SpringOptions;
  load: LoadOptions;
  probe: ProbeOptions;
  distance: DistanceOptions;
  angle: AngleOptions;
  coupling: CouplingOptions;
  material: MaterialOptions;
  material_pair: MaterialPairOptions;
  parameter: VariableOptions;
  obstacle: ObstacleOptions;
  fluid: FluidOptions;
  no_contact: NoContactOptions;
  group: GroupingOptions;
  keyframe: KeyframeOptions;
  sensor: MountedOptions;
  tyre: TyreOptions;
}

/**
 * An end of a link that is drawn: a point of the plane or of a body, or so far from the end before it.
 */
export interface End {
  at?: [Real, Real] | null;
  body?: string | null;
  point?: [Real, Real, Real] | null;
  length?: Real | null;
  angle?: Real | null;
  toward?: [Real, Real] | null;
  ground?: boolean;
}

/**
 * An end of a link that is drawn: a point of the plane or of a body, or so far from the end before it.
 */
export interface End {
  at?: [Real, Real] | null;
  body?: string | null;
  point?: [Real, Real, Real] | null;
  length?: Real | null;
  angle?: Real | null;
  toward?: [Real, Real] | null;
  ground?: boolean;
}

/**
 * Take hold of a body's point by a spring [N/m] and damper [N s/m] (Mariti 2012 eq. 10), and of its orientation by
 * angular ones [N m/rad, N m s/rad]; 0: it may turn as it likes.
 */
export interface Grab {
  edit: "Grab";
  hand: string;
  body: string;
  at?: [Real, Real, Real];
  stiffness?: Real;
  damping?: Real;
  angular_stiffness?: Real;
  angular_damping?: Real;
}

/**
 * Give a hand that holds a body other springs and dampers, in the units of Grab; None: as it is.
 *
 * It goes on from where it is; what begins to turn begins with the body's orientation.
 */
export interface Grip {
  edit: "Grip";
  hand: string;
  stiffness?: Real | null;
  damping?: Real | null;
  angular_stiffness?: Real | null;
  angular_damping?: Real | null;
}

/**
 * Send a hand to a world point [m], or along a profile; a Ramp or Smooth without start begins where the hand is.
 *
 * turn: rotation vector [rad] from the world's axes to those that the body it holds should have, or a profile of one;
 * None: on as before.
 */
export interface Move {
  edit: "Move";
  hand: string;
  target: Value | null;
  turn?: Value | null;
}

/**
 * Let go. The energy left in the hand's spring is booked to the hand.
 */
export interface Release {
  edit: "Release";
  hand: string;
}

/**
 * Put a sphere into the world that pushes what it meets and never sticks: a hand that holds nothing.
 *
 * Move sends it somewhere, Release takes it away.
 */
export interface Push {
  edit: "Push";
  hand: string;
  at?: [Real, Real, Real];
  radius?: Real;
  force?: Real;
  mass?: Real | null;
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
 * Set "part.parameter" to a value, or to one value per world; "a.value" of a parameter "a" of the model, and with
 * it all that follows it.
 */
export interface SetParameter {
  edit: "SetParameter";
  path: string;
  value: Free;
}

/**
 * Have what a path leads to ("arm.length", "pin.p_PF.x") follow an expression of parameters; None: no longer.
 */
export interface Bind {
  edit: "Bind";
  path: string;
  expression: string | null;
}

/**
 * Set parameters of the model, a text being an expression of others, and have paths follow expressions, all at
 * once: one system is built. Those that the model does not have yet are declared, in metres. at_start: the bodies then
 * stand at the new model's own pose, at rest; else they stay where they are as far as joints allow.
 */
export interface SetParameters {
  edit: "SetParameters";
  values: Record<string, Free>;
  expressions?: Record<string, string>;
  at_start?: boolean;
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
 * Open the mechanism at a joint: it holds nothing until it is closed, and keeps its frames and what it was.
 */
export interface Cut {
  edit: "Cut";
  joint: string;
}

/**
 * Close a joint that was cut: it is what it was, and the bodies move to where its frames meet.
 */
export interface Close {
  edit: "Close";
  joint: string;
}

/**
 * Put bodies where they are given (position, orientation, velocity, angular_velocity by body name).
 *
 * What the joints do not allow is taken out of it, in the mass norm.
 */
export interface SetState {
  edit: "SetState";
  bodies: Record<string, Partial<Record<"position" | "orientation" | "velocity" | "angular_velocity", number[]>>>;
}

/**
 * Put worlds of a batch (by number; None: all) at joint coordinates, moving at joint velocities.
 *
 * q, v: numbers by the names of coordinates, each one or one for each of the worlds; or arrays of all coordinates
 * [coordinate] or [world, coordinate]. What q does not name is at the start; without q all is, moving as it did; with
 * q what v does not name is at rest. Loops are closed from there, and what that changes is told.
 */
export interface PutWorlds {
  edit: "PutWorlds";
  worlds?: Free;
  q?: Free;
  v?: Free;
}

/**
 * Put worlds (by number; None: all) at a key frame of the model.
 */
export interface GoTo {
  edit: "GoTo";
  keyframe: string;
  worlds?: Free;
}

/**
 * Make the present pose the one that the model starts from, and with `velocities` its motion too.
 *
 * Nothing moves; Reset comes back to here, and a scene file begins here. Joint coordinates keep their zero.
 */
export interface SetStart {
  edit: "SetStart";
  velocities?: boolean;
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

/**
 * Carry out several edits, all or none of them; undo takes them back as one.
 */
export interface Several {
  edit: "Several";
  edits: Edit[];
}

/**
 * Call a part by another name, wherever it is named; state and books stay as they are.
 */
export interface Rename {
  edit: "Rename";
  name: string;
  to: string;
}

/**
 * Add links end to end in a plane, pinned where they meet, to the bodies that they begin and end at, and to the
 * ground where that is asked for.
 *
 * A length that is given with a point turns the link before about its other end, if that has a length and no angle.
 */
export interface Draw {
  edit: "Draw";
  links: string[];
  ends: End[];
  origin?: [Real, Real, Real];
  u?: [Real, Real, Real];
  v?: [Real, Real, Real];
  radius?: Real;
  density?: Real;
}

/**
 * Copy bodies, with the joints and springs among them and to the ground, their couplings and probes: each copy
 * turned about a line and shifted from the one before.
 */
export interface Copy {
  edit: "Copy";
  bodies: string[];
  shift?: [Real, Real, Real];
  angle?: Real;
  axis?: [Real, Real, Real];
  centre?: [Real, Real, Real];
  count?: number;
}

/**
 * Add the mirror images of bodies, of the joints and springs among them and to the ground, and so on as `Copy`
 * does, in the plane through a point across a normal.
 */
export interface Mirror {
  edit: "Mirror";
  bodies: string[];
  normal?: [Real, Real, Real];
  point?: Free;
  along?: Free;
}

/**
 * Move bodies together, turned about a line and shifted, now and as authored, with what holds them alone on the
 * ground; joints to other bodies stay, and close.
 */
export interface Shift {
  edit: "Shift";
  bodies: string[];
  shift?: [Real, Real, Real];
  angle?: Real;
  axis?: [Real, Real, Real];
  centre?: [Real, Real, Real];
}

/**
 * Add a disc cam on a shaft on the ground, and the follower that it lifts along a guide, pressed on by a spring.
 *
 * As the cam turns by `rise` from u to v the follower goes up by `lift`, then it dwells, comes back over `fall`, and
 * rests for what is left of the turn, in the middle of which it begins.
 */
export interface Cam {
  edit: "Cam";
  name: string;
  at?: [Real, Real];
  base?: Real;
  lift?: Real;
  rise?: Real;
  dwell?: Real;
  fall?: Real;
  law?: string;
  follower?: string;
  roller?: Real;
  angle?: Real;
  speed?: Real;
  stiffness?: Real;
  origin?: [Real, Real, Real];
  u?: [Real, Real, Real];
  v?: [Real, Real, Real];
  thickness?: Real;
  density?: Real;
  material?: string;
}

/**
 * Add a plate by the corners of a polygon in a plane, in order; pinned where one is on a body or ground.
 */
export interface Plate {
  edit: "Plate";
  name: string;
  ends: End[];
  origin?: [Real, Real, Real];
  u?: [Real, Real, Real];
  v?: [Real, Real, Real];
  thickness?: Real;
  density?: Real;
}

/**
 * Let a controller act at a rate [Hz], from now on: a callable of the time [s] and what it reads, as an array, that
 * returns what it writes, or a Warp function, which a launch calls; one of that name is exchanged.
 *
 * hold: what stays of a call that fails, "last" or "zero"; budget: wall time that a call may take [s], None: any;
 * memory: how many numbers a Warp function keeps from call to call.
 */
export interface Attach {
  edit: "Attach";
  name: string;
  controller: Free;
  rate: Real;
  reads?: string[];
  writes?: string[];
  hold?: string;
  budget?: Real | null;
  memory?: number;
}

/**
 * Let a controller act no more; what it wrote stays, or is zero, as it was to hold.
 */
export interface Detach {
  edit: "Detach";
  name: string;
}

/**
 * Take steps from now on by code that is compiled for this mechanism, along the ways that a step goes from these
 * states; elsewhere, and without any, by the kernel. What changes the mechanism ends it.
 */
export interface Compile {
  edit: "Compile";
  states?: Real[][];
  worlds?: number[];
}

export type Edit =
  | Grab
  | Grip
  | Move
  | Release
  | Push
  | ApplyLoad
  | RemoveLoad
  | SetParameter
  | Bind
  | SetParameters
  | SetMaterial
  | SetStep
  | Drive
  | SetMotor
  | ChangeJoint
  | Add
  | Remove
  | Cut
  | Close
  | SetState
  | PutWorlds
  | GoTo
  | SetStart
  | DragTo
  | Reset
  | Pause
  | SetMethod
  | Several
  | Rename
  | Draw
  | Copy
  | Mirror
  | Shift
  | Cam
  | Plate
  | Attach
  | Detach
  | Compile;

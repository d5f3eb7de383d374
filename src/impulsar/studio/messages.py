"""The studio's protocol: every message as a dataclass, and the layout of the binary frame.

`client/src/messages.ts` is generated from this file, `client/src/edits.ts` from the edits
(`python -m impulsar.studio.typescript`); a test holds them together.

A client opens a WebSocket at `/ws`. Text frames are JSON objects with a `type`; binary frames are
pictures of the world. All of it is SI, quaternions are xyzw, points of a part are in its body's frame.

Server to client, in this order after the connection is made:

    Scene       what there is to draw and to set. Again with a new `generation` when most of it changes;
                `topology` changes only when parts come, go or change type.
    Patch       what an edit changed of the Scene before it, with a new `generation`.
    Live        what holds and acts now: hands, loads, motors. Again with a new `revision` on change.
    Status      clock, method, history. Again on change.
    Books       the energy books entry by entry and the state of the solver, about four times a second.
    Sweep       what the scene will fill in its first seconds, once it is known.
    About       what the scene is about, with what is measured of it, about four times a second.
    Events      which events are watched, and which took place.
    Sensors     what has come of the model's sensors, about four times a second (`sensor_messages.py`).
    frames      binary, at most one per tick and always the newest: a slow client misses frames, never
                the order. A frame's `generation` and `revision` are those of the last Scene or Patch
                and of the last Live sent before it, so its blocks fit them.
    Reply       one for every EditMessage, Control and Subscribe, with its `id`; `ok` false and `text` in
                the engine's words if it was refused. Moves of one hand that wait for the same step are
                merged into the newest; the merged ones are answered with `merged` true.
    Notice      something a person should read: the world broke and was put back, the solver is too
                slow, another client changed the scene.

Client to server: EditMessage, Control, Subscribe. `id` is a number the client counts up, 1 to 2³² - 1.
An edit is `{"edit": "Grab", "hand": "pointer", "body": "link10", "at": [0, 0, 0], ...}`: the fields of the
dataclass in `impulsar.edits`, see docs/files.md. Message and rate limits are in `security.Limits`.

A binary frame is little-endian: the header (HEADER), then float32 blocks, then bytes:

    books     BOOKS, in order
    poses     7 per body in the order of Scene.bodies: position of the centre of mass, orientation
    twists    6 per body in that order: angular velocity, velocity of the centre of mass (world axes)
    hands     16 per hand in the order of Live.hands: point held, target, force on the body (world axes), torque beside
              that of the force, orientation xyzw that the body should have (of one that does not turn the body's own)
    loads     6 per load in the order of Live.loads: force, torque now (world axes)
    contacts  7 per contact: point, force on the second of two bodies or on one on an obstacle, 1 where it slides;
              of a tyre on the road, then four corners of its patch without a force
    reactions 6 per joint in the order of Scene.joints, where asked for: torque, force on the second body (world axes)
    motors    1 per coordinate in the order of Scene.joints and their groups, where asked for: torque or force
    accelerations  6 per body, where asked for: angular acceleration, acceleration of the centre of mass (world axes)
    signals   1 per signal in the order of the client's Subscribe whose id is `subscription`
    marks     1 byte per signal: bit 0 set: a choice, because redundant constraints leave it open

A frame is a picture of now. What happened between two of them is in rows, a binary message of its own (ROWS_HEADER),
sent before the frame of the turn and never left out: after every step, or every `stride`-th where reading them is
dear, and after every edit while time stands still. Behind the header, in float64: the times of the rows, then row by
row the signals of the Subscribe and x, y, z of its points.

Signals by name, of `impulsar.observe.quantities`; NAME is a part's name as it is, AXIS x, y, z or norm:

    body.NAME.{position,velocity,angular_velocity,acceleration,angular_acceleration,force,torque}.AXIS
    body.NAME.{orientation.{x,y,z,w},kinetic_energy}
    joint.NAME.{position,velocity,motor_torque}               of a joint with one freedom
    coordinate.NAME.{position,velocity,motor_torque}          of any freedom, by Group.coordinates
    joint.NAME.reaction.{force,torque}.AXIS                   on the second body
    spring.NAME.{length,force}    hand.NAME.force.AXIS    load.NAME.{force,torque}.AXIS    probe.NAME.AXIS
    energy.{kinetic,potential,elastic,total,work,loss,imbalance}    constraint_error
    iterations    step_time    sensor.NAME.{CHANNEL.}value

Force and torque of a body are what changes its momenta: m·a and I·α + ω × I·ω, at the instant.

HTTP: GET / and the page's files; POST /api/series (a SeriesRequest; answers float64, little-endian, row by row: time,
signals, x, y, z of points, at every step of the recording); GET /api/frames?since=S&until=S&gap=S (frames of the
recording, see `shooting.py`); GET /api/scenes (SceneEntry[]); POST /api/scene-file (a scene file's JSON as the body;
becomes the world; answers Reply with id 0); POST /api/mesh?name=NAME.stl or .obj (the file as the body; answers
MeshReply, whose `shape` may stand in an Add edit); GET /api/journal; GET /api/results.nc; GET /api/frame.png; GET
/api/scene.json (the model with its bodies where they are now; ?pose=start: where they started); POST /api/alone (an
AloneRequest; these bodies become the world); POST /api/analyse (an AnalysisRequest; answers AnalysisReply); POST
/api/sweep (a SweepRequest; answers SweepPoint by SweepPoint, each a line of JSON); POST /api/turn (a TurnRequest;
answers TurnReply); POST /api/curve (a CurveRequest; answers CurveDesigns, likewise): in `analysis_messages.py`. A
refusal: status >= 400 and a Reply, ok false. Paths are relative to the page, which a notebook has under /t/TOKEN/.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from .acting_messages import Hand, Load, Motor, Vector
from .sensor_messages import SensorChannel, Sensors

MAGIC = 0x31504D49  # "IMP1"

# Field, struct code. The two doubles come first after the magic and generation, so all are aligned.
HEADER: tuple[tuple[str, str], ...] = (
    ("magic", "I"),
    ("generation", "I"),  # of the Scene or Patch the frame belongs to
    ("time", "d"),  # [s]
    ("wall", "d"),  # server's monotonic clock when the frame was made [s]
    ("step", "I"),  # steps since the start, modulo 2³²
    ("flags", "I"),  # FLAGS
    ("revision", "I"),  # of the Live the frame belongs to
    ("applied", "I"),  # id of this client's newest edit or control whose effect the frame contains, 0: none yet
    ("subscription", "I"),  # id of the Subscribe that the signals belong to, 0: none
    ("leaps", "I"),  # how often the bodies came to where they are by other than steps: seek, undo, reset, edits
    ("bodies", "I"),
    ("hands", "I"),
    ("loads", "I"),
    ("contacts", "I"),
    ("reactions", "I"),
    ("motors", "I"),
    ("accelerations", "I"),
    ("signals", "I"),
    ("books", "I"),  # how many
)
ROWS_MAGIC = 0x31524D49  # "IMR1"
ROWS_HEADER: tuple[tuple[str, str], ...] = (
    ("magic", "I"),
    ("subscription", "I"),  # id of the Subscribe that they belong to
    ("rows", "I"),
    ("columns", "I"),  # signals, and 3 of each point
    ("stride", "I"),  # steps between rows
    ("leapt", "I"),  # bit 0: the world came to the first by other than steps; bit 1: steps follow the recording
)
FLAGS = {"paused": 1, "slow": 2, "broken": 4, "replaying": 8}  # slow: the solver cannot keep the speed asked for
BOOKS: tuple[tuple[str, str], ...] = (
    ("kinetic", "J"),
    ("potential", "J"),
    ("elastic", "J"),
    ("work", "J"),
    ("loss", "J"),
    ("imbalance", "J"),
    ("constraint_error", "m and rad"),
    ("iterations", "1"),  # of the steps since the last frame, per step
    ("substeps", "1"),
    ("step_time", "s"),  # wall time of a step, mean since the last frame
    ("step_budget", "s"),  # wall time a step may take at the speed asked for
    ("real_time_factor", "1"),  # simulated time over wall time, measured over about a second
    ("speed", "1"),  # asked for
)

BLOCKS: tuple[tuple[str, str, int], ...] = (  # of float32 behind the header: name, what of it counts them, numbers each
    ("books", "books", 1),
    ("poses", "bodies", 7),
    ("twists", "bodies", 6),
    ("hands", "hands", 16),
    ("loads", "loads", 6),
    ("contacts", "contacts", 7),
    ("reactions", "reactions", 6),
    ("motors", "motors", 1),
    ("accelerations", "accelerations", 6),
    ("signals", "signals", 1),
)

LONGEST_SIGNAL = 280  # letters of a signal's name; a part whose name is longer has none that can be asked for
KINDS = (
    "bodies",
    "joints",
    "springs",
    "probes",
    "couplings",
    "obstacles",
    "elements",
)  # of parts, as a Scene lists them

# JSON of the engine's own, and beside it the name that its TypeScript has in client/src/edits.ts.
AnyEdit = Annotated[dict[str, Any], "Edit"]
KeptEdit = Annotated[dict[str, Any], "ApplyLoad | SetMotor"]
Hull = Annotated[dict[str, Any], "ConvexHull"]
Parameters = Annotated[dict[str, Any], "Record<string, unknown> | ApplyLoad | SetMotor"]


# server to client -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A value that may be set: by SetParameter(path, value) where there is a path, else as `set_by` says."""

    name: str
    value: Any  # number, numbers, text, true/false or null (not there)
    unit: str = ""
    path: str | None = None
    set_by: Literal["SetParameter", "ChangeJoint", "none"] = "SetParameter"
    optional: bool = False  # null is "not given", and may be set


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A shape in its body's frame; `kind` says which of the sizes it has. A plane, z = 0 of its frame, has none."""

    kind: Literal["box", "sphere", "cylinder", "capsule", "cone", "hull", "plane", "mesh", "height-field"]
    offset: Vector
    orientation: Vector
    size: Vector | None = None  # box: edges along x, y, z; height field: along x, y
    radius: float | None = None  # of a cone its base's, at -length/2
    length: float | None = None  # along z; of a capsule without its half balls
    points: list[Vector] | None = None  # hull, mesh; of one with a digest the ends of the box around it
    digest: str | None = None  # mesh: a large one is fetched by it, from /api/geometry/DIGEST (studio/geometry.py)
    triangles: list[list[int]] | None = None  # hull, mesh: corners, anticlockwise seen from outside
    heights: list[Vector] | None = None  # height field: by x, then by y
    material: str | None = None  # its own; null: its body's, or obstacle's
    colour: str | None = None  # of a visual, "#rrggbb"; null: its body's


@dataclass(frozen=True, kw_only=True)
class Body:
    name: str
    mass: float
    shapes: list[Shape]
    visuals: list[Shape]  # what is drawn instead of the shapes, where there are any
    link: list[Vector] | None  # place and orientation of the author's frame; null: the body's own
    material: str | None  # of the shapes without one of their own; null: they are pictures
    colour: str | None  # "#rrggbb"; null: one by its place in the list
    parameters: list[Parameter]  # sizes too


@dataclass(frozen=True, kw_only=True)
class Group:
    """A named freedom of a joint, or the three of a ball, with its features."""

    name: str
    kind: Literal["slide", "angle", "ball"]
    unit: str
    force_unit: str
    coordinates: list[str]  # names for signals, in the order of the freedoms
    features: list[Parameter]


@dataclass(frozen=True, kw_only=True)
class Joint:
    """Frame F on `first` and frame M on `second` ("ground" is the world); z is the axis, x the second axis."""

    name: str
    joint_type: str
    first: str
    second: str
    p_PF: Vector
    q_PF: Vector
    p_CM: Vector
    q_CM: Vector
    length: float | None
    pitch: float | None
    groups: list[Group]
    loop: bool  # made rows by its author: the loop is closed here in generalized coordinates
    closed: str | None  # of one that is cut: the type that it has when it is closed


@dataclass(frozen=True, kw_only=True)
class Spring:
    name: str
    first: str
    second: str
    at_first: Vector
    at_second: Vector
    parameters: list[Parameter]


@dataclass(frozen=True, kw_only=True)
class Probe:
    name: str
    body: str
    at: Vector


@dataclass(frozen=True, kw_only=True)
class Variable:
    """A parameter of the model; `expression` where it follows others."""

    name: str
    value: float
    minimum: float | None
    maximum: float | None
    unit: str
    expression: str | None


@dataclass(frozen=True, kw_only=True)
class Coupling:
    name: str
    joint_a: str
    joint_b: str
    ratio: float
    belt: float | None  # radius of a's wheel, of one with a belt [m]
    coordinate_a: str
    coordinate_b: str
    more: list[str]  # further coordinates that b follows
    parameters: list[Parameter]


@dataclass(frozen=True, kw_only=True)
class Obstacle:
    """A shape of the ground, in a frame that SetParameter places: NAME.position, NAME.orientation."""

    name: str
    position: Vector
    orientation: Vector
    shape: Shape
    material: str | None  # null: the shape's, or it is a picture


@dataclass(frozen=True, kw_only=True)
class Point:
    """A point of a body, in its frame."""

    body: str
    at: Vector


@dataclass(frozen=True, kw_only=True)
class Element:
    """A part of a kind that has no message of its own, as the table of part kinds has it."""

    name: str
    kind: str
    refers: dict[str, str]  # names of the parts that it is of, by field
    parts: list[str]  # of a group
    points: list[Point]
    parameters: list[Parameter]
    channels: list[SensorChannel] = field(default_factory=list)  # of a sensor


@dataclass(frozen=True, kw_only=True)
class JointKind:
    """A line of the joint catalogue, for drop-downs."""

    name: str
    groups: list[str]
    axes: int  # how many directions it needs: 0, 1 or 2


@dataclass(frozen=True, kw_only=True)
class SceneEntry:
    """A scene; parameters by name with their default values, the texts that some may be, a line on what to try."""

    name: str
    description: str
    parameters: dict[str, Any]
    choices: dict[str, list[str]]
    invite: str
    picture: bool  # there is a strip of poses of it, api/scenes/NAME.webp


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """What can be measured of a kind of part, in one plot: a signal is `of`.NAME.ending, without a part the ending."""

    of: str  # "body", "joint", "coordinate", "spring", "probe", "hand", "load"; "": of the whole
    title: str  # quantities of one title are of one plot
    unit: str
    slide_unit: str  # of coordinates whose Group is in metres
    endings: list[str]  # such as "velocity.x"; the norm of a vector is its last
    doc: str


@dataclass(frozen=True, kw_only=True)
class Scene:
    generation: int
    topology: int
    name: str
    gravity: Vector
    size: float  # of the authored mechanism, for cameras and icons [m]
    reference_energy: float | None
    ground: list[Shape]  # its own, besides obstacles
    bodies: list[Body]
    joints: list[Joint]
    springs: list[Spring]
    probes: list[Probe]
    couplings: list[Coupling]
    obstacles: list[Obstacle]
    elements: list[Element]
    parameters: list[Parameter]  # of the model: gravity
    variables: list[Variable]  # parameters that expressions are of
    expressions: dict[str, str]  # of what follows them, by path: "arm.mass", "pin.p_PF.x"
    joint_kinds: list[JointKind]
    methods: list[str]
    quantities: list[Quantity]
    scenes: list[SceneEntry]
    materials: list[str]  # common ones, which need no declaration
    suffixes: list[str]  # of files that can be opened as scenes: [".json", ...]
    type: Literal["scene"] = "scene"


@dataclass(frozen=True, kw_only=True)
class Patch:
    """What of the Scene is another: each part takes the place of that of its name, or comes behind the others.

    `order` has all names of a kind of which parts came, went or changed places, by "bodies", "joints", ...; of what
    it does not name nothing is left.
    """

    generation: int
    topology: int
    size: float
    gravity: Vector
    parameters: list[Parameter]
    variables: list[Variable]  # all
    expressions: dict[str, str]  # all
    bodies: list[Body]
    joints: list[Joint]
    springs: list[Spring]
    probes: list[Probe]
    couplings: list[Coupling]
    obstacles: list[Obstacle]
    elements: list[Element]
    order: dict[str, list[str]]
    type: Literal["patch"] = "patch"


@dataclass(frozen=True, kw_only=True)
class Live:
    revision: int
    hands: list[Hand]
    loads: list[Load]
    motors: list[Motor]
    off: list[KeptEdit]  # kept for switching on again; those of loads and motors that act are idle
    type: Literal["live"] = "live"


@dataclass(frozen=True, kw_only=True)
class Status:
    """Clock and history. Times are simulated [s]."""

    paused: bool
    replaying: bool
    speed: float
    steps_per_frame: int
    dt: float
    method: str
    coordinates: str
    device: str
    scene: str  # of the picker, or the model's name
    first_time: float  # the timeline one may seek on
    last_time: float
    recorded_since: float  # first sample of the results
    undo: str | None  # what undo would take back: an edit, or "Open SCENE"
    redo: str | None
    opened: int  # counts the scenes that came; another one is another scene, whatever its name
    changed: bool  # whether the model is another than was opened or last saved
    left: str | None  # a session before that ended with work in it, which `recover` goes on with
    choosing: bool  # the studio was started without a scene, and none was opened or made since
    journal: str | None  # file, if one is kept
    clients: int
    type: Literal["status"] = "status"


@dataclass(frozen=True, kw_only=True)
class Books:
    """What the numbers in the frames are made of."""

    time: float
    kinetic: float
    potential: float
    elastic: float
    start: float
    work: dict[str, float]  # by hand, motor, load
    losses: dict[str, float]  # by damper, friction, limit
    imbalance: float
    imbalance_percent: float | None  # of the scene's reference energy
    worst_joint: str | None
    ended_by: str  # tolerance, iterations or budget
    trouble: list[str]  # what is not right to its tolerance, and what to do
    openings: dict[str, float]  # of rows that are redundant by construction [rad, or lengths over the size]
    indeterminate: list[str]  # joints whose reactions are a choice, as found when the parts last changed
    type: Literal["books"] = "books"


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """What the scene will fill in its first seconds, found by a copy that runs ahead: for the first picture."""

    topology: int
    low: Vector
    high: Vector
    follow: str | None  # a body of a mechanism that leaves its place
    type: Literal["sweep"] = "sweep"


@dataclass(frozen=True, kw_only=True)
class Watched:
    """An event that is watched: a signal that passes a level, rising (direction 1), falling (-1) or both ways (0)."""

    name: str
    signal: str
    level: float
    direction: int
    terminal: bool  # time stops there


@dataclass(frozen=True, kw_only=True)
class Occurred:
    name: str
    time: float


@dataclass(frozen=True, kw_only=True)
class Events:
    """Those that are watched, and the last that took place."""

    watched: list[Watched]
    found: list[Occurred]
    type: Literal["events"] = "events"


@dataclass(frozen=True, kw_only=True)
class Reply:
    id: int
    ok: bool
    text: str
    merged: bool = False
    energy: float = 0.0  # what making the state consistent added [J]
    momentum: Vector = field(default_factory=lambda: [0.0, 0.0, 0.0])
    angular_momentum: Vector = field(default_factory=lambda: [0.0, 0.0, 0.0])
    moved: float = 0.0  # farthest a centre of mass was moved [m]
    step: int = 0
    time: float = 0.0
    units: list[str] = field(default_factory=list)  # of Subscribe: unit of each signal
    warning: str = ""  # what was done otherwise than asked for, and why
    type: Literal["reply"] = "reply"


@dataclass(frozen=True, kw_only=True)
class MeshSolid:
    """What a closed mesh encloses, in the file's unit of length, about its centre of mass."""

    vertices: list[Vector]
    triangles: list[list[int]]
    volume: float
    inertia: list[Vector]  # for a density of one


@dataclass(frozen=True, kw_only=True)
class MeshReply:
    """An uploaded mesh in its own unit of length: its convex hull and, where it is closed and not too large, itself."""

    ok: bool
    text: str
    shape: Hull
    triangles: int  # of the file
    size: Vector  # of the box around it
    solid: MeshSolid | None


@dataclass(frozen=True, kw_only=True)
class Notice:
    level: Literal["info", "warning", "error"]
    text: str
    type: Literal["notice"] = "notice"


# client to server -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class EditMessage:
    id: int
    edit: AnyEdit
    type: Literal["edit"] = "edit"


@dataclass(frozen=True, kw_only=True)
class Control:
    """The session's clock, history and scene.

    pause, run; step (value: how many, default 1); speed (value: times real time, 0.001 to 100);
    steps_per_frame (value); seek (value: time [s]); undo, redo; revert (the inverse of the last edit, applied now);
    reset (the scene anew, history dropped); scene (name, parameters: of /api/scenes); record (the results
    begin here); recover (go on with the session that was left), discard (forget it); keep (parameters: an ApplyLoad or
    SetMotor edit: show it to all clients as switched off while no such load or motor acts), forget (the same: no
    longer); vectors (name: which of reactions, motors and accelerations this client's frames are to have from now on,
    with spaces between); hash (the reply's text is the digest of the state's bits); mobility (the reply's text says how
    many freedoms there are, and which parts hold what others hold already); watch (name of an event, parameters:
    signal, level, direction, terminal), unwatch (name).
    """

    id: int
    action: Literal[
        "pause",
        "run",
        "step",
        "speed",
        "steps_per_frame",
        "seek",
        "undo",
        "redo",
        "revert",
        "reset",
        "scene",
        "record",
        "recover",
        "discard",
        "keep",
        "forget",
        "mobility",
        "vectors",
        "hash",
        "watch",
        "unwatch",
    ]
    value: float | None = None
    name: str | None = None
    parameters: Parameters | None = None
    type: Literal["control"] = "control"


@dataclass(frozen=True, kw_only=True)
class Subscribe:
    """Have these signals in every frame from now on, and in rows with points; instead of those before.

    At most 64 signals and 32 points.
    """

    id: int
    signals: list[str]
    points: list[Point] = field(default_factory=list)
    type: Literal["subscribe"] = "subscribe"


@dataclass(frozen=True, kw_only=True)
class SeriesRequest:
    """What to read at every step of the recording, from a time on [s]; with `strict` refused where a signal is none."""

    signals: list[str]
    points: list[Point] = field(default_factory=list)
    since: float = 0.0
    strict: bool = True  # else it is NaN: a part may have gone while one asked


# alone, and what a scene is about


@dataclass(frozen=True, kw_only=True)
class AloneRequest:
    """Another scene of these bodies only, stopped.

    instead of the rest: what is joined to them held on the ground where it is, following as it moved since the last
    change, or its reactions since then as loads.
    """

    bodies: list[str]
    instead: Literal["held", "following", "reactions"] = "held"


@dataclass(frozen=True, kw_only=True)
class Tube:
    """A piston or its cylinder: around a line in a body's frame."""

    body: str
    start: Vector
    end: Vector
    radius: float
    hollow: bool


@dataclass(frozen=True, kw_only=True)
class Note:
    """What a scene is about: a sentence, what it is measured by now, and what is drawn for it."""

    text: str
    value: float | None = None
    unit: str = ""
    lines: list[list[Vector]] = field(default_factory=list)  # in the world
    tubes: list[Tube] = field(default_factory=list)
    turns: list[Point] = field(default_factory=list)  # whose paths in a whole turn are drawn


@dataclass(frozen=True, kw_only=True)
class About:
    """What the scene is about; again when what is measured has changed, about four times a second."""

    notes: list[Note]
    type: Literal["about"] = "about"


SENT = (About, Scene, Patch, Live, Status, Books, Sweep, Events, Sensors, Reply, Notice)
RECEIVED = (EditMessage, Control, Subscribe)

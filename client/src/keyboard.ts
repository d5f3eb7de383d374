/** Every gesture has a key. */

import { openCopies } from "./build/copies";
import { makeGroup, removePicked, ungroup } from "./build/groups";
import type { Mirrors } from "./build/mirrors";
import { openDialog } from "./dialogs";
import { h } from "./dom";
import type { Effects } from "./effects";
import type { Grab } from "./grab";
import type { Loads } from "./loads";
import type { Motions } from "./motions";
import type { Parts } from "./parts";
import type { ShowMenu } from "./showmenu";
import type { Stage } from "./stage";
import type { Store, Tool } from "./store";
import type { Timeline } from "./timeline";
import type { Traces } from "./traces";
import type { View } from "./view";
import type { Named } from "./views";

const STEP = 12; // pixels of one press of an arrow
const SCALE = 1.1; // of one press of + or −
const TOOL_KEYS: Record<string, Tool> = {
  f: "force",
  t: "torque",
  m: "motion",
  w: "effect",
  l: "link",
  b: "body",
  j: "joint",
  s: "spring",
  c: "cam",
  p: "trace",
};

const VIEW_KEYS: Record<string, Named> = { "1": "front", "2": "right", "3": "top", "4": "isometric" };

const HELP: [string, string][] = [
  ["Space", "run, stop time"],
  [".", "single step"],
  ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo"],
  ["[ ]", "pick the previous, the next part"],
  ["G", "take the picked body; again: let go; without one: the grab tool"],
  ["F, T, M", "force, torque, motion; Enter puts it on the picked body or joint"],
  ["W", "effects: gravity, water, wind; with nothing picked arrows pull gravity, of a picked fluid its current"],
  [
    "Arrows, Page Up, Page Down",
    "move the hand; pull the picked force's arrow, tilt the torque, turn the motion's sphere; else turn the view; Shift: further",
  ],
  ["Q, E", "turn what the hand holds, to the left or right; Shift: further"],
  ["+, −", "scale the picked force, torque or motion; else zoom"],
  ["Escape", "let go, leave a field, drop what is picked"],
  [
    "L, then digits",
    "draw links: 0.1 a length, 0.1 < 60 with an angle, 0.25, 0 a point, 0.2 to 0.25, 0 a length up to a point; Enter ends on the ground, Escape free",
  ],
  [
    "B, J, S, then digits",
    "add a body, joint, gear, belt or spring: 0.25, 0 and Enter is a click there; of a body then 0.05 its radius or length, 0.1 < 30 with an angle; the same key again: which body or joint",
  ],
  ["C, then Enter", "make a cam and its follower; 0.25, 0 and Enter: with its shaft there"],
  ["P", "trace a point; P and Enter: that of the picked body"],
  ["Ctrl+D, X", "copy the picked bodies: once, in a row, around an axis; mirror them"],
  ["Ctrl+G, Ctrl+Shift+G", "make a group of what is picked; forget the picked group"],
  ["Delete", "remove what is picked, a group with its parts; Shift and a click pick several"],
  ["Shift+[, Shift+]", "pick the previous, the next part besides"],
  ["Enter", "go to the first field of the inspector"],
  ["0, O", "fit the view, follow the picked part"],
  ["1, 2, 3, 4, 5", "look from the front, the right, the top, from aside; orthographic or not"],
  ["Arrows, Shift+Arrows, +, −", "with nothing held or picked to aim: turn, shift and zoom the view"],
  ["N", "forces as arrows"],
  ["A", "analyse: freedoms, rest, modes, motor torques, sweeps"],
  ["H, Shift+H", "hide the picked part, show all parts"],
  [
    "Mouse",
    "press on a body: pull, then with Shift: turn it; beside it: turn the view; right button: shift it; wheel: zoom, or depth while pulling",
  ],
  [
    "Touch",
    "one finger on a body: pull, a second finger up or down: depth; beside it: turn; two fingers: shift and zoom",
  ],
];

/** What keys work on. */
interface Keyed {
  stage: Stage;
  timeline: Timeline;
  grab: Grab;
  loads: Loads;
  motions: Motions;
  effects: Effects;
  traces: Traces;
  parts: Parts;
  fit(): void;
  follow(): void;
  showMenu: ShowMenu;
  showForces(): void;
  analyse: { toggle(): void };
  mirrors: Mirrors;
}

export function keyboard({
  stage,
  timeline,
  grab,
  loads,
  motions,
  effects,
  traces,
  parts,
  fit,
  follow,
  showMenu,
  showForces,
  analyse,
  mirrors,
}: Keyed): void {
  const { store } = stage;
  const focus = (): void => stage.view.canvas.focus();
  addEventListener("pointerdown", () => delete document.body.dataset.keys, { capture: true });
  addEventListener("keydown", (event) => {
    document.body.dataset.keys = ""; // the picture shows its focus to those who use keys
    const target = event.target as HTMLElement;
    const isTyping = target.closest("input:not([type=range]), select, textarea, dialog") !== null;
    if ((event.ctrlKey || event.metaKey) && !event.altKey) {
      const key = event.key.toLowerCase();
      if (isTyping || !["z", "y", "d", "g"].includes(key)) return;
      if (key === "d") openCopies(stage);
      else if (key === "g") void (event.shiftKey ? ungroup(stage) : makeGroup(stage));
      else if (key === "y" || event.shiftKey) timeline.redoLast();
      else timeline.undoLast();
      event.preventDefault();
      return;
    }
    if (isTyping && event.key === "Escape" && !target.closest("dialog")) focus();
    if (isTyping || event.altKey || event.ctrlKey || event.metaKey) return;
    const takesArrows = target.closest("input, #tools, [role=listbox], .menu") !== null;
    if (moveHand(grab, event) || turnHand(grab, event) || (!takesArrows && moveIcon(loads, motions, effects, event)))
      return;
    if (!takesArrows && moveView(stage.view, event)) return;
    const onButton = target.closest("button, a, [role=listbox]") !== null;
    switch (event.key) {
      case " ":
        if (onButton && !target.closest("[role=listbox]")) return;
        timeline.toggle();
        break;
      case ".":
        void timeline.step();
        break;
      case "[":
      case "{":
        parts.cycle(-1, event.shiftKey);
        break;
      case "]":
      case "}":
        parts.cycle(1, event.shiftKey);
        break;
      case "0":
        fit();
        break;
      case "?":
        showHelp();
        break;
      case "Escape":
        if (grab.holdsByKeys) grab.releaseKeys();
        else if (store.tool !== "grab") store.setTool("grab");
        else store.setPick(null);
        return;
      case "Delete":
      case "Backspace":
        removePicked(stage);
        break;
      case "Enter":
        if (onButton && !target.closest("[role=listbox]")) return;
        if (place(store, loads, motions, traces)) focus();
        else document.querySelector<HTMLElement>("#inspector-body input, #inspector-body select")?.focus();
        break;
      default: {
        const key = event.key.toLowerCase();
        const tool = TOOL_KEYS[key];
        if (key === "g") {
          if (store.tool !== "grab") store.setTool("grab");
          grab.toggleKeys();
        } else if (key === "o") follow();
        else if (key === "n") showForces();
        else if (key === "a") analyse.toggle();
        else if (key === "h") {
          if (event.shiftKey) showMenu.showAll();
          else showMenu.hidePicked();
        } else if (key === "x") mirrors.open();
        else if (tool && tool === store.tool)
          document.querySelector<HTMLElement>("#hint select, #hint button")?.focus();
        else if (tool) store.setTool(tool);
        else return;
      }
    }
    event.preventDefault();
  });
}

/** Put the tool in hand on the picked part. */
function place(store: Store, loads: Loads, motions: Motions, traces: Traces): boolean {
  const { tool, pick } = store;
  const joint = pick?.kind === "joint" ? store.joint(pick.name) : undefined;
  if ((tool === "force" || tool === "torque") && pick?.kind === "body")
    void loads.attach(tool, pick.name, pick.at ?? [0, 0, 0]);
  else if (tool === "motion" && joint && motions.of(joint.name).length === 0) void motions.attach(joint, motions.kind);
  else if (tool === "trace" && pick?.kind === "body") traces.toggle(pick.name, pick.at ?? [0, 0, 0]);
  else return false;
  return true;
}

const WAYS: Record<string, [number, number, number]> = {
  ArrowRight: [1, 0, 0],
  ArrowLeft: [-1, 0, 0],
  ArrowUp: [0, 1, 0],
  ArrowDown: [0, -1, 0],
  PageUp: [0, 0, 1],
  PageDown: [0, 0, -1],
};

/** Way in pixels that a key stands for: right, up, away. */
function wayOf(event: KeyboardEvent): [number, number, number] | null {
  const far = event.shiftKey ? 5 * STEP : STEP;
  const way = WAYS[event.key];
  return way ? [far * way[0], far * way[1], far * way[2]] : null;
}

/** Look from a named side, turn by arrows (Shift: shift), zoom by + and −. */
function moveView(view: View, event: KeyboardEvent): boolean {
  const named = VIEW_KEYS[event.key];
  const way = WAYS[event.key];
  const more = { "+": 1, "=": 1, "-": -1, "−": -1 }[event.key];
  if (named) view.look(named);
  else if (event.key === "5") view.setOrthographic(!view.isOrthographic);
  else if (way && event.shiftKey) view.shift(-5 * STEP * way[0], -5 * STEP * way[1]);
  else if (way?.[2]) view.zoom(1.2 ** way[2]);
  else if (way) view.turn((-way[0] * Math.PI) / 36, (way[1] * Math.PI) / 36);
  else if (more) view.zoom(1.2 ** -more);
  else return false;
  event.preventDefault();
  return true;
}

function moveHand(grab: Grab, event: KeyboardEvent): boolean {
  const way = wayOf(event);
  if (!way || !grab.holdsByKeys) return false;
  grab.nudge(...way);
  event.preventDefault();
  event.stopPropagation();
  return true;
}

/** Turn what the keyboard holds: Q to the left, E to the right as one looks at it. */
function turnHand(grab: Grab, event: KeyboardEvent): boolean {
  const way = { q: -1, e: 1 }[event.key.toLowerCase()];
  if (!way || !grab.turnKeys((way * (event.shiftKey ? 5 : 1) * Math.PI) / 36)) return false;
  event.preventDefault();
  event.stopPropagation();
  return true;
}

/** Aim and scale the icon of the picked load, motor or effect. */
function moveIcon(loads: Loads, motions: Motions, effects: Effects, event: KeyboardEvent): boolean {
  const way = wayOf(event);
  const more = { "+": 1, "=": 1, "-": -1, "−": -1 }[event.key];
  const isDone = way
    ? loads.nudge(...way) || motions.nudge(way[0] + way[1] + way[2]) || effects.nudge(...way)
    : more !== undefined &&
      (loads.scaleBy(SCALE ** more) || motions.nudge(more * STEP) || effects.scaleBy(SCALE ** more));
  if (isDone) event.preventDefault();
  return isDone;
}

/** What `showHelp` leads to besides; the page's pieces are put together elsewhere. */
const lessons: (() => void)[] = [];

export function offerLesson(begin: () => void): void {
  lessons.push(begin);
}

export function showHelp(): void {
  const dialog = openDialog(
    "Help",
    ...lessons.map((begin) => {
      const start = () => {
        dialog.close();
        begin();
      };
      return h("button", { type: "button", onclick: start }, "The first minute, step by step");
    }),
    h(
      "dl",
      {},
      ...HELP.flatMap(([keys, text]) => [
        h("dt", {}, ...keys.split(", ").flatMap((key, k) => (k ? [" ", h("kbd", {}, key)] : [h("kbd", {}, key)]))),
        h("dd", {}, text),
      ]),
    ),
  );
}

/** Every gesture has a key. */

import { openDialog } from "./dialogs";
import { h } from "./dom";
import type { Grab } from "./grab";
import type { Loads } from "./loads";
import type { Motions } from "./motions";
import type { Parts } from "./parts";
import type { Stage } from "./stage";
import type { Store, Tool } from "./store";
import type { Timeline } from "./timeline";

const STEP = 12; // pixels of one press of an arrow
const SCALE = 1.1; // of one press of + or −
const TOOL_KEYS: Record<string, Tool> = {
  f: "force",
  t: "torque",
  m: "motion",
  b: "body",
  j: "joint",
  s: "spring",
  p: "trace",
};

const HELP: [string, string][] = [
  ["Space", "run, stop time"],
  [".", "single step"],
  ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo"],
  ["[ ]", "pick the previous, the next part"],
  ["G", "take the picked body; again: let go; without one: the grab tool"],
  ["F, T, M", "force, torque, motion; Enter puts it on the picked body or joint"],
  [
    "Arrows, Page Up, Page Down",
    "move the hand; pull the picked force's arrow, tilt the torque, turn the motion's sphere; Shift: further",
  ],
  ["+, −", "scale the picked force, torque or motion"],
  ["Escape", "let go, leave a field, drop what is picked"],
  ["B, J, S, P", "add a body, joint, spring; trace a point"],
  ["Enter", "go to the first field of the inspector"],
  ["0, O", "fit the view, follow the picked part"],
  [
    "Mouse",
    "press on a body: pull; beside it: turn the view; right button: shift it; wheel: zoom, or depth while pulling",
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
  parts: Parts;
  fit(): void;
  follow(): void;
}

export function keyboard({ stage, timeline, grab, loads, motions, parts, fit, follow }: Keyed): void {
  const { store } = stage;
  const focus = (): void => stage.view.canvas.focus();
  addEventListener("pointerdown", () => delete document.body.dataset.keys, { capture: true });
  addEventListener("keydown", (event) => {
    document.body.dataset.keys = ""; // the picture shows its focus to those who use keys
    const target = event.target as HTMLElement;
    const isTyping = target.closest("input:not([type=range]), select, textarea, dialog") !== null;
    if ((event.ctrlKey || event.metaKey) && !event.altKey) {
      const key = event.key.toLowerCase();
      if (isTyping || (key !== "z" && key !== "y")) return;
      if (key === "y" || event.shiftKey) timeline.redoLast();
      else timeline.undoLast();
      event.preventDefault();
      return;
    }
    if (isTyping && event.key === "Escape" && !target.closest("dialog")) focus();
    if (isTyping || event.altKey || event.ctrlKey || event.metaKey) return;
    const takesArrows = target.closest("input, #tools, [role=listbox], .menu") !== null;
    if (moveHand(grab, event) || (!takesArrows && moveIcon(loads, motions, event))) return;
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
        parts.cycle(-1);
        break;
      case "]":
        parts.cycle(1);
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
      case "Enter":
        if (onButton && !target.closest("[role=listbox]")) return;
        if (place(store, loads, motions)) focus();
        else document.querySelector<HTMLElement>("#inspector-body input, #inspector-body select")?.focus();
        break;
      default: {
        const key = event.key.toLowerCase();
        const tool = TOOL_KEYS[key];
        if (key === "g") {
          if (store.tool !== "grab") store.setTool("grab");
          grab.toggleKeys();
        } else if (key === "o") follow();
        else if (tool) store.setTool(tool);
        else return;
      }
    }
    event.preventDefault();
  });
}

/** Put the tool in hand on the picked part. */
function place(store: Store, loads: Loads, motions: Motions): boolean {
  const { tool, pick } = store;
  const joint = pick?.kind === "joint" ? store.joint(pick.name) : undefined;
  if ((tool === "force" || tool === "torque") && pick?.kind === "body")
    void loads.attach(tool, pick.name, pick.at ?? [0, 0, 0]);
  else if (tool === "motion" && joint && motions.of(joint.name).length === 0) void motions.attach(joint, motions.kind);
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

function moveHand(grab: Grab, event: KeyboardEvent): boolean {
  const way = wayOf(event);
  if (!way || !grab.holdsByKeys) return false;
  grab.nudge(...way);
  event.preventDefault();
  event.stopPropagation();
  return true;
}

/** Aim and scale the icon of the picked load or motor. */
function moveIcon(loads: Loads, motions: Motions, event: KeyboardEvent): boolean {
  const way = wayOf(event);
  const more = { "+": 1, "=": 1, "-": -1, "−": -1 }[event.key];
  const isDone = way
    ? loads.nudge(...way) || motions.nudge(way[0] + way[1] + way[2])
    : more !== undefined && (loads.scaleBy(SCALE ** more) || motions.nudge(more * STEP));
  if (isDone) event.preventDefault();
  return isDone;
}

export function showHelp(): void {
  openDialog(
    "Help",
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

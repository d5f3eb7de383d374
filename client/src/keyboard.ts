/** Every gesture has a key. */

import { openDialog } from "./dialogs";
import { h } from "./dom";
import type { Grab } from "./grab";
import type { Parts } from "./parts";
import type { Store, Tool } from "./store";
import type { Timeline } from "./timeline";

const STEP = 12; // pixels of one press of an arrow
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
  ["Arrows, Page Up, Page Down", "move the hand; Shift: further"],
  ["Escape", "let go, drop what is picked"],
  ["F, T, M", "force, torque, motion"],
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

export function keyboard(
  store: Store,
  timeline: Timeline,
  grab: Grab,
  parts: Parts,
  view: { fit(): void; follow(): void },
): void {
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
    if (isTyping || event.altKey || event.ctrlKey || event.metaKey) return;
    if (moveHand(grab, event)) return;
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
        view.fit();
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
        document.querySelector<HTMLElement>("#inspector-body input, #inspector-body select")?.focus();
        break;
      default: {
        const key = event.key.toLowerCase();
        if (key === "g") {
          if (store.tool !== "grab") store.setTool("grab");
          grab.toggleKeys();
        } else if (key === "o") view.follow();
        else if (key in TOOL_KEYS) store.setTool(TOOL_KEYS[key]);
        else return;
      }
    }
    event.preventDefault();
  });
}

function moveHand(grab: Grab, event: KeyboardEvent): boolean {
  if (!grab.holdsByKeys) return false;
  const far = event.shiftKey ? 5 * STEP : STEP;
  const moves: Record<string, [number, number, number]> = {
    ArrowRight: [far, 0, 0],
    ArrowLeft: [-far, 0, 0],
    ArrowUp: [0, far, 0],
    ArrowDown: [0, -far, 0],
    PageUp: [0, 0, far],
    PageDown: [0, 0, -far],
  };
  const move = moves[event.key];
  if (!move) return false;
  grab.nudge(...move);
  event.preventDefault();
  event.stopPropagation();
  return true;
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

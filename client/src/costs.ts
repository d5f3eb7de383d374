/** What an edit cost or moved besides what it was asked for, in a sentence. */

import type { Edit } from "./edits";
import type { Reply } from "./messages";
import { show } from "./numbers";

/** Edits whose moving or energy is what they are for, or is told in their own words. */
const MEANT = [
  "Grab",
  "Push",
  "Grip",
  "Move",
  "Release",
  "DragTo",
  "SetState",
  "SetStart",
  "Reset",
  "Cam",
  "Copy",
  "Mirror",
  "Shift",
  "Draw",
  "Add",
  "Remove",
  "Several",
];
const LEAST_ENERGY = 1e-9; // [J]
const LEAST_WAY = 1e-9; // [m]
const SHARE = 1e-6; // of the mechanism's size or energy: what is less is not worth a word

/** A sentence, or null where nothing is to be told; `size` [m] and `energy` [J] are those of the mechanism. */
export function costOf(edit: Edit, reply: Reply, size: number, energy: number): string | null {
  if (MEANT.includes(edit.edit)) return null;
  const told: string[] = [];
  if (reply.moved > Math.max(LEAST_WAY, SHARE * size)) told.push(`moved bodies by up to ${length(reply.moved)}`);
  if (Math.abs(reply.energy) > Math.max(LEAST_ENERGY, SHARE * Math.abs(energy)))
    told.push(`${reply.energy > 0 ? "added" : "took away"} ${show(Math.abs(reply.energy), 3)} J`);
  return told.length ? `${reply.text}: ${told.join("; ")}` : null;
}

function length(metres: number): string {
  return metres < 1 ? `${show(1000 * metres, 3)} mm` : `${show(metres, 3)} m`;
}

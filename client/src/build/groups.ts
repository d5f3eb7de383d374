/** Groups: parts that are picked, moved, hidden, copied, mirrored and removed together. */

import type { Edit, Options, Remove } from "../edits";
import type { Stage } from "../stage";
import type { PartKind, Pick } from "../store";
import { tell } from "../toasts";

const GROUPED: ReadonlySet<PartKind> = new Set<PartKind>([
  "body",
  "joint",
  "spring",
  "probe",
  "coupling",
  "obstacle",
  "element",
]);
const LAST: PartKind[] = ["body", "obstacle", "joint"]; // go after what holds on to them

/** Make a group of what is picked, with the joints and springs among its bodies; parts of picked groups are in it. */
export async function makeGroup({ store, actions }: Stage): Promise<void> {
  const picked = store.pickedParts.filter(({ kind }) => GROUPED.has(kind)).map(({ name }) => name);
  const bodies = new Set(store.pickedBodies);
  const among = [...(store.scene?.joints ?? []), ...(store.scene?.springs ?? [])]
    .filter(({ first, second }) => bodies.has(first) && bodies.has(second))
    .map(({ name }) => name);
  const parts = [...new Set([...picked, ...among])];
  if (parts.length < 2) {
    tell("group: pick two parts or more first, by Shift and a click in the picture or in the list");
    return;
  }
  const name = store.freeName("group");
  const reply = await actions.apply({ edit: "Add", kind: "group", name, options: { parts } });
  if (reply) store.setPick({ kind: "element", name });
}

/** Forget the groups that are picked; their parts stay, and are picked. */
export async function ungroup({ store, actions }: Stage): Promise<void> {
  const groups = store.picks.filter(({ kind, name }) => kind === "element" && store.element(name)?.kind === "group");
  if (groups.length === 0) {
    tell("ungroup: pick a group first, in the list of parts");
    return;
  }
  const [first = null, ...more] = store.pickedParts;
  const edits = groups.map(({ name }): Remove => ({ edit: "Remove", kind: "group", name }));
  if (!(await actions.apply(together(edits)))) return;
  store.setPick(first);
  for (const pick of more) store.addPick(pick);
}

/** Remove all that is picked, as one edit. */
export function removePicked({ store, actions }: Stage): void {
  const order = ({ kind }: Pick): number => (LAST.includes(kind) ? LAST.length - LAST.indexOf(kind) : -1);
  const edits = store.pickedParts
    .filter(({ kind }) => GROUPED.has(kind))
    .sort((a, b) => order(a) - order(b))
    .map(({ kind, name }): Remove => {
      const own = kind === "element" ? store.element(name)?.kind : kind;
      return { edit: "Remove", kind: own as keyof Options, name };
    });
  if (edits.length > 0) void actions.apply(together(edits));
}

function together(edits: Remove[]): Edit {
  const [only] = edits;
  return edits.length === 1 && only ? only : { edit: "Several", edits };
}

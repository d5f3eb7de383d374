/** The picked bodies by themselves: another scene, in which something stands for the rest of the mechanism. */

import { openDialog } from "../dialogs";
import { h } from "../dom";
import { request } from "../host";
import type { AloneRequest, Reply } from "../messages";
import type { Stage } from "../stage";
import { tell, tellError } from "../toasts";

const CHOICES: Record<AloneRequest["instead"], string> = {
  held: "held where they are now",
  reactions: "replaced by their recorded reactions, as loads",
  following: "moving as recorded",
};

/** Ask what is to stand for the rest. */
export function openAlone({ store }: Stage): void {
  const bodies = store.picks.filter(({ kind }) => kind === "body").map(({ name }) => name);
  if (bodies.length === 0) {
    tell("alone: pick a body first, or several by Shift");
    return;
  }
  const choose = async (instead: AloneRequest["instead"]): Promise<void> => {
    const wanted: AloneRequest = { bodies, instead };
    try {
      const answer = await request("api/alone", { method: "POST", body: JSON.stringify(wanted) });
      const reply = (await answer.json()) as Reply;
      if (!answer.ok) throw new Error(reply.text);
      dialog.close();
      tell(reply.text);
    } catch (error) {
      tellError(error);
    }
  };
  const buttons = (Object.keys(CHOICES) as AloneRequest["instead"][]).map((instead) =>
    h("button", { type: "button", "data-instead": instead, onclick: () => void choose(instead) }, CHOICES[instead]),
  );
  const dialog = openDialog(
    "Alone",
    h("p", {}, `${bodies.join(", ")} as a scene of their own; undo brings the whole back.`),
    h("p", { class: "muted" }, "Bodies that they are joined to are"),
    h("div", { class: "actions" }, ...buttons),
  );
  buttons[0]?.focus();
}

/** Large scenes from the catalogue: built by the studio, shown on a page of their own. */

import { h } from "../dom";
import { request } from "../host";
import type { LargeCatalogue, Reply, SceneEntry } from "../messages";
import { tell } from "../toasts";

/** Have a large scene built; whether it is. */
export async function openLarge(name: string, parameters: Record<string, unknown>): Promise<boolean> {
  const answer = await request("api/large", { method: "POST", body: JSON.stringify({ name, parameters }) });
  const reply = (await answer.json()) as Reply;
  if (!reply.ok) tell(reply.text, "error");
  return reply.ok;
}

type Card = (
  entry: SceneEntry,
  open: (name: string, parameters: Record<string, unknown>) => Promise<void>,
  title: string,
) => HTMLElement;

/** Cards of the large scenes, which lead to their page; none where the studio has none, as in a notebook. */
export function largeCards(card: Card): HTMLElement {
  const box = h("div", { class: "scenes large-scenes", hidden: true });
  const open = async (name: string, parameters: Record<string, unknown>): Promise<void> => {
    if (await openLarge(name, parameters)) location.assign("large");
  };
  void request("api/large")
    .then(async (answer) => {
      if (!answer.ok) return;
      const { scenes } = (await answer.json()) as LargeCatalogue;
      const words = "Large worlds, of thousands to millions of bodies: to be looked at, on a page of their own";
      box.append(h("h2", {}, words), ...scenes.map((entry) => card(entry, open, `large ${entry.name}`)));
      box.hidden = false;
    })
    .catch(() => undefined); // the line is lost, which the page says already
  return box;
}

/** What the page's tools work on: what is known, what is drawn and picked, and the line to the session. */

import { Actions } from "./actions";
import { Connection } from "./connection";
import { costOf } from "./costs";
import { byId, setText } from "./dom";
import type { Edit } from "./edits";
import { Labels } from "./labels";
import { Mechanism } from "./mechanism";
import type { Reply } from "./messages";
import { Picking } from "./picking";
import { Signals } from "./signals";
import { Store } from "./store";
import { tell } from "./toasts";
import { View } from "./view";

export class Stage {
  readonly store = new Store();
  readonly view = new View(this.store);
  readonly mechanism = new Mechanism(this.store, this.view);
  readonly picking = new Picking(this.store, this.view, this.mechanism);
  readonly labels = new Labels(this.view, () => this.store.pick?.name ?? null);
  readonly connection = connect(this.store);
  readonly actions = new Actions(this.connection, (edit, reply) => tellCost(this.store, edit, reply));
  readonly signals = new Signals(this.store, this.connection);
}

/** Say what an edit cost or moved. */
function tellCost(store: Store, edit: Edit, reply: Reply): void {
  const energy = store.book("kinetic") + store.book("potential") + store.book("elastic");
  const told = costOf(edit, reply, store.scene?.size ?? 0, Number.isFinite(energy) ? energy : 0);
  if (told) tell(told);
}

/** A line to the session that keeps the store up to date. */
function connect(store: Store): Connection {
  const banner = byId("banner");
  return new Connection({
    message(message) {
      if (message.type === "scene") store.setScene(message);
      else if (message.type === "patch") store.setPatch(message);
      else if (message.type === "live") store.setLive(message);
      else if (message.type === "status") store.setStatus(message);
      else if (message.type === "books") store.setBooks(message);
      else if (message.type === "sweep") store.setSweep(message);
      else if (message.type === "about") store.setAbout(message);
      else if (message.type === "sensors") store.setSensors(message);
      else if (message.type === "events") store.setEvents(message);
      else tell(message.text, message.level);
    },
    frame: (frame) => store.setFrame(frame),
    rows: (rows) => store.takeRows(rows),
    open: () => {
      store.setConnected(true);
      banner.hidden = true;
    },
    lost: (reason) => {
      store.setConnected(false);
      setText(
        banner,
        `The line to the studio is lost${reason ? ` (${reason})` : ""}; trying again. If the studio was stopped, start it anew and open its link.`,
      );
      banner.hidden = false;
    },
    unknown: () =>
      setText(
        banner,
        "The studio no longer knows this page: it was started anew, or this browser was logged out. Open the link that it has printed.",
      ),
  });
}

/** What a headset's session is given of the page, and which kinds of session there are. */

import type { Grab } from "../grab";
import type { Sounds } from "../sounds";
import type { Stage } from "../stage";
import type { Timeline } from "../timeline";

/** Over the room as it is, in a room of its own, as two pictures side by side. */
export type Mode = "immersive-ar" | "immersive-vr" | "pair";

export interface Parts {
  stage: Stage;
  grab: Grab;
  time: Timeline;
  forces: { readonly isOn: boolean; toggle(): void };
  sounds: Sounds;
}

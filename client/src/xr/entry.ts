/** The button that leads into a headset, where the browser has one; what it needs is loaded when it is pressed. */

import * as THREE from "three";
import { byId } from "../dom";
import { icon } from "../icons";
import { colour } from "../theme";
import { onTold, tell, tellError } from "../toasts";
import { DEPTH_SENSING } from "./depth";
import type { Headset } from "./headset";
import type { Mode, Parts } from "./modes";

const TITLES: Record<Mode, string> = {
  "immersive-ar": "In your room, by headset",
  "immersive-vr": "By headset",
  pair: "Two pictures side by side",
};
const IMMERSIVE = ["immersive-ar", "immersive-vr"] as const;
const FEATURES = { "immersive-ar": ["hit-test", "hand-tracking", "depth-sensing"], "immersive-vr": ["hand-tracking"] };

export class HeadsetEntry {
  private readonly button = byId<HTMLButtonElement>("headset");
  private headset: Headset | null = null;
  private modes: (typeof IMMERSIVE)[number][] = []; // that the browser has, the best first
  private isBusy = false;

  constructor(private readonly parts: Parts) {
    this.button.append(icon("headset"));
    this.button.addEventListener("click", () => void this.enter().catch(tellError));
    parts.stage.view.onTick((now, frame) => {
      if (frame) this.headset?.tick(now, frame);
    });
    onTold((text) => this.headset?.tell(text));
    void this.look();
    navigator.xr?.addEventListener("devicechange", () => void this.look());
  }

  /** What a headset shows, for tests; null where none is on. */
  state(): unknown {
    return this.headset?.state() ?? null;
  }

  /** Two pictures side by side, over the whole screen. */
  async pair(): Promise<void> {
    const { Pair } = await import("./pair");
    await new Pair(this.parts.stage, byId("stage"), () => this.mark("")).begin();
    this.mark("pair");
  }

  /** See what the browser has, and offer it. */
  private async look(): Promise<void> {
    const isThere = await Promise.all(
      IMMERSIVE.map((mode) => navigator.xr?.isSessionSupported(mode).catch(() => false) ?? false),
    );
    this.modes = IMMERSIVE.filter((_, k) => isThere[k]);
    const [best] = this.modes;
    this.button.hidden = best === undefined;
    this.button.title = best ? TITLES[best] : "No headset";
    this.button.setAttribute("aria-label", this.button.title);
  }

  /** The best session there is; where none begins, two pictures side by side. */
  private async enter(): Promise<void> {
    if (this.headset || this.isBusy) return;
    this.isBusy = true;
    try {
      const loaded = import("./headset");
      const problems: string[] = [];
      for (const mode of this.modes) {
        const session = await this.ask(mode).catch((error: Error) => {
          problems.push(`${mode}: ${error.message}`);
        });
        if (!session) continue;
        await this.begin(await loaded, session, mode);
        return;
      }
      tell(`headset: no session began (${problems.join("; ")}); two pictures side by side instead`, "warning");
      await this.pair();
    } finally {
      this.isBusy = false;
    }
  }

  private ask(mode: (typeof IMMERSIVE)[number]): Promise<XRSession> {
    if (!navigator.xr) throw new Error("this browser has no WebXR");
    const wish: XRSessionInit = { requiredFeatures: ["local-floor"], optionalFeatures: FEATURES[mode] };
    if (mode === "immersive-ar") wish.depthSensing = DEPTH_SENSING;
    return navigator.xr.requestSession(mode, wish);
  }

  private async begin({ Headset }: typeof import("./headset"), session: XRSession, mode: Mode): Promise<void> {
    const { view } = this.parts.stage;
    const headset = new Headset(this.parts, session, mode);
    const wasShown = view.floor.shown;
    session.addEventListener("end", () => {
      this.headset = null;
      view.scene.background = null;
      view.floor.shown = wasShown;
      this.mark("");
      this.parts.sounds.inHeadset(false);
    });
    if (session.environmentBlendMode === "opaque") view.scene.background = new THREE.Color(colour("bg"));
    else view.floor.shown = false; // the room has its own
    this.headset = headset;
    this.mark(mode);
    this.parts.sounds.inHeadset(true);
    try {
      await headset.begin();
    } catch (error) {
      await session.end().catch(() => {});
      throw error;
    }
  }

  private mark(mode: string): void {
    this.button.setAttribute("aria-pressed", String(mode !== ""));
    document.body.dataset.headset = mode;
  }
}

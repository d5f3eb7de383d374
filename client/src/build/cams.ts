/** Cams: a click where the shaft is, and the lift curve by what is typed; the session makes the outline (edits/cams.py). */

import { openDialog } from "../dialogs";
import { h } from "../dom";
import type { Cam } from "../edits";
import type { Drag, Press, Presser } from "../gestures";
import { exact, readFinite, roundNumber, type Vec3 } from "../numbers";
import type { Stage } from "../stage";
import { tell, tellError } from "../toasts";
import { field } from "./copies";
import type { Drafting } from "./drafting";
import type { Flat } from "./plane";
import { readTyped } from "./typed";

const LAWS = ["cycloidal", "harmonic", "3-4-5"];
const FOLLOWERS = ["roller", "flat"];
const DEGREE = Math.PI / 180;

export class Cams implements Presser {
  constructor(
    private readonly stage: Stage,
    private readonly drafting: Drafting,
  ) {
    drafting.field.addEventListener("keydown", (event) => this.key(event));
    stage.view.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  press(press: Press): Drag {
    this.drafting.face();
    return {
      move: () => {},
      cancel: () => {},
      end: () => {
        const found = this.drafting.snapped(press, null);
        if (found) this.open(found.flat);
      },
    };
  }

  /** Enter takes the point that is typed, or the plane's origin. */
  private key(event: KeyboardEvent): void {
    if (this.stage.store.tool !== "cam" || event.key !== "Enter") return;
    event.preventDefault();
    event.stopPropagation();
    try {
      const { at } = readTyped(this.drafting.field.value);
      this.drafting.field.value = "";
      this.drafting.face();
      this.open(at ?? [0, 0]);
    } catch (error) {
      tellError(error);
    }
  }

  /** Ask for the lift curve. */
  private open(at: Flat): void {
    const { step } = this.drafting.grid;
    const text = (steps: number): string => exact(roundNumber(steps * step, 2));
    const [u, v] = [field("shaft u in m", exact(at[0])), field("shaft v in m", exact(at[1]))];
    const [base, lift] = [field("base radius in m", text(2)), field("lift in m", text(0.6))];
    const angles = { rise: "120", dwell: "60", return: "120" };
    const [rise, dwell, fall] = Object.entries(angles).map(([name, value]) => field(`${name} in degrees`, value)) as [
      HTMLInputElement,
      HTMLInputElement,
      HTMLInputElement,
    ];
    const [law, follower] = [choice("law", LAWS), choice("follower", FOLLOWERS)];
    const roller = field("roller radius in m", text(0.6));
    const guide = field("guide in degrees", "90");
    const speed = field("speed in rad/s", exact(roundNumber(2 * Math.PI, 4)));
    const spring = field("spring in N/m", "200");
    follower.addEventListener("change", () => {
      roller.disabled = follower.value !== "roller";
    });
    const form = h(
      "form",
      { class: "copies" },
      h("p", { class: "muted" }, "A disc cam on a shaft on the ground, and the follower that it lifts along a guide."),
      h("label", {}, "shaft at [m]", u, v),
      h("label", {}, "base radius, lift [m]", base, lift),
      h("label", {}, "rise, dwell, return [°]", rise, dwell, fall),
      h("label", {}, "by the law", law),
      h("label", {}, "follower", follower, "of radius [m]", roller),
      h("label", {}, "guide at [°]", guide),
      h("label", {}, "motor [rad/s], 0: none", speed),
      h("label", {}, "spring [N/m]", spring),
      h("button", { type: "submit", class: "primary" }, "Make"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      try {
        const read = (input: HTMLInputElement): number => readFinite(input.value, input.name);
        const { origin, u: along, v: up } = this.drafting.plane;
        const [o, a, b] = [origin, along, up].map((way) => way.toArray()) as [Vec3, Vec3, Vec3];
        void this.make(dialog, {
          edit: "Cam",
          name: this.stage.store.freeName("cam"),
          at: [read(u), read(v)],
          base: read(base),
          lift: read(lift),
          rise: read(rise) * DEGREE,
          dwell: read(dwell) * DEGREE,
          fall: read(fall) * DEGREE,
          law: law.value,
          follower: follower.value,
          roller: read(roller),
          angle: read(guide) * DEGREE,
          speed: read(speed),
          stiffness: read(spring),
          thickness: roundNumber(0.3 * read(base), 3),
          ...{ origin: o, u: a, v: b },
        });
      } catch (error) {
        tellError(error);
      }
    });
    const dialog = openDialog("Cam", form);
    base.focus();
    base.select();
  }

  private async make(dialog: HTMLDialogElement, edit: Cam): Promise<void> {
    const { actions, store } = this.stage;
    const reply = await actions.apply(edit);
    if (!reply) return;
    dialog.close();
    tell(reply.text);
    store.setPick({ kind: "joint", name: `shaft of ${edit.name}` });
  }
}

function choice(name: string, values: string[]): HTMLSelectElement {
  return h("select", { name, "aria-label": name }, ...values.map((value) => h("option", {}, value)));
}

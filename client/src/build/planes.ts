/** Where the work plane is: facing the viewer, on a face, by three points, so far from where it was. */

import { h } from "../dom";
import { parseNumber } from "../numbers";
import type { Stage } from "../stage";
import { tell } from "../toasts";
import type { Drafting } from "./drafting";
import type { PickPoints } from "./pickpoints";

const CHOICES = { facing: "facing", face: "on a face…", points: "by three points…" } as const;
type Choice = keyof typeof CHOICES;

export class Planes {
  private select = h(
    "select",
    { id: "work-plane", "aria-label": "work plane" },
    ...(Object.keys(CHOICES) as Choice[]).map((key) => h("option", { value: key }, CHOICES[key])),
    h("option", { value: "there", hidden: true }, "placed"),
  );
  private offset = h("input", {
    id: "plane-offset",
    inputmode: "decimal",
    placeholder: "0",
    "aria-label": "offset in m",
  });
  readonly bar = h("span", {}, h("label", {}, "plane", this.select), h("label", {}, "offset", this.offset, "m"));

  constructor(
    private readonly stage: Stage,
    private readonly drafting: Drafting,
    private readonly points: PickPoints,
  ) {
    this.select.addEventListener("change", () => this.choose(this.select.value as Choice));
    this.offset.addEventListener("change", () => this.shift());
    stage.store.on("opened", () => this.choose("facing"));
  }

  private choose(choice: Choice): void {
    const { plane } = this.drafting;
    if (choice === "facing") {
      plane.isFixed = false;
      this.drafting.face();
      this.show();
    } else if (choice === "face") this.onFace();
    else if (choice === "points") this.byPoints();
  }

  private onFace(): void {
    this.points.begin({
      count: 1,
      surface: true,
      hint: () => "work plane: click a face of a body; Escape ends it",
      done: ([hit]) => {
        if (!hit?.normal) return;
        const { plane } = this.drafting;
        plane.across(hit.world, hit.normal, `on ${hit.body}`);
        const centre = hit.body ? this.stage.mechanism.point(hit.body) : null; // its middle is the grid's origin
        if (centre) plane.origin.copy(plane.up(plane.down(centre)));
        this.show();
      },
    });
    this.show();
  }

  private byPoints(): void {
    this.points.begin({
      count: 3,
      hint: (have) => `work plane: click point ${have + 1} of three: the origin, along u, beside it; Escape ends it`,
      done: ([a, b, c]) => {
        if (a && b && c && !this.drafting.plane.by(a.world, b.world, c.world))
          tell("work plane: the three points lie on a line; take others", "error");
        this.show();
      },
    });
    this.show();
  }

  private shift(): void {
    const way = parseNumber(this.offset.value);
    this.offset.value = "";
    if (way === null || !Number.isFinite(way)) tell("offset: give a length in m, such as 0.05", "error");
    else this.drafting.plane.shift(way);
    this.show();
  }

  private show(): void {
    this.select.value = this.drafting.plane.isFixed ? "there" : "facing";
    this.select.title = this.drafting.plane.name;
    this.stage.view.touch();
  }
}

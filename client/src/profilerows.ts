/** Rows of the inspector for a value over time: its kind, its numbers, a small picture of it, and a curve drawn by hand. */

import { html } from "lit-html";
import { openDialog } from "./dialogs";
import { h } from "./dom";
import { actions, button, inputRow, type Keyed, selectRow } from "./fields";
import { readFinite, roundNumber } from "./numbers";
import { extent } from "./plots/chart";
import { spread } from "./plots/ticks";
import { changed, Drawing, fieldsOf, isProfile, KINDS, type Kind, kindOf, type One, valueAt } from "./profiles";
import { colour } from "./theme";

const [WIDTH, HEIGHT, POINTS] = [240, 56, 160];
const USUAL_SPAN = 2; // [s] of a drawn curve
const PERIODS = 3; // of a sine in its picture

export interface Edited {
  label: string; // of the row that has the kind
  value: One;
  unit: string;
  now: () => number; // [s]
  size: number; // a value that is worth having
  set: (value: One) => Promise<unknown>;
}

/** The rows; a constant has none but that of its kind. */
export function profileRows({ label, value, unit, now, size, set }: Edited): Keyed[] {
  const rows = [selectRow(label, [...KINDS], kindOf(value), (kind) => set(changed(value, kind as Kind, now(), size)))];
  if (isProfile(value)) {
    rows.push(
      ...fieldsOf(value, unit).map(({ name, unit: of, text, put }) =>
        inputRow(name, of, [text], [""], async ([typed = ""]) => set(put(typed))),
      ),
      { key: `picture ${label}`, view: picture(value, now()) },
    );
  }
  const draw = button("Draw…", () => openDrawing({ label, value, unit, now, size, set }));
  rows.push({ ...actions(draw), key: `draw ${label}` });
  return rows;
}

/** The times that a value's picture shows. */
function spanOf(value: One, now: number): [number, number] {
  if (isProfile(value) && (value.profile === "ramp" || value.profile === "smooth")) {
    const air = 0.25 * (Number(value.t1) - Number(value.t0));
    return [Number(value.t0) - air, Number(value.t1) + air];
  }
  if (isProfile(value) && value.profile === "table") {
    const [first, last] = [Number(value.times[0]), Number(value.times.at(-1))];
    return last > first ? [first, last] : [first - 1, first + 1];
  }
  if (isProfile(value) && value.profile === "harmonic" && Number(value.omega) !== 0)
    return [now, now + (PERIODS * 2 * Math.PI) / Math.abs(Number(value.omega))];
  return [now, now + USUAL_SPAN];
}

function picture(value: One, now: number): unknown {
  const span = spanOf(value, now);
  const times = Array.from({ length: POINTS }, (_, k) => span[0] + (k / (POINTS - 1)) * (span[1] - span[0]));
  const values = times.map((t) => valueAt(value, t));
  const [low, high] = spread(...extent([{ label: "", xs: times, ys: values, colour: "" }], null));
  const x = (t: number): number => ((t - span[0]) / (span[1] - span[0])) * WIDTH;
  const y = (v: number): number => HEIGHT - ((v - low) / (high - low)) * HEIGHT;
  const points = times.flatMap((t, k) =>
    Number.isFinite(values[k]) ? [`${x(t).toFixed(1)},${y(values[k] ?? 0).toFixed(1)}`] : [],
  );
  const line = (from: number, to: number): string => `M${x(from)} 0V${HEIGHT}M0 ${y(to)}H${WIDTH}`;
  const label = `From ${roundNumber(span[0], 4)} to ${roundNumber(span[1], 4)} s, from ${roundNumber(low, 3)} to ${roundNumber(high, 3)}`;
  return html`<svg class="profile" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label=${label}>
    <title>${label}</title>
    <path class="axis" d=${line(Math.max(now, span[0]), Math.min(Math.max(0, low), high))} />
    <polyline points=${points.join(" ")} />
  </svg>`;
}

/** Draw a curve by pointer or finger; it is smoothed into a table. */
function openDrawing({ label, value, unit, now, size, set }: Edited): void {
  const begin = now();
  const drawing = new Drawing();
  const canvas = h("canvas", { width: 1120, height: 480, class: "drawing", "aria-label": "Draw the curve here" });
  const input = (name: string, text: number, of: string): HTMLInputElement =>
    h("input", { value: String(text), inputmode: "decimal", "aria-label": `${name} in ${of}` });
  const most = roundNumber(Math.max(Math.abs(valueAt(value, begin)) || 0, size), 3);
  const span = input("length", USUAL_SPAN, "s");
  const low = input("lowest", -most, unit);
  const high = input("highest", most, unit);
  const problem = h("div", { class: "error", role: "alert" });
  const show = (): void => {
    const context = canvas.getContext("2d");
    if (!context) return;
    const { width, height } = canvas;
    context.clearRect(0, 0, width, height);
    context.strokeStyle = colour("line");
    context.lineWidth = 2;
    context.beginPath();
    for (let k = 1; k < 4; k++) {
      context.moveTo(0, (k * height) / 4);
      context.lineTo(width, (k * height) / 4);
    }
    context.stroke();
    context.strokeStyle = colour("accent");
    context.lineWidth = 4;
    context.beginPath();
    drawing.heights.forEach((y, k) => {
      context.lineTo((k / (drawing.count - 1)) * width, (1 - y) * height);
    });
    context.stroke();
  };
  const stroke = (event: PointerEvent): void => {
    const box = canvas.getBoundingClientRect();
    drawing.stroke((event.clientX - box.left) / box.width, 1 - (event.clientY - box.top) / box.height);
    show();
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    drawing.lift();
    stroke(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (canvas.hasPointerCapture(event.pointerId)) stroke(event);
  });
  const use = async (): Promise<void> => {
    try {
      const [length, from, to] = [
        readFinite(span.value, "length"),
        readFinite(low.value, "lowest"),
        readFinite(high.value, "highest"),
      ];
      if (!(length > 0 && to > from)) throw new Error("length: above 0, and highest above lowest");
      await set(drawing.table(roundNumber(begin, 6), length, from, to));
      dialog.close();
    } catch (error) {
      problem.textContent = error instanceof Error ? error.message : String(error);
    }
  };
  const dialog = openDialog(
    `Draw ${label}`,
    canvas,
    h(
      "div",
      { class: "actions" },
      h("label", {}, "length ", span, " s"),
      h("label", {}, "lowest ", low, ` ${unit}`),
      h("label", {}, "highest ", high, ` ${unit}`),
      h("button", { type: "button", class: "primary", onclick: () => void use() }, "Use it"),
    ),
    problem,
  );
  show();
}

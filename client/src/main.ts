/** The studio's page: puts the pieces together. */

import "./app.css";
import type * as THREE from "three";
import { Adding } from "./adding";
import { Books } from "./books";
import { Contacts } from "./contacts";
import { menuButton } from "./dialogs";
import { byId, h } from "./dom";
import { Files } from "./files";
import { Gestures, type Presser } from "./gestures";
import { Grab } from "./grab";
import { exposeState } from "./hook";
import { type IconName, icon } from "./icons";
import { Inspector } from "./inspector";
import { keyboard, showHelp } from "./keyboard";
import { Loads } from "./loads";
import type { Shown } from "./mechanism";
import { Motions } from "./motions";
import { Parts } from "./parts";
import { Plots } from "./plots";
import { Stage } from "./stage";
import { Summary } from "./summary";
import { toggleTheme } from "./theme";
import { Timeline } from "./timeline";
import { tell, tellError } from "./toasts";
import { Toolbar } from "./toolbar";
import { Traces } from "./traces";

addEventListener("error", (event) => tell(`page: ${event.message}`, "error"));
addEventListener("unhandledrejection", (event) => tellError(event.reason));

const stage = new Stage();
const { store, view, mechanism, picking } = stage;
const traces = new Traces(stage);
new Contacts(stage);
const grab = new Grab(stage);
const loads = new Loads(stage);
const motions = new Motions(stage, loads);
const adding = new Adding(stage, (text) => toolbar.say(text));
const toolbar = new Toolbar(store, { grab, loads, motions, adding });

const trace: Presser = {
  press({ x, y, isTouch }) {
    const hit = picking.hit(x, y, ["body"], isTouch);
    if (!hit) return null;
    return {
      move: () => {},
      cancel: () => {},
      end: () => {
        const near = traces
          .chosen()
          .find(
            ({ body, at }) =>
              body === hit.name &&
              Math.hypot(at[0] - hit.at[0], at[1] - hit.at[1], at[2] - hit.at[2]) < 0.03 * view.size,
          );
        if (near) traces.remove(near.key);
        else traces.add(`point ${traces.chosen().length + 1} of ${hit.name}`, hit.name, hit.at);
      },
    };
  },
};
new Gestures(
  stage,
  { press: (press) => loads.press(press) ?? motions.press(press) },
  {
    grab,
    force: { press: (press) => loads.place("force", press) },
    torque: { press: (press) => loads.place("torque", press) },
    motion: { press: (press) => motions.place(press) },
    body: adding.body,
    joint: adding.joint,
    spring: adding.spring,
    trace,
  },
);

const parts = new Parts(store, loads);
new Inspector(stage, { adding, loads, motions, traces });
const plots = new Plots(store, stage.signals);
const books = new Books(store);
const timeline = new Timeline(stage);
new Files(stage, plots);
const summary = new Summary(store);

function button(id: string, name: IconName, title: string, action: () => void): HTMLButtonElement {
  const found = byId<HTMLButtonElement>(id);
  found.append(icon(name));
  found.title = title;
  found.setAttribute("aria-label", title);
  found.addEventListener("click", action);
  return found;
}

const fit = (): void => view.fit(mechanism.extent());
const followButton = button("follow", "follow", "Follow the picked part (O)", () => follow());
function follow(): void {
  const { pick } = store;
  const isOn = followButton.getAttribute("aria-pressed") === "true";
  const body = pick?.kind === "body" ? pick.name : pick?.kind === "joint" ? store.joint(pick.name)?.second : undefined;
  if (!isOn && !body) {
    tell("follow: pick a body or a joint first");
    return;
  }
  view.follow = isOn || !body ? null : (): THREE.Vector3 | null => mechanism.point(body);
  followButton.setAttribute("aria-pressed", String(!isOn));
}
button("fit", "fit", "Fit the view (0)", fit);
button("theme", "theme", "Light or dark", toggleTheme);
button("help", "help", "Help (?)", showHelp);
const showButton = byId<HTMLButtonElement>("show-button");
showButton.append(icon("show"));
showButton.title = "What is shown";
showButton.setAttribute("aria-label", "What is shown");
menuButton(showButton, () => {
  const box = (text: string, isOn: boolean, set: (on: boolean) => void): HTMLElement => {
    const input = h("input", {
      type: "checkbox",
      checked: isOn,
      onchange: (event: Event) => set((event.target as HTMLInputElement).checked),
    });
    return h("label", {}, input, text);
  };
  const names: [keyof Shown, string][] = [
    ["bodies", "Bodies"],
    ["obstacles", "Obstacles"],
    ["joints", "Joints"],
    ["springs", "Springs"],
    ["centres", "Centres of mass"],
    ["axes", "Body axes"],
  ];
  return [
    ...names.map(([what, text]) => box(text, mechanism.shown[what], (on) => mechanism.show(what, on))),
    box("Paths", traces.shown, (on) => traces.show(on)),
    h("button", { type: "button", onclick: () => traces.clear() }, "Clear paths"),
  ];
});

const sheets: [string, string][] = [
  ["", "Picture"],
  ["inspect", "Inspector"],
  ["plots", "Plots"],
];
const tabs = sheets.map(([sheet, title]) => {
  const tab = h("button", { type: "button", onclick: () => openSheet(sheet) }, title);
  return { sheet, tab };
});
function openSheet(sheet: string): void {
  document.body.dataset.sheet = sheet;
  for (const entry of tabs) entry.tab.setAttribute("aria-pressed", String(entry.sheet === sheet));
}
for (const { sheet, tab } of tabs) tab.setAttribute("aria-pressed", String(sheet === ""));
byId("tabs").append(...tabs.map(({ tab }) => tab));

store.setTool("grab");
keyboard({ stage, timeline, grab, loads, motions, parts, fit, follow });
exposeState({ stage, loads, motions, plots, books, summary, traces });

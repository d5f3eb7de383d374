/** The studio's page: puts the pieces together. */

import "./app.css";
import * as THREE from "three";
import { Actions } from "./actions";
import { Adding } from "./adding";
import { Books } from "./books";
import { Connection } from "./connection";
import { menuButton } from "./dialogs";
import { byId, h, setText } from "./dom";
import { Files } from "./files";
import { Gestures, type Presser } from "./gestures";
import { Grab } from "./grab";
import { exposeState } from "./hook";
import { icon, type IconName } from "./icons";
import { Inspector } from "./inspector";
import { keyboard, showHelp } from "./keyboard";
import { Labels } from "./labels";
import { Loads } from "./loads";
import { Mechanism, type Shown } from "./mechanism";
import { Motions } from "./motions";
import { Parts } from "./parts";
import { Picking } from "./picking";
import { Plots } from "./plots";
import { Signals } from "./signals";
import { Store } from "./store";
import { Summary } from "./summary";
import { toggleTheme } from "./theme";
import { Timeline } from "./timeline";
import { tell, tellError } from "./toasts";
import { Toolbar } from "./toolbar";
import { Traces } from "./traces";
import { View } from "./view";

addEventListener("error", (event) => tell(`page: ${event.message}`, "error"));
addEventListener("unhandledrejection", (event) => tellError(event.reason));

const store = new Store();
const view = new View(store);
const mechanism = new Mechanism(store, view);
const picking = new Picking(store, view, mechanism);
const labels = new Labels(view);
const traces = new Traces(store, view, mechanism);

const connection = new Connection({
  message(message) {
    if (message.type === "scene") store.setScene(message);
    else if (message.type === "patch") store.setPatch(message);
    else if (message.type === "live") store.setLive(message);
    else if (message.type === "status") store.setStatus(message);
    else if (message.type === "books") store.setBooks(message);
    else tell(message.text, message.level);
  },
  frame: (frame) => store.setFrame(frame),
  open: () => store.setConnected(true),
  lost: (reason) => {
    store.setConnected(false);
    const banner = byId("banner");
    setText(
      banner,
      `The line to the studio is lost${reason ? ` (${reason})` : ""}; trying again. If the studio was stopped, start it anew and open its link.`,
    );
    banner.hidden = false;
  },
});
store.on("line", (connected) => {
  if (connected) byId("banner").hidden = true;
});

const actions = new Actions(connection);
const signals = new Signals(store, connection);
const grab = new Grab(store, view, mechanism, picking, actions, labels);
const loads = new Loads(store, view, mechanism, picking, actions, labels);
const motions = new Motions(store, view, mechanism, picking, actions, labels, signals, loads);
const adding = new Adding(store, view, mechanism, picking, actions, (text) => toolbar.say(text));
const toolbar = new Toolbar(store, { grab, loads, motions, adding: () => adding });

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
const gestures = new Gestures(
  store,
  view,
  picking,
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
new Inspector(store, actions, signals, loads, motions, traces);
const plots = new Plots(store, signals);
const books = new Books(store);
const timeline = new Timeline(store, actions, view.canvas);
new Files(store, actions, view, plots);
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
const tabs = sheets.map(([sheet, title]) =>
  h("button", { type: "button", "aria-pressed": String(sheet === ""), onclick: () => openSheet(sheet) }, title),
);
function openSheet(sheet: string): void {
  document.body.dataset.sheet = sheet;
  tabs.forEach((tab, k) => tab.setAttribute("aria-pressed", String(sheets[k][0] === sheet)));
}
byId("tabs").append(...tabs);

store.setTool("grab");
keyboard(store, timeline, grab, loads, motions, parts, { fit, follow, focus: () => view.canvas.focus() });
exposeState({
  store,
  view,
  mechanism,
  labels,
  loads,
  motions,
  plots,
  books,
  summary,
  traces,
  signals,
  connection,
  gestures,
});

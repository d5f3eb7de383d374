/** The studio's page: puts the pieces together. */

import "./app.css";
import "./compact";
import type * as THREE from "three";
import { About } from "./about";
import { Adding } from "./adding";
import { Analyse } from "./analyse/panel";
import { Overlay } from "./ar/overlay";
import { Arrows, KINDS, type Kind } from "./arrows";
import { Belts } from "./belts";
import { Books } from "./books";
import { Cams } from "./build/cams";
import { Drafting } from "./build/drafting";
import { Freedoms } from "./build/freedoms";
import { Links } from "./build/links";
import { Mirrors } from "./build/mirrors";
import { PickPoints } from "./build/pickpoints";
import { Planes } from "./build/planes";
import { Contacts } from "./contacts";
import { Cuts } from "./cuts";
import { byId, h } from "./dom";
import { Effects } from "./effects";
import { Events } from "./events";
import { Files } from "./files";
import { Gestures, type Presser } from "./gestures";
import { Ghosts } from "./ghosts";
import { Grab } from "./grab";
import { Guide } from "./guide";
import { exposeState } from "./hook";
import { Hovering } from "./hovering";
import { type IconName, icon } from "./icons";
import { Inspector } from "./inspector";
import { keyboard, offerLesson, showHelp } from "./keyboard";
import { Loads } from "./loads";
import { Measures } from "./measures";
import { Motions } from "./motions";
import { Pads } from "./pads/entry";
import { panels } from "./panels";
import { Parts } from "./parts";
import { Plots } from "./plots/plots";
import { Sensing } from "./sensing";
import { Shooting } from "./shooting";
import { checkbox, ShowMenu } from "./showmenu";
import { Sounds } from "./sounds";
import { Stage } from "./stage";
import { Summary } from "./summary";
import { toggleTheme } from "./theme";
import { Timeline } from "./timeline";
import { forgetTold, tell, tellError } from "./toasts";
import { Toolbar } from "./toolbar";
import { Traces } from "./traces";
import { Turns } from "./turns";
import { Variables } from "./variables";
import { ViewCube } from "./viewcube";
import { HeadsetEntry } from "./xr/entry";

addEventListener("error", (event) => tell(`page: ${event.message}`, "error"));
addEventListener("unhandledrejection", (event) => tellError(event.reason));

const stage = new Stage();
const { store, view, mechanism, picking } = stage;
const traces = new Traces(stage);
new Contacts(stage);
new Cuts(stage);
new Measures(stage);
const belts = new Belts(stage);
const grab = new Grab(stage);
const loads = new Loads(stage);
const motions = new Motions(stage, loads);
const effects = new Effects(stage);
const drafting = new Drafting(stage);
const adding = new Adding(stage, drafting);
const links = new Links(stage, drafting, (text) => toolbar.say(text));
const points = new PickPoints(stage, drafting, (text) => toolbar.say(text));
const planes = new Planes(stage, drafting, points);
const mirrors = new Mirrors(stage, drafting, points);
const freedoms = new Freedoms(stage);
const toolbar = new Toolbar(store, { grab, loads, motions, effects, adding, drafting, planes, freedoms });

const trace: Presser = {
  press({ x, y, isTouch }) {
    const hit = picking.hit(x, y, ["body"], isTouch);
    if (!hit) return null;
    let beside: THREE.Vector3 | null = null; // where a drag went, in the plane of what was pressed
    return {
      move: (toX, toY) => {
        beside = view.unproject(toX, toY, hit.point);
      },
      cancel: () => {},
      end: (moved) => {
        const at = moved && beside ? picking.inBody(hit.name, beside) : null;
        if (at) traces.add(`point ${traces.chosen().length + 1} of ${hit.name}`, hit.name, at);
        else traces.toggle(hit.name, hit.at);
      },
    };
  },
};
new Gestures(
  stage,
  {
    press: (press) =>
      points.press(press) ?? analyse.press(press) ?? loads.press(press) ?? motions.press(press) ?? effects.press(press),
  },
  {
    grab,
    force: { press: (press) => loads.place("force", press) },
    torque: { press: (press) => loads.place("torque", press) },
    motion: { press: (press) => motions.place(press) },
    effect: { press: () => null },
    link: links,
    body: adding.body,
    joint: adding.joint,
    spring: adding.spring,
    cam: new Cams(stage, drafting),
    trace,
  },
);

const parts = new Parts(store, loads);
new Variables(stage);
new Inspector(stage, { adding, loads, motions, traces, points, mirrors });
const books = new Books(store);
const timeline = new Timeline(stage);
new Events(stage);
const plots = new Plots(store, stage.signals, (time) => timeline.goTo(time));
panels();
const arrows = new Arrows(stage);
new Files(stage, plots, new Shooting(stage, plots, arrows));
const summary = new Summary(store);

function button(id: string, name: IconName, title: string, action: () => void): HTMLButtonElement {
  const found = byId<HTMLButtonElement>(id);
  found.append(icon(name));
  found.title = title;
  found.setAttribute("aria-label", title);
  found.addEventListener("click", action);
  return found;
}

const fit = (): void => {
  const { points, away } = mechanism.extent();
  view.fit(points);
  if (away.length)
    tell(`far away and left out of the picture: ${away.slice(0, 5).join(", ")}${away.length > 5 ? ", ..." : ""}`);
};
new ViewCube(view);
new Hovering(stage);
const followButton = button("follow", "follow", "Follow the picked part (O)", () => follow());
function follow(): void {
  const { pick } = store;
  const isOn = followButton.getAttribute("aria-pressed") === "true";
  const body = pick?.kind === "body" ? pick.name : pick?.kind === "joint" ? store.joint(pick.name)?.second : undefined;
  if (!isOn && !body) tell("follow: pick a body or a joint first");
  else followBody(isOn ? null : (body ?? null));
}
function followBody(body: string | null): void {
  view.follow(body ? () => mechanism.point(body) : null);
  followButton.setAttribute("aria-pressed", String(body !== null));
}
mechanism.onFollow = followBody;
button("fit", "fit", "Fit the view (0)", fit);
button("theme", "theme", "Light or dark", toggleTheme);
button("help", "help", "Help (?)", showHelp);
const ghosts = new Ghosts(stage);
const forcesButton = button("forces", "forces", "Forces as arrows (N)", () => showForces());
function showForces(): void {
  arrows.toggle();
  forcesButton.setAttribute("aria-pressed", String(arrows.isOn));
}
const sounds = new Sounds(stage);
const forces = {
  get isOn() {
    return arrows.isOn;
  },
  toggle: showForces,
};
const headset = new HeadsetEntry({ stage, grab, time: timeline, forces, sounds });
const pads = new Pads(stage, grab, motions);
const overlay = new Overlay(stage);
const about = new About(stage);
const guide = new Guide(stage);
offerLesson(() => guide.begin());
const sensing = new Sensing(stage);
const turns = new Turns(stage);
async function wholeTurn(): Promise<void> {
  const points = traces.points();
  if (points.length === 0) tell("whole turn: no path is drawn; trace a point first (P)");
  else tell(`paths drawn at once: ${(await turns.show(points)) ?? "no longer"}`);
}
const showMenu = new ShowMenu(stage, traces, () => [
  checkbox("What it is about", about.shown, (on) => about.show(on)),
  checkbox("What sensors see", sensing.shown, (on) => sensing.show(on)),
  h("button", { type: "button", onclick: () => void wholeTurn().catch(tellError) }, "Whole turn of the paths"),
  checkbox("Onion skin", ghosts.shown, (on) => ghosts.show(on)),
  checkbox("Sounds", sounds.isOn, () => sounds.toggle()),
  h("button", { type: "button", onclick: () => void headset.pair().catch(tellError) }, "Two pictures side by side"),
  ...(Object.entries(KINDS) as [Kind, string][]).map(([kind, text]) =>
    checkbox(text, arrows.has(kind), (on) => {
      arrows.show(kind, on);
      forcesButton.setAttribute("aria-pressed", String(arrows.isOn));
    }),
  ),
]);

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
const analyse = new Analyse(
  stage,
  traces,
  (isOpen) => {
    analyseButton.setAttribute("aria-pressed", String(isOpen));
    if (isOpen) openSheet("inspect");
  },
  (atPicture) => openSheet(atPicture ? "" : "inspect"),
);
const analyseButton = button("analyse", "analyse", "Analyse: freedoms, rest, modes, motors, sweeps, curves (A)", () =>
  analyse.toggle(),
);
for (const { sheet, tab } of tabs) tab.setAttribute("aria-pressed", String(sheet === ""));
byId("tabs").append(...tabs.map(({ tab }) => tab));

store.on("opened", () => {
  store.setTool("grab"); // what was being made belonged to the scene before
  forgetTold();
});
store.setTool("grab");
keyboard({
  stage,
  timeline,
  grab,
  loads,
  motions,
  effects,
  traces,
  parts,
  fit,
  follow,
  showMenu,
  showForces,
  analyse,
  mirrors,
});
exposeState({
  stage,
  loads,
  motions,
  effects,
  plots,
  books,
  summary,
  traces,
  arrows,
  ghosts,
  analyse,
  about,
  guide,
  sensing,
  turns,
  belts,
  headset,
  sounds,
  pads,
  overlay,
});

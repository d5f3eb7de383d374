/** The page's icons: paths on a 24 x 24 field, drawn by strokes. */

const PATHS = {
  play: "M7 4.5v15l12-7.5z",
  pause: "M8 5v14M16 5v14",
  step: "M6 5v14l9-7zM18.5 5v14",
  revert: "M4 5v5h5M4.6 10A8 8 0 1 1 4 14",
  undo: "M9 6 4 11l5 5M4 11h10a6 6 0 0 1 0 12",
  redo: "M15 6l5 5-5 5M20 11H10a6 6 0 0 0 0 12",
  fit: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  follow: "M12 3v4M12 17v4M3 12h4M17 12h4M12 9.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6",
  show: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9.3a2.7 2.7 0 1 0 0 5.4 2.7 2.7 0 0 0 0-5.4",
  files: "M12 3v12M7.5 10.5 12 15l4.5-4.5M4 19.5h16",
  theme: "M12 3.5v17a8.5 8.5 0 0 0 0-17zM12 3.5a8.5 8.5 0 0 0 0 17",
  help: "M9 9a3 3 0 1 1 4.2 2.8c-.8.4-1.2 1-1.2 2M12 17.3v.2",
  grab: "M8 12V6.5a1.5 1.5 0 0 1 3 0V11M11 10V5a1.5 1.5 0 0 1 3 0v5M14 10.5V6.5a1.5 1.5 0 0 1 3 0V15c0 3.5-2 6-5.5 6S7 19.5 5 15.5c-.8-1.6.8-2.6 2-1.4l1 1.2",
  force: "M4 20 18 6M10.5 5.5H18.5V13.5",
  torque: "M19 14.5A7.5 7.5 0 1 1 18 7.5M18.6 3v5h-5",
  motion: "M12 7.2a4.8 4.8 0 1 0 0 9.6 4.8 4.8 0 0 0 0-9.6M3 12h2.4M18.6 12H21M12 3v1.6M12 19.4V21",
  effect: "M3 8.5h10a2.8 2.8 0 1 0-2.8-2.8M3 12.5h15a2.8 2.8 0 1 1-2.8 2.8M3 16.5h7a2.4 2.4 0 1 1-2.4 2.4",
  gravity: "M12 3v14M7 12.5l5 5 5-5M5 21h14",
  water: "M3 9c2-2 4-2 6 0s4 2 6 0 4-2 6 0M3 15c2-2 4-2 6 0s4 2 6 0 4-2 6 0",
  wind: "M3 9h11a3 3 0 1 0-3-3M3 14h14a3 3 0 1 1-3 3",
  link: "M6.5 14.5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M17.5 3.5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8.7 15.5 15.4 8.6",
  body: "M12 3 20 7.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9",
  joint: "M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6M3 7l6.4 3.6M21 7l-6.4 3.6",
  spring: "M3 12h3l1.5-5 3 10 3-10 3 10 1.5-5h3",
  cam: "M12 21a6 6 0 0 1-6-6c0-3 2.2-4.6 3.2-7.2A3.2 3.2 0 0 1 12 5.5a3.2 3.2 0 0 1 2.8 2.3C15.8 10.4 18 12 18 15a6 6 0 0 1-6 6M12 13.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3M6 3h12",
  trace: "M3 17c3 0 3-10 7-10s3 10 6 10c2 0 2.5-3 5-3",
  video: "M3 7.5h11.5v9H3zM14.5 11l6-3v8l-6-3",
  camera: "M3 8h4l1.5-2.5h7L17 8h4v11H3zM12 10a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7",
  record: "M12 5a7 7 0 1 0 0 14 7 7 0 0 0 0-14",
  forces: "M12 21V5M7.5 9.5 12 4.5l4.5 5M4 21h16",
  analyse: "M4 20V4M4 20h16M7 16c2-8 4-8 6-3s4 4 6-5",
  flag: "M6 21V4M6 4.5h11l-2.5 4 2.5 4H6",
  add: "M12 5v14M5 12h14",
  headset: "M3.5 9h17v8h-5.5l-1.6-2.2h-2.8L9 17H3.5zM6 9l1.5-3h9L18 9",
} as const;

export type IconName = keyof typeof PATHS;

export function icon(name: IconName): SVGSVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "i");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

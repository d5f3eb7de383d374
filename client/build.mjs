// Bundles the page into the folder given as argument: index.html, app.js, app.css.
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const folder = process.argv[2] ?? "../src/impulsar/studio/page";
mkdirSync(folder, { recursive: true });
await build({
  entryPoints: { app: "src/main.ts" },
  outdir: folder,
  bundle: true,
  minify: true,
  target: "es2022",
  format: "esm",
  legalComments: "eof",
  logLevel: "warning",
});
copyFileSync("index.html", join(folder, "index.html"));

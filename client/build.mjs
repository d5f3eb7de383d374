// Bundles the page into the folder given as argument: index.html, app.js with what it loads when it is asked for
// (part-*.js), app.css; large.html, large.js, large.css of large worlds; player.js, player.css of recorded motions and widget.js, widget.css of notebooks, which go into
// one file and so are whole; and phone.html, phone.js, phone.css of a phone that is a tracker.
import { copyFileSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const folder = process.argv[2] ?? "../src/impulsar/studio/page";
mkdirSync(folder, { recursive: true });
for (const name of readdirSync(folder)) if (/^part-.*\.(js|css)$/.test(name)) rmSync(join(folder, name));
const options = {
  outdir: folder,
  bundle: true,
  minify: true,
  target: "es2022",
  format: "esm",
  legalComments: "eof",
  logLevel: "warning",
};
await build({
  ...options,
  entryPoints: { app: "src/main.ts", large: "src/large/main.ts" },
  splitting: true,
  chunkNames: "part-[name]-[hash]",
});
await build({ ...options, entryPoints: { player: "src/player.ts" } });
await build({ ...options, entryPoints: { widget: "src/widget.ts" } });
await build({ ...options, entryPoints: { phone: "src/phone.ts" } });
for (const page of ["index.html", "large.html", "phone.html"]) copyFileSync(page, join(folder, page));

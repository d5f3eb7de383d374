// Bundles every *.test.ts of this folder as the page is bundled, and runs them by node's own runner.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const folder = import.meta.dirname;
const names = readdirSync(folder).filter((name) => name.endsWith(".test.ts"));
const out = mkdtempSync(join(tmpdir(), "impulsar-page-"));
try {
  await build({
    entryPoints: names.map((name) => join(folder, name)),
    outdir: out,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    target: "es2022",
    format: "esm",
    sourcemap: "inline",
    logLevel: "warning",
  });
  const files = names.map((name) => join(out, name.replace(/\.ts$/, ".mjs")));
  const done = spawnSync(process.execPath, ["--enable-source-maps", "--test", "--test-reporter=spec", ...files], {
    stdio: "inherit",
  });
  process.exitCode = done.status ?? 1;
} finally {
  rmSync(out, { recursive: true });
}

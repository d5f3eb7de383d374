/** A board in the room with buttons and what is to be known, written large enough for an arm's length. */

import * as THREE from "three";

const SIZE = { x: 0.34, y: 0.255 }; // [m]
const PIXELS = { x: 1024, y: 768 };
const COLUMNS = 4;
const TOP = 250; // [px], of the texts
const GAP = 10; // [px]
const FONT = "system-ui, sans-serif";
const COLOURS = {
  board: "#161c26",
  text: "#f2f5fa",
  muted: "#9fb0c6",
  button: "#2c3a50",
  over: "#3f6db5",
  on: "#2f7d4f",
};

export interface BoardButton {
  name: string;
  text: string;
  columns?: number; // that it is wide
  isOn?: boolean;
  isOff?: boolean; // cannot be pressed now
  press(): void;
}

interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

export class Board {
  readonly mesh: THREE.Mesh<THREE.PlaneGeometry, THREE.MeshBasicMaterial>;
  private readonly canvas = document.createElement("canvas");
  private readonly texture: THREE.CanvasTexture;
  private buttons: BoardButton[] = [];
  private state = "";
  private over: string | null = null;

  constructor() {
    this.canvas.width = PIXELS.x;
    this.canvas.height = PIXELS.y;
    this.texture = new THREE.CanvasTexture(this.canvas);
    this.texture.colorSpace = THREE.SRGBColorSpace;
    this.texture.anisotropy = 4;
    const material = new THREE.MeshBasicMaterial({ map: this.texture, side: THREE.DoubleSide, toneMapped: false });
    this.mesh = new THREE.Mesh(new THREE.PlaneGeometry(SIZE.x, SIZE.y), material);
  }

  /** Show lines of text, of which the first is the largest, and buttons; drawn where something is another. */
  show(lines: string[], buttons: BoardButton[], over: string | null): void {
    this.buttons = buttons;
    this.over = over;
    const state = JSON.stringify([lines, buttons, over]);
    if (state === this.state) return;
    this.state = state;
    this.draw(lines);
    this.texture.needsUpdate = true;
  }

  /** What a ray of the room meets from before it: how far away, and the button that is there. */
  meet(origin: THREE.Vector3, direction: THREE.Vector3): { distance: number; button: BoardButton | null } | null {
    this.mesh.updateMatrix();
    const inverse = this.mesh.matrix.clone().invert();
    const [from, way] = [origin.clone().applyMatrix4(inverse), direction.clone().transformDirection(inverse)];
    if (from.z <= 0 || way.z >= 0) return null;
    const distance = -from.z / way.z;
    const [u, v] = [(from.x + distance * way.x) / SIZE.x + 0.5, 0.5 - (from.y + distance * way.y) / SIZE.y];
    if (u < 0 || u > 1 || v < 0 || v > 1) return null;
    const [x, y] = [u * PIXELS.x, v * PIXELS.y];
    const found = this.boxes().find(({ box }) => x > box.x && x < box.x + box.w && y > box.y && y < box.y + box.h);
    return { distance, button: found && !found.button.isOff ? found.button : null };
  }

  /** Middles of the buttons in the room. */
  places(): Record<string, THREE.Vector3> {
    this.mesh.updateMatrix();
    return Object.fromEntries(
      this.boxes().map(({ button, box }) => [
        button.name,
        new THREE.Vector3(
          ((box.x + box.w / 2) / PIXELS.x - 0.5) * SIZE.x,
          (0.5 - (box.y + box.h / 2) / PIXELS.y) * SIZE.y,
          0,
        ).applyMatrix4(this.mesh.matrix),
      ]),
    );
  }

  dispose(): void {
    this.texture.dispose();
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
  }

  private boxes(): { button: BoardButton; box: Box }[] {
    const total = this.buttons.reduce((sum, { columns = 1 }) => sum + columns, 0);
    const rows = Math.ceil(total / COLUMNS);
    const [w, h] = [(PIXELS.x - GAP) / COLUMNS, (PIXELS.y - TOP - GAP) / rows];
    let at = 0;
    return this.buttons.map((button) => {
      const { columns = 1 } = button;
      const box = {
        x: GAP + (at % COLUMNS) * w,
        y: TOP + Math.floor(at / COLUMNS) * h,
        w: columns * w - GAP,
        h: h - GAP,
      };
      at += columns;
      return { button, box };
    });
  }

  private draw(lines: string[]): void {
    const pen = this.canvas.getContext("2d");
    if (!pen) return;
    pen.fillStyle = COLOURS.board;
    pen.fillRect(0, 0, PIXELS.x, PIXELS.y);
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    lines.forEach((line, k) => {
      pen.font = `${k ? "" : "600 "}${k ? 44 : 60}px ${FONT}`;
      pen.fillStyle = k ? COLOURS.muted : COLOURS.text;
      pen.fillText(line, 24, k ? 66 + 62 * k : 56, PIXELS.x - 48);
    });
    pen.textAlign = "center";
    pen.font = `600 42px ${FONT}`;
    for (const { button, box } of this.boxes()) {
      pen.fillStyle = this.over === button.name ? COLOURS.over : button.isOn ? COLOURS.on : COLOURS.button;
      pen.globalAlpha = button.isOff ? 0.4 : 1;
      pen.beginPath();
      pen.roundRect(box.x, box.y, box.w, box.h, 16);
      pen.fill();
      pen.fillStyle = COLOURS.text;
      pen.fillText(button.text, box.x + box.w / 2, box.y + box.h / 2, box.w - 16);
      pen.globalAlpha = 1;
    }
  }
}

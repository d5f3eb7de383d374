/** What a plot is drawn with: on a canvas, or as the text of an SVG file. */

export type Anchor = "start" | "middle" | "end";

export interface Pen {
  /** Lines through points; a NaN lifts the pen. */
  line(xs: ArrayLike<number>, ys: ArrayLike<number>, colour: string, width: number, dashes?: number[]): void;
  box(x: number, y: number, width: number, height: number, fill: string, opacity?: number): void;
  dot(x: number, y: number, radius: number, fill: string): void;
  text(text: string, x: number, y: number, colour: string, anchor?: Anchor, isBold?: boolean): void;
  measure(text: string): number;
  /** Draw within a rectangle only. */
  within(x: number, y: number, width: number, height: number, draw: () => void): void;
}

export const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif";
export const TEXT = 11; // [px]

export class CanvasPen implements Pen {
  constructor(private readonly context: CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D) {
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.font = `${TEXT}px ${FONT}`;
  }

  line(xs: ArrayLike<number>, ys: ArrayLike<number>, colour: string, width: number, dashes: number[] = []): void {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dashes);
    context.beginPath();
    let isDown = false;
    for (let k = 0; k < xs.length; k++) {
      const [x, y] = [xs[k] ?? NaN, ys[k] ?? NaN];
      if (!(Number.isFinite(x) && Number.isFinite(y))) isDown = false;
      else if (isDown) context.lineTo(x, y);
      else {
        context.moveTo(x, y);
        isDown = true;
      }
    }
    context.stroke();
    context.setLineDash([]);
  }

  box(x: number, y: number, width: number, height: number, fill: string, opacity = 1): void {
    this.context.globalAlpha = opacity;
    this.context.fillStyle = fill;
    this.context.fillRect(x, y, width, height);
    this.context.globalAlpha = 1;
  }

  dot(x: number, y: number, radius: number, fill: string): void {
    this.context.fillStyle = fill;
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.context.fill();
  }

  text(text: string, x: number, y: number, colour: string, anchor: Anchor = "start", isBold = false): void {
    this.context.font = `${isBold ? "600 " : ""}${TEXT}px ${FONT}`;
    this.context.fillStyle = colour;
    this.context.textAlign = anchor === "middle" ? "center" : anchor;
    this.context.fillText(text, x, y);
  }

  measure(text: string): number {
    this.context.font = `${TEXT}px ${FONT}`;
    return this.context.measureText(text).width;
  }

  within(x: number, y: number, width: number, height: number, draw: () => void): void {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    draw();
    this.context.restore();
  }
}

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export class SvgPen implements Pen {
  private parts: string[] = [];
  private clips = 0;

  constructor(private readonly ruler: Pen) {}

  line(xs: ArrayLike<number>, ys: ArrayLike<number>, colour: string, width: number, dashes: number[] = []): void {
    const path: string[] = [];
    let isDown = false;
    for (let k = 0; k < xs.length; k++) {
      const [x, y] = [xs[k] ?? NaN, ys[k] ?? NaN];
      const isPoint = Number.isFinite(x) && Number.isFinite(y);
      if (isPoint) path.push(`${isDown ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`);
      isDown = isPoint;
    }
    const dash = dashes.length ? ` stroke-dasharray="${dashes.join(" ")}"` : "";
    this.parts.push(`<path d="${path.join("")}" fill="none" stroke="${colour}" stroke-width="${width}"${dash}/>`);
  }

  box(x: number, y: number, width: number, height: number, fill: string, opacity = 1): void {
    this.parts.push(
      `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${fill}" fill-opacity="${opacity}"/>`,
    );
  }

  dot(x: number, y: number, radius: number, fill: string): void {
    this.parts.push(`<circle cx="${x.toFixed(2)}" cy="${y.toFixed(2)}" r="${radius}" fill="${fill}"/>`);
  }

  text(text: string, x: number, y: number, colour: string, anchor: Anchor = "start", isBold = false): void {
    const plain = text.replace(/[&<>"]/g, (sign) => ESCAPES[sign] ?? sign);
    const weight = isBold ? ' font-weight="600"' : "";
    const place = `x="${x.toFixed(2)}" y="${y.toFixed(2)}" dy="0.35em" fill="${colour}" text-anchor="${anchor}"`;
    this.parts.push(`<text ${place}${weight}>${plain}</text>`);
  }

  measure(text: string): number {
    return this.ruler.measure(text);
  }

  within(x: number, y: number, width: number, height: number, draw: () => void): void {
    const id = `clip${++this.clips}`;
    this.parts.push(
      `<clipPath id="${id}"><rect x="${x}" y="${y}" width="${width}" height="${height}"/></clipPath>`,
      `<g clip-path="url(#${id})">`,
    );
    draw();
    this.parts.push("</g>");
  }

  /** The whole file. */
  file(width: number, height: number): string {
    const box = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
    const font = `font-family="${FONT.replaceAll('"', "'")}" font-size="${TEXT}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${box} ${font}>\n${this.parts.join("\n")}\n</svg>\n`;
  }
}

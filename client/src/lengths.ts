/** Round lengths, and how they are said. */

/** A round length: 1, 2 or 5 times a power of ten, about a share of the size [m]. */
export function roundLength(wish: number): number {
  const ten = 10 ** Math.floor(Math.log10(wish));
  const over = wish / ten;
  return ten * (over < 1.5 ? 1 : over < 3.5 ? 2 : over < 7.5 ? 5 : 10);
}

/** The least 1, 2 or 5 times a power of ten that is no less than a value. */
export function roundUp(value: number): number {
  const ten = 10 ** Math.floor(Math.log10(value));
  return ten * (value <= ten ? 1 : value <= 2 * ten ? 2 : value <= 5 * ten ? 5 : 10);
}

/** A length as it stands at the grid: in metres, or millimetres where that is shorter. */
export function gridText(value: number, step: number): string {
  if (step >= 0.1) return `${Number(value.toPrecision(4))} m`.replace("-", "−");
  return `${Math.round(value * 1e6) / 1e3} mm`.replace("-", "−");
}

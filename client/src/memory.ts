/** What a browser remembers of how somebody likes the page. */

const STEM = "impulsar.";

/** What was remembered, or else `without`: storage may be full, forbidden, or have something strange in it. */
export function recall<T>(key: string, without: T): T {
  try {
    const kept = JSON.parse(localStorage.getItem(STEM + key) ?? "null") as T | null;
    return kept !== null && typeof kept === typeof without && Array.isArray(kept) === Array.isArray(without)
      ? kept
      : without;
  } catch {
    return without;
  }
}

export function remember(key: string, value: unknown): void {
  try {
    localStorage.setItem(STEM + key, JSON.stringify(value));
  } catch {
    // no room or no leave: then it is as it is by default next time
  }
}

/** Seconds of each unit, the largest first. */
const units = { y: 365 * 86_400, d: 86_400, h: 3600, m: 60, s: 1 };

/**
 * An age in its largest unit of which there are two, as `kubectl get` writes most ages: `45s`, `12m`, `5h`, `3d`. Times
 * to come, as by a clock that is ahead, read `0s`.
 *
 * @param milliseconds how long ago
 */
export function ageText(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const [unit, size] = Object.entries(units).find(([, one]) => seconds >= 2 * one) ?? ['s', 1];
  return `${Math.floor(seconds / size)}${unit}`;
}

/** Seconds of each unit, the largest first. */
const sizes = { y: 365 * 86_400, d: 86_400, h: 3600, m: 60, s: 1 } as const;

/** Below which age, in seconds, which units an age has. */
const steps: [below: number, ...units: (keyof typeof sizes)[]][] = [
  [2 * sizes.m, 's'],
  [10 * sizes.m, 'm', 's'],
  [3 * sizes.h, 'm'],
  [8 * sizes.h, 'h', 'm'],
  [2 * sizes.d, 'h'],
  [8 * sizes.d, 'd', 'h'],
  [2 * sizes.y, 'd'],
  [Number.POSITIVE_INFINITY, 'y', 'd'],
];

/**
 * An age as `kubectl get` writes it: `45s`, `3m20s`, `12m`, `5h10m`, `3d`. Times to come, as by a clock that is ahead,
 * read `0s`. Source: Kubernetes, `HumanDuration` of k8s.io/apimachinery/pkg/util/duration.
 *
 * @param milliseconds how long ago
 */
export function ageText(milliseconds: number): string {
  let rest = Math.max(0, Math.floor(milliseconds / 1000));
  const [, ...units] = steps.find(([below]) => rest < below) ?? [0];
  const parts = units.map((unit) => {
    const count = Math.floor(rest / sizes[unit]);
    rest %= sizes[unit];
    return { count, text: `${count}${unit}` };
  });
  return parts
    .filter(({ count }, at) => at === 0 || count > 0)
    .map(({ text }) => text)
    .join('');
}

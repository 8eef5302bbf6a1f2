const [second, minute, hour, day, year] = [1, 60, 3600, 86_400, 365 * 86_400];

/** From what is younger than the first, in seconds: the units that its age is told in. */
const steps: [below: number, units: [size: number, letter: string][]][] = [
  [2 * minute, [[second, 's']]],
  [
    10 * minute,
    [
      [minute, 'm'],
      [second, 's'],
    ],
  ],
  [3 * hour, [[minute, 'm']]],
  [
    8 * hour,
    [
      [hour, 'h'],
      [minute, 'm'],
    ],
  ],
  [2 * day, [[hour, 'h']]],
  [
    8 * day,
    [
      [day, 'd'],
      [hour, 'h'],
    ],
  ],
  [2 * year, [[day, 'd']]],
  [
    8 * year,
    [
      [year, 'y'],
      [day, 'd'],
    ],
  ],
  [Number.POSITIVE_INFINITY, [[year, 'y']]],
];

/**
 * An age as `kubectl get` tells it: `45s`, `3m20s`, `12m`, `5h10m`, `3d`. Times to come, as by a clock that is ahead,
 * read `0s`. Source: Kubernetes, `HumanDuration` of k8s.io/apimachinery/pkg/util/duration.
 *
 * @param milliseconds how long ago
 */
export function ageText(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const units = steps.find(([below]) => seconds < below)?.[1] ?? [];
  let rest = seconds;
  const parts = units.map(([size, letter]) => {
    const count = Math.floor(rest / size);
    rest %= size;
    return { count, letter };
  });
  const reported = parts.filter(({ count }, at) => at === 0 || count > 0);
  return reported.map(({ count, letter }) => `${count}${letter}`).join('');
}

import { texts } from './limits.ts';

/** The factor of each suffix. */
const suffixes: Record<string, number> = {
  ...{ '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 },
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 },
};

/** Divisors instead of factors, because 700 / 1000 equals the number 0.7, and 700 * 0.001 does not. */
const fractions: Record<string, number> = { n: 1e9, u: 1e6, m: 1e3 };

/**
 * The number that a Kubernetes quantity stands for (apimachinery `pkg/api/resource`), exact enough to compare
 * quantities; NaN for a text that is no quantity, or is longer than {@link texts.quantity}.
 */
export function quantity(value: string | number): number {
  if (typeof value === 'number') return value;
  if (value.length > texts.quantity) return Number.NaN;
  const match = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:([eE][+-]?\d+)|([a-zA-Z]{0,2}))$/.exec(value);
  if (match === null) return Number.NaN;
  const [, digits = '', exponent, suffix = ''] = match;
  if (exponent !== undefined) return Number(digits + exponent);
  // inherited keys, such as `toString`, are longer than a suffix
  const divisor = fractions[suffix];
  return divisor === undefined ? Number(digits) * (suffixes[suffix] ?? Number.NaN) : Number(digits) / divisor;
}

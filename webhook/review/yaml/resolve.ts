/** The values of a scalar without quotes. */
export type Plain = string | number | bigint | boolean | null;

const words = new Map<string, boolean | null>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map(
    (word) => [word, true] as const,
  ),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map(
    (word) => [word, false] as const,
  ),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
]);

const infinities = /^([-+]?)\.(?:inf|Inf|INF)$/;
const notNumbers = new Set(['.nan', '.NaN', '.NAN']);

/** Forms of Go's `strconv.ParseInt` with base 0: a leading zero means octal. */
const integer = /^([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/;
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;

/** The least and the largest number that Go reads as an integer, as int64 or uint64. */
const [least, largest] = [-(2n ** 63n), 2n ** 64n - 1n];

/**
 * The value of a plain scalar in Kubernetes, by the rules of go-yaml v2, which are neither YAML 1.1 nor 1.2
 * (https://github.com/kubernetes-sigs/yaml, go.yaml.in/yaml/v2 resolve.go). `yes` is true and `0644` is 420 as in 1.1,
 * but `1:30` and dates are strings as in 1.2, whereas 1.1 reads them as numbers and times.
 *
 * @returns integers as bigint, other numbers as number
 */
export function resolvePlain(text: string): Plain {
  // most scalars are words: their first letter excludes every other value
  if (!/^[-+.0-9yYnNtTfFoO~]/.test(text)) return text === '' ? null : text;
  const word = words.get(text);
  if (word !== undefined) return word;
  const infinity = infinities.exec(text);
  if (infinity !== null) return infinity[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (notNumbers.has(text)) return Number.NaN;
  return numberOf(text.replaceAll('_', '')) ?? text;
}

function numberOf(text: string): number | bigint | undefined {
  const match = integer.exec(text);
  if (match !== null) {
    const [, sign, digits = ''] = match;
    const size = BigInt(/^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits.toLowerCase());
    const value = sign === '-' ? -size : size;
    // an unsigned integer has no sign before it
    if (value >= least && value <= (sign === '' ? largest : 2n ** 63n - 1n)) return value;
  }
  if (!float.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

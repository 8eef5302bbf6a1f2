/** Kubernetes quantities in billionths, rounded up (apimachinery `pkg/api/resource/quantity.go`). */

const nano = 1_000_000_000n;

const decimal: Record<string, bigint> = {
  n: 1n,
  u: 1000n,
  m: 1_000_000n,
  '': nano,
  k: nano * 10n ** 3n,
  M: nano * 10n ** 6n,
  G: nano * 10n ** 9n,
  T: nano * 10n ** 12n,
  P: nano * 10n ** 15n,
  E: nano * 10n ** 18n,
};

const binary: Record<string, bigint> = {
  Ki: nano * 2n ** 10n,
  Mi: nano * 2n ** 20n,
  Gi: nano * 2n ** 30n,
  Ti: nano * 2n ** 40n,
  Pi: nano * 2n ** 50n,
  Ei: nano * 2n ** 60n,
};

const form = /^([+-]?)(\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d{1,2})|([numkMGTPE]|[KMGTPE]i)?)$/;

const roundUp = (value: bigint, by: bigint): bigint => value / by + (value % by > 0n ? 1n : 0n);

/** A quantity in billionths, or undefined if the text is not a quantity. As Go decodes it, null is 0. */
export function nanos(value: string | number | null): bigint | undefined {
  const match = form.exec(String(value ?? 0));
  if (match === null) return undefined;
  const [, sign, digits = '', exponent, suffix = ''] = match;
  const [whole = '', fraction = ''] = digits.split('.');
  const scale = exponent === undefined ? (decimal[suffix] ?? binary[suffix] ?? 0n) : nano;
  const power = Number(exponent ?? 0) - fraction.length;
  const units = BigInt(whole + fraction) * scale * 10n ** BigInt(Math.max(power, 0));
  const exact = roundUp(units, 10n ** BigInt(Math.max(-power, 0)));
  return sign === '-' ? -exact : exact;
}

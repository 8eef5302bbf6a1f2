const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds of a duration such as `500ms`, `10s`, `2m` or `1h`, or undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h)$/.exec(text);
  const unit = units[match?.[2] ?? ''];
  return match?.[1] === undefined || unit === undefined ? undefined : Number(match[1]) * unit;
}

import { createHash } from 'node:crypto';
import type { Problem } from './problems.ts';

/**
 * A fingerprint for each problem, by which a service recognizes it in a later report. It has no line, because lines move
 * when something else changes. Equal problems of a file are numbered, because a service shows only one of each
 * fingerprint.
 *
 * @param pathOf the path of a file in the report
 */
export function fingerprintsOf(problems: readonly Problem[], pathOf: (file: string) => string): string[] {
  const seen = new Map<string, number>();
  return problems.map(({ code, subject = '', message, file }) => {
    const identity = JSON.stringify([code, subject, message, pathOf(file)]);
    const number = seen.get(identity) ?? 0;
    seen.set(identity, number + 1);
    return createHash('sha256').update(`${identity} ${number}`).digest('hex').slice(0, 32);
  });
}

import type { ErrorCode } from '../../lib/errors.ts';
import type { Fault, PartStatus } from '../model.ts';
import type { Unknown } from './facts.ts';

/** A part of the installation, with what follows from how it is. */
export interface PartResult {
  status: PartStatus;
  fault?: Fault;
  /** Whether nothing can be said about admission without it, and a missing right is why it is not known. */
  blind?: boolean;
}

type Subject = Pick<PartStatus, 'part' | 'object'>;

/** A part that is as it should be. */
export const inOrder = (subject: Subject, what: string): PartResult => ({
  status: { ...subject, inOrder: true, what },
});

/**
 * A part that is wrong.
 *
 * @param what what is wrong, and what comes of it
 * @param advice what to do
 */
export const wrong = (subject: Subject, code: ErrorCode, what: string, advice: string): PartResult => ({
  status: { ...subject, inOrder: false, what },
  fault: { code, message: `${subject.object}: ${what}. ${advice}` },
});

/**
 * A part about which nothing is known.
 *
 * @param essential whether admission depends on it
 */
export const notKnown = (subject: Subject, { why, forbidden }: Unknown, essential: boolean): PartResult => ({
  status: { ...subject, inOrder: null, what: why },
  blind: essential && forbidden,
});

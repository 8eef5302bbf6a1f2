import { fitText, inBytes } from '../../../validator/shared/fit-text.ts';
import { clean } from '../../lib/clean.ts';
import type { eventReasons } from '../../lib/names.ts';

export interface ObjectReference {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  uid: string;
}

export interface Event {
  regarding: ObjectReference;
  type: 'Normal' | 'Warning';
  reason: (typeof eventReasons)[keyof typeof eventReasons];
  action: string;
  /** Part of the event's name. It is the same on every replica, so that the event is written only once. */
  occasion: string;
  node?: string;
  /** At most {@link longest} bytes. */
  note: string;
}

/** The maximum length of a note, in bytes: Kubernetes' `NoteLengthLimit`. */
export const longest = 1024;

export const podReference = ({
  namespace,
  name,
  uid,
}: Omit<ObjectReference, 'apiVersion' | 'kind'>): ObjectReference => ({
  apiVersion: 'v1',
  kind: 'Pod',
  namespace,
  name,
  uid,
});

/** Joins both parts, and shortens `text` if together they are too long. */
export function fitNote(text: string, more = ''): string {
  return fitText(clean(text), longest - Buffer.byteLength(more), inBytes) + more;
}

import { fitText, inBytes } from '../../../validator/shared/fit-text.ts';
import { clean } from '../../lib/clean.ts';
import type { eventReasons } from '../../lib/names.ts';

/** An object that an event is about. */
export interface ObjectReference {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  uid: string;
}

/** An event to write. */
export interface Event {
  regarding: ObjectReference;
  type: 'Normal' | 'Warning';
  reason: (typeof eventReasons)[keyof typeof eventReasons];
  /** What was done, in a word. */
  action: string;
  /** Part of the event's name: the same for the same event, whichever replica writes it. */
  occasion: string;
  /** A node that it is about as well. */
  node?: string;
  /** At most {@link longest} bytes. */
  note: string;
}

/** Bytes of a note. Source: Kubernetes, `NoteLengthLimit` (pkg/apis/core/validation, events.go). */
export const longest = 1024;

/** A pod as the object of an event. */
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

/** A text that fits an event. If both parts together are too long, the first one is cut at its end. */
export function fitNote(text: string, more = ''): string {
  return fitText(clean(text), longest - Buffer.byteLength(more), inBytes) + more;
}

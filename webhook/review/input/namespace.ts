import { CniGateError } from '../../lib/errors.ts';
import type { Place } from '../model.ts';
import { describe, type Fields, fieldsOf, isObject } from '../values.ts';

/** A Namespace of the input. */
export interface NamespaceObject {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  file: string;
  line: number;
  /** The object in the input. */
  at: Place;
}

/**
 * Name, labels and annotations of a Namespace object. A null label is empty, as for the API server. An annotation that
 * is not a string is ignored.
 *
 * @throws CniGateError CNI_GATE_INPUT_SYNTAX if it has no name, or labels that are not strings
 */
export function namespaceLabels(object: Fields): {
  name: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
} {
  const { name, labels, annotations } = fieldsOf(object.metadata);
  if (typeof name !== 'string' || name === '') throw wrong('a Namespace has no metadata.name');
  const own = labels ?? {};
  if (!isObject(own))
    throw wrong(`Namespace ${name}: expected an object in metadata.labels, got ${describe(own)}`);
  const text = new Map<string, string>();
  for (const [key, given] of Object.entries(own)) {
    const value = given ?? '';
    if (typeof value !== 'string') {
      throw wrong(
        `Namespace ${name}: expected a string in label ${key}, got ${describe(value)}; put it in quotes`,
      );
    }
    text.set(key, value);
  }
  const strings = Object.entries(fieldsOf(annotations)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return { name, labels: Object.fromEntries(text), annotations: Object.fromEntries(strings) };
}

const wrong = (message: string): CniGateError => new CniGateError('CNI_GATE_INPUT_SYNTAX', message);

import { CniGateError } from '../../errors.ts';
import { describe, type Fields, fieldsOf, isObject } from '../values.ts';

/** A Namespace of the input. */
export interface NamespaceObject {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  file: string;
  line: number;
}

/** The annotations of an object that are text; others the API server refuses. */
export function textAnnotations(object: Fields): Record<string, string> {
  const { annotations } = fieldsOf(object.metadata);
  return Object.fromEntries(
    Object.entries(fieldsOf(annotations)).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
}

/**
 * Name and labels of a Namespace object.
 *
 * @throws CniGateError CNI_GATE_INPUT_SYNTAX where it has no name, or labels that are not strings
 */
export function namespaceLabels(object: Fields): { name: string; labels: Record<string, string> } {
  const { name, labels } = fieldsOf(object.metadata);
  if (typeof name !== 'string' || name === '') throw wrong('a Namespace has no metadata.name');
  const own = labels ?? {};
  if (!isObject(own))
    throw wrong(`Namespace ${name}: expected an object in metadata.labels, got ${describe(own)}`);
  const text = new Map<string, string>();
  for (const [key, value] of Object.entries(own)) {
    if (typeof value !== 'string') {
      throw wrong(
        `Namespace ${name}: expected a string in label ${key}, got ${describe(value)}; put it in quotes`,
      );
    }
    text.set(key, value);
  }
  return { name, labels: Object.fromEntries(text) };
}

const wrong = (message: string): CniGateError => new CniGateError('CNI_GATE_INPUT_SYNTAX', message);

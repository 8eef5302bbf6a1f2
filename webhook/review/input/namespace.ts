import { CniGateError } from '../../errors.ts';
import { describe, type Fields, fieldsOf, isObject } from '../values.ts';

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
  for (const [key, given] of Object.entries(own)) {
    // the API server takes null for an empty text
    const value = given ?? '';
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

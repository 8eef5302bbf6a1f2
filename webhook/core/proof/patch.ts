import { isDeepStrictEqual as same } from 'node:util';
import jsonpatch, { type Operation } from 'fast-json-patch';
import type { Container, Volume } from '../facts/pod.ts';

function pointer(...parts: (string | number)[]): string {
  let path = '';
  for (const part of parts) path += `/${jsonpatch.escapePathComponent(String(part))}`;
  return path;
}

type Present<T> = T | null | undefined;

/** Operations that update a map of strings; an undefined value removes the key. */
export function mapOperations(
  path: [string, string],
  current: Present<Record<string, string>>,
  changes: ReadonlyMap<string, string | undefined>,
): Operation[] {
  if (current === null || current === undefined) {
    const set = [...changes].filter(([, value]) => value !== undefined);
    return set.length === 0 ? [] : [{ op: 'add', path: pointer(...path), value: Object.fromEntries(set) }];
  }
  const operations: Operation[] = [];
  for (const [key, value] of changes) {
    const at = pointer(...path, key);
    if (!Object.hasOwn(current, key)) {
      if (value !== undefined) operations.push({ op: 'add', path: at, value });
    } else if (value === undefined) operations.push({ op: 'remove', path: at });
    else if (current[key] !== value) operations.push({ op: 'replace', path: at, value });
  }
  return operations;
}

/**
 * Operations that make a container the first init container.
 *
 * @param at its current index, or -1
 * @param current whether the container there is as required
 */
export function headOperations(
  list: Present<Container[]>,
  at: number,
  current: boolean,
  wanted: Container,
): Operation[] {
  const path = ['spec', 'initContainers'];
  if (list === null || list === undefined) return [{ op: 'add', path: pointer(...path), value: [wanted] }];
  const head = pointer(...path, 0);
  if (at < 0) return [{ op: 'add', path: head, value: wanted }];
  const replace: Operation[] = current ? [] : [{ op: 'replace', path: pointer(...path, at), value: wanted }];
  const move: Operation[] = at === 0 ? [] : [{ op: 'move', from: pointer(...path, at), path: head }];
  return [...replace, ...move];
}

/** The operation that removes an element from a list of the spec, and the list if it was the only one. */
export function removeOperations(name: string, list: Present<unknown[]>, at: number): Operation[] {
  if (at < 0) return [];
  const path = list?.length === 1 ? pointer('spec', name) : pointer('spec', name, at);
  return [{ op: 'remove', path }];
}

/** Operations that add or update a named volume. */
export function volumeOperations(list: Present<Volume[]>, wanted: Volume): Operation[] {
  const at = (list ?? []).findIndex((volume) => volume.name === wanted.name);
  const found = list?.[at];
  if (found === undefined) return appendOperations('volumes', list, [wanted]);
  return same(found, wanted) ? [] : [{ op: 'replace', path: pointer('spec', 'volumes', at), value: wanted }];
}

/** Operations that append elements to a list of the spec. */
export function appendOperations(name: string, list: Present<unknown[]>, items: unknown[]): Operation[] {
  if (items.length === 0) return [];
  if (list === null || list === undefined) return [{ op: 'add', path: pointer('spec', name), value: items }];
  return items.map((value) => ({ op: 'add', path: pointer('spec', name, '-'), value }));
}

import type { Fault } from './explain.ts';
import type { TemplateKind } from './types.ts';

/** Two wildcards are enough for every kind known today; each one multiplies the templates of an object. */
const mostWildcards = 2;

const nameOf = ({ apiVersion, kind }: TemplateKind): string => `${apiVersion.split('/')[0]} ${kind}`;

/** Returns the faults of entries that a schema cannot find. `path` is the path of the list in its document. */
export function templateKindFaults(
  kinds: readonly TemplateKind[],
  path: readonly (string | number)[],
): Fault[] {
  const seen = new Map<string, number>();
  return kinds.flatMap((entry, index) => {
    const key = [entry.apiVersion, entry.kind, entry.path].join(' ');
    const first = seen.get(key);
    seen.set(key, first ?? index);
    const faults: Fault[] = [];
    if (first !== undefined) {
      faults.push({ path: [...path, index], text: `is the same as entry ${first}` });
    }
    const wildcards = entry.path.split('.').filter((part) => part === '*').length;
    if (wildcards > mostWildcards) {
      const text = `has ${wildcards} wildcards; at most ${mostWildcards}`;
      faults.push({ path: [...path, index, 'path'], text });
    }
    return faults;
  });
}

/** The built-in kinds with those of a file, which replace built-in ones of the same kind. */
export function joinKinds(builtIn: readonly TemplateKind[], own: readonly TemplateKind[]): TemplateKind[] {
  const replaced = new Set(own.map(nameOf));
  return [...builtIn.filter((entry) => !replaced.has(nameOf(entry))), ...own];
}

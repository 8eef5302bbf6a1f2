import { few } from '../checks/finding.ts';

type Fields = Record<string, unknown>;

/** What tells apart the objects that have one reason. */
const ofOne: ReadonlySet<string> = new Set(['namespace', 'name', 'node', 'pod', 'since', 'nominated']);

/** Objects of one list of a status, those with equal reasons as one: how many there are, and the greatest age. */
export const grouped = (objects: readonly object[]): object[] =>
  [...Map.groupBy(objects as Fields[], keyOf).values()].map(merged);

/** The reason without the names of the object, which the leader's events have in them. */
function keyOf(object: Fields): string {
  const names = [object.name, object.node].filter((name) => typeof name === 'string');
  const unnamed = (text: string): string => names.reduce((rest, name) => rest.replaceAll(name, ''), text);
  return JSON.stringify(object, (field, value) => {
    if (ofOne.has(field)) return undefined;
    return typeof value === 'string' ? unnamed(value) : value;
  });
}

function merged(same: Fields[]): Fields {
  const [first = {}] = same;
  if (same.length === 1) return first;
  const texts = (field: string): string[] => [
    ...new Set(same.map((one) => one[field]).filter((value) => typeof value === 'string')),
  ];
  const others = Object.keys(first).filter((field) => ['node', 'pod', 'nominated'].includes(field));
  return {
    ...first,
    ...Object.fromEntries(others.map((field) => [field, few(texts(field), 1) || null])),
    ...('name' in first && { name: `${first.name} and ${same.length - 1} more` }),
    // RFC 3339 in UTC sorts by time
    ...('since' in first && { since: texts('since').toSorted()[0] ?? null }),
  };
}

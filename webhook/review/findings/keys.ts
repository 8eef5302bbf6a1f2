import { dotted } from '../../config/parse.ts';
import { certificatesLabel, profileLabel, statusAnnotation } from '../../lib/names.ts';
import { nearest } from '../../lib/spelling.ts';
import { lineOf } from '../input/documents.ts';
import { type Finding, findingOn, nameOf, type Path, type Position, type Workload } from '../model.ts';
import { type Fields, fieldsOf, valueAt } from '../values.ts';

type MapName = 'labels' | 'annotations';

/** The labels and annotations of cni-gate that an object of the input can have. */
const known: Record<MapName, readonly string[]> = {
  labels: [profileLabel, certificatesLabel],
  annotations: [statusAnnotation],
};

/**
 * Findings for labels and annotations of a Namespace that look like cni-gate's but have no effect: unknown or
 * misspelled keys, keys in the wrong map, and a profile label without a value.
 */
export const namespaceKeys = (object: Fields, namespace: string, position: Position): Finding[] =>
  faultsOf(object, [], position).map((fault) => ({ ...fault, subject: `Namespace ${namespace}`, namespace }));

/** As `namespaceKeys`, for a workload and its pod templates. Also finds a profile label that only the workload has. */
export function workloadKeys(object: Fields, made: readonly Workload[]): Finding[] {
  const [first] = made;
  if (first === undefined) return [];
  const { part: _, ...whole } = first;
  // a workload with an empty path is the object itself
  const templates = made.filter(({ podPath }) => podPath.length > 0);
  const places = [
    { at: [], workload: first, subject: nameOf(whole) },
    ...templates.map((workload) => ({ at: workload.podPath, workload, subject: nameOf(workload) })),
  ];
  const keys = places.flatMap(({ at, ...about }) =>
    faultsOf(object, at, about.workload).map((fault) => ({ ...fault, ...about })),
  );
  return [...keys, ...misplacedLabel(object, templates)];
}

/** The finding for a profile label on an object whose pods do not have the label. */
function misplacedLabel(object: Fields, templates: readonly Workload[]): Finding[] {
  const labelAt = (at: Path): unknown => valueAt(object, [...at, 'metadata', 'labels', profileLabel]);
  const [first] = templates;
  if (first === undefined || !labelAt([]) || templates.some(({ podPath }) => labelAt(podPath) !== undefined))
    return [];
  const { document, path, podPath } = first;
  const template = dotted([...podPath, 'metadata', 'labels']);
  const message = `label ${profileLabel} has no effect on the pods: move it to ${template}`;
  const line = lineOf(document, [...path, 'metadata', 'labels', profileLabel]);
  return [findingOn(first, 'CNI_GATE_KEY_UNKNOWN', message, line)];
}

/** The faults in the keys of labels and annotations. @param inObject the path to the parent of their `metadata` */
function faultsOf(object: Fields, inObject: Path, { document, path }: Position): Omit<Finding, 'subject'>[] {
  const metadata = [...inObject, 'metadata'];
  return (['labels', 'annotations'] as const).flatMap((map) =>
    Object.entries(fieldsOf(valueAt(object, [...metadata, map]))).flatMap(([key, value]) => {
      const message = faultOf(key, map, value);
      if (message === undefined) return [];
      const line = lineOf(document, [...path, ...metadata, map, key]);
      return [{ code: 'CNI_GATE_KEY_UNKNOWN' as const, message, file: document.file, line }];
    }),
  );
}

function faultOf(key: string, map: MapName, value: unknown): string | undefined {
  if (known[map].includes(key)) {
    // an empty value often comes from a variable of a template that is not set
    if (key !== profileLabel || !(value === '' || value === null)) return undefined;
    return `label ${key} has no value and no effect: set a profile, or remove it`;
  }
  const other = map === 'labels' ? 'annotations' : 'labels';
  const name = `${map === 'labels' ? 'label' : 'annotation'} ${key}`;
  if (known[other].includes(key)) return `${name} has no effect: move it to metadata.${other}`;
  if (!isLikeOurs(key)) return undefined;
  return `${name} is unknown and has no effect: did you mean ${profileLabel}?`;
}

/** Whether the prefix of a key contains the name of this project, as in `cnigate.io/profile`, or the key is misspelled. */
const isLikeOurs = (key: string): boolean =>
  (key.split('/', 1)[0] ?? '')
    .toLowerCase()
    .replace(/[^a-z]/g, '')
    .includes('cnigate') || nearest(key, Object.values(known).flat()) !== undefined;

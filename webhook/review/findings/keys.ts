import { dotted } from '../../config/explain.ts';
import { certificatesLabel, ownPrefix, profileLabel, statusAnnotation } from '../../lib/names.ts';
import { distance } from '../../lib/nearest.ts';
import type { Finding, Path, Workload } from '../model.ts';
import { nameOf } from '../model.ts';
import { type Fields, fieldsOf, valueAt } from '../values.ts';

const code = 'CNI_GATE_KEY_UNKNOWN';

const maps = ['labels', 'annotations'] as const;
type MapName = (typeof maps)[number];

const words = { labels: 'label', annotations: 'annotation' } as const;

/** Every key of cni-gate that an object can have. */
const known: Record<MapName, readonly string[]> = {
  labels: [profileLabel, certificatesLabel],
  annotations: [statusAnnotation],
};

type Where = Required<Pick<Finding, 'file' | 'line' | 'at'>>;

/** What is wrong with a key. */
interface KeyFault {
  message: string;
  /** The path of the key in the object's metadata. */
  path: Path;
}

/**
 * The labels and annotations of a Namespace that look like cni-gate's and have no effect: unknown keys under
 * `cni-gate.io/`, keys in the wrong map, keys that differ from ours by a letter or two or have another domain, and a
 * profile label without a value.
 *
 * @param namespace its name
 */
export function namespaceKeys(object: Fields, namespace: string, { file, line, at }: Where): Finding[] {
  const subject = `Namespace ${namespace}`;
  return faultsOf(object.metadata).map(({ message, path }) => {
    const place = { ...at, path: [...at.path, 'metadata', ...path] };
    return { code, message, subject, namespace, file, line, at: place };
  });
}

/** The same for a workload and its pod templates; also a profile label that its pods do not get. */
export function workloadKeys(object: Fields, made: readonly Workload[]): Finding[] {
  const [first] = made;
  if (first === undefined) return [];
  const finding = (workload: Workload, subject: string, inObject: Path, message: string): Finding => {
    const { document, line } = workload;
    const at = { document, path: [...workload.path, ...inObject] };
    return { code, message, subject, file: document.file, line, at, workload };
  };
  const subject = nameOf({ ...first, part: undefined });
  const metadataOf = ({ podPath }: Workload): unknown => valueAt(object, [...podPath, 'metadata']);
  // what has no path is the object itself
  const templates = made.filter(({ podPath }) => podPath.length > 0);
  const misplaced = misplacedLabel(object, templates, metadataOf);
  return [
    ...faultsOf(object.metadata).map(({ message, path }) =>
      finding(first, subject, ['metadata', ...path], message),
    ),
    ...templates.flatMap((workload) =>
      faultsOf(metadataOf(workload)).map(({ message, path }) =>
        finding(workload, nameOf(workload), [...workload.podPath, 'metadata', ...path], message),
      ),
    ),
    ...(misplaced === undefined
      ? []
      : [finding(first, subject, ['metadata', 'labels', profileLabel], misplaced)]),
  ];
}

function faultsOf(metadata: unknown): KeyFault[] {
  return maps.flatMap((map) =>
    Object.entries(fieldsOf(fieldsOf(metadata)[map])).flatMap(([key, value]) => {
      const message = faultOf(key, map, value);
      return message === undefined ? [] : [{ message, path: [map, key] }];
    }),
  );
}

function faultOf(key: string, map: MapName, value: unknown): string | undefined {
  if (known[map].includes(key)) {
    // often a variable of a template that is not set
    if (key !== profileLabel || !isEmpty(value)) return undefined;
    return `label ${key} has no value and no effect: set a profile, or remove it`;
  }
  const other = map === 'labels' ? 'annotations' : 'labels';
  const name = `${words[map]} ${key}`;
  if (known[other].includes(key)) {
    return `${name} has no effect: ${key} is ${words[other] === 'label' ? 'a label' : 'an annotation'}, so move it to metadata.${other}`;
  }
  if (!isLikeOurs(key)) return undefined;
  return `${name} is unknown and has no effect: did you mean ${profileLabel}?`;
}

/** The number of characters of the longest key that is compared, which takes quadratic time. */
const longest = 40;

/** Whether a key is under our prefix, misspelled by a letter or two, or the profile label with another domain. */
const isLikeOurs = (key: string): boolean =>
  key.startsWith(ownPrefix) ||
  (/(?:^|[./])cni[-_]?gate(?:[-./]|$)/i.test(key) && /profil/i.test(key)) ||
  (key.length <= longest && Object.values(known).some((keys) => keys.some((one) => distance(key, one) <= 2)));

const isEmpty = (value: unknown): boolean => value === '' || value === null;

/** A profile label on a workload whose templates have none: its pods do not get it. */
function misplacedLabel(
  object: Fields,
  templates: readonly Workload[],
  metadataOf: (workload: Workload) => unknown,
): string | undefined {
  const [template] = templates;
  const carries = (metadata: unknown): boolean =>
    Object.hasOwn(fieldsOf(fieldsOf(metadata).labels), profileLabel);
  const own = fieldsOf(fieldsOf(object.metadata).labels)[profileLabel];
  if (template === undefined || !carries(object.metadata) || isEmpty(own)) return undefined;
  if (templates.some((workload) => carries(metadataOf(workload)))) return undefined;
  const where = dotted([...template.podPath]);
  return `label ${profileLabel} on the ${template.kind} itself has no effect: put it on the pods, in ${where}.metadata.labels`;
}

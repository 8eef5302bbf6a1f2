import { LineCounter, parseAllDocuments } from 'yaml';
import { CniGateError } from './errors.ts';

/**
 * The namespaces in a file of Kubernetes objects (YAML documents, or Lists of them): labels by name. Objects of
 * other kinds are passed by.
 *
 * @param file only for messages
 * @throws CniGateError CNI_GATE_STATE_INVALID
 */
export function parseNamespaces(text: string, file: string): Map<string, Record<string, string>> {
  const lines = new LineCounter();
  const labels = new Map<string, Record<string, string>>();
  for (const document of parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })) {
    const fault = document.errors[0];
    if (fault !== undefined) {
      const { line, col } = lines.linePos(fault.pos[0]);
      throw new CniGateError('CNI_GATE_STATE_INVALID', `${file}:${line}:${col}: not YAML: ${fault.message}`);
    }
    for (const object of objectsOf(document.toJS())) {
      if (object.kind !== 'Namespace') continue;
      const { name, own } = namespaceOf(object, file);
      labels.set(name, own);
    }
  }
  return labels;
}

type KubernetesObject = { kind?: unknown; items?: unknown; metadata?: unknown };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The objects of a document: itself, or the items of a List. */
function objectsOf(value: unknown): KubernetesObject[] {
  if (!isObject(value)) return [];
  return Array.isArray(value.items) ? value.items.filter(isObject) : [value];
}

function namespaceOf(object: KubernetesObject, file: string): { name: string; own: Record<string, string> } {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const { name } = metadata;
  if (typeof name !== 'string' || name === '') {
    throw new CniGateError('CNI_GATE_STATE_INVALID', `${file}: a Namespace has no metadata.name`);
  }
  const own = metadata.labels ?? {};
  if (!isObject(own) || !Object.values(own).every((value) => typeof value === 'string')) {
    throw new CniGateError(
      'CNI_GATE_STATE_INVALID',
      `${file}: the labels of Namespace ${name} should be strings`,
    );
  }
  return { name, own: own as Record<string, string> };
}

import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import type { Flags } from './support.ts';

type Fields = Record<string, unknown>;

/** A case of a table: manifests in short forms, and the results that `review` must report. */
export interface TableCase {
  title: string;
  in: (string | Fields)[];
  profile?: string;
  config?: object;
  /** The code and the subject of each finding. */
  finds?: string[];
  /** A text that the message of the first finding must contain. */
  says?: string;
  /** The outcome, reason, kind and name of each workload. */
  reported?: string[];
}

/** The tables of cases in a YAML file of this folder. */
export const tables = (file: string) => parse(readFileSync(new URL(file, import.meta.url), 'utf8'));

/** The flags for the profile and the configuration of a case. */
export const flagsOf = ({ profile, config }: Pick<TableCase, 'profile' | 'config'>): Flags => ({
  ...(profile !== undefined && { profile }),
  ...(config !== undefined && {
    config: stringify({ apiVersion: 'cni-gate.io/v1alpha1', kind: 'Configuration', ...config }),
  }),
});

/**
 * Expands short forms to YAML documents. A text is `Namespace NAME [PROFILE]`, `Pod NAME [NAMESPACE]`, or `Host NAME
 * [NAMESPACE]` for a pod on the host network. An object with `namespace` stands for a Namespace, an object with
 * `apiVersion` is used as it is, and any other object stands for a workload.
 */
export const manifests = (forms: TableCase['in']): string =>
  forms.map((form) => stringify(typeof form === 'string' ? ofWords(form) : ofFields(form))).join('---\n');

const pod = { containers: [{ name: 'app', image: 'app:1' }] };
const values: Record<string, unknown> = {
  $pod: pod,
  $template: { metadata: { labels: { app: 'a' } }, spec: pod },
  $job: { template: { spec: { ...pod, restartPolicy: 'Never' } } },
};

function ofWords(words: string): object {
  const [kind, name = '', other] = words.split(' ');
  if (kind === 'Namespace') return namespaceObject({ namespace: name, ...(other && { profile: other }) });
  const spec = kind === 'Host' ? { ...pod, hostNetwork: true } : pod;
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: other ?? 'shop' }, spec };
}

function ofFields(form: Fields): object {
  if ('namespace' in form) return namespaceObject(form);
  if (!('apiVersion' in form)) return workload(form);
  const text = JSON.stringify({ metadata: { name: 'a', namespace: 'shop' }, ...form });
  return JSON.parse(text.replaceAll(/"(\$\w+)"/g, (_, name) => JSON.stringify(values[name])));
}

const namespaceObject = ({ namespace, profile, labels = {}, ...others }: Fields): object => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name: namespace,
    labels: { ...(labels as object), ...(profile !== undefined && { 'cni-gate.io/profile': profile }) },
    ...others,
  },
});

/** A workload, by default the Deployment `web`. `labels` and `annotations` are for its pods, `own` is its metadata. */
function workload(form: Fields): object {
  const { kind = 'Deployment', name = 'web', namespace_: namespace = 'shop' } = form;
  const { own = {}, labels, annotations, containers = [], pod: more = {}, job = {} } = form;
  const isJob = kind === 'Job' || kind === 'CronJob';
  const spec = {
    ...(isJob && { restartPolicy: 'Never' }),
    ...(more as object),
    containers: [...pod.containers, ...(containers as object[])],
  };
  const ofPod = {
    ...(labels !== undefined && { labels }),
    ...(annotations !== undefined && { annotations }),
  };
  const metadata = { name, namespace, ...(own as object) };
  if (kind === 'Pod') return { apiVersion: 'v1', kind, metadata: { ...metadata, ...ofPod }, spec };
  const ofJob = { ...(job as object), template: { metadata: ofPod, spec } };
  return {
    apiVersion: isJob ? 'batch/v1' : 'apps/v1',
    kind,
    metadata,
    spec: kind === 'CronJob' ? { schedule: '@daily', jobTemplate: { spec: ofJob } } : ofJob,
  };
}

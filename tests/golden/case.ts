import { readFileSync } from 'node:fs';
import type { Operation } from 'fast-json-patch';
import { type Document, parseDocument } from 'yaml';
import type { MutateContext } from '../../webhook/admission/mutate.ts';
import { FixedNamespaces } from '../../webhook/core/facts/namespace.ts';
import type { Pod, PodSpec } from '../../webhook/core/facts/pod.ts';
import { profileLabel } from '../../webhook/lib/names.ts';
import { version } from '../../webhook/lib/version.ts';
import { policyOf } from '../support/configurations.ts';
import { recorded } from '../support/reviews.ts';

/** The answer that a case expects from `/mutate`. */
export interface Expectation {
  outcome: string;
  /** If absent, the expected reason is `profile-applies`. */
  reason?: string;
  /** The profiles that apply to the pod. Outcome, reason and profiles are also the audit annotations of the answer. */
  profiles?: string;
  warnings?: string[];
  message?: string;
  /** The JSON Patch, if any: each operation is `OP PATH` with its value; injected values are abbreviated. */
  patch?: unknown;
}

/** A later call for the same pod: the changes that others made since the last answer, and the expected answer. */
export interface LaterCall {
  others?: Operation[];
  expect?: Expectation | null;
}

/** The content of a file in `cases/`. */
export interface GoldenCase {
  title: string;
  /** A configuration file without apiVersion and kind. */
  config?: object;
  /** `profile` is the value of the profile label; `known: false` means that cni-gate does not know the namespace. */
  namespace?: {
    name?: string;
    profile?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    known?: boolean;
  };
  ownNamespace?: string;
  /** Fields of the AdmissionReview's request that differ from the request to create a pod. */
  request?: Record<string, unknown>;
  /** Fields that differ from those of {@link ordinaryPod}. */
  pod?: { metadata?: Pod['metadata']; spec?: Partial<PodSpec> };
  /** The name of a recorded review, instead of a pod. */
  review?: string;
  expect?: Expectation | null;
  calls?: LaterCall[];
}

const fields = new Set([
  ...['title', 'config', 'namespace', 'ownNamespace', 'request', 'pod', 'review', 'expect', 'calls'],
]);

/** Reads a case. `<version>` in the file stands for the version of cni-gate, so that a release changes no case. */
export function readCase(file: URL): { golden: GoldenCase; document: Document } {
  const document = parseDocument(readFileSync(file, 'utf8'));
  const [fault] = document.errors;
  if (fault !== undefined) throw fault;
  const golden = document.toJS() as GoldenCase;
  const unknown = Object.keys(golden).filter((key) => !fields.has(key));
  if (unknown.length > 0) throw new Error(`unknown field: ${unknown.join(', ')}`);
  return { golden, document };
}

const ordinaryPod: Pod = {
  metadata: { name: 'web' },
  spec: { containers: [{ name: 'app', image: 'registry.example/app:1' }] },
};

/** The pod of a case, and the other fields of its first request. */
export function beginningOf(golden: GoldenCase): { pod: Pod; request: Record<string, unknown> } {
  const { object, ...request } =
    golden.review === undefined ? { object: ordinaryPod } : recorded(golden.review).request;
  const pod = { ...object, ...golden.pod, spec: { ...object.spec, ...golden.pod?.spec } };
  const withVersion: Pod = JSON.parse(JSON.stringify(pod).replaceAll('<version>', version));
  return { pod: withVersion, request: { ...request, namespace: nameOf(golden), ...golden.request } };
}

const nameOf = (golden: GoldenCase): string => golden.namespace?.name ?? 'shop';

/** The policy and the namespaces with which a case calls `mutate()`. */
export function contextOf(golden: GoldenCase): MutateContext {
  const { labels, annotations = {}, profile, known } = golden.namespace ?? {};
  const all = { 'kubernetes.io/metadata.name': nameOf(golden), ...labels };
  const own = profile === undefined ? all : { ...all, [profileLabel]: profile };
  return {
    policy: policyOf(golden.config),
    namespaces: new FixedNamespaces(
      new Map(known === false ? [] : [[nameOf(golden), own]]),
      undefined,
      new Map([[nameOf(golden), annotations]]),
    ),
    ownNamespace: golden.ownNamespace,
  };
}

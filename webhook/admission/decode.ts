import { Ajv } from 'ajv';
import { CniGateError } from '../errors.ts';
import type { Pod } from './pod.ts';
import { type PodRequest, reviewApiVersion, reviewKind } from './review.ts';

const text = { type: 'string' };
const optionalObject = { type: 'object', nullable: true };
const stringMap = { ...optionalObject, additionalProperties: text };
const named = { type: 'object', required: ['name'], properties: { name: text } };
const user = { type: 'integer', nullable: true };
const quantities = { ...optionalObject, additionalProperties: { type: ['string', 'number'] } };
const resources = { ...optionalObject, properties: { requests: quantities, limits: quantities } };
const securityContext = { ...optionalObject, properties: { runAsUser: user, runAsGroup: user } };
const list = (items: object) => ({ type: 'array', nullable: true, items });

const container = {
  ...named,
  properties: {
    ...named.properties,
    env: list(named),
    volumeMounts: list(named),
    resources,
    securityContext,
  },
};

/** Only what admission reads is looked at: the rest of the pod is the API server's to judge. */
const podSchema = {
  type: 'object',
  required: ['metadata', 'spec'],
  properties: {
    metadata: {
      type: 'object',
      properties: {
        name: text,
        generateName: text,
        labels: stringMap,
        annotations: stringMap,
        ownerReferences: list({ ...named, required: ['name', 'kind', 'apiVersion'] }),
      },
    },
    spec: {
      type: 'object',
      required: ['containers'],
      properties: {
        // null where there are none: the API server says so after the webhooks, in words that are better known
        containers: list(container),
        initContainers: list(container),
        volumes: list(named),
        imagePullSecrets: list({ type: 'object' }),
        nodeSelector: stringMap,
        hostNetwork: { type: 'boolean', nullable: true },
        os: optionalObject,
        resources,
        securityContext,
      },
    },
  },
};

const ajv = new Ajv({ allowUnionTypes: true });
const isPod = ajv.compile<Pod>(podSchema);

/** The parts of the envelope that decide what it is; each is looked at by name below, for a text that helps. */
interface Envelope {
  apiVersion?: unknown;
  kind?: unknown;
  request?: unknown;
}

const invalid = (message: string): CniGateError => new CniGateError('CNI_GATE_REVIEW_INVALID', message);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const stringOr = (value: unknown, otherwise: string): string =>
  typeof value === 'string' ? value : otherwise;

/**
 * The request in the body of an admission call.
 *
 * @throws CniGateError CNI_GATE_REVIEW_INVALID, or CNI_GATE_REVIEW_KIND where it is about something else than a pod
 */
export function decodePodRequest(body: unknown): PodRequest {
  if (!isObject(body)) throw invalid(`expected an AdmissionReview, got ${describe(body)}`);
  const envelope: Envelope = body;
  if (envelope.apiVersion !== reviewApiVersion || envelope.kind !== reviewKind) {
    throw invalid(
      `expected ${reviewKind} of ${reviewApiVersion}, got kind ${describe(envelope.kind)} of ${describe(envelope.apiVersion)}`,
    );
  }
  const { request } = envelope;
  if (!isObject(request)) throw invalid(`the AdmissionReview has no request, but ${describe(request)}`);
  if (typeof request.uid !== 'string' || request.uid === '') throw invalid('request.uid is missing');
  const kind = isObject(request.kind) ? request.kind : {};
  if (kind.kind !== 'Pod' || (kind.group ?? '') !== '' || kind.version !== 'v1') {
    throw new CniGateError(
      'CNI_GATE_REVIEW_KIND',
      `expected request.kind Pod of v1, got ${describeKind(request.kind)}: look at the rules of the webhook configuration`,
    );
  }
  const pod: unknown = request.object;
  if (!isObject(pod)) throw invalid(`request.object should be the pod, is ${describe(pod)}`);
  if (!isPod(pod)) {
    const fault = isPod.errors?.[0];
    throw invalid(`request.object${fault?.instancePath ?? ''} ${fault?.message ?? 'is not a pod'}`);
  }
  const { name, generateName, namespace } = pod.metadata;
  return {
    uid: request.uid,
    namespace: stringOr(request.namespace, '') || stringOr(namespace, ''),
    name: stringOr(request.name, '') || name || `${generateName ?? ''}*`,
    operation: stringOr(request.operation, ''),
    subResource: stringOr(request.subResource, ''),
    dryRun: request.dryRun === true,
    pod,
  };
}

/** A group, version and kind in the words of manifests, such as `Binding of v1`. */
function describeKind(value: unknown): string {
  if (!isObject(value)) return describe(value);
  const { group, version, kind } = value;
  return `${describe(kind)} of ${[group, version].filter((part) => part !== '').join('/')}`;
}

/** A short name of any JSON value for an error text, never its whole content. */
function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  const shown = JSON.stringify(isObject(value) ? Object.keys(value).slice(0, 5) : value);
  return isObject(value) ? `an object with keys ${shown}` : shown.slice(0, 60);
}

import { Ajv } from 'ajv';
import type { Pod } from './pod.ts';

const text = { type: 'string' };
const optionalText = { type: 'string', nullable: true };
const optionalObject = { type: 'object', nullable: true };
const stringMap = { ...optionalObject, additionalProperties: optionalText };
const named = { type: 'object', required: ['name'], properties: { name: text } };
const user = { type: 'integer', nullable: true };
const quantities = {
  ...optionalObject,
  additionalProperties: { type: ['string', 'number'], nullable: true },
};
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

/** Covers only the fields that admission reads. The API server validates the rest of the pod. */
const podSchema = {
  type: 'object',
  required: ['metadata', 'spec'],
  properties: {
    metadata: {
      type: 'object',
      properties: {
        name: optionalText,
        generateName: optionalText,
        namespace: optionalText,
        labels: stringMap,
        annotations: stringMap,
        ownerReferences: list({ ...named, required: ['name', 'kind', 'apiVersion'] }),
      },
    },
    spec: {
      type: 'object',
      required: ['containers'],
      properties: {
        // null means no containers: the API server itself rejects such a pod, after the webhooks
        containers: list(container),
        initContainers: list(container),
        volumes: list(named),
        imagePullSecrets: list(optionalObject),
        nodeSelector: stringMap,
        hostNetwork: { type: 'boolean', nullable: true },
        os: optionalObject,
        resources,
        securityContext,
      },
    },
  },
};

// keeps the source of the compiled schema, which replaces this file in the bundle: release/compiled-schemas.ts
const ajv = new Ajv({ allowUnionTypes: true, code: { source: true } });
/** Whether a value is a pod, by the fields that admission reads. If it is not, `errors` has the reasons. */
export const isPod = ajv.compile<Pod>(podSchema);

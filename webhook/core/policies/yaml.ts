import { stringify } from 'yaml';
import type { Policy } from '../profiles/policy.ts';
import { leftByThePolicy } from './conditions.ts';
import { policyObjects } from './policy.ts';

const yaml = (value: object): string => stringify(value, { lineWidth: 120, version: '1.1' });

/** The mutating policy for a configuration and the policy's binding, as YAML in a stable order. */
export const policiesYaml = (policy: Policy): string => policyObjects(policy).map(yaml).join('---\n');

/**
 * The JSON patch for the mutating webhook beside a mutating policy: few pods need the webhook then, and the policy over
 * the final pod refuses those if the webhook does not answer.
 */
export const webhookPatch = (): string =>
  yaml([
    { op: 'replace', path: '/webhooks/0/failurePolicy', value: 'Ignore' },
    { op: 'replace', path: '/webhooks/0/timeoutSeconds', value: 2 },
    { op: 'add', path: '/webhooks/0/matchConditions/-', value: leftByThePolicy },
  ]);

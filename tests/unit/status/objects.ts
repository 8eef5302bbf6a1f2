import type { PodEvidence } from '../../../webhook/evidence/facts.ts';
import { installedPolicies, installedWebhooks } from '../../../webhook/lib/names.ts';
import type { Hold, Registered, RegisteredWebhook } from '../../../webhook/status/facts.ts';
import type { InstallationFacts, PolicyPair } from '../../../webhook/status/installation/facts.ts';
import { expectedPolicies } from '../../../webhook/status/installation/policy-rules.ts';
import { expectedWebhooks } from '../../../webhook/status/installation/webhook-rules.ts';
import type { ApiStatusPod } from '../../../webhook/status/pick-pod.ts';
import type { PendingPod } from '../../../webhook/steer/pending-pod.ts';
import { now } from '../readiness/objects.ts';
import { waiting } from '../steer/support.ts';

/** The client of a cluster. */
export const client = { context: 'production', server: 'https://10.0.0.1:6443' };

/** A pod that runs with the proof that was promised to it. */
export function provedPod(name: string, more: Partial<ApiStatusPod> = {}): ApiStatusPod {
  const { metadata, spec, status } = more;
  return {
    metadata: {
      uid: `${name}-uid`,
      resourceVersion: '1',
      creationTimestamp: '2026-11-21T11:00:00Z',
      namespace: 'shop',
      name,
      annotations: { 'cni-gate.io/status': statusOf(['mesh'], ['redirect']) },
      ...metadata,
    },
    spec: {
      nodeName: 'n1',
      initContainers: [{ name: 'cni-gate-validator' }, { name: 'migrate' }],
      containers: [{ name: 'web' }],
      ...spec,
    },
    status: {
      phase: 'Running',
      initContainerStatuses: [{ name: 'cni-gate-validator', state: { terminated: { exitCode: 0 } } }],
      containerStatuses: [{ name: 'web', state: { running: {} } }],
      ...status,
    },
  };
}

/** The text of a status annotation. */
export const statusOf = (profiles: string[], checks: string[], more: object = {}): string =>
  JSON.stringify({ version: '0.1.0', profile: 'mesh', chosenBy: 'namespace', profiles, checks, ...more });

/** Metadata that differs from that of {@link provedPod}. */
export const meta = (more: object): ApiStatusPod['metadata'] => more as ApiStatusPod['metadata'];

/** Webhooks of which the API server has all that it needs to call them. */
export const called = (names: readonly (keyof typeof expectedWebhooks)[]): RegisteredWebhook[] =>
  names.map((name) => ({ name, trusted: true, rules: expectedWebhooks[name] }));

/** All that an installation registers. */
export const allRegistered: Registered = {
  mutating: called(installedWebhooks.mutating),
  validating: called(installedWebhooks.validating),
};

const found = <T>(value: T): { found: T } => ({ found: value });

/** The policies as the manifests bring them. */
const boundPolicies: PolicyPair[] = installedPolicies.map((name) => ({
  name,
  policy: found({ ...expectedPolicies[name], hasParams: false }),
  binding: found({ policyName: name, actions: ['Deny'], narrowed: false }),
}));

/** An installation in which all is in order at {@link now}. */
export const wholeInstallation: InstallationFacts = {
  namespace: 'cni-gate',
  services: [
    {
      namespace: 'cni-gate',
      name: 'cni-gate',
      port: 443,
      service: found({ ports: [443], externalName: undefined }),
      endpoints: found({ all: 2, withPort: 2, ready: 2 }),
    },
  ],
  urls: [],
  deployment: found({ desired: 2, ready: 2, updated: 2, stuck: undefined, version: '0.1.0' }),
  certificate: found({ secret: 'cni-gate/cni-gate-tls', webhooks: [] }),
  policies: boundPolicies,
  lease: found({ holder: 'cni-gate-5d9f_1', renewed: now - 1000, duration: 15_000 }),
  failurePolicy: 'Fail',
};

/** A pod that is held, and what of it says where it could go. */
export const holdOf = (name: string, hold: Omit<Hold, 'pod'>, more: Partial<PendingPod> = {}): Hold => ({
  ...hold,
  pod: waiting(name, {
    heldSince: hold.since,
    refused: hold.refused,
    nominated: hold.nominated,
    ...more,
  }),
});

/** What is known of a pod on node n1 that passed. */
export const evidenceOf = (name: string, more: Partial<PodEvidence> = {}): PodEvidence => ({
  uid: `${name}-uid`,
  namespace: 'shop',
  name,
  version: '1',
  node: 'n1',
  profiles: ['mesh'],
  failedProfiles: [],
  owner: `${name}-uid`,
  createdAt: now - 3_600_000,
  leaving: false,
  ended: false,
  verdict: 'passed',
  at: now - 3_500_000,
  startedAt: now - 3_501_000,
  waitingFor: 'a sandbox',
  hasSandbox: true,
  addresses: [],
  ...more,
});

import type { PodEvidence } from '../../../../webhook/core/facts/pod-evidence.ts';

export const now = Date.parse('2026-11-22T12:00:00Z');

/** A pod that passed, on a node of its own. The later its name is in the alphabet, the younger the pod is. */
export const evidencePod = (name: string, more: Partial<PodEvidence> = {}): PodEvidence => ({
  uid: `${name}-uid`,
  namespace: 'shop',
  name,
  version: '1',
  node: `node-of-${name}`,
  profiles: ['multus'],
  failedProfiles: [],
  owner: `${name}-uid`,
  createdAt: now - 600_000 + name.charCodeAt(0),
  leaving: false,
  ended: false,
  verdict: 'passed',
  at: now - 590_000,
  startedAt: now - 591_000,
  waitingFor: '',
  hasSandbox: true,
  addresses: [],
  ...more,
});

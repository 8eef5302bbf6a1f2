import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Registry } from 'prom-client';
import type { Event } from '../../../../webhook/cluster/events/event.ts';
import type { Leadership } from '../../../../webhook/cluster/lease/leadership.ts';
import type { Configuration } from '../../../../webhook/config/types.ts';
import type { PendingPod } from '../../../../webhook/leader/nominate/pending-pod.ts';
import { steeringController } from '../../../../webhook/leader/start.ts';
import { noEvidence } from '../../../../webhook/nodes/evidence/evidence.ts';
import type { Readiness } from '../../../../webhook/nodes/readiness/readiness.ts';
import { policyOf } from '../../../support/configurations.ts';
import { type Asked, json, startFakeApi } from '../../../support/fake-api-server.ts';
import { clusterWith } from '../../admission/gate/support.ts';

const daemonSets = [{ namespace: 'net', name: 'agent' }];
const profiles = [{ name: 'mesh', when: {}, daemonSets, annotations: {}, proof: { checks: [] } }];

export interface Scene {
  pods: PendingPod[];
  steer?: Configuration['steer'];
  leader?: Leadership | undefined;
  version?: { major: string; minor: string; gitVersion: string };
  /** By default n1 is not ready, and n2 is. */
  readiness?: Readiness;
  /** Answers anything but the version; by default nodes are empty, and what is written is taken. */
  answer?: (asked: Asked, response: ServerResponse) => boolean;
}

export function switchedLead(leads = true) {
  const changed = new Set<() => void>();
  const leader = {
    leads,
    subscribe: (call: () => void) => {
      changed.add(call);
      return () => changed.delete(call);
    },
  };
  const lead = (now: boolean): void => {
    leader.leads = now;
    for (const call of changed) call();
  };
  return { leader, lead };
}

export async function steering(t: TestContext, scene: Scene) {
  const { version = { major: '1', minor: '36', gitVersion: 'v1.36.3' } } = scene;
  const api = await startFakeApi(t, (asked, response) => {
    if (asked.path === '/version') json(response, 200, version);
    else if (!scene.answer?.(asked, response))
      json(response, 200, asked.method === 'GET' ? { items: [] } : { metadata: { resourceVersion: '11' } });
  });
  const registry = new Registry();
  const lines: { level: string; text: string }[] = [];
  const reported =
    (level: string) =>
    (_: object, text: string): void =>
      void lines.push({ level, text });
  const events: Event[] = [];
  const subscribers = new Set<(pods: readonly PendingPod[]) => void>();
  const ended = new AbortController();
  const running = steeringController(
    api.client,
    {
      view: {
        readiness: scene.readiness ?? clusterWith({ n1: { ready: false }, n2: {} }),
        evidence: noEvidence,
        pending: () => scene.pods,
        unsynced: () => undefined,
        subscribe: (changed) => {
          subscribers.add(changed);
          return () => subscribers.delete(changed);
        },
      },
      policy: () => policyOf({ profiles, steer: scene.steer ?? { mode: 'nominate' } }),
      leader: 'leader' in scene ? scene.leader : switchedLead().leader,
      events: { capacity: 200, add: (event) => events.push(event) },
      log: { info: reported('info'), warn: reported('warn'), error: reported('error') },
    },
    registry,
  ).run(ended.signal);
  t.after(() => {
    ended.abort();
    return running;
  });
  const values = async (metric: string) => (await registry.getSingleMetric(metric)?.get())?.values ?? [];
  const patches = (): Asked[] => api.asked.filter(({ method }) => method === 'PATCH');
  return {
    api,
    lines,
    events,
    patches,
    nominated: () =>
      patches().map(({ path, body }) => [path.split('/').at(-2), JSON.parse(body).status.nominatedNodeName]),
    changed: (...pods: PendingPod[]) => {
      for (const one of subscribers) one(pods);
    },
    state: async () => (await values('cni_gate_steer_state')).find(({ value }) => value === 1)?.labels.state,
    counted: async (metric: string, labels: object): Promise<number> =>
      (await values(metric)).find((one) => isDeepStrictEqual(one.labels, labels))?.value ?? 0,
  };
}

export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(5);
}

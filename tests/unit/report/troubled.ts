import type { StatusFacts } from '../../../webhook/report/observe/observe.ts';
import type { PodFacts } from '../../../webhook/report/observe/pods.ts';
import { clusterWith } from '../admission/gate/support.ts';
import { now } from '../core/networks/objects.ts';
import {
  allRegistered,
  deployment,
  evidenceOf,
  found,
  holdOf,
  statusFacts,
  wholeInstallation,
} from './objects.ts';

const minuteAgo = now - 60_000;

/** An event about a pod. */
export const eventOf = (reason: string, note: string, at = now) => ({ reason, note, at, stopped: false });

const pod = (name: string, proof: PodFacts['proof'], more: Partial<PodFacts> = {}): PodFacts => ({
  namespace: 'shop',
  name,
  proof,
  ...more,
});

const failedPod = (name: string): PodFacts => {
  const times = { at: minuteAgo, startedAt: minuteAgo - 10_000 };
  const evidence = evidenceOf(name, { verdict: 'failed', failedProfiles: ['mesh'], ...times });
  const seen = 'mesh redirect IPv4 not-redirected: saw no answer from 192.0.2.2:1404';
  return pod(name, 'failed', { node: 'n1', evidence, seen });
};

const twin = (name: string): PodFacts => {
  const evidence = evidenceOf(name, { addresses: ['fd00::17', 'shop/storage/10.9.0.7'] });
  return pod(name, 'passed', { node: 'n1', evidence });
};

const late = evidenceOf('late-0', { verdict: 'waiting', at: minuteAgo, hasSandbox: false });
const why = 'DaemonSet net/agent is rebooted there (pod agent-n3): no container of its pod was started';
const notes = {
  late: 'Failed to create pod sandbox: plugin type="multus" failed (add): error getting IPAM addresses: range is full',
  bad: 'the proof of the network of pod bad-0 failed on node n1, and the pod is not recreated: its node is not ready for it, and no other node is',
};

/** A cluster with an example of everything that can be wrong. */
export const troubled = (): StatusFacts =>
  statusFacts({
    registered: { ...allRegistered, validating: [] },
    installation: { ...wholeInstallation, deployment: found(deployment(1)) },
    readiness: clusterWith({
      n1: {},
      n3: { ready: false, waiting: 'CrashLoopBackOff' },
      n2: undefined,
      n4: { ready: false, createdAt: new Date(minuteAgo).toISOString() },
    }),
    namespaces: found([
      { name: 'shop', profile: 'mesh.lost' },
      { name: 'typo', profile: 'mehs' },
      { name: 'plain', profile: undefined },
    ]),
    pods: [
      pod('web-2', 'waiting', {
        held: holdOf('web-2', { refused: 'n3', since: minuteAgo, nominated: 'n1', why }),
      }),
      pod('web-1', 'waiting', {
        held: holdOf('web-1', { refused: 'n2', since: undefined, nominated: '', why: '' }),
      }),
      pod('web-0', 'passed', { node: 'n1' }),
      pod('old', 'withoutProof', { node: 'n1', withoutProof: 'not-reviewed' }),
      pod('odd', 'withoutProof', { node: 'n3', withoutProof: 'not-first' }),
      ...['bad-0', 'bad-1'].map(failedPod),
      pod('late-0', 'waiting', { node: 'n1', evidence: late }),
      ...['one', 'two'].map(twin),
    ],
    events: new Map([
      ['late-0-uid', eventOf('FailedCreatePodSandBox', notes.late)],
      ['bad-0-uid', eventOf('NotRecreated', notes.bad)],
    ]),
  });

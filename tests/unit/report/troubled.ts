import type { Facts } from '../../../webhook/report/observe/observe.ts';
import type { PodFacts } from '../../../webhook/report/observe/pods.ts';
import { clusterWith } from '../admission/gate/support.ts';
import { now } from '../core/networks/objects.ts';
import { deployment, factsOf, forbidden, found, podOf, provedPod } from './objects.ts';

const minuteAgo = now - 60_000;

const failedPod = (name: string): PodFacts => {
  const times = { at: minuteAgo, startedAt: minuteAgo - 10_000 };
  const seen = 'mesh redirect IPv4 not-redirected: saw no answer from 192.0.2.2:1404';
  return provedPod(name, 'failed', { verdict: 'failed', failedProfiles: ['mesh'], ...times }, { seen });
};

const why = 'DaemonSet net/agent is rebooted there (pod agent-n3): no container of its pod was started';
const held = (name: string, refused: string, nominated: string) =>
  podOf(name, 'waiting', { held: { refused, since: minuteAgo, nominated, why } });

/** The facts of a cluster with an example of every kind of problem. */
export const troubled = (more: Parameters<typeof factsOf>[0] = {}): Facts =>
  factsOf({
    installation: {
      validating: found([]),
      deployment: found(deployment(2, 1)),
      secret: forbidden('Secret cni-gate/cni-gate-tls'),
    },
    readiness: found(
      clusterWith({
        n1: {},
        n3: { ready: false, waiting: 'CrashLoopBackOff' },
        n2: undefined,
        n4: { ready: false, createdAt: new Date(minuteAgo).toISOString() },
      }),
    ),
    namespaces: found([
      { name: 'shop', profile: 'mesh.lost' },
      { name: 'typo', profile: 'mehs' },
      { name: 'typo-2', profile: 'mehs' },
    ]),
    pods: found([
      failedPod('bad-0'),
      failedPod('bad-1'),
      provedPod('late-0', 'waiting', { verdict: 'waiting', at: minuteAgo, hasSandbox: false }),
      podOf('odd', 'without-proof', { node: 'n3', withoutProof: 'not-passed' }),
      podOf('old', 'without-proof', { withoutProof: 'not-reviewed' }),
      provedPod('one', 'passed', { addresses: ['fd00::17', 'shop/storage/10.9.0.7'], wayNotShown: true }),
      provedPod('two', 'passed', { addresses: ['fd00::17', 'shop/storage/10.9.0.7'] }),
      podOf('web-0', 'passed', { warns: true }),
      held('web-1', 'n2', 'n1'),
      held('web-2', 'n3', ''),
      held('web-3', 'n3', ''),
    ]),
    ...more,
  });

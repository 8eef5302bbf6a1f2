import assert from 'node:assert/strict';
import { Agent } from 'node:https';
import { test } from 'node:test';
import { lookups } from '../../webhook/lib/limits.ts';
import type { HostileCluster } from '../support/hostile-cluster.ts';
import { recorded } from '../support/reviews.ts';
import { Answers, underAttack } from './harness/attack.ts';
import { hammer, send } from './harness/connections.ts';

function bindingOf(namespace: string, name: string): string {
  const review = recorded('binding-deployment-web');
  Object.assign(review.request, { namespace, name });
  Object.assign(review.request.object, {
    metadata: { namespace, name },
    target: { kind: 'Node', name: 'n2' },
  });
  return JSON.stringify(review);
}

/** The requests for single objects, and the lists that do not belong to a watch. */
const questions = ({ asked }: HostileCluster) =>
  asked.filter(({ method, path, query }) => {
    if (method !== 'GET' || query.watch !== undefined || path === '/version') return false;
    return !/\/(pods|nodes|namespaces|daemonsets|leases)$/.test(path) || query.limit === undefined;
  });

test('thousands of invented names', async (t) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 50 });
  const answers = new Answers();
  const begun = performance.now();
  const { cluster } = await underAttack(t, async ({ server, signal }) => {
    await hammer(50, signal, async (index, round) => {
      const namespace = round % 2 === 0 ? 'shop' : `ns-${index}-${round}`;
      const answer = await send(
        server,
        '/gate',
        bindingOf(namespace, `pod-${index}-${round}`),
        signal,
        agent,
      );
      if (!signal.aborted) answers.add(answer);
    });
  });
  agent.destroy();
  const seconds = (performance.now() - begun) / 1000;
  answers.onlyOf(t, [200]);
  const asked = questions(cluster).length;
  const max = lookups.burst + lookups.perSecond * seconds;
  t.diagnostic(`${answers.count(200)} calls, ${asked} requests to the API server, at most ${max.toFixed(0)}`);
  // each call names a different pod that does not exist: without the limit, each would cause a request
  assert.ok(answers.count(200) > max, 'the attack does not exceed the limit');
  assert.ok(asked <= max, 'the limit does not hold');
});

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { serverLimits } from '../../../webhook/lib/limits.ts';
import type { Job } from '../../../webhook/server/body-worker.ts';
import { largeBodies } from '../../../webhook/server/large-bodies.ts';
import type { Decided } from '../../../webhook/server/read-review.ts';
import { policyOf } from '../../support/configurations.ts';
import { recorded } from '../../support/reviews.ts';

/** Reads bodies as the server does. @returns the reader, and the limits that stopped bodies */
function bodies(t: TestContext) {
  const stopped: string[] = [];
  const large = largeBodies((limit) => stopped.push(limit));
  t.after(() => large.close());
  return { large, stopped };
}

const facts = { labels: { 'cni-gate.io/profile': 'cilium' } };

const job = (text: string, more: Partial<Job> = {}): Job => ({
  webhook: 'mutate',
  text: Buffer.from(text),
  configuration: policyOf().configuration,
  ownNamespace: undefined,
  ...more,
});

const pod = JSON.stringify(recorded('pod-deployment-web'));
const tooLarge = { code: 'CNI_GATE_REVIEW_TOO_LARGE' };

test('a pod is decided on once its namespace is known, with the configuration that the job contains', async (t) => {
  const { large } = bodies(t);
  const { namespace } = recorded('pod-deployment-web').request;
  assert.deepEqual(await large.read(job(pod)), { unknownNamespace: namespace });
  const decided = async (more: Partial<Job>) => {
    const { decision, review } = (await large.read(job(pod, more))) as Decided;
    return [decision.outcome, decision.reason, review?.response.allowed];
  };
  assert.deepEqual(await decided({ namespace: { facts } }), ['injected', 'profile-applies', true]);
  const configuration = policyOf({
    profiles: [{ name: 'cilium', when: { labels: { a: 'b' } } }],
  }).configuration;
  const changed = await decided({ namespace: { facts }, configuration });
  assert.deepEqual(changed, ['skipped', 'no-profile-applies', true]);
  const refused = { code: 'CNI_GATE_CLUSTER_BUSY', message: 'no answer' } as const;
  assert.deepEqual(await decided({ namespace: refused }), ['refused', refused.code, false]);
});

test('a body that takes too much time or memory ends the thread, and the next one is read', async (t) => {
  const limits = { ...serverLimits, largeBodyTime: 3000, largeBodyHeap: 32 * 1024 * 1024 };
  const stopped: string[] = [];
  const greedy = new URL('./greedy-thread.ts', import.meta.url);
  const large = largeBodies((limit) => stopped.push(limit), limits, greedy);
  t.after(() => large.close());
  const message = 'reading the body takes more than 3 s or 32 MiB of memory';
  // a body that waits is still read after the thread has ended
  const bodies = ['time', 'memory', 'neither'].map((text) => large.read(job(text)));
  const [time, memory, neither] = await Promise.allSettled(bodies);
  for (const end of [time, memory])
    assert.throws(
      () => {
        throw (end as PromiseRejectedResult).reason;
      },
      { ...tooLarge, message },
    );
  assert.deepEqual(neither, { status: 'fulfilled', value: { unknownNamespace: 'neither' } });
  assert.deepEqual(stopped, ['cost', 'cost']);
});

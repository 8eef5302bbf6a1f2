import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, type Work } from '../../../webhook/leader/controller.ts';
import { switchedLead, until } from './scene.ts';

interface Scene {
  leads?: boolean;
  keys?: string[];
  reconcile?: Work['reconcile'];
}

function controlled(t: TestContext, { leads = true, keys = [], reconcile }: Scene) {
  const seen: string[] = [];
  const warnings: string[] = [];
  const { leader, lead } = switchedLead(leads);
  let begun = 0;
  let changed = (_: Iterable<string>): void => {};
  const controller = new Controller({
    leader,
    resync: 20,
    queue: { inFlight: 2, baseDelay: 10, maxDelay: 10 },
    begin: () => {
      begun += 1;
      return {
        subscribe: (subscriber) => {
          changed = subscriber;
          return () => {};
        },
        keys: async () => keys,
        reconcile: async (key, signal) => {
          seen.push(key);
          return reconcile?.(key, signal);
        },
      };
    },
    log: { info: () => {}, warn: (_, text) => warnings.push(text), error: () => {} },
    failure: 'pods cannot be steered',
  });
  const ended = new AbortController();
  const over = controller.run(ended.signal);
  t.after(async () => {
    ended.abort();
    await over;
  });
  return { seen, warnings, lead, changed: (...some: string[]) => changed(some), begun: () => begun };
}

suite('a controller', () => {
  test('does nothing while another process leads, and begins anew when the lead changes', async (t) => {
    const { seen, changed, lead, begun } = controlled(t, { leads: false, keys: ['a/1'] });
    changed('b/1');
    await sleep(50);
    assert.deepEqual(seen, []);
    lead(true);
    await until(() => seen.length > 0);
    lead(false);
    await until(() => begun() === 3);
    const { length } = seen;
    changed('b/1');
    await sleep(50);
    assert.equal(seen.length, length);
  });

  test('a failure of one key is logged once, and does not stop the others', async (t) => {
    const reconcile: Work['reconcile'] = async (key) => {
      if (key !== 'good/1') throw new Error('broken');
      return undefined;
    };
    const { seen, warnings } = controlled(t, { keys: ['a/1', 'a/2', 'good/1'], reconcile });
    await until(() => seen.filter((key) => key === 'good/1').length > 1);
    assert.deepEqual(warnings, ['pods cannot be steered: broken; cni-gate tries again']);
  });
});

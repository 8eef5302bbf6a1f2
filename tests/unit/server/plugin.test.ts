import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { cluster } from '../../../webhook/server/cluster.ts';
import { configuration } from '../../../webhook/server/configuration.ts';
import { ReadyChecks, serverDeps } from '../../../webhook/server/deps.ts';
import { createApp } from '../../../webhook/server/serve.ts';

const log = pino({ level: 'silent' });

test('a plugin registered before one that it needs ends the start', async (t) => {
  const parts = { profile: 'cilium', deps: serverDeps({ log }) };
  const app = createApp(parts.deps, false);
  t.after(() => app.close());
  app.register(cluster, parts).register(configuration, parts);
  await assert.rejects(async () => app.ready(), { code: 'FST_ERR_PLUGIN_DEPENDENCY_NOT_REGISTERED' });
});

test('the reason of an earlier readiness check hides those of later ones', () => {
  const ready = new ReadyChecks();
  const reasons: [string | undefined, string | undefined] = ['first', 'second'];
  ready.add(() => reasons[0]);
  ready.add(() => reasons[1]);
  assert.equal(ready.reason, 'first');
  reasons[0] = undefined;
  assert.equal(ready.reason, 'second');
  reasons[1] = undefined;
  assert.equal(ready.reason, undefined);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mostConnections, serverLimits } from '../../../webhook/lib/limits.ts';

const MiB = 1024 * 1024;

test('the number of connections follows the memory of the container', () => {
  const memory = [64, 512, 1024 * 1024].map((mebibytes) => mostConnections(mebibytes * MiB));
  assert.deepEqual(memory, [128, 1024, 4096]);
});

test('the times of the server fit those of its callers', () => {
  // Go closes idle connections after 90 s, and the API server waits 10 s for an answer of /mutate
  assert.ok(serverLimits.keepAliveTimeout > 90_000);
  assert.ok(serverLimits.largeBodyWait < 10_000 / 2);
  assert.ok(serverLimits.largeBodyArrival < serverLimits.largeBodyWait);
  assert.ok(serverLimits.headersTimeout <= serverLimits.requestTimeout);
});

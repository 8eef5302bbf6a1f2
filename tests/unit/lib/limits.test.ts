import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitsFor, serverLimits } from '../../../webhook/lib/limits.ts';

const MiB = 1024 * 1024;

test('limits follow the memory of the container', () => {
  // a container of 512 MiB: Node 24 gives 259 MiB of them to its heap
  assert.deepEqual(limitsFor(512 * MiB, 259 * MiB), {
    connections: 1024,
    bodies: (259 * MiB) / 5,
  });
  const small = limitsFor(64 * MiB, 32 * MiB);
  assert.ok(small.connections >= 128 && small.bodies >= 2 * serverLimits.body.mutate);
  const large = limitsFor(1024 * 1024 * MiB, 4288 * MiB);
  assert.ok(large.connections <= 4096 && large.bodies <= 768 * MiB);
});

test('the times of the server fit those of its callers', () => {
  // Go closes idle connections after 90 s; the API server waits 10 s for /mutate
  assert.ok(serverLimits.keepAliveTimeout > 90_000);
  assert.ok(serverLimits.memoryWait < 10_000 / 2);
  assert.ok(serverLimits.headersTimeout <= serverLimits.requestTimeout);
});

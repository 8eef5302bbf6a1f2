import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as limits from '../../../webhook/lib/limits.ts';
import { pages } from '../../support/pages.ts';

const { serverLimits } = limits;
const [KiB, MiB] = [1024, 1024 * 1024];

test('the time-outs of the server fit those of its callers', () => {
  // Go closes idle connections after 90 s, and the API server waits 10 s for an answer of /mutate
  assert.ok(serverLimits.keepAliveTimeout > 90_000);
  assert.ok(serverLimits.largeBodyWait < 10_000 / 2);
  assert.ok(serverLimits.largeBodyArrival < serverLimits.largeBodyWait);
  assert.ok(serverLimits.headersTimeout <= serverLimits.requestTimeout);
});

test('docs/reference/limits.md states the limits of this release', () => {
  const { largeBodies, body, smallBody, bodyParts, ...times } = serverLimits;
  const { opsLimits, namespaces, nodes, pendingPods, evidencePods, planLimits, lookups, texts } = limits;
  const seconds = [times.largeBodyWait, times.largeBodyArrival, times.handshakeTimeout];
  const more = [times.headersTimeout, times.requestTimeout, times.keepAliveTimeout, opsLimits.metricsAge];
  const stores = [limits.trustedObjectBytes, namespaces.max.bytes, nodes.max.bytes];
  const pods = [pendingPods.max.count, pendingPods.requiredCharacters, evidencePods.max.count];
  const [page] = pages('docs/reference/limits.md');
  const stated = [
    ...[body, ...stores].map((size) => `${size / MiB} MiB`),
    ...[smallBody, limits.objectBytes].map((size) => `${size / KiB} KiB`),
    ...[...seconds, ...more].map((time) => `${time / 1000} s`),
    ...[bodyParts, namespaces.max.count, nodes.max.count, ...pods].map((count) => count.toLocaleString('en')),
    `${largeBodies} bodies`,
    `${limits.mostConnections.toLocaleString('en')} connections`,
    `${limits.mostPipelined} unanswered`,
    `${opsLimits.connections} connections`,
    `${planLimits.terms} terms`,
    `${limits.duplicatesOfNamespace} [duplicate`,
    `up to ${lookups.perSecond} of each kind a second, and ${lookups.burst} at once`,
    `${limits.placedPods.perSecond} nodes a second`,
    `${texts.quoted} characters`,
    `${texts.annotation / KiB} Ki characters`,
  ];
  for (const text of stated) assert.ok(page?.text.includes(text), text);
});

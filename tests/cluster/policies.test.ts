import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { suite, test } from 'node:test';
import { beginningOf, contextOf, readCase } from '../golden/case.ts';
import { patched } from '../support/answers.ts';
import { policyOf } from '../support/configurations.ts';
import { startCluster } from './harness/start.ts';
import {
  assertEqualOrLeft,
  compare,
  governed,
  installPolicy,
  makeNamespace,
  plainNamespace,
} from './installed/policies.ts';

/* The MutatingAdmissionPolicy alone stores the pods that the webhook alone stores, or leaves them to the webhook. */

const folder = new URL('../golden/cases/', import.meta.url);
const cases = readdirSync(folder)
  .sort()
  .map((file) => ({ name: basename(file, '.yaml'), golden: readCase(new URL(file, folder)).golden }));

const cluster = await startCluster();
await makeNamespace(cluster, plainNamespace, {});
const results: string[] = [];

const policies = Map.groupBy(cases, ({ golden }) => JSON.stringify(golden.config ?? {}));
const names = new Map([...policies.keys()].map((config, at) => [config, `g${at}`]));
const t0 = performance.now();
await Promise.all(
  [...names].map(([config, name]) => installPolicy(cluster, policyOf(JSON.parse(config)), name)),
);
console.log('installed', names.size, performance.now() - t0);

suite('golden cases', { concurrency: 8 }, () => {
  for (const [at, { name, golden }] of cases.entries()) {
    test(name, async (t) => {
      const { pod, request } = beginningOf(golden);
      const context = contextOf(golden);
      const facts = await context.namespaces.facts(golden.namespace?.name ?? 'shop');
      if (facts === undefined || request.operation === 'UPDATE' || request.subResource) return t.skip();
      const where = ['kube-system', 'cni-gate'].includes(golden.namespace?.name ?? '')
        ? (golden.namespace?.name ?? '')
        : `case-${at}`;
      const { labels, annotations } = facts;
      const { 'kubernetes.io/metadata.name': _, ...own } = labels;
      await governed(cluster, where, names.get(JSON.stringify(golden.config ?? {})) ?? '', {
        labels: own,
        ...(annotations && { annotations }),
      });
      let current = pod;
      for (const [call, { others = [] }] of [{}, ...(golden.calls ?? [])].entries() as Iterable<
        [number, { others?: [] }]
      >) {
        const result = await compare(cluster, where, patched(current, others), context, request);
        if (typeof result === 'string') {
          results.push(`REFUSED ${name} ${result.slice(0, 200)}`);
          return;
        }
        try {
          assertEqualOrLeft(result, facts, context.policy);
          results.push(`${result.left ?? 'equal'} ${name} ${call}`);
        } catch (error) {
          results.push(
            `DIFFERENT ${name} ${call} ${result.left} ${result.decision.outcome} ${result.decision.reason}`,
          );
          throw error;
        }
        current = result.byWebhook;
      }
    });
  }
});

test('results', () => {
  console.log(results.sort().join('\n'), performance.now() - t0);
  assert.ok(true);
});

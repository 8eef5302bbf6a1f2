import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import type { Pod } from '../../webhook/core/facts/pod.ts';
import { policyObjects } from '../../webhook/core/policies/policy.ts';
import { contextOf, beginningOf, type GoldenCase, readCase } from '../golden/case.ts';
import { answerTo, copyOf, patched } from '../support/answers.ts';
import { policyOf } from '../support/configurations.ts';
import { ApiError } from './harness/api.ts';
import { eventually } from './harness/eventually.ts';
import { namespace, pod } from './harness/objects.ts';
import { startCluster } from './harness/start.ts';
import { tryPod } from './installed/overlay.ts';

/* Each golden case: the policy alone stores the pod that the webhook alone stores, or leaves it to the webhook. */

const folder = new URL('../golden/cases/', import.meta.url);
const cases = readdirSync(folder)
  .sort()
  .map((file) => ({ name: basename(file, '.yaml'), golden: readCase(new URL(file, folder)).golden }));

const [webhookFile] = parseAllDocuments(
  readFileSync(new URL('../../manifests/base/mutating-webhook.yaml', import.meta.url), 'utf8'),
);
const webhook = (webhookFile?.toJS() as { webhooks: Webhook[] }).webhooks[0] as Webhook;
interface Webhook {
  rules: object[];
  matchConditions: { name: string; expression: string }[];
}
const status = "|| object.metadata.?annotations[?'cni-gate.io/status'].hasValue()";
const conditions = webhook.matchConditions.map(({ name, expression }) => ({
  name,
  expression: expression.replace(status, ''),
}));

const cluster = await startCluster();
const groups = new Map<string, string>();
for (const { golden } of cases) {
  const key = JSON.stringify(golden.config ?? {});
  if (groups.has(key)) continue;
  const group = `g${groups.size}`;
  groups.set(key, group);
  const selector = { matchLabels: { group } };
  const objects = policyObjects(
    policyOf(golden.config),
    { namespaceSelector: selector, resourceRules: webhook.rules },
    conditions,
  ) as { metadata: { name: string }; spec: { policyName?: string } }[];
  for (const object of objects) {
    object.metadata.name = `pods-${group}`;
    if (object.spec.policyName) object.spec.policyName = `pods-${group}`;
    await cluster.apply(object);
  }
  const spec = { labels: { group } };
  void spec;
}

let count = 0;
async function spaces({ namespace: given = {}, config }: GoldenCase): Promise<[string, string]> {
  count += 1;
  const group = groups.get(JSON.stringify(config ?? {})) ?? '';
  const labels = { ...given.labels, ...(given.profile !== undefined && { 'cni-gate.io/profile': given.profile }) };
  const names: [string, string] = [`p${count}`, `w${count}`];
  for (const [index, name] of names.entries()) {
    const object = namespace(name, { ...labels, ...(index === 0 && { group }) }) as {
      metadata: { annotations?: object };
    };
    object.metadata.annotations = given.annotations ?? {};
    await cluster.apply(object);
    await cluster.api.until(`/api/v1/namespaces/${name}/serviceaccounts`, () => true);
  }
  return names;
}

function plain({ metadata, spec }: Pod): Pod {
  const { namespace: _, uid: _u, creationTimestamp: _c, managedFields: _m, generateName, ...own } =
    copyOf(metadata) as Record<string, unknown>;
  const { serviceAccountName, serviceAccount, ...rest } = copyOf(spec) as Record<string, unknown>;
  const name = own.name ?? (generateName ? `${generateName}x` : 'web');
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...own, name }, spec: rest } as unknown as Pod;
}

const results: string[] = [];
for (const { name, golden } of cases) {
  test(name, async (t) => {
    const { pod: given, request } = beginningOf(golden);
    if (request.operation === 'UPDATE' || request.subResource) return t.skip();
    const [byPolicy, byWebhook] = await spaces(golden);
    let stored: Pod;
    try {
      stored = plain(await tryPod<Pod>(cluster, byWebhook, plain(given)));
    } catch (error) {
      if (error instanceof ApiError) return t.diagnostic(`no pod: ${error.message.slice(0, 200)}`);
      throw error;
    }
    const { decision, patch } = await answerTo(stored, contextOf(golden), request);
    const wanted = plain(await tryPod<Pod>(cluster, byWebhook, patched(stored, patch)));
    const got = plain(await tryPod<Pod>(cluster, byPolicy, stored));
    const isEqual = same(got, wanted);
    const isLeft = same(got, stored);
    t.diagnostic(`${decision.outcome} ${decision.reason}: ${isEqual ? 'equal' : isLeft ? 'LEFT' : 'DIFFERENT'}`);
    results.push(`${isEqual ? 'equal' : isLeft ? 'left' : 'DIFFERENT'} ${name} ${decision.outcome} ${decision.reason}`);
    if (!isLeft || decision.outcome === 'skipped') assert.deepEqual(got, wanted);
  });
}

function same(one: unknown, other: unknown): boolean {
  try {
    assert.deepEqual(one, other);
    return true;
  } catch {
    return false;
  }
}

test('in force', async () => {
  void eventually;
  void pod;
  console.log(results.sort().join('\n'));
});

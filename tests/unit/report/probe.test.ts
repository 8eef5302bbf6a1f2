import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { suite, type TestContext, test } from 'node:test';
import { builtInProfiles } from '../../../webhook/config/builtin.ts';
import type { Profile } from '../../../webhook/core/profiles/types.ts';
import { statusAnnotation, validatorContainer } from '../../../webhook/lib/names.ts';
import type { OptIn } from '../../../webhook/report/observe/pods.ts';
import { makeProbe, type ProbeFacts, probePod } from '../../../webhook/report/observe/probe.ts';
import { policyOf } from '../../support/configurations.ts';
import { json, startFakeApi, status } from '../../support/fake-api-server.ts';
import { annotationOf as statusOf } from './objects.ts';

suite('the pod of a probe', () => {
  for (const { name, proof } of builtInProfiles()) {
    test(`requires the checks of profile ${name}`, () => {
      const policy = policyOf({});
      const { requiredChecks } = probePod('shop', policy.combineProfiles(name), policy);
      assert.ok(requiredChecks.length > 0);
      assert.ok(proof.checks.every((check) => requiredChecks.some((word) => word in check)));
    });
  }

  test("requires no network's own validator in mode warn, because that validator cannot warn", () => {
    const proof = { container: { image: 'x', command: ['/v'] } };
    const own = { name: 'own', when: {}, daemonSets: [], proof };
    const checksIn = (mode: string): readonly string[] => {
      const policy = policyOf({ proof: { mode }, profiles: [own] });
      return probePod('shop', policy.combineProfiles('own'), policy).requiredChecks;
    };
    assert.deepEqual([checksIn('warn'), checksIn('enforce')], [[], ['container']]);
  });

  const conditions: [Profile['when'], labels: object][] = [
    [{ labels: { app: 'web' } }, { app: 'web' }],
    [{ labels: { a: { in: ['x', 'y'] } } }, { a: 'x' }],
    [
      { labels: { on: { exists: true }, off: { exists: false }, b: { notIn: ['c'] } } },
      { on: 'cni-gate-probe' },
    ],
    [[{ namespaceLabels: { mesh: 'on' } }, { labels: { mesh: 'on' } }], { mesh: 'on' }],
  ];
  for (const [when, labels] of conditions)
    test(`meets \`when\`: ${JSON.stringify(when)}`, () => {
      const own = { name: 'own', when, daemonSets: [], proof: { checks: [{ address: {} }] } };
      const policy = policyOf({ profiles: [own] });
      const { pod, requiredChecks } = probePod('shop', policy.combineProfiles('own'), policy);
      assert.deepEqual([requiredChecks, pod.metadata.labels], [['address'], labels]);
    });
});

const came = (initContainers: string[], annotation?: string) => ({
  metadata: {
    name: 'x',
    ...(annotation !== undefined && { annotations: { [statusAnnotation]: annotation } }),
  },
  spec: { containers: [{ name: 'probe' }], initContainers: initContainers.map((name) => ({ name })) },
});

suite('the probe', () => {
  const policy = policyOf({});
  const optedIn = (...names: string[]): OptIn[] => names.map((name) => ({ name, profile: 'cilium' }));

  async function probe(
    t: TestContext,
    namespaces: OptIn[],
    answer: (namespace: string, response: ServerResponse) => void,
    timeout?: number,
  ): Promise<ProbeFacts & { asked: string[] }> {
    const { client, asked } = await startFakeApi(t, ({ path }, response) => {
      answer(path.split('/')[4] ?? '', response);
    });
    const facts = await makeProbe(client, namespaces, policy, 'cni-gate', false, timeout);
    assert.ok(asked.every(({ method, query }) => method === 'POST' && query.dryRun === 'All'));
    return { ...facts, asked: asked.map(({ path }) => path.split('/')[4] ?? '') };
  }
  const forbidden = (response: ServerResponse): void =>
    json(response, 403, status(403, 'Forbidden', 'exceeded quota: all'));

  const ours = validatorContainer;
  const [proved, none] = [statusOf(['mesh'], ['address']), statusOf([], [])];
  const answers: [ReturnType<typeof came>, ProbeFacts['outcome'], RegExp][] = [
    [came([ours], proved), 'injected', /\(address\)$/],
    [came([]), 'failed', /did not ask cni-gate, or got no answer and continued/],
    [came([ours]), 'failed', /without cni-gate\.io\/status/],
    [came(['other', ours], proved), 'failed', /its first init container is other$/],
    [came([], none), 'failed', /\(address, gateway.*\), but its first init container is missing$/],
  ];
  for (const [pod, outcome, what] of answers)
    test(`${outcome}: ${what}`, async (t) => {
      const seen = await probe(t, optedIn('a', 'b'), (_, response) => json(response, 201, pod));
      assert.deepEqual([seen.outcome, seen.asked], [outcome, ['a']], 'it stops at the first answer');
      assert.match(seen.what, what);
    });

  const refused = (code: number, reason: string, message: string, cause = message): object =>
    status(code, reason, message, { details: { causes: [{ message: cause }] } });
  const internal = (text: string): object =>
    refused(500, 'InternalError', `Internal error occurred: ${text}`, text);
  const byPolicy = (text: string): object => refused(422, 'Invalid', `pods "x" is forbidden: ${text}`, text);
  const failing =
    'failed calling webhook "pods.cni-gate.io": failed to call webhook: Post "https://cni-gate"';
  const policyName = "ValidatingAdmissionPolicy 'pods.cni-gate.io' with binding 'pods.cni-gate.io'";
  // the texts are in the form in which a real API server of v1.36 writes them
  const denied = (by: string): object =>
    status(403, 'Forbidden', `admission webhook "${by}" denied the request: ${failing}`);
  const right = 'pods is forbidden: User "x" cannot create resource "pods" in API group ""';
  const foreign = `ValidatingAdmissionPolicy 'x' with binding 'y' denied request: ${policyName} denied request: no`;
  const refusals: [answer: object, ProbeFacts['outcome'], ProbeFacts['reason']][] = [
    [internal(`${failing}: context deadline exceeded`), 'failed', 'refused'],
    [denied('pods.cni-gate.io'), 'failed', 'refused'],
    [byPolicy(`${policyName} denied request: no`), 'failed', 'refused'],
    [
      byPolicy(
        "policy 'pods.cni-gate.io' with binding 'pods.cni-gate.io' denied request: cost limit exceeded",
      ),
      'failed',
      'refused',
    ],
    [status(504, 'Timeout', 'it did not complete'), 'failed', 'silence'],
    // other webhooks and policies refused the pod, although their texts contain our names
    [denied('other.example'), 'not-made', 'other'],
    [byPolicy(foreign), 'not-made', 'other'],
    [status(403, 'Forbidden', right), 'not-made', 'rights'],
  ];
  for (const [body, outcome, reason] of refusals)
    test(`${outcome}, ${reason}: ${JSON.stringify(body)}`, async (t) => {
      const { code } = body as { code: number };
      const seen = await probe(t, optedIn('a'), (_, response) => json(response, code, body));
      assert.deepEqual([seen.outcome, seen.reason], [outcome, reason]);
    });

  const mark = JSON.stringify({ version: '1', left: 'name-taken' });
  const ofServer: [what: string, answer: object, outcome: ProbeFacts['outcome'], reason?: string][] = [
    ['refuses it', denied('pods.cni-gate.io'), 'injected'],
    ['lets it pass in warn mode', came([], none), 'injected'],
    ['does not answer', byPolicy(`${policyName} denied request: no`), 'failed', 'server'],
    ['does not answer, and the policy only warns', came([], mark), 'failed', 'server'],
    ['is not called', came([]), 'failed', 'server'],
    ['cannot be called', internal(`${failing}: context deadline exceeded`), 'failed', 'server'],
    ['is hidden by another webhook', denied('other.example'), 'not-made', 'other'],
  ];
  for (const [what, answer, outcome, reason] of ofServer)
    test(`a mutating policy injects, and for a second pod the server ${what}: ${outcome}`, async (t) => {
      const { client, asked } = await startFakeApi(t, ({ body }, response) => {
        const needsServer = String(body).includes('"volumes":[{"name":"cni-gate-podinfo"');
        const [code, text] = needsServer
          ? [(answer as { code?: number }).code ?? 201, answer]
          : [201, came([ours], proved)];
        json(response, code, text);
      });
      const facts = await makeProbe(client, optedIn('a'), policy, 'cni-gate', true);
      assert.deepEqual([facts.outcome, facts.reason, asked.length], [outcome, reason, 2]);
    });

  test('tries at most ten namespaces', async (t) => {
    const many = Array.from({ length: 30 }, (_, at) => `n${at}`);
    const { outcome, asked } = await probe(t, optedIn(...many), (_, response) => forbidden(response));
    assert.deepEqual([outcome, asked.length], ['not-made', 10]);
  });

  test('skips namespaces that did not opt in, are exempt, or name an unknown profile', async (t) => {
    const namespaces = [
      { name: 'plain', profile: undefined },
      { name: 'typo', profile: 'nowhere' },
      ...optedIn('kube-system', 'cni-gate'),
    ];
    const { outcome, namespace, asked } = await probe(t, namespaces, (_, response) => forbidden(response));
    assert.deepEqual([outcome, namespace, asked], ['not-made', null, []]);
  });

  test('ends the request to a silent API server', async (t) => {
    const { outcome, what } = await probe(t, optedIn('a', 'b'), () => {}, 200);
    assert.equal(outcome, 'failed');
    assert.match(what, /no byte for 200 ms/);
  });
});

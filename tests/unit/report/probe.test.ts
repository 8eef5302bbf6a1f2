import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { suite, type TestContext, test } from 'node:test';
import { statusAnnotation, validatorContainer } from '../../../webhook/lib/names.ts';
import type { Result } from '../../../webhook/report/judge/row.ts';
import type { OptIn } from '../../../webhook/report/observe/pods.ts';
import { makeProbe } from '../../../webhook/report/observe/probe.ts';
import { policyOf } from '../../support/configurations.ts';
import { json, startFakeApi, status } from '../../support/fake-api-server.ts';
import { rowsIn, annotationOf as statusOf } from './objects.ts';

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
  const ours = validatorContainer;
  const [proved, none] = [statusOf(['mesh'], ['address']), statusOf([], [])];

  /** Runs the probe. @returns the check's rows, and the namespace of each request */
  async function probe(
    t: TestContext,
    namespaces: OptIn[],
    answer: (namespace: string, response: ServerResponse, needsServer: boolean) => void,
    { asksServer = false, timeout = 30_000, by = policy } = {},
  ) {
    const { client, asked } = await startFakeApi(t, ({ path, body }, response) => {
      const needsServer = String(body).includes('"volumes":[{"name":"cni-gate-podinfo"');
      answer(path.split('/')[4] ?? '', response, needsServer);
    });
    const answers = await makeProbe(client, namespaces, by, 'cni-gate', asksServer, timeout);
    assert.ok(asked.every(({ method, query }) => method === 'POST' && query.dryRun === 'All'));
    return { rows: rowsIn('probe', { probe: answers }), tried: asked.map(({ path }) => path.split('/')[4]) };
  }

  const refused = (code: number, reason: string, message: string, cause = message): object =>
    status(code, reason, message, { details: { causes: [{ message: cause }] } });
  const internal = (text: string): object =>
    refused(500, 'InternalError', `Internal error occurred: ${text}`, text);
  const byPolicy = (text: string): object => refused(422, 'Invalid', `pods "x" is forbidden: ${text}`, text);
  const failing =
    'failed calling webhook "pods.cni-gate.io": failed to call webhook: Post "https://cni-gate"';
  const policyName = "ValidatingAdmissionPolicy 'pods.cni-gate.io' with binding 'pods.cni-gate.io'";
  // the texts have the form that a real API server of v1.36 uses
  const forbidden = (text: string): object => status(403, 'Forbidden', text);
  const denied = (by: string): object =>
    forbidden(`admission webhook "${by}" denied the request: ${failing}`);
  const right = 'pods is forbidden: User "x" cannot create resource "pods" in API group ""';
  const foreign = `ValidatingAdmissionPolicy 'x' with binding 'y' denied request: ${policyName} denied request: no`;
  const cost =
    "policy 'pods.cni-gate.io' with binding 'pods.cni-gate.io' denied request: cost limit exceeded";
  const small = 'pods "x" is forbidden: minimum cpu usage per Container is 50m, but request is 2m';
  const answers: [answer: object, Result, code: string | null, what: RegExp][] = [
    [came([ours], proved), 'passed', null, /^a new pod comes back with cni-gate-validator \(address\)$/],
    [came([]), 'failed', 'CNI_GATE_PROBE', /did not ask cni-gate, or got no answer and continued/],
    [came([ours]), 'failed', 'CNI_GATE_PROBE', /without cni-gate\.io\/status/],
    [came(['other', ours], proved), 'failed', 'CNI_GATE_PROBE', /its first init container is other:/],
    [came([], none), 'failed', 'CNI_GATE_PROBE', /\(address, gateway.*\), but .* is missing/],
    [internal(`${failing}: context deadline exceeded`), 'failed', 'CNI_GATE_PROBE', /deadline exceeded/],
    [denied('pods.cni-gate.io'), 'failed', 'CNI_GATE_PROBE', /denied the request/],
    [byPolicy(`${policyName} denied request: no`), 'failed', 'CNI_GATE_PROBE', /denied request: no/],
    [byPolicy(cost), 'failed', 'CNI_GATE_PROBE', /cost limit/],
    [status(504, 'Timeout', 'it did not complete'), 'failed', 'CNI_GATE_PROBE', /did not complete/],
    [forbidden(small), 'failed', 'CNI_GATE_RESOURCES', /minimum cpu usage/],
    // another webhook or policy refused the pod, although the text contains our names
    [denied('other.example'), 'not-known', null, /^something other than cni-gate refuses new pods/],
    [
      refused(403, 'Forbidden', 'admission webhook "other.example" denied the request: no', failing),
      ...(['not-known', null, /^something other/] as const),
    ],
    [byPolicy(foreign), 'not-known', null, /^something other/],
    [forbidden('exceeded quota: all'), 'not-known', null, /^something other/],
    [forbidden(right), 'not-known', null, /RBAC lacks verb "create".*; or run it without the probe$/],
  ];
  for (const [body, result, code, what] of answers)
    test(`${result}: ${JSON.stringify(body).slice(0, 200)}`, async (t) => {
      const { code: http = 201 } = body as { code?: number };
      const { rows } = await probe(t, optedIn('a'), (_, response) => json(response, http, body));
      assert.deepEqual(
        rows.map((row) => [row.object, row.result, row.code]),
        [['a', result, code]],
      );
      assert.match(rows[0]?.what ?? '', what);
    });

  test('an answer without a proof passes if no profile applies to the pod, by the labels of its namespace', async (t) => {
    const when = { namespaceLabels: { mesh: 'on' } };
    const by = policyOf({ profiles: [{ name: 'cilium', when, proof: { checks: [{ address: {} }] } }] });
    const namespaces = ['on', 'off'].map((mesh) => ({ name: mesh, profile: 'cilium', labels: { mesh } }));
    const answer = (_: string, response: ServerResponse) => json(response, 201, came([], none));
    const { rows } = await probe(t, namespaces, answer, { by });
    assert.deepEqual(
      rows.map(({ result }) => result),
      ['failed', 'passed'],
    );
    assert.equal(rows[1]?.what, 'cni-gate answers; no profile applies to the pod of the probe');
  });

  const mark = JSON.stringify({ version: '1', left: 'name-taken' });
  const ofServer: [what: string, answer: object, result: Result][] = [
    ['refuses it', denied('pods.cni-gate.io'), 'passed'],
    ['lets it pass in warn mode', came([], none), 'passed'],
    ['does not answer', byPolicy(`${policyName} denied request: no`), 'failed'],
    ['does not answer, and the policy only warns', came([], mark), 'failed'],
    ['is not called', came([]), 'failed'],
    ['cannot be called', internal(`${failing}: context deadline exceeded`), 'failed'],
    ['is hidden by another webhook', denied('other.example'), 'warning'],
  ];
  for (const [what, answer, result] of ofServer)
    test(`a mutating policy injects, and for a second pod the server ${what}: ${result}`, async (t) => {
      const { rows } = await probe(
        t,
        optedIn('a'),
        (_, response, needsServer) => {
          const code = needsServer ? ((answer as { code?: number }).code ?? 201) : 201;
          json(response, code, needsServer ? answer : came([ours], proved));
        },
        { asksServer: true },
      );
      assert.deepEqual(
        rows.map((row) => row.result),
        ['passed', result],
      );
    });

  test('a refused pod is not followed by one that needs the server', async (t) => {
    const refuse = (_: string, response: ServerResponse) => json(response, 403, forbidden('no'));
    assert.equal((await probe(t, optedIn('a'), refuse, { asksServer: true })).tried.length, 1);
  });

  test('tries at most ten namespaces; what another policy refuses in one of them is a warning', async (t) => {
    const many = Array.from({ length: 30 }, (_, at) => `n${at}`);
    const { rows, tried } = await probe(t, optedIn(...many), (namespace, response) =>
      namespace === 'n3' ? json(response, 201, came([ours], proved)) : json(response, 403, forbidden('full')),
    );
    assert.equal(tried.length, 10);
    assert.deepEqual(
      rows.slice(2, 5).map(({ result }) => result),
      ['warning', 'passed', 'warning'],
    );
  });

  test('skips namespaces that did not opt in, are exempt, or name an unknown profile', async (t) => {
    const namespaces = [
      { name: 'plain', profile: undefined },
      { name: 'typo', profile: 'nowhere' },
      ...optedIn('kube-system', 'cni-gate'),
    ];
    const { rows, tried } = await probe(t, namespaces, (_, response) => json(response, 403, forbidden('x')));
    assert.deepEqual([rows, tried], [[], []]);
  });

  test('ends the request to a silent API server, and tries no other namespace', async (t) => {
    const { rows, tried } = await probe(t, optedIn('a', 'b'), () => {}, { timeout: 200 });
    assert.deepEqual([rows.map(({ result }) => result), tried], [['failed'], ['a']]);
    assert.match(rows[0]?.what ?? '', /no byte for 200 ms/);
  });
});

/**
 * `npm run bench create`: how long a real API server takes to create a pod without admission, with a minimal webhook in
 * Go, with cni-gate's webhook, and with its mutating policy. For the last two, the policy that validates the final pod
 * also applies; the mutating policy is measured alone as well. One run measures all of them in turn.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FixedNamespaces } from '../../webhook/core/facts/namespace.ts';
import type { Pod } from '../../webhook/core/facts/pod.ts';
import { policyObjects } from '../../webhook/core/policies/policy.ts';
import { installedPolicies, profileLabel, validatorContainer } from '../../webhook/lib/names.ts';
import { Api } from '../cluster/harness/api.ts';
import { Cluster } from '../cluster/harness/cluster.ts';
import { eventually } from '../cluster/harness/eventually.ts';
import { namespace, pod } from '../cluster/harness/objects.ts';
import { configurationOf, webhookFor } from '../cluster/harness/registration.ts';
import { install } from '../cluster/installed/installation.ts';
import { answerTo } from '../support/answers.ts';
import { policyOf } from '../support/configurations.ts';
import { mortal } from '../support/mortal.ts';
import { median } from './load.ts';
import { type Row, report } from './report.ts';

const creations = 300;
/** The label of each namespace. Its value, one of {@link ways}, selects what mutates the namespace's pods. */
const way = 'bench';
const ways = ['nothing', 'go', 'webhook', 'policy', 'alone'] as const;
type Way = (typeof ways)[number];

const cluster = await Cluster.start();
const { replicas } = await install(cluster, 'strict');
await separate();
for (const name of ways) await makeNamespace(name);
await startGoWebhook();
for (const name of ways) await inForce(name);

const rows = [...(await measured(1)), ...(await measured(60))];
await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
await cluster.stop();
report('create', rows);

/** Limits each webhook and policy of cni-gate to the namespaces in which the bench measures it. */
async function separate(): Promise<void> {
  const byPolicy = { key: way, operator: 'In', values: ['policy', 'alone'] };
  for (const object of structuredClone(policyObjects(policyOf())) as PolicyObject[]) {
    object.spec.matchConstraints?.namespaceSelector.matchExpressions.push(byPolicy);
    await cluster.apply(object);
  }
  const without = async (object: string, selector: string, values: Way[]): Promise<void> => {
    const path = `${selector}/namespaceSelector/matchExpressions/-`;
    const patch = JSON.stringify([{ op: 'add', path, value: { key: way, operator: 'NotIn', values } }]);
    await cluster.kubectl(['patch', object, '--type=json', `--patch=${patch}`]);
  };
  await without('mutatingwebhookconfiguration/cni-gate', '/webhooks/0', ['policy', 'alone']);
  await without(`validatingadmissionpolicy/${installedPolicies[0]}`, '/spec/matchConstraints', ['alone']);
}

interface PolicyObject {
  spec: { matchConstraints?: { namespaceSelector: { matchExpressions: object[] } } };
}

async function makeNamespace(name: Way): Promise<void> {
  const proved = name !== 'nothing' && name !== 'go';
  await cluster.apply(namespace(name, { [way]: name, ...(proved && { [profileLabel]: 'cilium.linkerd' }) }));
  await cluster.api.until(`/api/v1/namespaces/${name}/serviceaccounts`, () => true);
}

/** Builds and starts the webhook in Go, which answers every pod with cni-gate's patch. */
async function startGoWebhook(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const program = join(folder, 'webhook');
  const source = fileURLToPath(new URL('./create/webhook', import.meta.url));
  const built = spawnSync('go', ['-C', source, 'build', '-o', program, '.'], { stdio: 'inherit' });
  assert.equal(built.status, 0, 'NOT RUN: the webhook in Go could not be built');
  const host = '10.254.9.1';
  const { certificate, key } = await cluster.authority.serving([host]);
  const labels = { [profileLabel]: 'cilium.linkerd' };
  const context = { policy: policyOf(), namespaces: new FixedNamespaces(new Map([['shop', labels]])) };
  const { patch } = answerTo(podOf('probe', 'webhook', 1) as Pod, context);
  const files = [file('crt', certificate), file('key', key), file('patch', JSON.stringify(patch))];
  const args = [`${host}:8443`, ...files];
  spawn(...mortal(program, args), { stdio: 'inherit' }).unref();
  await eventually(
    () =>
      new Promise<void>((resolve, reject) =>
        connect(8443, host)
          .on('connect', () => resolve())
          .on('error', reject),
      ),
  );
  const caBundle = Buffer.from(cluster.authority.pair.certificate).toString('base64');
  const webhook = webhookFor(['pods'], {
    name: 'go.example.com',
    clientConfig: { url: `https://${host}:8443/`, caBundle },
    namespaceSelector: { matchLabels: { [way]: 'go' } },
    reinvocationPolicy: 'IfNeeded',
  });
  await cluster.apply(configurationOf('Mutating', 'bench', [webhook]));
}

/** Waits until the API server applies the namespace's webhook or policy. No event announces this. */
function inForce(name: Way): Promise<void> {
  return eventually(async () => {
    const stored = await create(cluster.api, name, `probe-${name}`, 1, '?dryRun=All');
    const first = stored.spec.initContainers?.[0]?.name;
    assert.equal(first, name === 'nothing' ? undefined : validatorContainer, name);
  });
}

interface Stored {
  spec: { initContainers?: { name: string }[] };
}

function podOf(name: string, where: Way, containers: number): object {
  const spec = {
    // keeps the scheduler away from thousands of pods
    schedulingGates: [{ name: 'example.com/bench' }],
    containers: Array.from({ length: containers }, (_, at) => ({ name: `c${at}`, image: 'example/web' })),
  };
  return pod(name, spec, { namespace: where });
}

function create(api: Api, where: Way, name: string, containers: number, query = ''): Promise<Stored> {
  return api.post<Stored>(`/api/v1/namespaces/${where}/pods${query}`, podOf(name, where, containers));
}

/** Creates pods in all namespaces in turn, over one connection, and measures the time. */
async function measured(containers: number): Promise<Row[]> {
  const api = new Api(cluster.admin, 1);
  const took = new Map<Way, number[]>(ways.map((name) => [name, []]));
  for (let round = 0; round < creations; round++) {
    for (const name of ways) {
      const began = performance.now();
      await create(api, name, `pod-${containers}-${round}`, containers);
      took.get(name)?.push(performance.now() - began);
    }
  }
  api.close();
  const of = (name: Way): number => median(took.get(name) ?? []);
  const conditions = `pods of ${containers} ${containers === 1 ? 'container' : 'containers'}`;
  const row = (figure: string, value: number, unit: string, atMost?: number): Row => ({
    ...{ figure, conditions, measured: value, unit },
    ...(atMost !== undefined && { aim: { atMost } }),
  });
  const gain = (name: Way): number => of(name) - of('nothing');
  return [
    row('creation without injection', of('nothing'), 'ms'),
    row('time added by a webhook in Go', gain('go'), 'ms'),
    row('time added by the webhook and the final policy', gain('webhook'), 'ms'),
    row('time added by the mutating policy and the final policy', gain('policy'), 'ms'),
    row('time added by both policies', gain('policy') / gain('webhook'), '× webhook'),
    row('time added by the mutating policy alone', gain('alone') / gain('webhook'), '× webhook', 0.65),
  ];
}

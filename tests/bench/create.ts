/**
 * `npm run bench create`: how long the creation of a pod takes on a real API server, with nothing, with cni-gate's
 * webhook, and with cni-gate's mutating policy. The policy over the final pod is in force for the last two, and the
 * mutating policy is also measured without it. All are measured in one run, in turn.
 */
import assert from 'node:assert/strict';
import { policyObjects } from '../../webhook/core/policies/policy.ts';
import { installedPolicies, profileLabel, validatorContainer } from '../../webhook/lib/names.ts';
import { Api } from '../cluster/harness/api.ts';
import { Cluster } from '../cluster/harness/cluster.ts';
import { eventually } from '../cluster/harness/eventually.ts';
import { namespace, pod } from '../cluster/harness/objects.ts';
import { install } from '../cluster/installed/installation.ts';
import { policyOf } from '../support/configurations.ts';
import { median } from './load.ts';
import { type Row, report } from './report.ts';

const creations = 300;
/** The label of a namespace that says what injects there. */
const way = 'bench';
const ways = ['nothing', 'webhook', 'policy', 'alone'] as const;
type Way = (typeof ways)[number];

const cluster = await Cluster.start({ own: true });
const { replicas } = await install(cluster, 'strict');
await separate();
for (const name of ways) await makeNamespace(name);
for (const name of ways) await inForce(name);

const rows = [...(await measured(1)), ...(await measured(60))];
await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
await cluster.stop();
report('create', rows);

/** Limits each webhook and policy to the namespaces in which it has to be in force. */
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
  const isProved = name !== 'nothing';
  await cluster.apply(
    namespace(name, { [way]: name, ...(isProved && { [profileLabel]: 'cilium.linkerd' }) }),
  );
  await cluster.api.until(`/api/v1/namespaces/${name}/serviceaccounts`, () => true);
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

/** Creates pods in all namespaces in turn, over one connection. */
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
    row('time added by the webhook and the final policy', gain('webhook'), 'ms'),
    row('time added by the mutating policy and the final policy', gain('policy'), 'ms'),
    row('time added by both policies', gain('policy') / gain('webhook'), '× webhook'),
    row('time added by the mutating policy alone', gain('alone') / gain('webhook'), '× webhook', 0.65),
  ];
}

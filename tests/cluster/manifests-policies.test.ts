import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:https';
import { createServer, type Server } from 'node:net';
import { after, suite, type TestContext, test } from 'node:test';
import { createAuthority, issueServing } from '../../certs/issue.ts';
import { env } from '../../validator/shared/contract.ts';
import { reasonText, statusText } from '../../webhook/core/facts/status-annotation.ts';
import { messageOf } from '../../webhook/lib/errors.ts';
import { profileLabel, statusAnnotation, validatorContainer } from '../../webhook/lib/names.ts';
import { cniGate } from '../support/command.ts';
import { beginLoad } from './certificates/load.ts';
import { eventually } from './harness/eventually.ts';
import { pod, workload } from './harness/objects.ts';
import { startCluster } from './harness/start.ts';
import { commandsOf, shell } from './installed/guide.ts';
import { install } from './installed/installation.ts';
import { answering, firstInit, meshProxy, startNeighbour } from './installed/neighbour.ts';
import { apply, applyOwn, byPolicy, policyName, tryPod } from './installed/overlay.ts';
import type { RunningPod } from './installed/pod.ts';
import { bringNetwork, calls, initNames, makeNamespace, type UserPod } from './installed/working.ts';

/** A MutatingAdmissionPolicy injects the proof: without a cni-gate server, with one, and during its outages. */

const cluster = await startCluster();
const { api } = cluster;
const kubectl = (text: string): Promise<string> => cluster.kubectl(text.split(' '));

async function runCommands(lines: string[]): Promise<void> {
  for (const line of lines) await shell(cluster, line, { env: { REGISTRY: 'registry.example' } });
}

/** Runs `check` or `status`. Returns its first line, its whole output in a single line, and its exit code. */
function run(command: 'check' | 'status'): { first: string; text: string; exit: number | null } {
  const { stdout, stderr, status } = cniGate([command, '--kubeconfig', cluster.admin.kubeconfig]);
  assert.equal(stderr, '');
  return { first: stdout.split('\n')[0] ?? '', text: stdout.replaceAll(/\s+/g, ' '), exit: status };
}

const checked = (exit: number, first: RegExp): Promise<void> =>
  eventually(async () => {
    const result = run('check');
    assert.match(result.first, first);
    assert.equal(result.exit, exit);
  });

const inits = async (where: string, metadata: object = {}): Promise<string[]> =>
  initNames(await tryPod<UserPod>(cluster, where, pod('web', {}, metadata)));

const proved = (where: string): Promise<void> =>
  eventually(async () => assert.deepEqual(await inits(where), [validatorContainer]));

/** The policy leaves this pod to the server: see `leftReasons`. */
const needsServer = { annotations: { 'config.linkerd.io/skip-outbound-ports': '1000-2000' } };

suite('proof-only, by the commands of the guide', () => {
  test("after the label, a pod gets the proof first, with the registry's image", async () => {
    await makeNamespace(cluster, 'shop');
    await makeNamespace(cluster, 'linkerd-cni');
    await bringNetwork(cluster);
    await cluster.apply(workload('DaemonSet', 'linkerd-cni', { namespace: 'linkerd-cni' }));
    await runCommands(commandsOf('install', /^## Without a server/m));
    await proved('shop');
    const stored = await api.post<UserPod>('/api/v1/namespaces/shop/pods', pod('web'));
    assert.match(stored.spec.initContainers?.[0]?.image ?? '', /^registry\.example\/cni-gate-validator:/);
    await api.delete('/api/v1/namespaces/shop/pods/web');
  });

  test('check finds no failure and says what is not installed, and so does status', async () => {
    await checked(0, /^All \d+ checks passed\.$/);
    assert.match(run('check').text, /gate, steering and repair are not installed/);
    assert.match(run('status').first, /^All \d+ checks passed\.$/);
  });

  test('a pod that needs the server is refused, with the reason', async () => {
    await makeNamespace(cluster, 'meshed', { [profileLabel]: 'linkerd' });
    await eventually(() =>
      assert.rejects(
        inits('meshed', needsServer),
        refusedWith(/\(skipped-ports: config\.linkerd\.io\/skip-outbound-ports\)/),
      ),
    );
  });

  const image = { op: 'replace', path: '/spec/variables/0/expression', value: '"example/other"' };
  const changes: [name: string, change: () => Promise<unknown>, message: RegExp][] = [
    [
      'the binding is deleted',
      () => kubectl(`delete mutatingadmissionpolicybinding ${policyName}`),
      /mutating-policy: .* its binding does not exist/,
    ],
    [
      'the image is changed',
      () =>
        cluster.kubectl([
          'patch',
          'mutatingadmissionpolicy',
          policyName,
          '--type=json',
          '-p',
          JSON.stringify([image]),
        ]),
      /mutating-policy: .* it injects the image "example\/other"/,
    ],
    [
      'the policy is deleted',
      () => kubectl(`delete mutatingadmissionpolicy ${policyName}`),
      /the policy does not exist/,
    ],
  ];
  for (const [name, change, message] of changes)
    test(`check fails if ${name}`, async () => {
      await change();
      await checked(1, message);
      await runCommands(commandsOf('install', /^## Without a server/m));
      await checked(0, /^All \d+ checks passed\.$/);
    });

  test('uninstalled and installed again', async () => {
    await kubectl('delete --wait -k manifests/overlays/proof-only');
    await eventually(async () => assert.deepEqual(await inits('shop'), []));
    await apply(cluster, 'proof-only');
    await proved('shop');
    await kubectl('delete --wait -k manifests/overlays/proof-only');
  });
});

const refusedWith = (reason: RegExp) => (error: unknown) =>
  byPolicy(error) &&
  /this pod needs the server of cni-gate/.test(error.message) &&
  reason.test(error.message);

let replicas: RunningPod[] = [];
after(() => Promise.all(replicas.map((replica) => replica.end('SIGKILL'))));

test('from strict to policies and back under load: no pod is refused, and none lacks its proof', async (t) => {
  ({ replicas } = await install(cluster, 'strict'));
  await proved('shop');
  await checked(0, /^All \d+ checks passed\.$/);
  const load = beginLoad(t, cluster, 30);
  await load.more(30);
  await apply(cluster, 'strict-policies');
  await untilNotCalled();
  await load.more(60);
  await apply(cluster, 'strict');
  await load.more(60);
  await kubectl(
    'delete mutatingadmissionpolicies,mutatingadmissionpolicybindings -l app.kubernetes.io/part-of=cni-gate',
  );
  const before = await calls(cluster);
  await eventually(async () => assert.ok((await calls(cluster)) > before + 30));
  const { created, failures } = await load.end();
  assert.deepEqual(failures, []);
  t.diagnostic(`${created} creations, none refused, none without its proof`);
  await apply(cluster, 'strict-policies');
  await checked(0, /^All \d+ checks passed\.$/);
});

/** Waits until an ordinary creation calls no webhook of cni-gate. */
const untilNotCalled = (): Promise<void> =>
  eventually(async () => {
    const before = await calls(cluster);
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(await calls(cluster), before);
  });

const outage = 'outage';

/** Status annotations that a user could write to make a pod look as if cni-gate had reviewed it. */
const forged = [
  statusText({ profile: 'cilium.linkerd', chosenBy: 'namespace' }, [{ name: 'cilium' }], ['address']),
  statusText({ profile: 'cilium.linkerd', chosenBy: 'namespace' }),
  reasonText('network-daemonset'),
  '{"version":"0.1.0","left":"witness"}',
];

suite('in an outage', () => {
  const neighbours: { close(): Promise<void> }[] = [];
  after(() => Promise.all(neighbours.map((neighbour) => neighbour.close())));
  const created: Record<string, string[]> = {
    'apis/apps/v1': ['deployments', 'replicasets'],
    'apis/batch/v1': ['jobs'],
    'api/v1': ['pods', 'events'],
  };
  const address = '10.254.2.1';

  test('two neighbours, one before cni-gate and one after it', async () => {
    await makeNamespace(cluster, outage, { [profileLabel]: 'cilium.linkerd', neighbours: 'yes' });
    neighbours.push(await startNeighbour(cluster, 'a-init', address, firstInit));
    neighbours.push(await startNeighbour(cluster, 'z-mesh', address, meshProxy));
    await eventually(async () => {
      const { spec } = await tryPod<UserPod>(cluster, outage, pod('web'));
      assert.deepEqual(
        spec.containers.map(({ name }) => name),
        ['linkerd-proxy', 'web'],
      );
      assert.deepEqual(initNames({ spec } as UserPod), [validatorContainer, 'neighbour-init']);
    });
    const { metadata } = await tryPod<UserPod>(cluster, outage, pod('web', {}, needsServer));
    assert.match(metadata.annotations?.[statusAnnotation] ?? '', /"checks":\[.*"redirect"/);
  });

  /** Ends the servers that stand in for the replicas. */
  let end = async (): Promise<void> => {};
  const standIn = async (make: () => Server): Promise<void> => {
    const servers = await Promise.all(
      replicas.map(async ({ pod: { status } }) => {
        const server = make().listen(8443, status.podIP);
        await once(server, 'listening');
        return server;
      }),
    );
    end = async () => {
      for (const server of servers) server.close();
    };
  };
  const select = (name: string): Promise<string> =>
    cluster.kubectl([
      ...['patch', 'service', 'cni-gate', '-n', 'cni-gate', '--type=merge', '-p'],
      JSON.stringify({ spec: { selector: { 'app.kubernetes.io/name': name } } }),
    ]);
  const outages: [name: string, begin: () => Promise<unknown>, after?: () => Promise<unknown>][] = [
    ['no replica', () => Promise.all(replicas.map((replica) => replica.end('SIGKILL')))],
    ['a Service without endpoints', () => select('nobody'), () => select('cni-gate')],
    ['replicas that accept and never answer', () => standIn(() => createServer()), () => end()],
    ['an expired certificate', expire, () => end()],
  ];

  async function expire(): Promise<void> {
    const now = new Date(Date.now() - 10 * 86_400_000);
    const authority = createAuthority({ days: 30, now });
    const { certificate, key } = issueServing(authority, { names: ['cni-gate.cni-gate.svc'], days: 2, now });
    const caBundle = Buffer.from(authority.certificate).toString('base64');
    for (const kind of ['mutating', 'validating']) {
      const path = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations/cni-gate`;
      const { webhooks } = await api.get<{ webhooks: { clientConfig: { caBundle: string } }[] }>(path);
      for (const { clientConfig } of webhooks) clientConfig.caBundle = caBundle;
      await api.patch(path, { webhooks });
    }
    await standIn(() =>
      createTlsServer(
        { cert: certificate, key },
        answering(() => []),
      ),
    );
  }

  for (const [at, [name, begin, finish]] of outages.entries())
    test(`${name}: no pod is refused, and none is stored without its proof`, async (t) => {
      await begin();
      t.after(async () => {
        await finish?.();
        for (const path of ['apis/apps/v1', 'apis/batch/v1', 'api/v1'])
          for (const kind of created[path] ?? [])
            await api.delete(`/${path}/namespaces/${outage}/${kind}?propagationPolicy=Background`);
      });
      await eventually(() => assert.rejects(inits(outage, needsServer), refusedWith(/ports/)));
      assert.match(run('check').text, /the server does not answer for a pod that needs it/);
      for (const status of forged) {
        const annotations = { [statusAnnotation]: status };
        assert.ok(isProved(await tryPod<UserPod>(cluster, outage, pod('web', {}, { annotations }))));
        const left = { annotations: { ...needsServer.annotations, ...annotations } };
        await assert.rejects(inits(outage, left), refusedWith(/ports/));
      }
      const before = await calls(cluster);
      const app = `outage-${at}`;
      await cluster.apply(...byControllers(app));
      const { refused, longest } = await createMany(t, app);
      const stored = await eventually(async () => {
        const { items } = await api.get<{ items: UserPod[] }>(
          `/api/v1/namespaces/${outage}/pods?labelSelector=app%3D${app}`,
        );
        const owners = Object.groupBy(
          items,
          ({ metadata }) => metadata.ownerReferences?.[0]?.kind ?? 'nobody',
        );
        const counts = Object.entries(owners).map(([kind, pods]) => [kind, pods?.length]);
        assert.deepEqual(Object.fromEntries(counts), shares);
        return items;
      });
      assert.equal((await calls(cluster)) - before, 0, 'calls of the webhook');
      // controllers report refusals in events, and try again
      const failed = await api.get<{ items: { message: string }[] }>(
        `/api/v1/namespaces/${outage}/events?fieldSelector=reason%3DFailedCreate`,
      );
      assert.deepEqual([...refused, ...failed.items.map(({ message }) => message)], []);
      assert.deepEqual(
        stored.filter((one) => !isProved(one)),
        [],
      );
      t.diagnostic(
        `${name}: ${stored.length} pods, the longest creation of ours took ${longest.toFixed(0)} ms`,
      );
      // the gate allows bindings
      await cluster.apply(workload('Deployment', 'bound', { namespace: 'shop', replicas: 2 }));
      await api.until<{ status: { readyReplicas?: number } }>(
        '/apis/apps/v1/namespaces/shop/deployments?fieldSelector=metadata.name%3Dbound',
        ({ status }) => status.readyReplicas === 2,
      );
      await kubectl('-n shop delete deployment bound --cascade=foreground --wait');
    });

  test('permissive with policies warns about a pod that needs the server', async () => {
    await apply(cluster, 'permissive-policies');
    const args = ['-n', outage, 'create', '--dry-run=server', '--warnings-as-errors', '-f', '-'];
    const input = [pod('warned', {}, needsServer)];
    await eventually(() =>
      assert.rejects(
        cluster.kubectl(args, { input }),
        /Warning: Validation failed .* this pod needs the server/,
      ),
    );
    await eventually(async () => {
      const { spec } = await tryPod<UserPod>(cluster, 'shop', pod('web'));
      assert.match(JSON.stringify(spec.initContainers), /CNI_GATE_MODE","value":"warn"/);
    });
  });

  test('break glass also removes the policy, and the overlay restores it', async () => {
    await runCommands(commandsOf('break-glass', /^## The whole cluster/m));
    await eventually(async () => assert.deepEqual(await inits('shop'), []));
    await apply(cluster, 'strict-policies');
    await proved('shop');
  });
});

const validatorRepository = 'ghcr.io/cni-gate/cni-gate-validator';

/** Changes the registry as the guide says. @param other an image that the validating policy also accepts */
const takeFrom = (repository: string, other?: string): Promise<void> => {
  const value = `['', '${other}']`;
  const patch = JSON.stringify([{ op: 'replace', path: '/spec/variables/0/expression', value }]);
  return applyOwn(cluster, {
    overlay: 'strict-policies',
    transformers: ['image'],
    fields: {
      images: [{ name: validatorRepository, newName: repository }],
      patches:
        other === undefined
          ? []
          : [{ target: { kind: 'ValidatingAdmissionPolicy', name: policyName }, patch }],
    },
  });
};

test('a change of the registry under load: meanwhile, the validating policy accepts both images', async (t) => {
  const mirror = 'mirror.example:5000/validator';
  const load = beginLoad(t, cluster, 20);
  await load.more(20);
  await takeFrom(validatorRepository, mirror);
  await load.more(20);
  await takeFrom(mirror, validatorRepository);
  await eventually(async () => {
    const { spec } = await tryPod<UserPod>(cluster, 'shop', pod('web'));
    assert.match(spec.initContainers?.[0]?.image ?? '', new RegExp(`^${mirror}:`));
  });
  await takeFrom(mirror);
  await load.more(60);
  const { created, failures } = await load.end();
  assert.deepEqual(failures, []);
  t.diagnostic(`${created} creations, none refused, none without its proof`);
});

/** Whether the proof is first, with both profiles' checks, although the mesh's injector was called later. */
const isProved = ({ spec }: UserPod): boolean => {
  const [first] = spec.initContainers ?? [];
  const checks = first?.env?.find(({ name }) => name === env.checks)?.value ?? '';
  return first?.name === validatorContainer && checks.includes('"gateway"') && checks.includes('"redirect"');
};

/**
 * How many pods each controller creates during an outage; `nobody` stands for pods that are created directly. A
 * controller makes 20 requests a second (`--kube-api-qps`).
 */
const shares = { Job: 50, ReplicaSet: 50, nobody: 200 };

/** The spec of pods that no scheduler binds. */
const gated = {
  schedulingGates: [{ name: 'example.com/never' }],
  containers: [{ name: 'web', image: 'example/web' }],
};

const byControllers = (app: string): object[] => [
  workload('Deployment', app, { namespace: outage, replicas: shares.ReplicaSet, spec: gated }),
  {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: app, namespace: outage },
    spec: {
      completions: shares.Job,
      parallelism: shares.Job,
      template: { metadata: { labels: { app } }, spec: { ...gated, restartPolicy: 'Never' } },
    },
  },
];

/** Creates pods directly, 20 at a time. @returns the longest time that a creation took, in milliseconds */
async function createMany(t: TestContext, app: string) {
  const refused: string[] = [];
  let longest = 0;
  const rest = Array.from({ length: shares.nobody }, (_, index) => index).values();
  const worker = async (): Promise<void> => {
    for (const index of rest) {
      if (t.signal.aborted) return;
      const began = performance.now();
      const object = pod(`${app}-${index}`, gated, { labels: { app } });
      await api
        .post(`/api/v1/namespaces/${outage}/pods`, object)
        .catch((error) => refused.push(messageOf(error)));
      longest = Math.max(longest, performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: 20 }, worker));
  return { refused, longest };
}

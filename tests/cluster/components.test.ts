import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Api, ApiError, type WatchEvent } from './harness/api.ts';
import { Cluster } from './harness/cluster.ts';
import { compact } from './harness/etcd.ts';
import { eventually } from './harness/eventually.ts';
import { kubectlFor } from './harness/kubectl.ts';

const cluster = await Cluster.start({ audit: 'Metadata' });
after(() => cluster.stop());
const { api, components } = cluster;
const configMaps = '/api/v1/namespaces/default/configmaps';

interface Versioned {
  metadata: { resourceVersion: string; name: string };
}

const configMap = (name: string): object => ({ metadata: { name } });

test('an API server that is stopped and started is at the same port, with its data', async () => {
  await api.post(configMaps, configMap('kept'));
  await components['kube-apiserver'].stop();
  await assert.rejects(api.get(`${configMaps}/kept`), { code: 'ECONNREFUSED' });
  await components['kube-apiserver'].start();
  assert.equal((await api.get<Versioned>(`${configMaps}/kept`)).metadata.name, 'kept');
});

test('whoever waits for something is not lost when the API server is killed', async () => {
  const seen = Promise.withResolvers<void>();
  const waiting = api.until<Versioned>(configMaps, ({ metadata }) => {
    seen.resolve();
    return metadata.name === 'later';
  });
  await seen.promise;
  await components['kube-apiserver'].kill();
  await components['kube-apiserver'].start();
  await api.post(configMaps, configMap('later'));
  await waiting;
});

test('etcd that is killed comes back with its data', async () => {
  await api.post(configMaps, configMap('written'));
  await components.etcd.kill();
  await components.etcd.start();
  await api.until<Versioned>(configMaps, ({ metadata }) => metadata.name === 'written');
});

test('after a compaction what was before can be neither read nor watched', async () => {
  const { metadata } = await api.post<Versioned>(configMaps, configMap('old'));
  const then = `${configMaps}?resourceVersion=${metadata.resourceVersion}`;
  const asItWas = `${then}&resourceVersionMatch=Exact`;
  await api.post(configMaps, configMap('new'));
  assert.equal((await firstEvent(then)).object.metadata.name, 'new');
  // takes the API server's own history away
  await components['kube-apiserver'].stop();
  await components['kube-apiserver'].start();
  const before = await api.get<{ items: Versioned[] }>(asItWas);
  assert.deepEqual(
    before.items.map((item) => item.metadata.name).filter((name) => name === 'old' || name === 'new'),
    ['old'],
  );

  await compact(cluster);
  await assert.rejects(api.get(asItWas), { status: 410, reason: 'Expired' });
  const { type, object } = await firstEvent(then);
  assert.equal(type, 'ERROR');
  assert.equal(object.code, 410);
});

async function firstEvent(path: string): Promise<WatchEvent<Versioned & { code?: number }>> {
  for await (const event of api.watch<Versioned>(path, AbortSignal.timeout(30_000))) return event;
  throw new Error(`the watch of ${path} ended without an event`);
}

test('a frozen API server answers nothing, and then all', async () => {
  let answered = false;
  components['kube-apiserver'].freeze();
  const answer = api.text('/readyz').finally(() => {
    answered = true;
  });
  // more time than an answer takes, and the others go on
  for (let call = 0; call < 50; call++) await fetch(`http://127.0.0.1:${cluster.ports.etcd}/health`);
  assert.equal(answered, false);
  components['kube-apiserver'].thaw();
  assert.equal(await answer, 'ok');
});

test('users and service accounts may do what RBAC lets them', async () => {
  const user = await cluster.user('jane', ['team']);
  const robot = await cluster.serviceAccount('default', 'default');
  const whoami = async (access: typeof user): Promise<string[]> => {
    const shown = JSON.parse(await kubectlFor(access)(['auth', 'whoami', '-o', 'json']));
    const { username, groups } = shown.status.userInfo;
    return [username, ...groups];
  };
  assert.deepEqual(await whoami(user), ['jane', 'team', 'system:authenticated']);
  assert.equal((await whoami(robot))[0], 'system:serviceaccount:default:default');

  const robots = new Api(robot);
  const refusal = { name: 'Error', status: 403, reason: 'Forbidden' };
  await assert.rejects(robots.get(configMaps), refusal);
  await cluster.kubectl(['create', 'role', 'reader', '--verb=list', '--resource=configmaps']);
  await cluster.kubectl([
    'create',
    'rolebinding',
    'reader',
    '--role=reader',
    '--serviceaccount=default:default',
  ]);
  // the authorizer watches roles: it knows after a moment
  await eventually(() => robots.get(configMaps));
  await assert.rejects(new Api(user).get(configMaps), refusal);
});

test('what was asked of the API server is on record', async () => {
  const outsider = await cluster.user('somebody');
  await assert.rejects(new Api(outsider).get(configMaps), ApiError);
  interface Event {
    user: { username: string };
    verb: string;
    objectRef?: { resource: string };
    responseStatus?: { code: number };
  }
  const own = cluster.audited<Event>().filter(({ user }) => user.username === 'somebody');
  assert.deepEqual(
    own.map(({ verb, objectRef, responseStatus }) => [verb, objectRef?.resource, responseStatus?.code]),
    [['list', 'configmaps', 403]],
  );
});

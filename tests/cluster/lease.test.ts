import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import type { Lease } from '../../webhook/cluster/leadership.ts';
import { LeaderElector } from '../../webhook/cluster/leadership.ts';
import { openCluster } from '../../webhook/cluster/open.ts';
import { accessWith } from './harness/access.ts';
import { eventually } from './harness/eventually.ts';
import { startCluster } from './harness/start.ts';
import { SwallowingProxy } from './harness/swallowing-proxy.ts';

const cluster = await startCluster();
const proxy = await SwallowingProxy.to(cluster.server.url);
after(() => proxy.close());
const { kubeconfig } = accessWith(
  { ...cluster.server, url: proxy.url },
  join(cluster.folder, 'through-the-proxy.kubeconfig'),
  cluster.admin.credentials,
);
const times = { duration: 2000, deadline: 1500, retry: 200 };
const path = '/apis/coordination.k8s.io/v1/namespaces/default/leases';

interface Contender {
  identity: string;
  election: LeaderElector;
  /** Stops the contender gracefully: it releases the Lease. */
  end(): Promise<void>;
  /** Makes all of the contender's requests fail, as an outage of the network would. */
  cut(): void;
}

const running = new Set<Contender>();
after(() => Promise.all([...running].map((one) => one.end())));
/** The identities of the leaders at each moment at which more than one contender led. */
const clashes: string[][] = [];

async function contend(name: string, identity: string): Promise<Contender> {
  const client = await openCluster(kubeconfig);
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const election = new LeaderElector(client, { namespace: 'default', name, identity, log, times });
  election.subscribe(() => {
    const leading = [...running].filter((one) => one.election.leads).map((one) => one.identity);
    if (leading.length > 1) clashes.push(leading);
  });
  const stop = new AbortController();
  const over = election.run(stop.signal);
  const contender: Contender = {
    identity,
    election,
    end: async () => {
      stop.abort();
      await over;
      client.close();
      running.delete(contender);
    },
    cut: () => {
      client.request = () => Promise.reject(new Error('cut off'));
    },
  };
  running.add(contender);
  return contender;
}

function leader(...all: Contender[]): Promise<[Contender, Contender[]]> {
  return eventually(async () => {
    const found = all.find(({ election }) => election.leads);
    assert.ok(found, 'there is no leader');
    return [found, all.filter((one) => one !== found)];
  });
}

const stored = async (name: string): Promise<Lease> => cluster.api.get<Lease>(`${path}/${name}`);

suite('contenders for a Lease', () => {
  test('of contenders that start together, one becomes and stays the leader', async () => {
    const all = await Promise.all(['a', 'b', 'c'].map((identity) => contend('together', identity)));
    const [first] = await leader(...all);
    assert.equal((await stored('together')).spec?.holderIdentity, first.identity);
    const before = (await stored('together')).spec;
    await eventually(async () =>
      assert.notEqual((await stored('together')).spec?.renewTime, before?.renewTime),
    );
    const now = (await stored('together')).spec;
    assert.deepEqual([now?.holderIdentity, now?.leaseDurationSeconds], [first.identity, 2]);
    await Promise.all(all.map((one) => one.end()));
    assert.equal((await stored('together')).spec?.holderIdentity, '');
  });

  test('a leader that is cut off stops leading before another begins', async () => {
    const one = await contend('cut', 'a');
    await leader(one);
    const other = await contend('cut', 'b');
    one.cut();
    await leader(other);
    assert.equal(one.election.leads, false);
    await Promise.all([one.end(), other.end()]);
  });

  test('no replica leads while the API server does not answer, and one does when it answers again', async () => {
    const all = [await contend('frozen', 'a'), await contend('frozen', 'b')];
    await leader(...all);
    proxy.swallow();
    await eventually(async () => assert.ok(all.every(({ election }) => !election.leads)));
    proxy.recover();
    await leader(...all);
    await Promise.all(all.map((one) => one.end()));
  });

  test('no two contenders ever led at the same time', () => assert.deepEqual(clashes, []));
});

import { Registry } from 'prom-client';
import { ApiClient } from '../../webhook/cluster/client.ts';
import { watchCluster } from '../../webhook/server/watch-cluster.ts';
import { policyOf } from './configurations.ts';

/** The API server's URL, and the number of waiting pods at which this process reports its memory. */
const [, , server = '', expected = '0'] = process.argv;
const client = new ApiClient({
  source: 'the test',
  connection: async () => ({ server, headers: {}, tls: {} }),
  refresh: () => {},
});
const policy = policyOf({ profiles: [{ name: 'mesh', daemonSets: [{ namespace: 'net', name: 'agent' }] }] });
const log = { info: () => {}, warn: () => {}, error: () => {} };
const deps = { registry: new Registry(), log, signal: new AbortController().signal };
const { pending, unready, close } = watchCluster(client, () => policy, deps, undefined);
const waiting = (): number => [...pending()].length;
let heap = 0;
while (unready() !== undefined || waiting() < Number(expected)) {
  await new Promise((resolve) => setTimeout(resolve, 10));
  heap = Math.max(heap, process.memoryUsage().heapUsed);
}
const reported = { waiting: waiting(), heap, rss: process.resourceUsage().maxRSS * 1024 };
process.stdout.write(JSON.stringify(reported));
await close();

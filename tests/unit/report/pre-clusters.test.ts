import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { parse } from 'yaml';
import { observeBefore } from '../../../webhook/report/observe/observe.ts';
import { checkReport, checkText } from '../../../webhook/report/show/check.ts';
import { json, startFakeApi } from '../../support/fake-api-server.ts';
import { compareGolden } from './golden.ts';

interface Cluster {
  metadata: { namespace: string; name: string };
}

const clusters: Record<string, Cluster[]> = parse(
  readFileSync(new URL('./pre-clusters.yaml', import.meta.url), 'utf8'),
);

/** What `check --pre` reports about the networks of a cluster with these DaemonSets. */
async function networks(t: TestContext, daemonSets: Cluster[]): Promise<string> {
  const named = daemonSets.map(({ metadata, ...more }) => ({
    metadata: { ...metadata, uid: metadata.name, resourceVersion: '1' },
    ...more,
  }));
  const { client } = await startFakeApi(t, ({ path, query }, response) => {
    if (path === '/version') return json(response, 200, { major: '1', minor: '36', gitVersion: 'v1.36.3' });
    if (path.endsWith('reviews')) return json(response, 201, { status: { allowed: true } });
    const items = named.filter(
      ({ metadata: { namespace, name } }) =>
        path === `/apis/apps/v1/namespaces/${namespace}/daemonsets` &&
        query.fieldSelector === `metadata.name=${name}`,
    );
    return json(response, 200, { metadata: { resourceVersion: '1' }, items });
  });
  const report = checkReport(await observeBefore(client, { ownNamespace: 'cni-gate', given: undefined }), 0);
  const lines = checkText(report).split('\n');
  return lines.slice(lines.findIndex((line) => / networks /.test(line))).join('\n');
}

test('check --pre finds each network by its DaemonSet, and proposes its profile', async (t) => {
  const texts: string[] = [];
  for (const [name, daemonSets] of Object.entries(clusters))
    texts.push(`# ${name}\n\n${await networks(t, daemonSets)}`);
  assert.ok(texts.length > 5);
  compareGolden('check-pre-clusters.txt', texts.join('\n'));
});

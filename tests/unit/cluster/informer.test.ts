import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Registry } from 'prom-client';
import { InformerFactory } from '../../../webhook/cluster/informer/informer-factory.ts';
import { clusterMetrics } from '../../../webhook/cluster/metrics.ts';
import { json, startFakeApi, status } from '../../support/fake-api-server.ts';
import { event, informing, listing, listOf, namespace } from '../../support/informing.ts';

test('lists page by page, then watches from there and keeps only what was picked', async (t) => {
  const run = await informing(t, ({ query }, response) => {
    if (query.watch !== undefined) {
      response.writeHead(200).write(event('MODIFIED', namespace('b', '8', { x: '2' })));
      response.write(event('DELETED', namespace('a', '9')));
    } else if (query.continue === undefined) {
      json(response, 200, listOf('7', [namespace('a', '1', { x: '1' })], 'next'));
    } else {
      json(response, 200, listOf('7', [namespace('b', '2')]));
    }
  });
  assert.equal(run.informer.synced, false);
  await run.informer.whenSynced();
  assert.deepEqual([...run.informer.store.list()], [{ x: '1' }, {}]);
  await run.reported('deleted a');
  assert.deepEqual([...run.informer.store.list()], [{ x: '2' }]);
  assert.deepEqual(run.changes, ['added a', 'added b', 'updated b', 'deleted a']);
  const [first, second, watch] = run.api.asked.map(({ query }) => query);
  assert.deepEqual(first, { limit: '100' });
  assert.deepEqual(second, { limit: '100', continue: 'next' });
  assert.deepEqual(watch, {
    resourceVersion: '7',
    allowWatchBookmarks: 'true',
    timeoutSeconds: '1',
    watch: 'true',
  });
});

test('resumes from the last event or bookmark when the server ends a watch', async (t) => {
  const run = await informing(
    t,
    listing(listOf('5', []), (_asked, response, nth) => {
      if (nth === 1) response.writeHead(200).end(event('ADDED', namespace('a', '6')));
      else if (nth === 2)
        response.writeHead(200).end(event('BOOKMARK', { metadata: { resourceVersion: '9' } }));
      else response.writeHead(200);
    }),
  );
  await run.api.nth(3);
  assert.deepEqual(
    run.api.asked.slice(1).map(({ query }) => query.resourceVersion),
    ['5', '6', '9'],
  );
  assert.deepEqual(
    run.ends.map(({ reason, wait }) => [reason, wait]),
    [
      ['ended', 0],
      ['ended', 0],
      ['ended', 0],
    ],
  );
});

test('a list that is slow but continues does not time out', async (t) => {
  const text = JSON.stringify(listOf('5', [namespace('a', '1')]));
  const run = await informing(
    t,
    ({ query }, response) => {
      if (query.watch !== undefined) return void response.writeHead(200).flushHeaders();
      // the complete list takes longer than the time-out, but the time-out applies only to each wait for more bytes
      const pieces = [...text.slice(0, 15), text.slice(15)];
      const timer = setInterval(() => {
        const piece = pieces.shift();
        if (piece !== undefined) return void response.write(piece);
        clearInterval(timer);
        response.end();
      }, 40);
    },
    { answer: 500 },
  );
  const [end] = await run.ended(1);
  assert.equal(end?.reason, 'ended');
});

type Response = Parameters<typeof json>[0];

const etcd = status(500, 'InternalError', 'etcd');
const faults: [name: string, reason: string, text: RegExp, (response: Response) => unknown][] = [
  ['refused with 500', 'failed', /etcd/, (response) => json(response, 500, etcd)],
  ['an ERROR event', 'failed', /etcd/, (response) => response.writeHead(200).end(event('ERROR', etcd))],
  [
    'ended within a line',
    'failed',
    /within an object/,
    (response) => response.writeHead(200).end('{"type":'),
  ],
  ['cut', 'failed', /no answer/, (response) => response.writeHead(200).write('{', () => response.destroy())],
  ['ended immediately', 'failed', /ended the watch immediately/, (response) => response.writeHead(200).end()],
  ['no head', 'silent', /no byte for 500 ms/, () => {}],
  ['silent', 'silent', /a watch of 1 s did not end/, (response) => response.writeHead(200).flushHeaders()],
];
for (const [name, reason, text, fault] of faults) {
  test(`a watch that is ${name} is reopened from the same version`, async (t) => {
    const run = await informing(
      t,
      listing(listOf('5', [namespace('a', '1')]), (_asked, response, nth) => {
        if (nth === 1) fault(response);
        else response.writeHead(200).write(event('ADDED', namespace('b', '6')));
      }),
      name === 'no head' ? { answer: 500 } : {},
    );
    await run.reported('added b');
    const [, end] = run.ends;
    assert.equal(end?.reason, reason);
    assert.match(end?.error === undefined ? '' : String(end.error), text);
    assert.deepEqual(
      run.api.asked.slice(1).map(({ query }) => query.resourceVersion),
      ['5', '5'],
    );
    assert.equal(run.informer.fault, undefined, 'it works again');
  });
}

for (const [line, reason] of [
  ['null', 'failed'],
  ['<html>', 'failed'],
  ['{"type":"ADDED","object":{"metadata":{"name":"a"}}}', 'failed'],
  ['{"type":"SURPRISE","object":{}}', 'failed'],
  ['{"type":"BOOKMARK","object":{"metadata":null}}', 'failed'],
  ['{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}', 'expired'],
]) {
  test(`after ${line}, earlier events stay, and everything is listed again`, async (t) => {
    const run = await informing(
      t,
      listing(listOf('5', [namespace('a', '1')]), (_asked, response, nth) => {
        if (nth > 1) return void response.writeHead(200).flushHeaders();
        response.writeHead(200).write(event('ADDED', namespace('b', '6')));
        response.write(`${line}\n`);
      }),
    );
    await run.ended(3);
    assert.deepEqual(run.changes, ['added a', 'added b', 'deleted b']);
    assert.deepEqual(
      run.ends.map((end) => end.reason),
      ['ended', reason, 'ended'],
    );
  });
}

/** Runs an informer whose watches all get the same answer. @returns its waits, and its request after each wait */
async function failing(t: TestContext, count: number, answer: (response: Response) => unknown) {
  const run = await informing(
    t,
    listing(listOf('5', []), (_asked, response) => void answer(response)),
  );
  const ends = (await run.ended(count + 1)).slice(1);
  return {
    waits: ends.map(({ wait }) => wait),
    next: run.api.asked
      .slice(2, count + 1)
      .map(({ query }) => (query.watch === undefined ? 'list' : 'watch')),
  };
}

test('after four failures without an answer, everything is listed again, and the waits still grow', async (t) => {
  const cut = (response: Response): unknown => response.destroy();
  const { waits, next } = await failing(t, 6, cut);
  // the client sends the first watch twice, because it reuses the connection of the list
  assert.deepEqual(next, ['watch', 'watch', 'watch', 'watch', 'list']);
  assert.deepEqual(waits, [0.5, 1, 2, 2, 0, 2]);
});

test('while the API server answers 429, watches are repeated and not replaced by lists', async (t) => {
  const busy = (response: Response): unknown => json(response, 429, 'no');
  const { next } = await failing(t, 6, busy);
  assert.deepEqual(new Set(next), new Set(['watch']));
});

test('a fault is logged once, and so is its end', async (t) => {
  const lines: string[] = [];
  const add = (_facts: object, text: string): void =>
    void lines.push(text.replace(/ at http.*: (?=\w)/, ': '));
  const api = await startFakeApi(t, ({ index, query }, response) => {
    if (index < 4) json(response, 503, status(503, 'ServiceUnavailable', 'starting'));
    else if (query.watch === undefined) json(response, 200, listOf('5', []));
    else response.writeHead(200).flushHeaders();
  });
  const deps = { metrics: clusterMetrics(new Registry()), log: { info: add, warn: add, error: add } };
  const factory = new InformerFactory(api.client, deps, { backoff: 1, longestBackoff: 4 });
  t.after(() => factory.close());
  await factory.start({ resource: 'nodes', path: '/api/v1/nodes', pick: () => ({}) }).whenSynced();
  assert.deepEqual(lines, [
    'cannot list nodes: starting; it is tried again',
    'the API server answers again about nodes',
  ]);
});

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { listAll } from '../../../webhook/kubernetes/reflector/list-all.ts';
import type { ApiObject } from '../../../webhook/kubernetes/reflector/object.ts';
import type { Source } from '../../../webhook/kubernetes/reflector/source.ts';
import { LargeAnswers } from '../../../webhook/kubernetes/stream/large-answers.ts';
import { type Asked, json, startFakeApi } from '../../support/fake-api-server.ts';
import { listOf, namespace } from '../../support/reflecting.ts';

const KiB = 1024;
const most = 256 * KiB;
const options = { timeout: 10_000, signal: new AbortController().signal, onPage: () => {}, most };

/** Keeps the labels of each object, without a limit of its own. */
const source: Source<ApiObject, object> = {
  resource: 'namespaces',
  path: '/api/v1/namespaces',
  pick: ({ metadata }) => ({ labels: metadata.labels }),
};

/** Sends objects for as long as the other side reads. */
function sendEndless(response: ServerResponse): void {
  response.writeHead(200).write('{"metadata":{"resourceVersion":"5"},"items":[');
  let index = 0;
  const send = (): void => {
    if (response.destroyed) return;
    index += 1;
    response.write(`${JSON.stringify(namespace(`n${index}`, '1', { a: 'x'.repeat(1000) }))},`);
    setImmediate(send);
  };
  send();
}

test('a list without an end: fails at the limit and ends the answer; a list after it is read', async (t) => {
  let isEndless = true;
  const cut = Promise.withResolvers<void>();
  const { client } = await startFakeApi(t, (_asked: Asked, response) => {
    if (!isEndless) return json(response, 200, listOf('5', [namespace('a', '1')]));
    response.on('close', cut.resolve);
    sendEndless(response);
  });
  const refused = /the lists that have not ended yet take more than 256 KiB/;
  await assert.rejects(listAll(client, source, options), refused);
  await cut.promise;
  isEndless = false;
  assert.equal((await listAll(client, source, options)).entries.size, 1);
});

test('pages without an end: fail at the limit', async (t) => {
  let page = 0;
  const { client } = await startFakeApi(t, (_asked, response) => {
    page += 1;
    json(response, 200, listOf('5', [namespace(`n${page}`, '1', { a: 'x'.repeat(10_000) })], 'next'));
  });
  await assert.rejects(listAll(client, source, options), /have not ended yet take more than/);
});

test('lists share the limit: one that would fit alone fails beside another that has not ended', async (t) => {
  const waits = Promise.withResolvers<void>();
  const big = listOf('5', [namespace('a', '1', { a: 'x'.repeat(70_000) })], 'next');
  const { client } = await startFakeApi(t, ({ query }, response) => {
    if (query.continue === undefined) return json(response, 200, big);
    void waits.promise.then(() => json(response, 200, listOf('5', [])));
  });
  const paged = Promise.withResolvers<void>();
  const first = listAll(client, source, { ...options, onPage: paged.resolve });
  await paged.promise;
  await assert.rejects(listAll(client, source, options), /have not ended yet take more than/);
  waits.resolve();
  assert.equal((await first).entries.size, 1);
});

test('a large page: waits until another large page has ended, while a small one is read', async (t) => {
  const large = new LargeAnswers(KiB, 1);
  const item = JSON.stringify(namespace('a', '1', { a: 'x'.repeat(4 * KiB) }));
  const end = ']}';
  const { client } = await startFakeApi(t, ({ path }, response) => {
    response.writeHead(200).write('{"metadata":{"resourceVersion":"5"},"items":[');
    if (path === '/small') response.end(end);
    else if (path === '/second') response.end(`${item}${end}`);
    else response.write(item, () => first.resolve(response));
  });
  const first = Promise.withResolvers<ServerResponse>();
  const began = Promise.withResolvers<void>();
  const order: string[] = [];
  const list = async (path: string): Promise<void> => {
    const pick = ({ metadata }: ApiObject): object => {
      if (path === '/first') began.resolve();
      return metadata;
    };
    await listAll(client, { ...source, path, pick }, { ...options, large });
    order.push(path);
  };
  const isRead = list('/first');
  await began.promise;
  const isSecondRead = list('/second');
  await list('/small');
  await list('/small');
  (await first.promise).end(end);
  await Promise.all([isRead, isSecondRead]);
  assert.deepEqual(order, ['/small', '/small', '/first', '/second']);
});

test('a list of objects of which nothing is kept: is read', async (t) => {
  const { client } = await startFakeApi(t, (_asked: Asked, response) =>
    json(response, 200, listOf('5', [namespace('a', '1')])),
  );
  const nothing: Source<ApiObject, undefined> = {
    resource: source.resource,
    path: source.path,
    pick: () => undefined,
  };
  const { resourceVersion } = await listAll(client, nothing, options);
  assert.equal(resourceVersion, '5');
});

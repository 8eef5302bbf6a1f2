import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Method } from '../../../webhook/cluster/client.ts';
import type { ClusterError } from '../../../webhook/cluster/errors.ts';
import { TooLarge } from '../../../webhook/cluster/exchange.ts';
import { json, startFakeApi, status } from '../../support/fake-api-server.ts';

const fails =
  (code: string, text: RegExp, more: Partial<ClusterError> = {}) =>
  (error: ClusterError) => {
    assert.equal(error.code, code, error.message);
    assert.match(error.message, text);
    for (const [key, value] of Object.entries(more))
      assert.equal(error[key as keyof ClusterError], value, key);
    return true;
  };

test('a request sends its query, body and content type, and returns the parsed answer', async (t) => {
  const api = await startFakeApi(t, (_asked, response) => json(response, 200, { kind: 'Secret' }));
  const answer = await api.client.request('PATCH', '/api/v1/namespaces/a/secrets/b', {
    query: { fieldManager: 'x y', dryRun: undefined },
    body: { data: { ä: 'b' } },
    contentType: 'application/merge-patch+json',
  });
  assert.deepEqual(answer, { kind: 'Secret' });
  const [asked] = api.asked;
  assert.deepEqual(asked?.query, { fieldManager: 'x y' });
  assert.equal(asked?.body, '{"data":{"ä":"b"}}');
  assert.equal(asked?.headers['content-type'], 'application/merge-patch+json');
  assert.match(asked?.headers['user-agent'] ?? '', /^cni-gate\/\d/);
});

test('an answer over the limit, or without an end, is not kept in memory', async (t) => {
  const api = await startFakeApi(t, ({ path, query }, response) => {
    if (path === '/long') return json(response, 200, { items: 'x'.repeat(5000) });
    response.writeHead(Number(query.status), { 'content-type': 'application/json' });
    const part = 'x'.repeat(64 * 1024);
    const more = (): void => {
      while (!response.destroyed && response.write(part));
    };
    response.on('drain', more);
    more();
  });
  const ask = (method: Method, code: number) =>
    api.client.request(method, '/endless', { query: { status: code } });
  await assert.rejects(ask('GET', 200), (error: Error) => error.cause instanceof TooLarge);
  await assert.rejects(ask('PUT', 400), (error: Error) => error.cause instanceof TooLarge);
  const get = (maxBytes: number) => api.client.request('GET', '/long', { maxBytes });
  await get(6000);
  await assert.rejects(get(4000), (error: Error) => error.cause instanceof TooLarge);
});

test('an object that does not exist is undefined; other refusals are errors', async (t) => {
  const api = await startFakeApi(t, ({ index }, response) => {
    const code = [404, 403][index] ?? 200;
    json(response, code, code === 200 ? { kind: 'Pod' } : status(code, 'No', 'no'));
  });
  const get = () => api.client.get('/api/v1/namespaces/a');
  assert.equal(await get(), undefined);
  await assert.rejects(get, { code: 'CNI_GATE_CLUSTER_FORBIDDEN' });
  assert.deepEqual(await get(), { kind: 'Pod' });
});

test('a refusal keeps status, reason and text', async (t) => {
  const answers: [code: number, reason: string, expected: string][] = [
    [400, 'BadRequest', 'CNI_GATE_CLUSTER_REFUSED'],
    [404, 'NotFound', 'CNI_GATE_CLUSTER_NOT_FOUND'],
    [409, 'AlreadyExists', 'CNI_GATE_CLUSTER_CONFLICT'],
    [410, 'Expired', 'CNI_GATE_CLUSTER_GONE'],
    [429, 'TooManyRequests', 'CNI_GATE_CLUSTER_BUSY'],
    [504, 'Timeout', 'CNI_GATE_CLUSTER_BUSY'],
  ];
  const api = await startFakeApi(t, ({ index }, response) => {
    const [code = 0, reason = ''] = answers[index] ?? [];
    json(response, code, status(code, reason, 'told so'));
  });
  for (const [code, reason, expected] of answers) {
    await assert.rejects(
      api.client.request('GET', '/api/v1/namespaces/a'),
      fails(expected, /^cannot get namespaces a: told so$/, { status: code, reason }),
    );
  }
});

test('a rejection by RBAC names the missing right; one by a policy does not', async (t) => {
  const byRbac = 'pods "a" is forbidden: User "u" cannot patch resource "pods/status" in API group ""';
  const byPolicy = 'pods "a" is forbidden: ValidatingAdmissionPolicy said no';
  const api = await startFakeApi(t, ({ index }, response) =>
    json(response, 403, status(403, 'Forbidden', index === 0 ? byRbac : byPolicy)),
  );
  const ask = () => api.client.request('PATCH', '/api/v1/namespaces/n/pods/a/status', { body: {} });
  const reason = /RBAC lacks verb "patch" on resource "pods\/status" of API group ""$/;
  await assert.rejects(ask, fails('CNI_GATE_CLUSTER_FORBIDDEN', reason));
  await assert.rejects(ask, fails('CNI_GATE_CLUSTER_FORBIDDEN', /said no$/));
});

test('after 401 the credentials are refreshed for the next request', async (t) => {
  let token = 'old';
  const api = await startFakeApi(
    t,
    ({ headers }, response) => {
      const good = headers.authorization === 'Bearer new';
      json(response, good ? 200 : 401, status(401, 'Unauthorized', 'Unauthorized'));
    },
    (url) => ({
      source: 'x',
      connection: async () => ({ server: url, headers: { authorization: `Bearer ${token}` }, tls: {} }),
      refresh: () => {
        token = 'new';
      },
    }),
  );
  const ask = () => api.client.request('GET', '/version');
  await assert.rejects(
    ask,
    fails('CNI_GATE_CLUSTER_UNAUTHORIZED', /Unauthorized: the credentials of x .* have expired/),
  );
  await ask();
});

test('an answer that is not from an API server is reported as unreachable', async (t) => {
  const answers: [string, RegExp, Parameters<typeof startFakeApi>[1]][] = [
    ['not JSON', /^\P{Cc}*not valid JSON\P{Cc}*$/u, (_asked, response) => response.end('<p>\u001b[31m')],
    ['null', /expected a JSON object, got null$/, (_asked, response) => response.end('null')],
    [
      'cut',
      /\(ECONNRESET\)$/,
      (_asked, response) => {
        response.writeHead(200, { 'content-length': '100' }).write('{', () => {
          response.destroy();
        });
      },
    ],
    ['no head', /no byte for 50 ms/, () => {}],
    [
      'no end',
      /no byte for 50 ms/,
      (_asked, response) => {
        response.writeHead(200).write('{');
      },
    ],
  ];
  for (const [name, text, answer] of answers) {
    await t.test(name, async (t) => {
      const api = await startFakeApi(t, answer);
      // the time-out is short only in cases without an answer, because answers may be slow on a busy machine
      const timeout = name.startsWith('no ') ? 50 : 10_000;
      const request = api.client.request('GET', '/version', { timeout });
      const expected = fails('CNI_GATE_CLUSTER_UNREACHABLE', text, { status: undefined });
      await assert.rejects(request, expected);
    });
  }
});

test('after a time-out, no idle connection is reused', async (t) => {
  const sockets = new Set<unknown>();
  const api = await startFakeApi(t, ({ path }, response) => {
    if (path === '/silent') return;
    sockets.add(response.socket);
    if (path !== '/slow') json(response, 200, {});
    else api.nth(1).then(() => json(response, 200, {}));
  });
  // the client opens two connections: the first one becomes idle, and the second one gets no answer
  const slow = api.client.request('GET', '/slow');
  await api.nth(0);
  const silent = api.client.request('GET', '/silent', { timeout: 100 });
  await slow;
  await assert.rejects(silent, /no byte/);
  await api.client.request('GET', '/version');
  assert.equal(sockets.size, 2, 'the last request came over a new connection');
});

test('a GET over an idle connection that the server closed is sent once more, over a new one', async (t) => {
  const api = await startFakeApi(t, ({ path }, response) => {
    if (path === '/closed') response.destroy();
    else json(response, 200, {});
  });
  const get = (path: string) => api.client.request('GET', path);
  const asked = () => api.asked.splice(0).map(({ method, path }) => `${method} ${path}`);
  // the client does not repeat a request if the server closes a new connection
  await assert.rejects(get('/closed'), fails('CNI_GATE_CLUSTER_UNREACHABLE', /ECONNRESET/));
  assert.deepEqual(asked(), ['GET /closed']);
  await Promise.all([get('/a'), get('/b')]);
  // both connections are now idle in the client's pool, and the server closes them
  api.closeConnections();
  await get('/c');
  assert.deepEqual(asked(), ['GET /a', 'GET /b', 'GET /c']);
  // if the server closes a reused connection, the client repeats the request once, but not twice
  await assert.rejects(get('/closed'), fails('CNI_GATE_CLUSTER_UNREACHABLE', /ECONNRESET/));
  assert.deepEqual(asked(), ['GET /closed', 'GET /closed']);
  await get('/d');
  const put = api.client.request('PUT', '/closed', { body: {} });
  await assert.rejects(put, fails('CNI_GATE_CLUSTER_UNREACHABLE', /ECONNRESET/));
  assert.deepEqual(asked(), ['GET /d', 'PUT /closed']);
});

test('a watch that is refused or aborted ends with an error', async (t) => {
  const api = await startFakeApi(t, ({ index }, response) => {
    if (index === 0) json(response, 410, status(410, 'Expired', 'too old'));
    else response.writeHead(200).write('{}\n');
  });
  const abort = new AbortController();
  const watch = () => api.client.stream('/api/v1/namespaces', { layout: 'events', signal: abort.signal });
  await assert.rejects(watch(), fails('CNI_GATE_CLUSTER_GONE', /^cannot watch namespaces: too old/));
  const events = (await watch())[Symbol.asyncIterator]();
  assert.deepEqual((await events.next()).value, { text: '{}', isCut: false });
  const next = events.next();
  abort.abort(new Error('enough'));
  await assert.rejects(next, /^Error: enough$/);
});

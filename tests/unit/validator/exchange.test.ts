import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { makeToken } from '../../../validator/checks/redirect.ts';
import { type Answer, exchange } from '../../../validator/exchange.ts';
import type { Connection } from '../../../validator/platform.ts';
import './on-node.ts';

const token = makeToken();

/** The result of a connection on which the other end does this. */
function answerTo(act: (peer: PassThrough) => void, accepted = true): Promise<Answer> {
  const peer = new PassThrough();
  // it reads and ends like a socket, without a network
  const waiting = exchange(peer as unknown as Connection, {
    token,
    accepted: () => accepted,
    patience: 20,
    limit: 60,
  });
  act(peer);
  return waiting;
}

test('our token over a connection that our listener accepted: own', async () => {
  assert.equal(await answerTo((peer) => peer.end(token)), 'own');
});

test('our token over a connection that our listener did not accept: relayed', async () => {
  assert.equal(await answerTo((peer) => peer.end(token), false), 'relayed');
});

test('a token in several chunks is accepted', async () => {
  const answer = answerTo((peer) => {
    peer.write(token.subarray(0, 5));
    setImmediate(() => peer.end(token.subarray(5)));
  });
  assert.equal(await answer, 'own');
});

test('other bytes: other, even if our listener accepted the connection', async () => {
  assert.equal(await answerTo((peer) => peer.write('HTTP/1.1 400 Bad Request\r\n')), 'other');
  assert.equal(await answerTo((peer) => peer.write(Buffer.concat([token, token]))), 'other');
});

test('a connection that ends without a token: silence', async () => {
  assert.equal(await answerTo((peer) => peer.end()), 'silence');
  assert.equal(await answerTo((peer) => peer.end(token.subarray(0, 31))), 'silence');
});

test('a silent peer: silence as soon as our listener should have accepted', async () => {
  const started = process.uptime();
  assert.equal(await answerTo(() => {}, false), 'silence');
  const early = process.uptime() - started;
  assert.equal(await answerTo(() => {}, true), 'silence');
  assert.ok(early < process.uptime() - started, 'earlier than what our listener did accept');
});

test('a connection that our listener accepted gets more time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const peer = new PassThrough();
  const options = { token, accepted: () => true, patience: 20, limit: 60 };
  const waiting = exchange(peer as unknown as Connection, options);
  t.mock.timers.tick(30);
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  peer.end(token);
  assert.equal(await waiting, 'own');
});

test('tokens differ', () => {
  assert.equal(token.length, 32);
  assert.notDeepEqual(token, makeToken());
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kernel, settled } from './kernel.ts';

const { answerOn } = await import('../../../validator/checks/probe.ts');
const { after } = await import('../../../validator/host/loop.ts');

const token = Uint8Array.from({ length: 32 }, (_, index) => index);
const http = new TextEncoder().encode('HTTP/1.1 400 Bad Request\r\n');
/** The steps of the peer: in each, it sends bytes, or it ends the connection (undefined). */
type Sent = (Uint8Array | undefined)[];
const half = token.subarray(0, 5);
const rest = token.subarray(5);

const cases: [what: string, accepted: boolean, sent: Sent, answer: string][] = [
  ['our token over a connection that our listener accepted', true, [token, undefined], 'own'],
  ['our token over one that it did not accept', false, [token, undefined], 'relayed'],
  ['a token in several chunks', true, [half, rest, undefined], 'own'],
  ['other bytes, even if our listener accepted', true, [http], 'other'],
  ['the token twice', true, [Uint8Array.from([...token, ...token])], 'other'],
  ['an end without a token', true, [undefined], 'silence'],
  ['an end within the token', true, [half, undefined], 'silence'],
  ['nothing', true, [], 'silence'],
];

for (const [what, accepted, sent, expected] of cases)
  test(`${what}: ${expected}`, async () => {
    const start = kernel.now;
    const peer = {
      receive: (act: (bytes: Uint8Array | undefined) => void) =>
        sent.forEach((bytes) => void after(1, () => act(bytes))),
    };
    assert.equal(await settled(answerOn(peer, token, () => accepted)), expected);
    assert.equal(kernel.now - start, sent.length > 0 ? 1 : 500);
  });

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { native } from './kernel.ts';

const { log } = await import('../../../validator/output.ts');
native.encode = (text: string) => new TextEncoder().encode(text);

test('a full pipe, or a partial write: the whole line is written', () => {
  let written = '';
  let calls = 0;
  native.write = (_: number, bytes: Uint8Array) => {
    calls += 1;
    if (calls % 2 === 1) throw new Error('EAGAIN');
    written += new TextDecoder().decode(bytes.subarray(0, 4));
    return Math.min(bytes.length, 4);
  };
  log('a whole line');
  assert.equal(written, 'a whole line\n');
});

for (const [error, tries] of [
  ['EAGAIN', 1000],
  ['EPIPE', 1],
] as const)
  test(`a log without a reader (${error}) does not block the exit`, () => {
    let calls = 0;
    native.write = () => {
      calls += 1;
      throw new Error(error);
    };
    log('a line');
    assert.equal(calls, tries);
  });

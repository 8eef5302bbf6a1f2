import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { log } from '../../../validator/output.ts';
import './on-node.ts';

const again = Object.assign(new Error('try again'), { code: 'EAGAIN' });

test('a full pipe, or a partial write: the whole line is written', (t) => {
  let written = '';
  let calls = 0;
  t.mock.method(fs, 'writeSync', (_: number, bytes: Buffer, from: number) => {
    calls += 1;
    if (calls % 2 === 1) throw again;
    const part = bytes.subarray(from, from + 4);
    written += part.toString();
    return part.length;
  });
  log('a whole line');
  assert.equal(written, 'a whole line\n');
});

test('a log that nobody reads does not block the exit', (t) => {
  const write = t.mock.method(fs, 'writeSync', () => {
    throw again;
  });
  log('a line');
  assert.equal(write.mock.callCount(), 1000);
  write.mock.mockImplementation(() => {
    throw Object.assign(new Error('closed'), { code: 'EPIPE' });
  });
  log('a line');
  assert.equal(write.mock.callCount(), 1001);
});

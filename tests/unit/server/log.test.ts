import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLog } from '../../../webhook/server/log.ts';

test('a log line has its level as a word and its time in ISO 8601', () => {
  const lines: string[] = [];
  const log = openLog('debug', { write: (line) => void lines.push(line) });
  const before = new Date().toISOString();
  log.info({ pod: 'web' }, 'one');
  // fastify logs through children
  log.child({ requestId: 1 }).warn('two');
  log.trace('below the level');
  const read = lines.map((line): Record<string, unknown> => JSON.parse(line));
  const expected = [
    ['info', 'one'],
    ['warn', 'two'],
  ];
  assert.deepEqual(
    read.map(({ level, msg }) => [level, msg]),
    expected,
  );
  for (const { time } of read) {
    assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(String(time) >= before);
  }
});

test('an untrusted text is one line of the log, whatever it contains', () => {
  const lines: string[] = [];
  const log = openLog('info', { write: (line) => void lines.push(line) });
  log.info({ pod: 'web\n{"level":"error"}' }, 'refused\r\n{"level":"error","msg":"forged"}\u2028');
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /^[^\r\n]*\n$/);
});

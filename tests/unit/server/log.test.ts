import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLog } from '../../../webhook/server/log.ts';

test('a line has its level as a word and its time in ISO 8601, and is one line whatever it contains', () => {
  const lines: string[] = [];
  const log = openLog('info', { write: (line) => void lines.push(line) });
  log.info({ pod: 'web\n{"level":"error"}' }, 'refused\r\n{"level":"error","msg":"forged"}\u2028');
  log.debug('below the level');
  assert.equal(lines.length, 1);
  assert.match(
    lines[0] ?? '',
    /^\{"level":"info","time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"[^\r\n]*\n$/,
  );
});

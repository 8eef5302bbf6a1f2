import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
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

test('a late reader does not block the process, and gets every line', async () => {
  const lines = 2000;
  const script = `
    import { openLog } from '${new URL('../../../webhook/server/log.ts', import.meta.url)}';
    const log = openLog('info');
    for (let line = 0; line < ${lines}; line += 1) log.info({ line, text: 'x'.repeat(200) }, 'many');
    setTimeout(() => process.stderr.end('goes on'), 50);
  `;
  const args = ['--input-type=module-typescript', '--eval', script];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  // the pipe's buffer has 64 KiB, and the test reads the pipe only after the process has continued
  assert.match(await text(child.stderr), /^goes on$/);
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
  assert.equal(output.trimEnd().split('\n').length, lines);
});

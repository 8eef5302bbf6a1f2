import assert from 'node:assert/strict';
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { LiveFiles } from '../../../webhook/lib/live-files.ts';
import { folderWith } from '../../support/folder.ts';

/** A watched file that contains a number, and what is reported when the file changes. */
function numberIn(t: TestContext, text: string) {
  const path = join(folderWith(t, { number: text }), 'number');
  const reported: string[] = [];
  const file = new LiveFiles({
    paths: [path],
    parse: ([text = '']) => {
      if (Number.isNaN(Number(text))) throw new Error(`no number: ${text}`);
      return Number(text);
    },
    unreadable: 'CNI_GATE_CONFIG_UNREADABLE',
    onReload: (value) => reported.push(`reloaded ${value}`),
    onError: (error) => reported.push(String(error)),
    interval: 20,
  });
  t.after(() => file.close());
  return { file, path, reported };
}

test('a file that was only touched is not reloaded, and a wrong text is reported once', async (t) => {
  const { file, path, reported } = numberIn(t, '1');
  const touch = async (time: number): Promise<void> => {
    utimesSync(path, new Date(time), new Date(time));
    await sleep(150);
  };
  await touch(1e12);
  assert.deepEqual(reported, []);
  writeFileSync(path, 'x');
  await sleep(150);
  await touch(2e12);
  assert.deepEqual(reported, ['Error: no number: x']);
  assert.equal(file.value, 1);
  writeFileSync(path, '2');
  await sleep(150);
  assert.deepEqual(reported, ['Error: no number: x', 'reloaded 2']);
  assert.equal(file.value, 2);
});

test('a change immediately after the first reading is noticed', async (t) => {
  const { path, reported } = numberIn(t, '1');
  writeFileSync(path, '2');
  for (let tries = 0; tries < 100 && reported.length === 0; tries++) await sleep(50);
  assert.deepEqual(reported, ['reloaded 2']);
});

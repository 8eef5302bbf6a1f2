import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { LiveFiles } from '../../../webhook/lib/live-files.ts';

test('a file that was only touched is no reload, and a wrong text is told once', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'number');
  writeFileSync(path, '1');
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
  const change = async (text: string): Promise<void> => {
    writeFileSync(path, text);
    await sleep(150);
  };
  utimesSync(path, new Date(1e12), new Date(1e12));
  await sleep(150);
  assert.deepEqual(reported, []);
  await change('x');
  utimesSync(path, new Date(2e12), new Date(2e12));
  await sleep(150);
  assert.deepEqual(reported, ['Error: no number: x']);
  assert.equal(file.value, 1);
  await change('2');
  assert.deepEqual(reported, ['Error: no number: x', 'reloaded 2']);
  assert.equal(file.value, 2);
});

test('a change right after the first reading is noticed', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'text');
  writeFileSync(path, 'old');
  const { promise, resolve } = Promise.withResolvers<string>();
  const file = new LiveFiles({
    paths: [path],
    parse: ([text = '']) => text,
    unreadable: 'CNI_GATE_CONFIG_UNREADABLE',
    onReload: resolve,
    interval: 20,
  });
  t.after(() => file.close());
  writeFileSync(path, 'new');
  assert.equal(await Promise.race([promise, sleep(5000, 'not noticed', { ref: false })]), 'new');
});

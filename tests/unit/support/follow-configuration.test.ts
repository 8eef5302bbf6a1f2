import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { followConfiguration } from '../../cluster/installed/follow-configuration.ts';

test('the pods get a changed ConfigMap once, also after a failed read, until it is ended', async () => {
  let version = 1;
  let reads = 0;
  let isAway = false;
  const written: number[] = [];
  const get = async <T>(): Promise<T> => {
    reads += 1;
    if (isAway) throw new Error('away');
    return { metadata: { resourceVersion: String(version) } } as T;
  };
  const pod = {
    refresh: async (): Promise<void> => {
      written.push(version);
    },
  };
  const someReads = async (): Promise<void> => {
    const before = reads;
    while (reads < before + 3) await sleep(1);
  };
  const end = followConfiguration({ api: { get } }, [pod], 1);
  await someReads();
  assert.deepEqual(written, [1]);
  isAway = true;
  await someReads();
  version = 2;
  isAway = false;
  await someReads();
  assert.deepEqual(written, [1, 2]);
  end();
  version = 3;
  await sleep(20);
  assert.deepEqual(written, [1, 2]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

/** A look-up of the host that cannot begin, because of the limits of its container. */
const asked: string[] = [];
Object.assign(globalThis, {
  native: {
    lookUp: (name: string) => {
      asked.push(name);
      throw new Error('EMFILE');
    },
  },
});
const { lookUp } = await import('../../../validator/host/look-up.ts');

test('a look-up that cannot begin fails with the code of its error', async () => {
  await assert.rejects(lookUp('db.example'), { code: 'EMFILE' });
});

test('a name is looked up in lower case, and without half of a surrogate pair', async () => {
  asked.length = 0;
  await assert.rejects(lookUp('DB.Example\ud800'));
  assert.deepEqual(asked, ['db.example\ufffd']);
});

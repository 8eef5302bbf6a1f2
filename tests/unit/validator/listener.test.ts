import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

const onNode = new URL('./on-node.ts', import.meta.url).href;
const listener = new URL('../../../validator/listener.ts', import.meta.url).href;

/** Whether a listening process has loaded Node's look-up of hosts. */
async function looksUp(alone: boolean): Promise<boolean> {
  const program = `
    import '${onNode}';
    import { listen } from '${listener}';
    const listening = await listen(0, 'IPv4', Buffer.from('token'), ${alone});
    listening.close();
    console.log(process.moduleLoadList.includes('NativeModule dns'));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  return JSON.parse(stdout);
}

test('a pod of one family listens without a host', async () => {
  assert.equal(await looksUp(true), false);
  assert.equal(await looksUp(false), true);
});

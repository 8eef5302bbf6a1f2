import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { native } from './kernel.ts';

const { hasPassed, rememberPass } = await import('../../../validator/sandbox.ts');

const files = new Map<string, string>();
const read = (path: string): string => {
  const text = files.get(path);
  if (text === undefined) throw new Error('ENOENT');
  return text;
};
Object.assign(native, {
  readFile: read,
  readLink: read,
  writeFile: (path: string, text: string) => files.set(path, text),
});

beforeEach(() => {
  files.clear();
  files.set('/proc/self/ns/net', 'net:[4026532008]');
  files.set('/proc/self/ns/ipc', 'ipc:[4026532009]');
  files.set('/proc/sys/kernel/random/boot_id', '2b69365d-97f3-4560-a536-6b914ac46258\n');
});

test('a pass is remembered for its sandbox and boot, until it is withdrawn', () => {
  assert.equal(hasPassed(), false);
  rememberPass(true);
  assert.equal(hasPassed(), true);
  for (const [path, text] of [
    ['/proc/self/ns/net', 'net:[4026532010]'],
    ['/proc/sys/kernel/random/boot_id', 'another'],
  ] as const) {
    const before = read(path);
    files.set(path, text);
    assert.equal(hasPassed(), false, path);
    files.set(path, before);
  }
  rememberPass(false);
  assert.equal(hasPassed(), false);
});

test("nothing is remembered in the node's shared memory, or if it is not writable", () => {
  files.set('/proc/self/ns/ipc', 'ipc:[4026531839]');
  const before = files.size;
  rememberPass(true);
  assert.deepEqual([hasPassed(), files.size], [false, before]);
  files.set('/proc/self/ns/ipc', 'ipc:[4026532009]');
  native.writeFile = () => {
    throw new Error('EACCES');
  };
  rememberPass(true);
  assert.equal(hasPassed(), false);
});

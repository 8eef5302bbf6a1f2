import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyOf } from '../../../webhook/kubernetes/reflector/object.ts';
import { Store } from '../../../webhook/kubernetes/reflector/store.ts';

const entry = (key: string, resourceVersion: string, uid = `uid-${key}`) => ({
  key,
  uid,
  resourceVersion,
  object: `${key}@${resourceVersion}`,
});

test('put reports additions and changes; the same version is no change', () => {
  const store = new Store<string>();
  assert.deepEqual(store.put(entry('a', '1')), [
    { type: 'added', key: 'a', uid: 'uid-a', object: 'a@1', listed: false },
  ]);
  assert.deepEqual(store.put(entry('a', '1')), []);
  assert.deepEqual(store.put(entry('a', '2')), [
    { type: 'updated', key: 'a', uid: 'uid-a', object: 'a@2', previous: 'a@1', listed: false },
  ]);
  assert.deepEqual([store.get('a'), [...store.list()], store.size], ['a@2', ['a@2'], 1]);
});

test('the same name with another UID is another object', () => {
  const store = new Store<string>();
  store.put(entry('a', '1', 'one'));
  assert.deepEqual(store.put(entry('a', '5', 'two')), [
    { type: 'deleted', key: 'a', uid: 'one', previous: 'a@1', missed: true },
    { type: 'added', key: 'a', uid: 'two', object: 'a@5', listed: false },
  ]);
  assert.deepEqual(store.remove('a', 'one'), [], 'the first one is gone already');
  assert.deepEqual(store.remove('a', 'two'), [
    { type: 'deleted', key: 'a', uid: 'two', previous: 'a@5', missed: false },
  ]);
  assert.equal(store.get('a'), undefined);
});

test('a list reports the changes that no event reported', () => {
  const store = new Store<string>();
  for (const key of ['same', 'changed', 'gone']) store.put(entry(key, '1'));
  store.put(entry('again', '1', 'one'));
  const changes = store.replace([
    entry('same', '1'),
    entry('changed', '2'),
    entry('again', '3', 'two'),
    entry('new', '4'),
  ]);
  assert.deepEqual(changes, [
    { type: 'deleted', key: 'gone', uid: 'uid-gone', previous: 'gone@1', missed: true },
    {
      type: 'updated',
      key: 'changed',
      uid: 'uid-changed',
      object: 'changed@2',
      previous: 'changed@1',
      listed: true,
    },
    { type: 'deleted', key: 'again', uid: 'one', previous: 'again@1', missed: true },
    { type: 'added', key: 'again', uid: 'two', object: 'again@3', listed: true },
    { type: 'added', key: 'new', uid: 'uid-new', object: 'new@4', listed: true },
  ]);
  assert.deepEqual([...store.list()], ['same@1', 'changed@2', 'again@3', 'new@4']);
});

test('a key has the namespace where there is one', () => {
  assert.equal(keyOf({ name: 'a' }), 'a');
  assert.equal(keyOf({ name: 'a', namespace: 'b' }), 'b/a');
});

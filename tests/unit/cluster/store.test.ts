import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { Retention } from '../../../webhook/cluster/informer/object.ts';
import { Store } from '../../../webhook/cluster/informer/store.ts';

const entry = (key: string, resourceVersion: string, uid = `uid-${key}`) => ({
  key,
  uid,
  resourceVersion,
  object: `${key}@${resourceVersion}`,
});

test('a list reports the changes that no event has reported', () => {
  const store = new Store<string>();
  for (const key of ['same', 'changed', 'gone']) store.put(entry(key, '1'));
  store.put(entry('again', '1', 'one'));
  const listed = new Store<string>();
  listed.put(entry('same', '1'));
  listed.put(entry('changed', '2'));
  listed.put(entry('again', '3', 'two'));
  listed.put(entry('new', '4'));
  const changes = store.replace(listed);
  assert.deepEqual(changes, [
    { type: 'deleted', key: 'gone', uid: 'uid-gone', previous: 'gone@1' },
    {
      type: 'updated',
      key: 'changed',
      uid: 'uid-changed',
      object: 'changed@2',
      previous: 'changed@1',
      listed: true,
    },
    { type: 'deleted', key: 'again', uid: 'one', previous: 'again@1' },
    { type: 'added', key: 'again', uid: 'two', object: 'again@3', listed: true },
    { type: 'added', key: 'new', uid: 'uid-new', object: 'new@4', listed: true },
  ]);
  assert.deepEqual([...store.list()], ['same@1', 'changed@2', 'again@3', 'new@4']);
});

interface Thing {
  weight: number;
  version: number;
}

const retention = (count: number, bytes = 1e6): Retention<Thing> => ({
  max: { count, bytes },
  weigh: ({ weight }) => weight,
});

const thing = (key: string, weight = 1, version = 1) => ({
  key,
  uid: `uid-${key}`,
  resourceVersion: `${version}`,
  object: { weight, version },
});

const keysOf = (kept: Store<Thing>): string[] => Array.from(kept.entries(), ({ key }) => key).sort();

suite('limits of a store', () => {
  test('the namespace with the most entries loses those that have not changed for the longest time', () => {
    const kept = new Store(retention(4));
    kept.put(thing('small/1'));
    for (let i = 0; i < 9; i += 1) {
      kept.put(thing(`large/${i}`));
      kept.put(thing('large/0', 1, i + 2));
    }
    assert.deepEqual(keysOf(kept), ['large/0', 'large/7', 'large/8', 'small/1']);
    assert.ok(kept.leftOut > 0);
  });

  test('an object that grows too large is dropped, and frees its space when it shrinks or is deleted', () => {
    const kept = new Store(retention(10, 20));
    kept.put(thing('a/1', 15));
    assert.deepEqual(
      kept.put(thing('a/1', 25)).map(({ type, key }) => `${type} ${key}`),
      ['deleted a/1'],
    );
    assert.equal(kept.size, 0);
    kept.put(thing('a/1', 20));
    kept.remove('a/1');
    kept.put(thing('a/2', 20));
    assert.equal(kept.size, 1);
    const listing = new Store(retention(10, 20));
    listing.replace(kept);
    listing.put(thing('a/3', 15));
    assert.equal(listing.size, 1, 'what a list shows counts too');
  });

  test('a store never exceeds its limits, and has the latest version of each object', () => {
    const event = fc.record({
      key: fc.constantFrom('a/1', 'a/2', 'a/3', 'b/1', 'b/2', 'c/1'),
      weight: fc.integer({ min: 0, max: 40 }),
      type: fc.constantFrom('put', 'put', 'remove'),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const limits = retention(4, 60);
        const store = new Store(limits);
        const reported = new Map<string, number>();
        const seen = new Map<string, number>();
        events.forEach(({ key, weight, type }, version) => {
          const one = thing(key, weight, version);
          if (type === 'put') reported.set(key, version);
          else reported.delete(key);
          const changes = type === 'put' ? store.put(one) : store.remove(key);
          // `seen` is a subscriber: after it has applied the changes, it must have the same objects as the store
          for (const change of changes) {
            if (change.type === 'deleted') assert.ok(seen.delete(change.key));
            else seen.set(change.key, change.object.version);
          }
          const bytes = [...store.list()].reduce((total, one) => total + one.weight, 0);
          assert.ok(store.size <= limits.max.count && bytes <= limits.max.bytes);
          const known = new Map(
            Array.from(store.entries(), ({ key: name, object }) => [name, object.version]),
          );
          assert.deepEqual(new Map([...seen].sort()), new Map([...known].sort()));
          for (const [name, latest] of known) assert.equal(latest, reported.get(name));
        });
      }),
    );
  });
});

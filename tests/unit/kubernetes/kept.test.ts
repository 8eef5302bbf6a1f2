import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { Kept } from '../../../webhook/kubernetes/reflector/kept.ts';
import type { Keeping } from '../../../webhook/kubernetes/reflector/source.ts';
import { Store } from '../../../webhook/kubernetes/reflector/store.ts';

interface Thing {
  weight: number;
  rank: number;
  version: number;
}

const keeping = (total: number, each: number, bytes = 1e6): Keeping<Thing> => ({
  max: { count: total, bytes },
  mostOfNamespace: { count: each, bytes },
  weigh: ({ weight }) => weight,
  rank: ({ rank }) => rank,
});

const entry = (key: string, { weight = 1, rank = 0, version = 1 }: Partial<Thing> = {}) => ({
  key,
  uid: `uid-${key}`,
  resourceVersion: `${version}`,
  object: { weight, rank, version },
});

const keysOf = (kept: Kept<Thing>): string[] => Array.from(kept, ({ key }) => key).sort();

suite('limits of a store', () => {
  test('within a namespace, the smallest rank is kept, and of equal ones the first', () => {
    const kept = new Kept(keeping(10, 2));
    for (const [key, rank] of Object.entries({ 'a/1': 30, 'a/2': 10, 'a/3': 20, 'a/4': 20 })) {
      kept.put(entry(key, { rank }));
    }
    assert.deepEqual([keysOf(kept), kept.leftOut], [['a/2', 'a/3'], 2]);
  });

  test('over all namespaces, the one with the most loses entries', () => {
    const kept = new Kept(keeping(4, 4));
    kept.put(entry('small/1', { rank: 99 }));
    for (let i = 0; i < 9; i += 1) kept.put(entry(`large/${i}`, { rank: i }));
    assert.deepEqual(keysOf(kept), ['large/0', 'large/1', 'large/2', 'small/1']);
  });

  test('bytes are limited as well, per namespace and in total', () => {
    const kept = new Kept({ ...keeping(100, 100, 50), mostOfNamespace: { count: 100, bytes: 30 } });
    for (let i = 0; i < 9; i += 1) kept.put(entry(`a/${i}`, { weight: 10, rank: i }));
    assert.deepEqual([kept.size, kept.bytes], [3, 30]);
    for (let i = 0; i < 9; i += 1) kept.put(entry(`b/${i}`, { weight: 10, rank: i }));
    assert.deepEqual([kept.size, kept.bytes], [5, 50]);
  });

  test('an object that grows too large is dropped, and frees its room when it shrinks or is deleted', () => {
    const kept = new Kept(keeping(10, 10, 20));
    kept.put(entry('a/1', { weight: 15, rank: 1 }));
    assert.deepEqual(
      kept.put(entry('a/1', { weight: 25, rank: 1 })).map(({ key }) => key),
      ['a/1'],
    );
    assert.deepEqual([kept.size, kept.bytes], [0, 0]);
    kept.put(entry('a/1', { weight: 20 }));
    kept.delete('a/1');
    assert.deepEqual([kept.put(entry('a/2', { weight: 20 })), kept.bytes], [[], 20]);
  });

  test('without limits everything is kept', () => {
    const kept = new Kept<Thing>();
    for (let i = 0; i < 20_000; i += 1) kept.put(entry(`a/${i}`));
    assert.deepEqual([kept.size, kept.leftOut], [20_000, 0]);
  });

  test('a store never exceeds its limits, and has the latest version of each object', () => {
    const event = fc.record({
      key: fc.constantFrom('a/1', 'a/2', 'a/3', 'b/1', 'b/2', 'c/1'),
      weight: fc.integer({ min: 0, max: 40 }),
      rank: fc.integer({ min: 0, max: 3 }),
      type: fc.constantFrom('put', 'put', 'remove', 'drop'),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const limits = keeping(4, 2, 60);
        const store = new Store(limits);
        const reported = new Map<string, number>();
        const seen = new Map<string, number>();
        events.forEach(({ key, weight, rank, type }, version) => {
          const one = entry(key, { weight, rank, version });
          if (type === 'put') reported.set(key, version);
          else reported.delete(key);
          const changes =
            type === 'put'
              ? store.put(one)
              : type === 'remove'
                ? store.remove(key, one.uid)
                : store.drop(key);
          // subscribers who follow the changes know the same
          for (const change of changes) {
            if (change.type === 'deleted') assert.ok(seen.delete(change.key));
            else seen.set(change.key, change.object.version);
          }
          assert.ok(store.size <= limits.max.count && store.bytes <= limits.max.bytes);
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

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { repairLimits } from '../../../webhook/lib/limits.ts';
import { RepairHistory } from '../../../webhook/repair/history.ts';
import { type Legacy, readLegacy, writeLegacy } from '../../../webhook/repair/legacy.ts';
import { failedPod, Pods, start } from './support.ts';

const legacy: Legacy = {
  writtenAt: start,
  recent: [-50_000, -1000],
  owners: new Map([
    ['a', { recent: [-1000], fruitless: [-90_000, -1000], failures: 2, notBefore: 19_000 }],
    ['b', { recent: [-50_000], fruitless: [], failures: 0, notBefore: 0 }],
  ]),
  isComplete: true,
  breakers: new Map([['shop', { failures: 3, notBefore: 240_000 }]]),
};

suite('what a leader leaves to the next one', () => {
  test('is read as it was written', () => {
    assert.deepEqual(readLegacy(writeLegacy(legacy)), legacy);
  });

  const wrong: [name: string, text: string | undefined][] = [
    ['nothing', undefined],
    ['no JSON', '{'],
    ['another value', 'null'],
    ['no time', '{"owners":[]}'],
    ['far too long', `${' '.repeat(3 * repairLimits.legacy.characters)}{"writtenAt":1}`],
  ];
  for (const [name, text] of wrong)
    test(`is not read from ${name}`, () => assert.equal(readLegacy(text), undefined));

  test('has no times in the future and no endless pauses, whatever is written there', () => {
    const text = JSON.stringify({
      writtenAt: start,
      recent: [9e15, 'x', null, -1],
      owners: [['a', 1e9, 9e15, { length: 3 }, [7]], 'b', ['c']],
      breakers: { length: 2 },
    });
    assert.deepEqual(readLegacy(text), {
      writtenAt: start,
      recent: [-1, 0],
      owners: new Map([
        ['a', { recent: [], fruitless: [0], failures: 100, notBefore: repairLimits.longestPause }],
        ['c', { recent: [], fruitless: [], failures: 0, notBefore: 0 }],
      ]),
      isComplete: false,
      breakers: new Map(),
    });
  });

  test('is bounded: the owners at the end are left out, and it says so', () => {
    const times = Array.from({ length: 2000 }, (_, index) => index - 2000);
    const one = { recent: times.slice(-20), fruitless: times.slice(-6), failures: 1, notBefore: 1 };
    const owners = new Map(Array.from({ length: 5000 }, (_, index) => [`uid-${index}`.padEnd(36, 'x'), one]));
    const text = writeLegacy({ ...legacy, recent: times, owners });
    assert.ok(text.length <= repairLimits.legacy.characters);
    const read = readLegacy(text);
    assert.ok(read !== undefined && read.owners.size > 20 && !read.isComplete);
    assert.ok(read.owners.has('uid-0'.padEnd(36, 'x')));
    assert.equal(read.recent.length, repairLimits.legacy.times);
  });
});

suite('a new leader that reads it', () => {
  const pod = failedPod({ name: 'web-1' });
  const before = new RepairHistory();
  const pods = new Pods(pod);
  before.made({ pod, how: 'delete', why: '', probes: false }, pods, 1_000_000);
  const text = before.legacy(start, 1_005_000);
  const heir = (wall: number, now: number): RepairHistory => {
    const history = new RepairHistory();
    history.inherit([], wall, now, text);
    return history;
  };

  test('counts recreations whose pods are gone, at the time at which they were made', () => {
    // its monotonic clock is another one
    const history = heir(start + 15_000, 70_000);
    assert.equal(history.lastMinute.count(70_000), 1);
    assert.equal(history.roomOfNode('n1', 60, 70_000).count, 59);
    assert.equal(history.lastMinute.count(70_000 + 40_001), 0);
  });

  test('counts a pod once that was made before it was written', () => {
    const history = new RepairHistory();
    const replaced = failedPod({ name: 'web-2', verdict: 'waiting', createdAt: start - 5000 });
    history.inherit([replaced], start + 15_000, 70_000, text);
    assert.equal(history.lastMinute.count(70_000), 1);
  });

  test('counts a pod that was made later', () => {
    const history = new RepairHistory();
    const replaced = failedPod({ name: 'web-2', verdict: 'waiting', createdAt: start + 1000 });
    history.inherit([replaced], start + 15_000, 70_000, text);
    assert.equal(history.lastMinute.count(70_000), 2);
  });

  test('keeps the pause of a breaker, and stops for no longer than that', () => {
    const history = new RepairHistory();
    history.inherit([], start + 15_000, 70_000, writeLegacy({ ...legacy, owners: new Map() }));
    assert.deepEqual(history.stopped(), ['shop']);
    assert.equal(history.breakerOf('shop')?.room(70_000).again, 70_000 - 15_000 + 240_000);
    assert.equal(history.breakerOf('shop')?.room(295_000).count, 1);
  });
});

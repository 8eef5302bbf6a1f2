import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { FairRate, FairShare } from '../../../webhook/lib/fair-share.ts';

/** How many each gets who takes all that he can, one after the other. */
function greedy(share: FairShare, names: string[]): number[] {
  const got = names.map(() => 0);
  for (let round = 0; round < 1000; round++) {
    for (const [index, name] of names.entries()) if (share.tryTake(name)) got[index] = (got[index] ?? 0) + 1;
  }
  return got;
}

const addresses = (count: number): string[] => Array.from({ length: count }, (_, index) => `a${index}`);

suite('an amount that is shared', () => {
  test('one alone takes four fifths, and a few leave a fifth to who comes', () => {
    assert.deepEqual(greedy(new FairShare(100), ['a']), [80]);
    const share = new FairShare(100);
    const [one = 0, other = 0] = greedy(share, ['a', 'b']);
    assert.ok(one >= 38 && other >= 38 && one + other <= 81, `${one} and ${other}`);
    assert.equal(share.tryTake('c'), true);
  });

  test('many have equal shares, and one more finds one as well', () => {
    const share = new FairShare(200);
    const got = greedy(share, addresses(40));
    assert.ok(Math.min(...got) >= 4 && Math.max(...got) <= 6, got.join());
    assert.equal(share.tryTake('one more'), true);
  });

  test('who came first gives way to others as it gives back', () => {
    const share = new FairShare(100);
    greedy(share, ['a']);
    greedy(share, ['b']);
    for (let count = 0; count < 60; count++) share.give('a');
    assert.ok((greedy(share, ['b'])[0] ?? 0) > 30);
    assert.equal(share.tryTake('c'), true);
  });

  test('without a name the total alone counts, and what was not taken cannot be given', () => {
    const share = new FairShare(10);
    share.give('a');
    share.giveNext();
    assert.equal(share.used, 0);
    for (let count = 0; count < 10; count++) assert.equal(share.tryTake(), true);
    assert.equal(share.tryTake(), false);
    assert.equal(share.used, 10);
  });
});

suite('a rate that is shared', () => {
  /** What each gets in so many seconds, of those that ask so often a second. */
  function served(rate: FairRate, asking: Record<string, number>, seconds: number): Record<string, number> {
    const got = Object.fromEntries(Object.keys(asking).map((name) => [name, 0]));
    for (let now = 0; now < seconds * 1000; now += 1) {
      for (const [name, often] of Object.entries(asking)) {
        const due = Math.floor(((now + 1) * often) / 1000) - Math.floor((now * often) / 1000);
        for (let count = 0; count < due; count++)
          if (rate.tryTake(name, now)) got[name] = (got[name] ?? 0) + 1;
      }
    }
    return got;
  }

  test('while one address floods, what another asks is asked', () => {
    const { flood = 0, other } = served(new FairRate(100, 200), { flood: 5000, other: 40 }, 10);
    assert.equal(other, 400);
    assert.ok(flood >= 600 && flood <= 800, `${flood}`);
  });

  test('a burst of another finds room while one floods', () => {
    const rate = new FairRate(100, 200);
    served(rate, { flood: 5000 }, 5);
    let found = 0;
    for (let count = 0; count < 100; count++) if (rate.tryTake('other', 5000)) found++;
    assert.ok(found >= 25, `${found}`);
  });

  test('while 50 addresses flood, each gets its share', () => {
    const asking = Object.fromEntries(addresses(50).map((name) => [name, 200]));
    const got = Object.values(served(new FairRate(100, 200), asking, 10));
    // 1,000 in ten seconds and the burst, over 50
    assert.ok(Math.min(...got) >= 20 && Math.max(...got) <= 28, got.join());
  });

  test('one alone has nearly all of it', () => {
    const { alone = 0 } = served(new FairRate(100, 200), { alone: 1000 }, 10);
    assert.ok(alone >= 1150 && alone <= 1170, `${alone}`);
  });

  test('never more in any stretch of time, whoever asks', () => {
    const steps = fc.array(fc.record({ wait: fc.nat(500), wanted: fc.nat(30), whose: fc.nat(3) }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(steps, (all) => {
        const rate = new FairRate(10, 20);
        const passed: number[] = [];
        let at = 0;
        for (const { wait, wanted, whose } of all) {
          at += wait;
          for (let count = 0; count < wanted; count++) {
            if (rate.tryTake(whose === 0 ? undefined : `${whose}`, at)) passed.push(at);
          }
          for (const from of passed) {
            const within = passed.filter((one) => one >= from).length;
            assert.ok(within <= 20 + ((at - from) / 1000) * 10 + 1);
          }
        }
      }),
    );
  });
});

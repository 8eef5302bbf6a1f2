import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Finding, failed, passed } from '../../../validator/finding.ts';
import { now, untilPassed } from '../../../validator/waiting.ts';
import './on-node.ts';

test('repeats the attempt ten times a second until it passes or the time is over', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let clock = 0;
  t.mock.method(process, 'uptime', () => clock / 1000);
  const looks = async (end: number, findings: Finding[]): Promise<{ at: number[]; finding: Finding }> => {
    const at: number[] = [];
    let over = false;
    clock = 0;
    const waiting = untilPassed(end, async () => {
      at.push(now());
      return findings[at.length - 1] ?? failed('address-missing', 'nothing');
    }).finally(() => {
      over = true;
    });
    while (!over) {
      // all that is not a timer runs in between
      await new Promise(setImmediate);
      clock += 10;
      t.mock.timers.tick(10);
    }
    return { at, finding: await waiting };
  };
  const whole = await looks(1000, []);
  assert.ok(whole.at.length >= 7, `${whole.at}`);
  assert.ok(whole.at.every((time) => time < 1000));
  const late = await looks(10_000, [failed('address-missing', 'nothing'), passed('it')]);
  assert.deepEqual([late.at.length, late.finding.passed], [2, true]);
  const final = await looks(10_000, [{ ...failed('wrong-user', 'another'), final: true }]);
  assert.equal(final.at.length, 1);
});

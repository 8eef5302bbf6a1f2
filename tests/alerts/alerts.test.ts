import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { cases } from './cases.ts';
import { alerts, checkRules, evaluate } from './promtool.ts';

test('promtool finds no fault with the rules', async () => {
  assert.match(await checkRules(), new RegExp(`SUCCESS: ${alerts.length} rules found`));
});

test('every alert has a case in which it fires and one in which it does not', () => {
  const named = (fires: boolean): Set<string> =>
    new Set(cases.filter((one) => one.fires.length > 0 === fires).map(({ alert }) => alert));
  const all = new Set(alerts.map(({ alert }) => alert));
  assert.deepEqual(named(true), all);
  assert.deepEqual(named(false), all);
});

for (const { alert } of alerts) {
  suite(alert, () => {
    for (const one of cases.filter((each) => each.alert === alert)) {
      test(`${one.fires.length > 0 ? 'fires' : 'does not fire'}: ${one.when}`, () => evaluate(one));
    }
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repairLimits } from '../../../webhook/lib/limits.ts';
import { LastFailures } from '../../../webhook/repair/last-failures.ts';
import { controllerOf, ownerOf } from './support.ts';

const of = (namespace: string, name: string) => ({
  namespace,
  owner: ownerOf({ namespace, uid: '', controller: controllerOf(name) }),
});

test('the last failure of a namespace and of a controller, until one of its pods passes', () => {
  const last = new LastFailures();
  last.failed(of('shop', 'web'), 10);
  last.failed(of('shop', 'api'), 20);
  assert.deepEqual([last.ofNamespace(of('shop', 'web')), last.ofOwner(of('shop', 'web'))], [20, 10]);
  assert.equal(last.ofOwner(of('other', 'web')), 0, 'the same controller, as another namespace claims it');
  last.worked(of('shop', 'web'));
  assert.deepEqual(
    [last.ofNamespace(of('shop', 'web')), last.ofOwner(of('shop', 'web')), last.ofOwner(of('shop', 'api'))],
    [0, 0, 20],
  );
});

test('what is remembered is bounded: failures of the longest ago are forgotten first', () => {
  const last = new LastFailures();
  const many = 2 * repairLimits.lastFailures;
  for (let index = 1; index <= many; index += 1) last.failed(of(`n${index}`, 'web'), index);
  const known = Array.from({ length: many }, (_, index) => last.ofNamespace(of(`n${index + 1}`, 'web')));
  assert.equal(known.at(-1), many);
  assert.equal(known.filter((time) => time > 0).length, repairLimits.lastFailures / 2);
});

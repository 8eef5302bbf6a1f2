import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { builtInProfiles } from '../../../webhook/config/builtin.ts';
import { checkNameOf } from '../../../webhook/core/profiles/types.ts';

suite('built-in profiles', () => {
  test('built-in profiles set no annotation and have no check that fails on a healthy network', () => {
    for (const profile of builtInProfiles()) {
      assert.deepEqual(profile.annotations, {}, profile.name);
      assert.ok(!profile.proof.checks.map(checkNameOf).includes('reach'), profile.name);
    }
  });
});

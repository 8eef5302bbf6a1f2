import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clean } from '../../webhook/lib/clean.ts';

test('control characters in a manifest do not reach the terminal', () => {
  assert.equal(clean('a\u001b[31mb'), 'ab');
  assert.equal(clean('a\rb\u0007c'), 'a\u{fffd}b\u{fffd}c');
  assert.doesNotMatch(clean('a\u009b31mb \u0085'), /[\u0080-\u009f]/);
  assert.equal(clean('tab\tstays'), 'tab\tstays');
});

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  appendOperations,
  headOperations,
  mapOperations,
  removeOperations,
  volumeOperations,
} from '../../../../webhook/admission/mutate/patch.ts';

const path: [string, string] = ['metadata', 'annotations'];
const ours = { name: 'ours' };
const other = { name: 'other' };

suite('operations of a patch', () => {
  test('keys are escaped as in JSON Pointer', () => {
    const changes = new Map([
      ['a/b', '1'],
      ['a~b', '2'],
      ['~1', '3'],
    ]);
    assert.deepEqual(mapOperations(path, {}, changes), [
      { op: 'add', path: '/metadata/annotations/a~1b', value: '1' },
      { op: 'add', path: '/metadata/annotations/a~0b', value: '2' },
      { op: 'add', path: '/metadata/annotations/~01', value: '3' },
    ]);
  });

  test('an absent map is added with its keys, and only if there are any', () => {
    const changes = new Map([
      ['a/b', '1'],
      ['gone', undefined],
    ]);
    for (const absent of [null, undefined]) {
      const whole = { op: 'add', path: '/metadata/annotations', value: { 'a/b': '1' } };
      assert.deepEqual(mapOperations(path, absent, changes), [whole]);
      assert.deepEqual(mapOperations(path, absent, new Map([['gone', undefined]])), []);
    }
  });

  test('a key is added, replaced, removed or kept', () => {
    const current = { same: '1', other: '1', leaves: '1' };
    const changes = new Map([
      ['same', '1'],
      ['other', '2'],
      ['leaves', undefined],
      ['absent', undefined],
      ['constructor', 'x'],
    ]);
    assert.deepEqual(mapOperations(path, current, changes), [
      { op: 'replace', path: '/metadata/annotations/other', value: '2' },
      { op: 'remove', path: '/metadata/annotations/leaves' },
      { op: 'add', path: '/metadata/annotations/constructor', value: 'x' },
    ]);
  });

  test('a container moves to the first position', () => {
    const at = (index: number): string => `/spec/initContainers/${index}`;
    const add = { op: 'add', path: '/spec/initContainers', value: [ours] };
    assert.deepEqual(headOperations(undefined, -1, false, ours), [add]);
    assert.deepEqual(headOperations(null, -1, false, ours), [add]);
    assert.deepEqual(headOperations([], -1, false, ours), [{ op: 'add', path: at(0), value: ours }]);
    assert.deepEqual(headOperations([ours, other], 0, true, ours), []);
    assert.deepEqual(headOperations([other, ours], 1, true, ours), [
      { op: 'move', from: at(1), path: at(0) },
    ]);
    assert.deepEqual(headOperations([other, ours], 1, false, ours), [
      { op: 'replace', path: at(1), value: ours },
      { op: 'move', from: at(1), path: at(0) },
    ]);
  });

  test('removing the last element removes the list', () => {
    assert.deepEqual(removeOperations('volumes', [ours, other], 1), [
      { op: 'remove', path: '/spec/volumes/1' },
    ]);
    assert.deepEqual(removeOperations('volumes', [ours], 0), [{ op: 'remove', path: '/spec/volumes' }]);
    assert.deepEqual(removeOperations('volumes', [ours], -1), []);
    assert.deepEqual(removeOperations('volumes', null, -1), []);
  });

  test('a volume is added, replaced or kept', () => {
    const wanted = { name: 'ours', emptyDir: {} };
    const behind = { op: 'add', path: '/spec/volumes/-', value: wanted };
    assert.deepEqual(volumeOperations(null, wanted), [{ op: 'add', path: '/spec/volumes', value: [wanted] }]);
    assert.deepEqual(volumeOperations([], wanted), [behind]);
    assert.deepEqual(volumeOperations([other], wanted), [behind]);
    assert.deepEqual(volumeOperations([other, { ...wanted }], wanted), []);
    assert.deepEqual(volumeOperations([other, ours], wanted), [
      { op: 'replace', path: '/spec/volumes/1', value: wanted },
    ]);
  });

  test('elements are appended one by one', () => {
    assert.deepEqual(appendOperations('imagePullSecrets', undefined, []), []);
    assert.deepEqual(appendOperations('imagePullSecrets', null, [ours, other]), [
      { op: 'add', path: '/spec/imagePullSecrets', value: [ours, other] },
    ]);
    assert.deepEqual(appendOperations('imagePullSecrets', [other], [ours, other]), [
      { op: 'add', path: '/spec/imagePullSecrets/-', value: ours },
      { op: 'add', path: '/spec/imagePullSecrets/-', value: other },
    ]);
  });
});

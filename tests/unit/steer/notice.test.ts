import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aboutPod, fitNote, longest } from '../../../webhook/events/notice.ts';
import { nominatedNotice } from '../../../webhook/steer/notice.ts';
import { waiting } from './support.ts';

test('the event of a nomination names both nodes and the reason', () => {
  const pod = waiting('web');
  const notice = nominatedNotice({ pod, node: 'n2', why: 'of 2 with free capacity it has the fewest' }, '11');
  assert.deepEqual(notice, {
    regarding: aboutPod(pod),
    type: 'Normal',
    reason: 'NodeNominated',
    action: 'Nominate',
    occasion: '11',
    node: 'n2',
    note: 'node n2 is nominated, after node n1 was refused: of 2 with free capacity it has the fewest',
  });
});

test('a note has at most the bytes of an event, and is cut only if it is longer', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 1500 });
  const end = fc.string({ unit: 'grapheme-ascii', maxLength: 700 });
  fc.assert(
    fc.property(text, end, (one, more) => {
      const note = fitNote(one, more);
      assert.ok(Buffer.byteLength(note) <= longest);
      assert.ok(note.isWellFormed() && note.endsWith(more));
      if (Buffer.byteLength(one) + Buffer.byteLength(more) <= longest)
        assert.ok(!note.includes('…') || one.includes('…'));
      else assert.ok(Buffer.byteLength(note) > longest - 8, 'more than necessary is cut');
    }),
  );
});

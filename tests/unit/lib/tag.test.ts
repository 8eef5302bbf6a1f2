import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { fitText } from '../../../validator/shared/fit-text.ts';
import { formatTag, isTagValue, parseTag } from '../../../webhook/lib/tag.ts';

const code = 'CNI_GATE_NODE_NOT_READY';
const keys = ['node', 'profile', 'state'] as const;
const value = fc.stringMatching(/^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,80}[A-Za-z0-9])?$/);
const fields = fc.record({ node: value, profile: value, state: value }, { noNullPrototype: true });

suite('a tag', () => {
  test('is read as it was written, behind any text, also where that was cut', () => {
    fc.assert(
      fc.property(fields, fc.string({ maxLength: 2000 }), (given, text) => {
        const before = text.trimEnd();
        assert.ok(Object.values(given).every(isTagValue));
        const tag = formatTag(code, given);
        assert.deepEqual(parseTag(`${before} ${tag}`, code, keys), { fields: given, before });
        const cut = fitText(`${before} ${tag}`, 400);
        assert.deepEqual(parseTag(cut, code, keys)?.fields, given);
      }),
    );
  });

  test('is not read where a field is missing, more, in another order or no value, or text follows', () => {
    const tags = [
      '',
      '(CNI_GATE_NODE_NOT_READY)',
      '(CNI_GATE_NODE_NOT_READY node=a profile=b)',
      '(CNI_GATE_NODE_NOT_READY node=a profile=b state=c more=d)',
      '(CNI_GATE_NODE_NOT_READY profile=b node=a state=c)',
      '(CNI_GATE_NODE_NOT_READY node=../a profile=b state=c)',
      '(CNI_GATE_NODE_NOT_READY node= profile=b state=c)',
      `(CNI_GATE_NODE_NOT_READY node=${'a'.repeat(254)} profile=b state=c)`,
      '(CNI_GATE_NODE_NOT_READY node=a  profile=b state=c)',
      '(CNI_GATE_NODE_NOT_READY node=a profile=b state=c) and more',
      '(CNI_GATE_BUSY node=a profile=b state=c)',
    ];
    for (const tag of tags) assert.equal(parseTag(`text ${tag}`, code, keys), undefined, tag);
  });

  test('only the last one counts: a text of others before it cannot stand for it', () => {
    const [forged, own] = ['x', 'n1'].map((node) => formatTag(code, { node, profile: 'a', state: 'b' }));
    assert.equal(parseTag(`reason ${forged} ${own}`, code, keys)?.fields.node, 'n1');
  });
});

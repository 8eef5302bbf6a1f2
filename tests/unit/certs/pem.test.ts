import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelsIn, pemBlocks } from '../../../certs/pem.ts';
import { refusal } from './fixtures.ts';

const one = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
const two = '-----BEGIN PRIVATE KEY-----\nBBBB\n-----END PRIVATE KEY-----\n';

test('blocks come in order, with the text around them left out', () => {
  const blocks = pemBlocks(`subject=x\n--- not a marker\n${one}\n-----\n${two}end`, 'The file');
  assert.deepEqual(blocks, [
    { label: 'CERTIFICATE', text: one },
    { label: 'PRIVATE KEY', text: two },
  ]);
  assert.equal(labelsIn(blocks), 'CERTIFICATE, PRIVATE KEY');
});

test('lines may end as on Windows, and the last without a line feed', () => {
  assert.equal(pemBlocks(one.replaceAll('\n', '\r\n'), 'The file').length, 1);
  assert.deepEqual(pemBlocks(one.trimEnd(), 'The file'), [{ label: 'CERTIFICATE', text: one }]);
});

test('a text without blocks has none', () => {
  assert.deepEqual(pemBlocks('', 'The file'), []);
  assert.deepEqual(
    pemBlocks(one.replaceAll(/^/gm, '  '), 'The file'),
    [],
    'OpenSSL sees no indented markers either',
  );
  assert.equal(labelsIn([]), 'no PEM block at all');
});

const cut: [string, string, RegExp][] = [
  ['a block without an end', one.slice(0, 33), /CERTIFICATE of line 1 has no end/],
  ['a block that begins in another', one.slice(0, 33) + two, /CERTIFICATE of line 1 has no end/],
  ['a block without a beginning', one.slice(28), /line 2 has no beginning/],
  [
    'a block with the end of another',
    one.slice(0, 33) + two.slice(33),
    /PRIVATE KEY in line 3 has no beginning/,
  ],
  ['half an end', one.slice(0, -3), /line 3 is half a marker/],
  ['half a second beginning', `${one}-----BEGIN CERT`, /line 4 is half a marker/],
  ['the first dashes of a second beginning', `${one}---`, /line 4 is half a marker/],
];

for (const [what, text, message] of cut) {
  test(`refused as half-written: ${what}`, () => {
    assert.throws(() => pemBlocks(text, 'The file'), refusal('CNI_GATE_TLS_UNREADABLE', message));
    assert.throws(
      () => pemBlocks(text, 'The file'),
      refusal('CNI_GATE_TLS_UNREADABLE', /^The file is not whole PEM/),
    );
  });
}

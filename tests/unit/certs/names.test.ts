import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesIn, readNames } from '../../../certs/names.ts';
import { refusal } from './fixtures.ts';

test('DNS names and addresses are told apart, spelled in one way, and kept once', () => {
  const names = [
    'CNI-gate.ns.svc',
    'cni-gate.ns.svc',
    'localhost',
    '192.0.2.1',
    '2001:DB8:0::1',
    '::ffff:192.0.2.1',
  ];
  assert.deepEqual(readNames(names), [
    { kind: 'dns', text: 'cni-gate.ns.svc' },
    { kind: 'dns', text: 'localhost' },
    { kind: 'ip', text: '192.0.2.1' },
    { kind: 'ip', text: '2001:db8::1' },
    { kind: 'ip', text: '::ffff:c000:201' },
  ]);
});

test('names up to the limits of DNS are taken', () => {
  const longest = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;
  assert.equal(longest.length, 253);
  assert.deepEqual(readNames([longest]), [{ kind: 'dns', text: longest }]);
});

const refused: [string, string][] = [
  ['empty', ''],
  ['a space', 'cni gate'],
  ['an underscore', 'cni_gate.svc'],
  ['a wildcard', '*.ns.svc'],
  ['a dot at the end', 'cni-gate.svc.'],
  ['an empty label', 'cni-gate..svc'],
  ['a hyphen at the end of a label', 'cni-.svc'],
  ['a label of 64 characters', `${'a'.repeat(64)}.svc`],
  ['254 characters', `${'a.'.repeat(126)}ab`],
  ['a letter outside ASCII', 'größe.svc'],
  ['a line feed', 'cni-gate.svc\n'],
  ['an address with a slip', '192.0.2.256'],
  ['an address cut short', '192.0.2'],
  ['an IPv6 address with a zone', 'fe80::1%eth0'],
  ['an IPv6 address in brackets', '[::1]'],
  ['a host with a port', 'cni-gate.svc:8443'],
  ['an address with a prefix length', '192.0.2.0/24'],
];

for (const [what, name] of refused) {
  test(`refused as a name: ${what}`, () => {
    assert.throws(
      () => readNames(['localhost', name]),
      (error: Error) => {
        assert.ok(error.message.includes(JSON.stringify(name)), error.message);
        return refusal('CNI_GATE_USAGE', /is neither/)(error);
      },
    );
  });
}

test('no name at all is refused', () => {
  assert.throws(() => readNames([]), refusal('CNI_GATE_USAGE', /at least one name/));
});

test('names are read from the line that Node gives, without those of other kinds', () => {
  const line =
    'DNS:a.example, IP Address:192.0.2.1, URI:https://c.example, IP Address:2001:DB8:0:0:0:0:0:1, DNS:d';
  assert.deepEqual(namesIn(line), ['a.example', '192.0.2.1', '2001:db8::1', 'd']);
  assert.deepEqual(namesIn(undefined), []);
});

test('a value with a comma in it does not pass itself off as a further name', () => {
  assert.deepEqual(namesIn('URI:"x, DNS:evil.example", DNS:"b, \\"DNS:evil.example", DNS:a'), [
    'b, "DNS:evil.example',
    'a',
  ]);
});

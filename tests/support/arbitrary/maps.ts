import fc, { type Arbitrary } from 'fast-check';
import { foreign, profileLabel, statusAnnotation } from '../../../webhook/lib/names.ts';
import { builtInNames } from '../configurations.ts';

/** Keys that JavaScript or JSON Pointer treat specially, and some ordinary keys. */
const nastyKeys = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'length', '', '0', '-'],
  ...['a/b~c', '~0', '~1', 'a~1b', 'cni-gate.io~1profile', 'app.kubernetes.io/name', 'ключ', '钥匙'],
];

const key = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...nastyKeys) },
  { weight: 2, arbitrary: fc.stringMatching(/^[a-z]{1,8}\/[A-Za-z]{1,8}$/) },
  fc.string({ maxLength: 12 }),
);

const text = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constant('x'.repeat(300)),
);

/** An object as `JSON.parse` makes it, in which `__proto__` is an ordinary key. */
function parsed(entries: [string, string | null][]): Record<string, string> {
  return JSON.parse(`{${entries.map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`).join()}}`);
}

/** Maps with the entries of `own`, or null. Half of them also have random keys and values, the others usual ones. */
function map(own: Arbitrary<[string, string][]>): Arbitrary<Record<string, string> | null> {
  const odd = fc.array(fc.tuple(key, fc.option(text, { freq: 9 })), { maxLength: 4 });
  const plain = fc.subarray<[string, string | null]>([
    ['app', 'web'],
    ['app.kubernetes.io/name', 'web'],
    ['constructor', 'x'],
    ['app.kubernetes.io/version', null],
  ]);
  return fc.option(
    fc.tuple(fc.oneof(odd, plain), own).map(([entries, more]) => parsed([...entries, ...more])),
  );
}

const profileNames = [...builtInNames, 'none', '', 'nope', builtInNames.slice(0, 2).join('.'), 'shaped'];

const dataplane: [string, string][] = [
  ['istio.io/dataplane-mode', 'ambient'],
  ['istio.io/dataplane-mode', 'none'],
];

export const labels = map(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<[string, string][]>([]) },
    fc.constantFrom(...profileNames).map((value): [string, string][] => [[profileLabel, value]]),
    fc.constantFrom(...dataplane).map((entry): [string, string][] => [entry]),
  ),
);

const network = fc.constantFrom('storage', 'net/storage', 'backup@net1', 'net/backup', 'shop/lan@eth7', 'x');

/** Valid and invalid values of the annotation for networks, in both of its forms: a list of names, and JSON. */
const networks = fc.oneof(
  fc.array(network, { maxLength: 4 }).chain((items) => fc.constantFrom(items.join(','), items.join(' , '))),
  fc.constantFrom(
    ...[
      '',
      ' ',
      ',',
      '[',
      '[]',
      '{}',
      '["a"]',
      'a@b@c',
      '/',
      '"',
      '[{"name":1}]',
      '[null]',
      'null',
      '[{"name":"lan"}]',
    ],
  ),
);

const status = fc.constantFrom(
  'nonsense',
  '{}',
  '[]',
  '"cilium"',
  '{"version":"0.0.1","profile":"cilium","chosenBy":"namespace"}',
  '{"version":"0.0.1","profile":"linkerd","chosenBy":"pod","profiles":7}',
);

export const annotations = map(
  fc
    .tuple(
      fc.option(networks.map((value): [string, string] => [foreign.networks, value])),
      fc.option(
        status.map((value): [string, string] => [statusAnnotation, value]),
        { freq: 3 },
      ),
      fc.option(fc.constant<[string, string]>(['sidecar.istio.io/status', '{}']), { freq: 3 }),
      fc.option(
        fc
          .constantFrom('65534', '64532', '1337', '0', '-1', 'x', '')
          .map((value): [string, string] => ['config.linkerd.io/proxy-uid', value]),
        { freq: 3 },
      ),
      fc.option(fc.constant<[string, string]>(['kubernetes.io/egress-bandwidth', '1M']), { freq: 3 }),
    )
    .map((entries) => entries.filter((entry) => entry !== null)),
);

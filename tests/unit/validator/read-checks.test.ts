import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readChecks, UsageError } from '../../../validator/input.ts';
import { parseDuration } from '../../../validator/shared/duration.ts';
import { builtInProfiles } from '../../../webhook/config/builtin.ts';
import { planFor } from '../../../webhook/core/proof/plan.ts';
import { policyOf } from '../../support/configurations.ts';

const redirect = {
  direction: 'outbound',
  listen: 4140,
  connect: ['192.0.2.2:1404', '[2001:db8::2]:1404'],
  notAsUser: 2102,
  timeout: '10s',
};

test('the checks of every built-in profile are accepted', () => {
  const pod = { metadata: {}, spec: { containers: [] } };
  const names = builtInProfiles().flatMap((profile) => {
    const { checks } = planFor({ pod, namespace: { labels: {} } }, [profile], policyOf().proof);
    return readChecks(JSON.stringify(checks)).map(({ name }) => name);
  });
  assert.deepEqual([...new Set(names)].toSorted(), [
    'address',
    'captured',
    'gateway',
    'interfaces',
    'redirect',
    'roundTrip',
  ]);
});

/** The JSON of a list with this check. */
const of = (check: object): string => JSON.stringify([{ profile: 'a', ...check }]);
const changed = (change: object): string => of({ redirect: { ...redirect, ...change } });

const refused: [what: string, text: string | undefined, reported: RegExp][] = [
  ['an empty text', '', /not set/],
  ['an empty list', '[]', /not a list/],
  ['no profile', '[{"gateway":{"timeout":"1s"}}]', /\[0\] has no profile/],
  ['no check', of({}), /not exactly one check/],
  ['two checks', of({ gateway: {}, address: {} }), /not exactly one check/],
  ['a word of JavaScript', '[{"profile":"a","constructor":{}}]', /unknown check constructor/],
  ['a check of a newer injector', of({ later: {} }), /unknown check later \(this program may be older/],
  ['a setting of a newer injector', changed({ later: 1 }), /redirect: unknown setting later \(this/],
  ['a value of a newer injector', changed({ direction: 'up' }), /direction is not understood: "up"/],
  [
    'a redirect without a port',
    changed({ listen: undefined }),
    /redirect\.listen is not understood: missing/,
  ],
  ['a redirect without targets', changed({ connect: [] }), /redirect\.connect is not understood: \[\]/],
  ['a list with an empty text', changed({ connect: [''] }), /redirect\.connect is not understood/],
  ['settings that are none', of({ gateway: '1s' }), /gateway is not an object/],
  ['no time-out', of({ gateway: {} }), /gateway\.timeout is not understood: missing/],
  ['a time-out without a unit', of({ gateway: { timeout: '10' } }), /gateway\.timeout is no duration: "10"/],
];

for (const [what, text, reported] of refused)
  test(`${what} is wrong usage`, () => {
    assert.throws(
      () => readChecks(text),
      (error) => error instanceof UsageError && reported.test(error.message),
    );
  });

test('durations', () => {
  assert.deepEqual(
    ['500ms', '10s', '2m', '1h', '0s'].map(parseDuration),
    [500, 10_000, 120_000, 3_600_000, 0],
  );
  assert.deepEqual(
    ['', '10', 's', '1.5s', '-1s', '1d', '1m30s', ' 1s', '1s ', '1234567890s', '1toString'].map(
      parseDuration,
    ),
    Array(11).fill(undefined),
  );
});

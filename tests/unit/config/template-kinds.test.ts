import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtInKinds } from '../../../webhook/config/builtin.ts';
import { parseConfiguration, parsePolicy } from '../../../webhook/config/load.ts';
import { head } from '../../support/configurations.ts';

/** A configuration with these entries in `review.kinds`, one on each line. */
const withKinds = (...entries: string[]): string =>
  `${head}review:\n  kinds:\n${entries.map((entry) => `    - ${entry}\n`).join('')}`;

const first = head.split('\n').length + 2;

const wrong: [entry: string, message: RegExp][] = [
  [
    '{apiVersion: apps/v1, kind: Deployment, path: spec.template}',
    /apiVersion: "apps\/v1" is not allowed \(group\/version or group\/\* of a custom/,
  ],
  ['{apiVersion: a.b/v1, kind: farm, path: spec}', /kind: "farm" is not allowed/],
  ['{apiVersion: a.b/v1, kind: Farm}', /"path" is missing/],
  [
    '{apiVersion: a.b/v1, kind: Farm, path: spec..x}',
    /path: "spec\.\.x" is not allowed \(at most 12 field names/,
  ],
  [
    '{apiVersion: a.b/v1, kind: Farm, path: a.*.*.*}',
    /path: "a\.\*\.\*\.\*" is not allowed \(.* at most twice\)/,
  ],
  [
    '{apiVersion: a.b/v1, kind: Farm, path: a, template: b}',
    /template: unknown field; allowed here: apiVersion, kind, path, job/,
  ],
];

for (const [entry, message] of wrong) {
  test(`an entry that is refused: ${entry.slice(0, 60)}`, () => {
    assert.throws(
      () => parseConfiguration(withKinds(entry), 'f.yaml'),
      (error: Error) => {
        assert.ok(error.message.startsWith(`f.yaml:${first}: review.kinds[0]`), error.message);
        assert.match(error.message, message);
        return true;
      },
    );
  });
}

test('a duplicate entry and too many entries are refused', () => {
  const entry = '{apiVersion: a.b/v1, kind: Farm, path: spec}';
  assert.throws(
    () => parseConfiguration(withKinds(entry, entry), 'f'),
    /kinds: must NOT have duplicate items \(items ## 0 and 1 are identical\)/,
  );
  const many = Array.from({ length: 201 }, (_, at) => `{apiVersion: a.b/v1, kind: Farm, path: s${at}}`);
  assert.throws(() => parseConfiguration(withKinds(...many), 'f'), /review\.kinds: /);
});

test('built-in kinds are valid', () => {
  parsePolicy(withKinds(...builtInKinds().map((entry) => JSON.stringify(entry))), 'kinds.yaml');
});

test('built-in kinds match any version; a custom entry replaces all of its kind and group', () => {
  const ofRay = (kinds: readonly { kind: string; path: string }[]): string[] =>
    kinds.filter(({ kind }) => kind === 'RayCluster').map(({ path }) => path);
  assert.ok(builtInKinds().every(({ apiVersion }) => apiVersion.endsWith('/*')));
  assert.equal(ofRay(builtInKinds()).length, 2);
  const { review } = parseConfiguration(
    withKinds('{apiVersion: ray.io/v1, kind: RayCluster, path: spec.x}'),
    'f',
  );
  assert.deepEqual(ofRay(review.kinds), ['spec.x']);
  assert.equal(review.kinds.length, builtInKinds().length - 1);
  const unchanged = parseConfiguration().review.kinds;
  assert.deepEqual(unchanged, builtInKinds(), 'one file does not affect the next');
});

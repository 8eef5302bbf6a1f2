import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { builtInProfiles } from '../../../webhook/config/builtin.ts';
import { type Profile, wordOf } from '../../../webhook/core/profiles/types.ts';
import { applies } from '../../../webhook/core/proof/selection.ts';

const sidecar = { 'sidecar.istio.io/status': '{}' };
const inject = 'sidecar.istio.io/inject';

suite('built-in profiles', () => {
  test('built-in profiles set no annotation and have no check that fails on a healthy network', () => {
    for (const profile of builtInProfiles()) {
      assert.deepEqual(profile.annotations, {}, profile.name);
      assert.ok(!profile.proof.checks.map(wordOf).includes('reach'), profile.name);
    }
  });

  // the golden cases show which pods a profile applies to; these are edges of profile istio
  const istio = builtInProfiles().find(({ name }) => name === 'istio') as Profile;
  const containers = ['istio-validation', 'istio-proxy'].map((name) => ({ name }));
  const isPromised = (labels: Record<string, string>, annotations: Record<string, string>): boolean =>
    applies(istio, { metadata: { labels, annotations }, spec: { containers } }, {});

  test('containers with the names of Istio that its injector did not add', () => {
    assert.equal(isPromised({}, sidecar), true);
    assert.equal(isPromised({}, {}), false);
  });

  // the values that Go's strconv.ParseBool reads as false
  for (const no of ['0', 'f', 'F', 'false', 'FALSE', 'False']) {
    test(`inject=${no} excludes a pod from profile istio; the label overrides the annotation`, () => {
      assert.equal(isPromised({ [inject]: no }, { ...sidecar, [inject]: 'true' }), false);
      assert.equal(isPromised({}, { ...sidecar, [inject]: no }), false);
      assert.equal(isPromised({ [inject]: 'true' }, { ...sidecar, [inject]: no }), true);
    });
  }
});

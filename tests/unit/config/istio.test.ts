import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { builtInProfiles } from '../../../webhook/config/builtin.ts';
import { parseConfiguration } from '../../../webhook/config/load.ts';
import type { Container, Pod } from '../../../webhook/core/facts/pod.ts';
import type { Profile } from '../../../webhook/core/profiles/types.ts';
import { applies } from '../../../webhook/core/proof/selection.ts';

/* The built-in profile istio, and its variant in docs/guides/profiles/istio-by-proxy.yaml. */

const file = new URL('../../../docs/guides/profiles/istio-by-proxy.yaml', import.meta.url);
const named = ({ name }: Profile): boolean => name === 'istio';
const byProxy = parseConfiguration(readFileSync(file, 'utf8'), 'istio-by-proxy.yaml').profiles.find(
  named,
) as Profile;
const builtIn = builtInProfiles().find(named) as Profile;

const inject = 'sidecar.istio.io/inject';
const proxy = (more: Partial<Container> = {}): Container => ({
  name: 'istio-proxy',
  args: ['proxy', 'sidecar', '--domain', 'x'],
  ...more,
});

interface Given {
  init?: Container[];
  containers?: Container[];
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

function promises(profile: Profile, { init = [], containers = [proxy()], ...metadata }: Given): boolean {
  const annotations = { 'sidecar.istio.io/status': '{}', ...metadata.annotations };
  const pod: Pod = {
    metadata: { ...metadata, annotations },
    spec: { initContainers: init, containers: [{ name: 'app' }, ...containers] },
  };
  return applies(profile, pod, {});
}

const env = (value: string) => ({ env: [{ name: 'DISABLE_ENVOY', value }] });

/** Pods without istio-validation, and whether istio-cni redirects their traffic (`cni/pkg/plugin`, `doAddRun`). */
const cases: [title: string, given: Given, promised: boolean][] = [
  ['a sidecar', {}, true],
  ['a native sidecar', { init: [proxy()], containers: [] }, true],
  ['a gateway', { containers: [proxy({ args: ['proxy', 'router', '--domain', 'x'] })] }, false],
  ['a proxyless gRPC pod', { containers: [proxy(env('true'))] }, false],
  ['the same in another spelling', { containers: [proxy(env('1'))] }, false],
  ['one beside istio-init', { init: [{ name: 'istio-init' }] }, false],
  ['label inject=false', { labels: { [inject]: 'false' } }, false],
  ['annotation inject=false', { annotations: { [inject]: 'false' } }, false],
  ['label before annotation', { labels: { [inject]: 'true' }, annotations: { [inject]: 'false' } }, true],
];

suite('the guide of Istio', () => {
  test('the profile for templates without istio-validation has the DaemonSets and the proof', () => {
    const { daemonSets, proof } = byProxy;
    assert.deepEqual({ ...builtIn, daemonSets, proof }, builtIn);
  });

  for (const [title, given, promised] of cases) {
    test(`${title}: ${promised ? 'a profile applies' : 'none applies'}`, () =>
      assert.equal(promises(byProxy, given), promised));
  }
});

const sidecar = { 'sidecar.istio.io/status': '{}' };

suite('profile istio', () => {
  // the golden cases show to which pods the profile istio applies; these tests cover the edge cases
  const containers = ['istio-validation', 'istio-proxy'].map((name) => ({ name }));
  const isPromised = (labels: Record<string, string>, annotations: Record<string, string>): boolean =>
    applies(builtIn, { metadata: { labels, annotations }, spec: { containers } }, {});

  test('containers with the names of Istio that its injector did not add', () => {
    assert.equal(isPromised({}, sidecar), true);
    assert.equal(isPromised({}, {}), false);
  });

  // these are the values that Go's strconv.ParseBool reads as false
  for (const no of ['0', 'f', 'F', 'false', 'FALSE', 'False']) {
    test(`inject=${no} excludes a pod from profile istio; the label overrides the annotation`, () => {
      assert.equal(isPromised({ [inject]: no }, { ...sidecar, [inject]: 'true' }), false);
      assert.equal(isPromised({}, { ...sidecar, [inject]: no }), false);
      assert.equal(isPromised({ [inject]: 'true' }, { ...sidecar, [inject]: no }), true);
    });
  }
});

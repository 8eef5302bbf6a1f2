import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { builtInProfiles } from '../../../webhook/config/builtin.ts';
import { parseConfiguration } from '../../../webhook/config/load.ts';
import type { Container, Pod } from '../../../webhook/core/facts/pod.ts';
import type { Profile } from '../../../webhook/core/profiles/types.ts';
import { applies } from '../../../webhook/core/proof/selection.ts';
import { blocks, pages } from '../../support/pages.ts';

/* The profile of docs/guides/istio.md, as it stands there. */

const [guide] = pages('docs/guides/istio.md');
const [block = ''] = blocks(guide?.text ?? '', 'yaml');
const named = ({ name }: Profile): boolean => name === 'istio';
const byProxy = parseConfiguration(block, 'istio.md').profiles.find(named) as Profile;
const builtIn = builtInProfiles().find(named);

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

/** What istio-cni does with a pod from a template without istio-validation (`cni/pkg/plugin`, `doAddRun`). */
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
  test('the profile for templates without istio-validation differs only in its conditions', () => {
    assert.deepEqual({ ...byProxy, when: builtIn?.when }, builtIn);
  });

  for (const [title, given, promised] of cases) {
    test(`${title}: ${promised ? 'a profile applies' : 'none applies'}`, () =>
      assert.equal(promises(byProxy, given), promised));
  }
});

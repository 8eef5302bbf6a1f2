import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { applies } from '../../../webhook/admission/mutate/profile-selection.ts';
import type { Pod } from '../../../webhook/admission/pod.ts';
import { builtInProfiles } from '../../../webhook/config/builtin.ts';
import { wordOf } from '../../../webhook/config/types.ts';

interface Facts {
  containers?: string[];
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  namespace?: Record<string, string>;
}

/** The built-in profiles that apply to such a pod. */
function promised({ containers = ['app'], labels = {}, annotations = {}, namespace = {} }: Facts): string[] {
  const pod: Pod = {
    metadata: { labels, annotations },
    spec: { containers: containers.map((name) => ({ name })) },
  };
  return builtInProfiles()
    .filter((profile) => applies(profile, pod, namespace))
    .map((profile) => profile.name);
}

const everywhere = ['aws-vpc-cni', 'cilium'];
const mode = 'istio.io/dataplane-mode';
const sidecar = { 'sidecar.istio.io/status': '{}' };
const meshed = ['istio-validation', 'istio-proxy'];
const inject = 'sidecar.istio.io/inject';

const cases: [string, Facts, string[]][] = [
  ['a plain pod', {}, []],
  ["linkerd's proxy", { containers: ['app', 'linkerd-proxy'] }, ['linkerd']],
  ["linkerd's proxy beside linkerd-init", { containers: ['linkerd-init', 'linkerd-proxy'] }, []],
  ['to be injected by linkerd later', { annotations: { 'linkerd.io/inject': 'enabled' } }, []],
  ["Istio's sidecar", { containers: meshed, annotations: sidecar }, ['istio']],
  ["Istio's sidecar beside istio-init", { containers: ['istio-init', ...meshed], annotations: sidecar }, []],
  [
    'a gateway of Istio, or a proxyless pod: no istio-validation',
    { containers: ['istio-proxy'], annotations: sidecar },
    [],
  ],
  ['containers with the names of Istio that were not injected', { containers: meshed }, []],
  ['ambient by the namespace', { namespace: { [mode]: 'ambient' } }, ['istio-ambient']],
  ['ambient by the pod', { labels: { [mode]: 'ambient' } }, ['istio-ambient']],
  ['out of the mesh', { labels: { [mode]: 'none' }, namespace: { [mode]: 'ambient' } }, []],
  [
    'enrolled, with a sidecar',
    { labels: { [mode]: 'ambient' }, annotations: sidecar, containers: meshed },
    ['istio'],
  ],
  ['networks', { annotations: { 'k8s.v1.cni.cncf.io/networks': '' } }, ['multus']],
];

suite('built-in profiles', () => {
  test('the built-in profiles with their checks and DaemonSets', () => {
    const reported = builtInProfiles().map(({ name, daemonSets, proof }) => ({
      name,
      daemonSets: daemonSets.map((ds) => `${ds.namespace}/${ds.name}`).join(),
      checks: proof.checks.map(wordOf).join(),
    }));
    assert.deepEqual(reported, [
      { name: 'aws-vpc-cni', daemonSets: 'kube-system/aws-node', checks: 'address,gateway,roundTrip' },
      { name: 'cilium', daemonSets: 'kube-system/cilium', checks: 'address,gateway,roundTrip' },
      {
        name: 'istio-ambient',
        daemonSets: 'istio-system/istio-cni-node,istio-system/ztunnel',
        checks: 'captured',
      },
      { name: 'istio', daemonSets: 'istio-system/istio-cni-node', checks: 'redirect' },
      { name: 'linkerd', daemonSets: 'linkerd-cni/linkerd-cni', checks: 'redirect' },
      {
        name: 'multus',
        daemonSets: 'kube-system/kube-multus-ds,kube-system/whereabouts',
        checks: 'interfaces',
      },
    ]);
  });

  test('built-in profiles set no annotation and have no check that fails on a healthy network', () => {
    for (const profile of builtInProfiles()) {
      assert.deepEqual(profile.annotations, {}, profile.name);
      assert.ok(!profile.proof.checks.map(wordOf).includes('reach'), profile.name);
    }
  });

  for (const [title, facts, names] of cases) {
    test(`${title}: ${names.join(', ') || 'nothing of a mesh'}`, () => {
      assert.deepEqual(
        promised(facts).filter((name) => !everywhere.includes(name)),
        names,
      );
    });
  }

  // the values that Go's strconv.ParseBool reads as false
  for (const no of ['0', 'f', 'F', 'false', 'FALSE', 'False']) {
    test(`inject=${no} excludes a pod from profile istio; the label overrides the annotation`, () => {
      const isPromised = (labels: Record<string, string>, annotations: Record<string, string>): boolean =>
        promised({ containers: meshed, labels, annotations: { ...sidecar, ...annotations } }).includes(
          'istio',
        );
      assert.equal(isPromised({ [inject]: no }, { [inject]: 'true' }), false);
      assert.equal(isPromised({}, { [inject]: no }), false);
      assert.equal(isPromised({ [inject]: 'true' }, { [inject]: no }), true);
    });
  }

  test('the profile of a cluster network applies to every pod', () => {
    assert.deepEqual(promised({}), everywhere);
  });
});

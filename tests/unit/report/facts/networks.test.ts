import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { NamespaceBrief } from '../../../../webhook/report/facts/model.ts';
import {
  fittingProfiles,
  type Network,
  networksOf,
  proposalsFor,
} from '../../../../webhook/report/facts/networks.ts';
import { policyOf } from '../../../support/configurations.ts';
import { policy } from '../objects.ts';

const ref = (key: string): { namespace: string; name: string } => {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name };
};
const networks = (daemonSets: string[], webhooks?: string[]): Network[] =>
  networksOf({ policy, daemonSets: daemonSets.map(ref), webhooks });
const complete = (found: Network[]): string[] =>
  found.filter((one) => one.complete).map(({ profile }) => profile);

const istio = 'namespace.sidecar-injector.istio.io';
const linkerd = 'linkerd-proxy-injector.linkerd.io';

suite('networks', () => {
  test('each by its DaemonSets, and meshes by their injectors as well', () => {
    assert.deepEqual(complete(networks(['kube-system/cilium'], [])), ['cilium']);
    assert.deepEqual(complete(networks(['kube-system/aws-node'], [])), ['aws-vpc-cni']);
    assert.deepEqual(complete(networks(['linkerd-cni/linkerd-cni'], [linkerd])), ['linkerd']);
    assert.deepEqual(complete(networks(['istio-system/istio-cni-node'], [istio])), ['istio']);
    assert.deepEqual(complete(networks(['istio-system/istio-cni-node', 'istio-system/ztunnel'], [istio])), [
      'istio-ambient',
      'istio',
    ]);
  });

  test('a mesh without its injector is not complete, unless the webhooks are not known', () => {
    const [network] = networks(['linkerd-cni/linkerd-cni'], []);
    assert.deepEqual([network?.complete, network?.injectorMissing], [false, true]);
    assert.deepEqual(complete(networks(['linkerd-cni/linkerd-cni'])), ['linkerd']);
  });

  test('a mesh with linkerd-init: the injector is there, and the DaemonSet is not', () => {
    const [network] = networks([], [linkerd]);
    assert.deepEqual(
      [network?.profile, network?.complete, network?.missing],
      ['linkerd', false, ['linkerd-cni/linkerd-cni']],
    );
  });

  test('half of a network, and one in another namespace', () => {
    const [multus] = networks(['kube-system/kube-multus-ds'], []);
    assert.deepEqual([multus?.complete, multus?.missing], [false, ['kube-system/whereabouts']]);
    const [cilium] = networks(['cilium/cilium'], []);
    assert.deepEqual([cilium?.complete, cilium?.elsewhere], [false, ['cilium/cilium']]);
  });

  test("a tenant's DaemonSet of the same name changes nothing where the real one is there", () => {
    const [cilium] = networks(['kube-system/cilium', 'tenant/cilium'], []);
    assert.deepEqual([cilium?.complete, cilium?.elsewhere], [true, []]);
  });

  test('a cluster with none of them', () => {
    assert.deepEqual(networks(['kube-flannel/kube-flannel-ds'], []), []);
  });
});

suite('profiles that apply to every pod of a namespace', () => {
  const always = ['aws-vpc-cni', 'cilium'];
  const fits = (labels: Record<string, string>, annotations: Record<string, string> = {}): string[] =>
    fittingProfiles(policy, { labels, annotations }).filter((name) => !always.includes(name));

  test('without conditions; none that only some pods ask for, and none of a mesh that was not asked for', () => {
    assert.deepEqual(fittingProfiles(policy, { labels: {}, annotations: {} }), always);
  });

  test('meshes, by what their injectors read', () => {
    assert.deepEqual(fits({}, { 'linkerd.io/inject': 'enabled' }), ['linkerd']);
    assert.deepEqual(fits({}, { 'linkerd.io/inject': 'disabled' }), []);
    assert.deepEqual(fits({ 'istio-injection': 'enabled' }), ['istio']);
    assert.deepEqual(fits({ 'istio.io/rev': 'stable' }), ['istio']);
    assert.deepEqual(fits({ 'istio.io/dataplane-mode': 'ambient' }), ['istio-ambient']);
  });
});

suite('proposals', () => {
  const brief = (name: string, fits: string[], profile?: string): NamespaceBrief => ({ name, fits, profile });
  const both = networks(['kube-system/cilium', 'linkerd-cni/linkerd-cni'], [linkerd]);

  test('each namespace by itself, with the networks that are there and used, the mesh last', () => {
    const namespaces = [brief('bank', ['cilium']), brief('shop', ['linkerd', 'multus', 'cilium'])];
    assert.deepEqual(proposalsFor(policy, both, namespaces, 'cni-gate').proposals, [
      {
        namespace: 'bank',
        profile: 'cilium',
        command: 'kubectl label namespace bank cni-gate.io/profile=cilium',
        problem: '',
      },
      {
        namespace: 'shop',
        profile: 'cilium.linkerd',
        command: 'kubectl label namespace shop cni-gate.io/profile=cilium.linkerd',
        problem: '',
      },
    ]);
  });

  test('none for namespaces of Kubernetes, of the networks and of cni-gate, nor for one that opted in', () => {
    const names = ['kube-system', 'kube-public', 'linkerd-cni', 'cni-gate'];
    const namespaces = [...names.map((name) => brief(name, ['cilium'])), brief('done', ['cilium'], 'cilium')];
    const nothing = { proposals: [], unused: [], defaultLeftOut: false };
    assert.deepEqual(proposalsFor(policy, both, namespaces, 'cni-gate'), nothing);
    assert.deepEqual(proposalsFor(policy, [], [brief('shop', ['cilium'])], 'cni-gate'), nothing);
  });

  test('profiles that cannot be joined: why, and no command', () => {
    const redirect = { direction: 'outbound', listen: 4140, connect: ['192.0.2.2:1404'], timeout: '10s' };
    const own = (name: string, asUser: number) => ({
      name,
      daemonSets: [{ namespace: 'net', name }],
      proof: { checks: [{ redirect: { ...redirect, asUser } }] },
    });
    const conflicting = policyOf({ profiles: [own('one', 1), own('two', 2)] });
    const found = networksOf({
      policy: conflicting,
      daemonSets: [ref('net/one'), ref('net/two')],
      webhooks: [],
    });
    const { proposals } = proposalsFor(conflicting, found, [brief('shop', ['one', 'two'])], 'cni-gate');
    const [proposal] = proposals;
    assert.deepEqual([proposal?.profile, proposal?.command], ['one.two', '']);
    assert.match(proposal?.problem ?? '', /^profile "one\.two" is not possible: /);
  });
});

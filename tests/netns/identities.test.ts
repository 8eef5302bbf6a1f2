import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type PodSpecimen, specimens } from './harness/pods.ts';
import { type Proof, startProof } from './harness/proof.ts';
import { Sandbox } from './harness/sandbox.ts';
import { type RuleSet, writeRules } from './rules/backends.ts';
import { istio } from './rules/istio.ts';
import { linkerd } from './rules/linkerd.ts';

/* Which user and group a mesh's rules redirect or exempt depends on the pod. */

const proxyUid = 'config.linkerd.io/proxy-uid';
const proxyGid = 'config.linkerd.io/proxy-gid';
/** The last ID of a namespace's range on OpenShift. */
const ofRange = 1_000_629_999;
/** The user and the group of our image. */
const ours = 64_532;

const cases: [title: string, rules: RuleSet, pod: PodSpecimen, code: number][] = [
  [
    'Istio, ids of an OpenShift range',
    istio({ proxyUser: ofRange }),
    { ...specimens.istio, runAs: { runAsUser: ofRange, runAsGroup: ofRange } },
    0,
  ],
  [
    'Istio, another user and another group',
    istio({ proxyUser: 2000, proxyGroup: 3000 }),
    { ...specimens.istio, runAs: { runAsUser: 2000, runAsGroup: 3000 } },
    0,
  ],
  [
    'Istio, another user in a pod whose rules are for the usual one',
    istio(),
    { ...specimens.istio, runAs: { runAsUser: 2000, runAsGroup: 3000 } },
    95,
  ],
  ['Istio, no ids anywhere', istio(), { ...specimens.istio, runAs: {} }, 0],
  ['Istio, a pod that runs as root', istio(), { ...specimens.istio, runAs: {}, runAsUser: 0 }, 0],
  [
    "linkerd, the annotation names our image's own user",
    linkerd({ proxyUser: ours }),
    { ...specimens.linkerd, annotations: { [proxyUid]: String(ours) } },
    0,
  ],
  [
    "linkerd, the namespace's annotation names our image's own group",
    linkerd({ proxyGroup: ours }),
    { ...specimens.linkerd, namespaceAnnotations: { [proxyGid]: String(ours) } },
    0,
  ],
  [
    'linkerd, the pod runs in the group that is exempted',
    linkerd({ proxyGroup: 3000 }),
    { ...specimens.linkerd, annotations: { [proxyGid]: '3000' }, runAsUser: 1000, runAsGroup: 3000 },
    0,
  ],
  [
    'linkerd, an exempted group that the annotations do not tell of',
    linkerd({ proxyGroup: ours }),
    specimens.linkerd,
    95,
  ],
];

describe("the proof runs with the ids that the pod's rule needs", { concurrency: 4 }, () => {
  for (const [title, rules, pod, code] of cases) {
    test(`${title}: ${code}`, async () => {
      const ended = await prove(rules, pod);
      assert.equal(ended.code, code, ended.log);
    });
  }

  test('a container with another user or group fails at once with wrong-user', async () => {
    const pod = { ...specimens.linkerd, annotations: { [proxyGid]: '3000' } };
    const wrongGroup = await prove(linkerd(), pod, { user: 3000 });
    assert.equal(wrongGroup.code, 69, wrongGroup.log);
    assert.match(wrongGroup.log, /wrong-user.* saw this program run as group 3000, which the rule exempts/);
    const wrongUser = await prove(istio(), specimens.istio, { user: 2000 });
    assert.equal(wrongUser.code, 69, wrongUser.log);
    assert.match(wrongUser.log, /saw this program run as user 2000, where the rule is for user 1337/);
  });
});

describe('families of an Istio sidecar', { concurrency: 4 }, () => {
  const dual: PodSpecimen = { ...specimens.istio, env: { ISTIO_DUAL_STACK: 'true' } };
  const reported = ({ message }: Proof) =>
    message.checks.map(({ family, passed, note }) => ({ family, passed, note }));
  const note = (proved: string, left: string): string =>
    `${left} was not checked: without its dual-stack option the mesh redirects only ${proved} in this pod, and leaves ${left} traffic alone`;

  test('with the dual-stack option: both families, and a missing one fails', async () => {
    const right = await prove(istio(), dual);
    assert.equal(right.code, 0, right.log);
    assert.deepEqual(
      right.message.checks.map(({ family }) => family),
      ['IPv4', 'IPv6'],
    );
    for (const families of ['ipv4', 'ipv6'] as const) {
      const half = await prove(istio(), dual, {}, families);
      assert.equal(half.code, 95, half.log);
      assert.deepEqual(
        half.message.checks.filter(({ passed }) => !passed).map(({ family }) => family),
        [families === 'ipv4' ? 'IPv6' : 'IPv4'],
      );
    }
  });

  test("without the option: the family of the kernel's first address, whatever status.podIPs lists first", async () => {
    for (const podIPs of [
      ['10.244.1.7', 'fd00:10:244:1::7'],
      ['fd00:10:244:1::7', '10.244.1.7'],
    ]) {
      const right = await prove(istio(), specimens.istio, { podIPs }, 'ipv4');
      assert.equal(right.code, 0, right.log);
      assert.deepEqual(reported(right), [{ family: 'IPv4', passed: true, note: note('IPv4', 'IPv6') }]);
      assert.match(right.log, /^istio: redirect IPv4 .* Note: IPv6 was not checked: /m);
      const other = await prove(istio(), specimens.istio, { podIPs }, 'ipv6');
      assert.equal(other.code, 95, other.log);
    }
  });

  test('a pod of one family: no note', async () => {
    for (const family of ['ipv4', 'ipv6'] as const) {
      await using sandbox = await Sandbox.make({ families: family });
      await writeRules(sandbox, istio());
      const proof = await startProof(sandbox, specimens.istio).ended;
      assert.equal(proof.code, 0, proof.log);
      assert.deepEqual(
        reported(proof).map(({ note }) => note),
        [undefined],
      );
    }
  });
});

async function prove(
  rules: RuleSet,
  pod: PodSpecimen,
  options: Parameters<typeof startProof>[2] = {},
  families: 'ipv4' | 'ipv6' | 'dual' = 'dual',
): Promise<Proof> {
  await using sandbox = await Sandbox.make();
  await writeRules(sandbox, rules, { families });
  return await startProof(sandbox, pod, options).ended;
}

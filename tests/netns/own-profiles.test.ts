import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parseConfiguration } from '../../webhook/config/load.ts';
import { otherPodAddress, podAddress } from './harness/addresses.ts';
import { startProof } from './harness/proof.ts';
import type { Sandbox } from './harness/sandbox.ts';
import { calico, flannel, ovnKubernetes } from './table/own-networks.ts';
import type { Step } from './table/plan.ts';

/* What the checks of the profiles in docs/guides/profiles can prove, and what they cannot. */
const node =
  (...lines: string[]): Step =>
  async (sandbox) =>
    void (await sandbox.ip('node', ...lines));
const inNode =
  (script: string): Step =>
  async (sandbox) =>
    void (await sandbox.exec('node', 'sh', ['-c', script]));
const correct: Step = () => {};

/** A situation, the step that creates it, and the expected result of the proof: `passed`, or reasons of failures. */
type Case = [what: string, step: Step, expected: string, podIPs?: string[]];

const otherAddress: Case = [
  'the address of another pod',
  correct,
  'address-missing IPv4, address-missing IPv6',
  Object.values(otherPodAddress),
];

const networks: [profile: string, make: () => Promise<Sandbox>, cases: Case[]][] = [
  [
    'calico',
    calico,
    [
      ['correct', correct, 'passed'],
      ['no proxy ARP', inNode('echo 0 > /proc/sys/net/ipv4/conf/cali0/proxy_arp'), 'gateway-silent IPv4'],
      // https://github.com/projectcalico/calico/issues/3270
      ['a node without a default route', node('route del default'), 'gateway-silent IPv4'],
      [
        "the node's end of the link is down",
        node('link set cali0 down'),
        'address-missing IPv4, address-missing IPv6, gateway-silent IPv4, gateway-silent IPv6',
      ],
      otherAddress,
      // https://github.com/projectcalico/calico/issues/11161
      [
        'not seen: no host route to the pod',
        node(`route del ${podAddress.ipv4}`, `route del ${podAddress.ipv6}`),
        'passed',
      ],
    ],
  ],
  [
    'flannel',
    flannel,
    [
      ['correct', correct, 'passed'],
      // with IPv4 the check passes, because Linux answers ARP for its own addresses on every interface
      [
        "seen with IPv6 only: the node's end of the link is not in cni0",
        node('link set veth0 nomaster'),
        'gateway-silent IPv6',
      ],
      [
        'cni0 has no address',
        node('addr flush dev cni0 scope global'),
        'gateway-silent IPv4, gateway-silent IPv6',
      ],
      otherAddress,
      ['not seen: no way to pods of other nodes', node('route del 10.244.2.0/24'), 'passed'],
    ],
  ],
  [
    'ovn-kubernetes',
    ovnKubernetes,
    [
      ['correct', correct, 'passed'],
      [
        "no flows for the pod's port",
        node('link set ovnport nomaster'),
        'gateway-silent IPv4, gateway-silent IPv6',
      ],
      [
        'no flows for the logical router',
        node('link set stor nomaster'),
        'gateway-silent IPv4, gateway-silent IPv6',
      ],
      otherAddress,
    ],
  ],
];

for (const [profile, make, cases] of networks) {
  describe(`docs/guides/profiles/${profile}.yaml`, { concurrency: 3 }, () => {
    const file = new URL(`../../docs/guides/profiles/${profile}.yaml`, import.meta.url);
    const text = readFileSync(file, 'utf8');
    for (const [what, step, expected, podIPs] of cases) {
      test(`${what}: ${expected}`, async () => {
        await using sandbox = await make();
        await step(sandbox);
        // a failing check takes its whole time-out, so the time-out is shortened
        const configuration = parseConfiguration(text.replaceAll('10s', '2s'), profile);
        const { message, log } = await startProof(
          sandbox,
          { profile },
          { configuration, ...(podIPs && { podIPs }) },
        ).ended;
        const failed = message.checks
          .filter(({ passed }) => !passed)
          .map(({ reason, family }) => `${reason} ${family}`);
        assert.equal(failed.join(', ') || message.verdict, expected, log);
      });
    }
  });
}

import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { builtInProfiles } from '../../webhook/config/builtin.ts';
import { configurationOf } from '../support/configurations.ts';
import { GoProgram } from '../support/go-program.ts';
import { cnitool, type Network, PluginChain } from './chain/chain.ts';
import { startProof } from './harness/proof.ts';
import { Sandbox } from './harness/sandbox.ts';

/* What the checks of the profiles that apply to every pod can prove, and what they cannot. */

const bothSilent = 'gateway-silent IPv4, gateway-silent IPv6';

/** A situation, the script that creates it on the node, and the expected result. */
type Case = [what: string, script: string, expected: string];

/** Flannel's plugin: the CNI project's last version, for IPv4 only. The Go module proxy has no later one. */
const flannelPlugin = new GoProgram('github.com/containernetworking/plugins/plugins/meta/flannel', 'v0.9.1');
/** The file that flanneld writes. */
const subnetFile = join(tmpdir(), `cni-gate-subnet-${process.pid}.env`);
before(async () => {
  await Promise.all([cnitool(), flannelPlugin.build()]);
  const lines = [
    'FLANNEL_NETWORK=10.244.0.0/16',
    'FLANNEL_SUBNET=10.244.2.1/24',
    'FLANNEL_MTU=1450',
    'FLANNEL_IPMASQ=true',
  ];
  writeFileSync(subnetFile, `${lines.join('\n')}\n`);
});
after(() => rmSync(subnetFile, { force: true }));

/** A command that prints the names of the node's ends of links. */
const ends = 'ip -o link show type veth | cut -d" " -f2 | cut -d@ -f1';

/**
 * The checks in sandboxes that the CNI project's plugins set up, configured as the networks do it: Flannel's
 * plugin delegates to `bridge` (flannel-io/flannel v0.28.10, Documentation/kube-flannel.yml), kube-router installs
 * `bridge` (v2.1.0, daemonset/), and kind's kindnet installs `ptp`.
 */
const chained: [profile: string, network: Network, cases: Case[]][] = [
  [
    'flannel',
    {
      main: { type: 'flannel', subnetFile, delegate: { hairpinMode: true, isDefaultGateway: true } },
      version: '0.3.1',
      program: flannelPlugin,
    },
    [
      ['correct', 'true', 'passed'],
      ['cni0 has no address', 'ip addr flush dev cni0', 'gateway-silent IPv4'],
    ],
  ],
  [
    'flannel',
    { main: { type: 'bridge', bridge: 'cni0', isDefaultGateway: true, hairpinMode: true, mtu: 1450 } },
    [
      ['correct', 'true', 'passed'],
      ['cni0 has no address', 'ip addr flush dev cni0', bothSilent],
      ['cni0 is down', 'ip link set cni0 down', bothSilent],
      // with IPv4 the check passes, because Linux answers ARP for its own addresses on every interface
      [
        "seen with IPv6 only: the node's end of the link is not in cni0",
        `${ends} | xargs -I@ ip link set @ nomaster`,
        'gateway-silent IPv6',
      ],
    ],
  ],
  [
    'kube-router',
    { main: { type: 'bridge', bridge: 'kube-bridge', isDefaultGateway: true } },
    [
      ['correct', 'true', 'passed'],
      ['no address', 'ip addr flush dev kube-bridge', bothSilent],
    ],
  ],
  [
    'pod-network',
    { main: { type: 'ptp' }, routes: ['0.0.0.0/0', '::/0'] },
    [
      ['correct', 'true', 'passed'],
      ["the node's end of the link is down", `${ends} | xargs -I@ ip link set @ down`, bothSilent],
    ],
  ],
];

/** Runs a proof. A failing check takes its whole time-out, so the time-out is shortened. */
async function find(sandbox: Sandbox, name: string, podIPs: string[]) {
  const text = JSON.stringify(builtInProfiles().find((profile) => profile.name === name));
  const configuration = configurationOf({ profiles: [JSON.parse(text.replaceAll('10s', '5s'))] });
  const { message, log } = await startProof(sandbox, { profile: name }, { configuration, podIPs }).ended;
  const failed = message.checks
    .filter(({ passed }) => !passed)
    .map(({ reason, family }) => `${reason} ${family}`);
  return { found: failed.join(', ') || message.verdict, log };
}

for (const [profile, network, cases] of chained) {
  describe(`${profile}, by ${network.program ? 'its real plugin' : 'real plugins'}`, {
    concurrency: 3,
  }, () => {
    for (const [what, script, expected] of cases) {
      test(`${what}: ${expected}`, async () => {
        await using chain = await PluginChain.make(network);
        await using sandbox = await Sandbox.make({ gateway: 'none' });
        const podIPs = await chain.add(sandbox);
        await chain.exec(script);
        // the addresses of a new bridge are tentative for up to 2 s
        const { found, log } = await find(sandbox, profile, podIPs);
        // after a lost carrier, which the kernel reports within a second, `address-missing` precedes the other reasons
        assert.ok(found.endsWith(expected), `${found}\n${log}`);
      });
    }
  });
}

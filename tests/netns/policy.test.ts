import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configurationOf } from '../support/configurations.ts';
import {
  type Families,
  type Family,
  familiesOf,
  gatewayAddress,
  nodeAddress,
  serviceAddress,
} from './harness/addresses.ts';
import { listen } from './harness/listeners.ts';
import { type Proof, startProof } from './harness/proof.ts';
import { Sandbox } from './harness/sandbox.ts';

/* The check `policy`, with policies that nftables enforces in the node's network namespace, as agents do. */

interface Targets {
  blocked: string[];
  allowed?: string[];
}

const at = (family: Family, address: string, port: number): string =>
  family === 'ipv6' ? `[${address}]:${port}` : `${address}:${port}`;
/** The node, with one port that the policy denies and one that it permits. */
const ofNode = (family: Family): Required<Targets> => ({
  blocked: [at(family, nodeAddress[family], 443)],
  allowed: [at(family, gatewayAddress[family], 53)],
});

/** Replaces the node's rules at once, as a policy agent does. */
async function enforce(sandbox: Sandbox, rules: string, hook = 'input'): Promise<void> {
  const where = hook === 'output' ? 'pod' : 'node';
  const chain = `chain c {\n type filter hook ${hook} priority 0\n ${rules}\n }`;
  const table = `table inet agent\ndelete table inet agent\ntable inet agent {\n ${chain}\n}\n`;
  await sandbox.exec(where, 'nft', ['-f', '-'], table);
}

async function makeSandbox(families: Families = 'dual'): Promise<Sandbox> {
  const sandbox = await Sandbox.make({ families });
  const host = families === 'ipv4' ? '0.0.0.0' : '::';
  await listen(sandbox, 'node', { host, tcp: [443, 53], manner: 'silent' });
  return sandbox;
}

function prove(sandbox: Sandbox, targets: Targets): Promise<Proof> {
  const guarded = {
    name: 'guarded',
    when: { namespaceLabels: { guarded: 'yes' } },
    proof: { checks: [{ policy: { ...targets, timeout: '4s' } }] },
  };
  const pod = { profile: 'guarded', namespaceLabels: { guarded: 'yes' } };
  return startProof(sandbox, pod, { configuration: configurationOf({ profiles: [guarded] }) }).ended;
}

function assertEnded({ code, message, log }: Proof, reason: string | undefined): void {
  assert.deepEqual([code, message.checks[0]?.reason], [reason === undefined ? 0 : 95, reason], log);
}

const deny = 'tcp dport 443 drop';
const noAnswer = 'policy-too-strict';

describe('a policy in each state, for both families', { concurrency: 4 }, () => {
  const states: [what: string, rules: string, reason?: string | undefined, hook?: string][] = [
    ['no policy', '', 'policy-not-in-force'],
    ['a policy that drops', deny],
    ['a policy that drops everything else', 'meta l4proto tcp tcp dport != 53 drop'],
    ['a policy that rejects with port-unreachable, as kube-router does', 'tcp dport 443 reject'],
    ['a policy that rejects as prohibited', 'tcp dport 443 reject with icmpx admin-prohibited'],
    ['a policy that rejects inside the pod', 'tcp dport 443 reject', undefined, 'output'],
    ['a reset connection', 'tcp dport 443 reject with tcp reset', 'connect-refused'],
    ['a policy that drops the allowed target too', 'meta l4proto tcp drop', noAnswer],
    ['a policy that rejects the allowed target too', 'tcp dport { 443, 53 } reject', noAnswer],
    ['only the allowed target is dropped', 'tcp dport 53 drop', 'policy-not-in-force'],
    // four dials a second, of which one passes: a dropped packet is no policy
    [
      'a policy that drops three packets of four',
      'tcp dport 443 tcp flags syn / syn,ack numgen inc mod 4 != 0 drop',
      'policy-not-in-force',
    ],
    // A rate of one packet a second is no such case: it blocks all packets for a second, so the check may pass (in 3 of
    // 12 runs with the default burst of 5 packets).
    [
      'a policy that drops all but two packets a second',
      'tcp dport 443 tcp flags syn / syn,ack limit rate over 2/second burst 1 packets drop',
      'policy-not-in-force',
    ],
  ];
  for (const [what, rules, reason, hook] of states) {
    for (const family of familiesOf('dual')) {
      test(`${family}: ${what}`, async () => {
        await using sandbox = await makeSandbox();
        await enforce(sandbox, rules, hook);
        assertEnded(await prove(sandbox, ofNode(family)), reason);
      });
    }
  }

  test('targets of both families: a policy for one family, and then for both', async () => {
    await using sandbox = await makeSandbox();
    const [ipv4, ipv6] = [ofNode('ipv4'), ofNode('ipv6')];
    const targets = {
      blocked: [...ipv4.blocked, ...ipv6.blocked],
      allowed: [...ipv4.allowed, ...ipv6.allowed],
    };
    await enforce(sandbox, `meta nfproto ipv4 ${deny}`);
    assertEnded(await prove(sandbox, targets), 'policy-not-in-force');
    await enforce(sandbox, deny);
    assertEnded(await prove(sandbox, targets), undefined);
  });
});

for (const family of familiesOf('dual'))
  test(`${family}: a default deny, with the API server in a variable as its canary`, async () => {
    await using sandbox = await makeSandbox(family);
    await sandbox.ip('node', `addr add ${serviceAddress[family]} dev lo`);
    const canary = { blocked: ['$(KUBERNETES_SERVICE_HOST):443'] };
    assertEnded(await prove(sandbox, canary), 'policy-not-in-force');
    await enforce(sandbox, 'meta l4proto tcp drop');
    const proof = await prove(sandbox, canary);
    assertEnded(proof, undefined);
    assert.match(proof.log, /Note: without an allowed target, a pod whose packets are lost passes too\./);
  });

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Readiness } from '../../../webhook/readiness/readiness.ts';
import { toAgentFacts, toDaemonSetFacts } from '../../../webhook/readiness/to-facts.ts';
import { statusOf } from '../../../webhook/status/compose.ts';
import type { PodFacts } from '../../../webhook/status/facts.ts';
import type { ProofState } from '../../../webhook/status/proof.ts';
import { statusText } from '../../../webhook/status/text.ts';
import { policyOf } from '../../support/configurations.ts';
import { pages } from '../../support/pages.ts';
import { apiAgent, apiDaemonSet, now } from '../readiness/objects.ts';
import { node, usage } from '../steer/support.ts';
import { allRegistered, client, evidenceOf, holdOf, wholeInstallation } from './objects.ts';

/** Four nodes: linkerd-cni is broken on n17, and does not want n20. */
function readiness(): Readiness {
  const nodes = new Readiness();
  const wanted = { nodeSelector: { 'kubernetes.io/os': 'linux' } };
  const facts = { ...toDaemonSetFacts(apiDaemonSet('linkerd-cni', wanted)), namespace: 'linkerd-cni' };
  nodes.apply({ kind: 'daemonset', facts }, now);
  for (const name of ['n17', 'n18', 'n19', 'n20']) {
    const os = name === 'n20' ? 'windows' : 'linux';
    nodes.apply(
      { kind: 'node', facts: node(name, { labels: { 'kubernetes.io/os': os } }), listed: true },
      now,
    );
    if (os === 'windows') continue;
    const ready = name !== 'n17';
    const waiting = ready ? {} : { waiting: 'CrashLoopBackOff' };
    const agent = apiAgent(name, { name: `linkerd-cni-${name}`, ready, ...waiting, owner: 'linkerd-cni' });
    nodes.apply({ kind: 'agent', facts: { ...toAgentFacts(agent), namespace: 'linkerd-cni' } }, now);
  }
  return nodes;
}

const why =
  'DaemonSet linkerd-cni/linkerd-cni is broken there since 2026-11-21T11:30:00Z (pod linkerd-cni-n17): its pod is not Ready: install-cni (CrashLoopBackOff)';

const pod = (name: string, proof: ProofState, on = 'n18'): PodFacts => ({
  namespace: 'shop',
  name,
  node: on,
  proof,
  ...(proof === 'passed' && { evidence: evidenceOf(name, { node: on, profiles: ['linkerd'] }) }),
});
const held = (name: string, age: number, nominated: string, more: object = {}): PodFacts => ({
  namespace: 'shop',
  name,
  proof: 'waiting',
  held: holdOf(
    name,
    { refused: 'n17', since: now - age, nominated, why },
    { profiles: ['linkerd'], constraints: { nodeSelector: { 'kubernetes.io/os': 'linux' } }, ...more },
  ),
});

test('the reference shows a status as the command prints it', () => {
  const facts = {
    // as the overlay strict
    policy: policyOf({ repair: { mode: 'recreate' } }),
    readiness: readiness(),
    registered: allRegistered,
    installation: wholeInstallation,
    scheduler: { version: 'v1.36.3', goesByNominations: true },
    namespaces: [{ name: 'shop', profile: 'linkerd' }],
    usage: () => usage({}),
    pods: [
      ...[pod('api-1', 'passed'), pod('api-2', 'passed', 'n19'), pod('debug', 'optedOut')],
      held('web-1', 12 * 60_000, 'n18'),
      held('web-2', 60_000, '', { requests: { cpu: 4000, pods: 1 } }),
    ],
  };
  const configuration = 'config.yaml of ConfigMap cni-gate/cni-gate';
  const status = statusOf(facts, { client, configuration, now, all: false, namespace: undefined });
  const text = statusText(status, false, { width: 100 });
  const [{ text: page } = { text: '' }] = pages('docs/reference/command-line.md');
  assert.ok(page.includes(`\`\`\`\n${text}\`\`\`\n`), text);
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { builtInProfiles } from '../../../webhook/config/builtin.ts';
import { toAgentFacts, toDaemonSetFacts } from '../../../webhook/core/facts/node.ts';
import { Readiness } from '../../../webhook/core/networks/readiness.ts';
import type { DaemonSetRef } from '../../../webhook/core/profiles/types.ts';
import type { PodFacts, ProofState } from '../../../webhook/report/observe/pods.ts';
import { statusOf } from '../../../webhook/report/show/status.ts';
import { statusText } from '../../../webhook/report/show/status-text.ts';
import { blocks, pages } from '../../support/pages.ts';
import { apiAgent, apiDaemonSet, now } from '../core/networks/objects.ts';
import { node } from '../leader/steering/support.ts';
import { configured, daemonSet, evidenceOf, found, holdOf, statusFacts } from './objects.ts';
import { troubled } from './troubled.ts';

/* What the documentation shows is what the commands print. */

const pageOf = (path: string): string => pages(path)[0]?.text ?? '';
const reference = pageOf('docs/reference/command-line.md');

/** As the overlay strict. */
const configuration = configured({ repair: { mode: 'recreate' } });

/** Linux nodes with these DaemonSets, which are broken on n17; n20 runs Windows. */
function nodesWith(names: string[], daemonSets: DaemonSetRef[]): Readiness {
  const readiness = new Readiness();
  for (const name of names) {
    const labels = { 'kubernetes.io/os': name === 'n20' ? 'windows' : 'linux' };
    readiness.setNode(node(name, { labels }), now);
  }
  for (const { namespace, name } of daemonSets) {
    const wanted = { nodeSelector: { 'kubernetes.io/os': 'linux' } };
    const facts = { ...toDaemonSetFacts(apiDaemonSet(name, wanted)), namespace };
    readiness.setDaemonSet(facts);
    for (const on of names.filter((one) => one !== 'n20')) {
      const ready = on !== 'n17';
      const waiting = ready ? {} : { waiting: 'CrashLoopBackOff' };
      const agent = apiAgent(on, { name: `${name}-${on}`, ready, ...waiting, owner: name });
      const agentFacts = { ...toAgentFacts(agent), namespace, uid: `${name}-${on}` };
      readiness.setAgent(agentFacts);
    }
  }
  return readiness;
}

test('the installation guide shows the status of a healthy cluster', () => {
  const profile = 'cilium.linkerd';
  const daemonSets = builtInProfiles()
    .filter(({ name }) => profile.split('.').includes(name))
    .flatMap((one) => one.daemonSets);
  const facts = statusFacts({
    configuration,
    readiness: nodesWith(['n1', 'n2', 'n3'], daemonSets),
    daemonSets: found(daemonSets.map(({ namespace, name }) => daemonSet(namespace, name))),
    namespaces: found([{ name: 'shop', profile }]),
    namespace: 'shop',
    pods: [],
  });
  const text = statusText(statusOf(facts, { now, all: false }), false, { width: 100 });
  assert.match(text, /^All is well\.$/m);
  assert.ok(blocks(pageOf('docs/guides/install.md'), 'text').includes(text.trimEnd()), text);
});

test('the reference shows a status with held pods', () => {
  const why =
    'DaemonSet linkerd-cni/linkerd-cni is broken there since 2026-11-21T11:30:00Z (pod linkerd-cni-n17): its pod is not Ready: install-cni (CrashLoopBackOff)';
  const pod = (name: string, proof: ProofState, on = 'n18'): PodFacts => ({
    namespace: 'shop',
    name,
    node: on,
    proof,
    ...(proof === 'passed' && { evidence: evidenceOf(name, { node: on, profiles: ['linkerd'] }) }),
  });
  const held = (name: string, age: number, nominated: string): PodFacts => ({
    namespace: 'shop',
    name,
    proof: 'waiting',
    held: holdOf(name, { refused: 'n17', since: now - age, nominated, why }),
  });
  const facts = statusFacts({
    configuration,
    readiness: nodesWith(['n17', 'n18', 'n19', 'n20'], [{ namespace: 'linkerd-cni', name: 'linkerd-cni' }]),
    daemonSets: found([daemonSet('linkerd-cni', 'linkerd-cni')]),
    namespaces: found([{ name: 'shop', profile: 'linkerd' }]),
    pods: [
      ...[pod('api-1', 'passed'), pod('api-2', 'passed', 'n19'), pod('debug', 'optedOut')],
      held('web-1', 12 * 60_000, 'n18'),
    ],
  });
  const text = statusText(statusOf(facts, { now, all: false }), false, { width: 100 });
  assert.ok(reference.includes(`\`\`\`\n${text}\`\`\`\n`), text);
});

test('the schema has every field of the JSON of status, and no other', () => {
  const schema = JSON.parse(readFileSync(new URL('../../../schemas/status.json', import.meta.url), 'utf8'));
  const status = statusOf(troubled(), { now, all: false });
  assert.deepEqual(Object.keys(schema.properties).toSorted(), Object.keys(status).toSorted());
});

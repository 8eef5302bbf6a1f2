import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { builtInProfiles } from '../../../webhook/config/builtin.ts';
import type { DaemonSetRef } from '../../../webhook/config/types.ts';
import { Readiness } from '../../../webhook/readiness/readiness.ts';
import { toAgentFacts, toDaemonSetFacts, toNodeFacts } from '../../../webhook/readiness/to-facts.ts';
import { statusOf } from '../../../webhook/status/compose.ts';
import { statusText } from '../../../webhook/status/text.ts';
import { policyOf } from '../../support/configurations.ts';
import { blocks, pages } from '../../support/pages.ts';
import { apiAgent, apiDaemonSet, apiNode, now } from '../readiness/objects.ts';
import { allRegistered, client, wholeInstallation } from './objects.ts';

/** Three nodes that are ready for these DaemonSets. */
function readyNodes(daemonSets: DaemonSetRef[]): Readiness {
  const readiness = new Readiness();
  const nodes = ['n1', 'n2', 'n3'];
  for (const name of nodes)
    readiness.apply({ kind: 'node', facts: toNodeFacts(apiNode(name, 'b1', 1)), listed: true }, now);
  for (const { namespace, name } of daemonSets) {
    const facts = { ...toDaemonSetFacts(apiDaemonSet(name)), namespace };
    readiness.apply({ kind: 'daemonset', facts }, now);
    for (const node of nodes) {
      const agent = { ...toAgentFacts(apiAgent(node)), namespace, uid: `${name}-${node}`, owner: facts.uid };
      readiness.apply({ kind: 'agent', facts: agent }, now);
    }
  }
  return readiness;
}

describe('a guide shows the status as the command prints it', () => {
  for (const { name: profile, daemonSets } of builtInProfiles()) {
    test(profile, () => {
      const [{ text } = { text: '' }] = pages(`docs/guides/${profile}.md`);
      const facts = {
        // as the overlay strict
        policy: policyOf({ repair: { mode: 'recreate' } }),
        readiness: readyNodes(daemonSets),
        registered: allRegistered,
        installation: wholeInstallation,
        scheduler: { version: 'v1.36.3', goesByNominations: true },
        namespaces: [{ name: 'shop', profile }],
        pods: [],
      };
      const configuration = 'config.yaml of ConfigMap cni-gate/cni-gate';
      const status = statusOf(facts, { client, configuration, now, all: false, namespace: 'shop' });
      assert.equal(status.well, true);
      const section = /^## Verify\n(.*?)^## /ms.exec(text)?.[1] ?? '';
      assert.ok(blocks(section, 'console').includes('npx cni-gate status -n shop'), 'no such command');
      const shown = statusText(status, false, { width: 100 });
      assert.ok(blocks(section, 'text').includes(shown.trimEnd()), shown);
    });
  }
});

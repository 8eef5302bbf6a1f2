import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusedFor } from '../../../../webhook/core/facts/refusal-tag.ts';
import type { DaemonSetStatus } from '../../../../webhook/core/networks/daemon-set-status.ts';
import type { NetworkProblem } from '../../../../webhook/core/networks/network-status.ts';
import { refusalText } from '../../../../webhook/core/networks/refusal.ts';
import { bindingsWebhook } from '../../../../webhook/lib/names.ts';
import { blocks, pages } from '../../../support/pages.ts';

const refusal =
  /denied the request: (?<text>node (?<node>\S+) is not ready for profile (?<profile>\S+): DaemonSet (?<namespace>[^/]+)\/(?<name>\S+) is (?<state>\S+) there(?: since (?<since>\S+))?(?: \(pod (?<pod>\S+)\))?: (?<reason>.+) \(CNI_GATE_NODE_NOT_READY .+\))$/;

/** What a line of an event tells, as the gate would have it. */
function blockerIn(line: string): NetworkProblem & { text: string } {
  const groups = refusal.exec(line)?.groups;
  assert.ok(groups, `not a refusal of the gate: ${line}`);
  const {
    text = '',
    node = '',
    profile = '',
    namespace = '',
    name = '',
    state,
    since,
    pod,
    reason = '',
  } = groups;
  const status: DaemonSetStatus = {
    state: state as DaemonSetStatus['state'],
    reason,
    ...(pod !== undefined && { pod }),
    ...(since !== undefined && { since: Date.parse(since) }),
  };
  return { text, node, profile, daemonSet: { namespace, name }, ...status };
}

test('the documentation shows a refusal as the gate writes it', () => {
  const lines = pages('docs/**/*.md')
    .flatMap(({ text }) => blocks(text, 'text').flatMap((block) => block.split('\n')))
    .filter((line) => line.includes('denied the request: node'));
  assert.ok(lines.length > 0);
  for (const line of lines) {
    assert.ok(
      line.includes(`running Bind plugin "DefaultBinder": admission webhook "${bindingsWebhook}" denied`),
    );
    const { text, ...blocker } = blockerIn(line);
    assert.equal(text, refusalText(blocker));
    assert.equal(refusedFor(line)?.node, blocker.node);
  }
});

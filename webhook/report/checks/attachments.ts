import type { CheckFacts } from '../facts/collect.ts';
import { type Finding, few, judged, passed, warning } from './finding.ts';
import { optedIn, profilesInUse } from './namespaces.ts';

/**
 * Whether `network-status` lists every network of Multus. Otherwise a pod passes, with a note, without its interface.
 *
 * @returns undefined if no profile in use checks interfaces, or Multus is not installed
 */
export function checkAttachments(facts: CheckFacts): Finding | undefined {
  const { policy } = facts.configuration;
  const labels = optedIn(facts).map(({ profile }) => profile);
  const areChecked = [...profilesInUse(policy, labels)].some((name) =>
    policy.profiles.get(name)?.proof.checks.some((check) => 'interfaces' in check),
  );
  if (!areChecked || facts.attachments === 'absent') return undefined;
  return judged(facts.attachments, (found = []) => {
    const old = found.filter(({ isListed }) => !isListed).map(({ name }) => name);
    if (old.length === 0) return passed(`it lists all ${found.length}`);
    return warning(
      `${few(old)}: without a cniVersion of 0.3.0 or later, pods that lost this interface pass with a note`,
      'Set "cniVersion": "0.3.1" in the configuration of the NetworkAttachmentDefinition',
    );
  });
}

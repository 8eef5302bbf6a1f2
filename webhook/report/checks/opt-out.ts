import { installedPolicies, installedWebhooks, optOutValue, profileLabel } from '../../lib/names.ts';
import type { Facts } from '../facts/collect.ts';
import { foundIn, unknownIn } from '../facts/observation.ts';
import { type Finding, failed, notKnown, passed, skipped } from './finding.ts';
import { unknownConfiguration } from './namespaces.ts';

/** The match condition that the component `no-opt-out` removes from the webhook and the policy over pods. */
const condition = 'not-opted-out';

/** Whether the API server leaves out pods that opt out exactly where the configuration lets them. */
export function checkOptOut({ configuration, registered, installation }: Facts): Finding {
  const { policy } = installation.policies.pods;
  const unknown = unknownIn(policy);
  if (configuration.trouble !== undefined) return unknownConfiguration;
  if (unknown !== undefined || registered.mutating === undefined)
    return notKnown(unknown ?? { why: 'the webhook for pods may not be read' });
  const { allowOptOut } = configuration.policy.proof;
  const webhook = registered.mutating.find(({ name }) => name === installedWebhooks.mutating[0]);
  const spec = foundIn(policy)?.spec;
  const places = [
    ...(webhook ? [{ place: `webhook ${webhook.name}`, conditions: webhook.matchConditions }] : []),
    ...(spec ? [{ place: `policy ${installedPolicies[0]}`, conditions: spec.matchConditions }] : []),
  ];
  const wrong = places.flatMap(({ place, conditions = [] }) =>
    conditions.some(({ name }) => name === condition) === allowOptOut ? [] : place,
  );
  if (places.length === 0) return skipped('there is no webhook and no policy over pods');
  if (wrong.length === 0) return passed(`as proof.allowOptOut: ${allowOptOut}`);
  const names = wrong.join(' and ');
  return allowOptOut
    ? failed(
        'CNI_GATE_OPT_OUT',
        `proof.allowOptOut is true, and the component no-opt-out is in force in ${names}: pods that opt out are refused`,
        'Set proof.allowOptOut: false, or remove the component no-opt-out',
      )
    : failed(
        'CNI_GATE_OPT_OUT',
        `proof.allowOptOut is false, and the label ${profileLabel}: ${optOutValue} still opens ${names}`,
        'Add the component no-opt-out (Helm adds it)',
      );
}

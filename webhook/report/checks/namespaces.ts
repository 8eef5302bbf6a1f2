import type { Policy } from '../../core/profiles/policy.ts';
import { CniGateError } from '../../lib/errors.ts';
import { nameOf } from '../../lib/names.ts';
import type { Facts } from '../facts/collect.ts';
import { combinedOf } from '../facts/configuration.ts';
import { foundIn } from '../facts/observation.ts';
import {
  counted,
  type Finding,
  failed,
  few,
  judged,
  mostTexts,
  notKnown,
  passed,
  skipped,
} from './finding.ts';

/** A namespace that opted in. */
export interface OptedIn {
  name: string;
  profile: string;
}

/** The namespaces that opted in, by name; none where they may not be read. */
export const optedIn = ({ namespaces }: Pick<Facts, 'namespaces'>): OptedIn[] =>
  (foundIn(namespaces) ?? [])
    .flatMap(({ name, profile }) => (profile === undefined ? [] : [{ name, profile }]))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));

/**
 * The profiles that labels ask for. A wrong label of a pod is no fault: the pod was refused, or the configuration has
 * changed since.
 */
export function profilesInUse(policy: Policy, labels: Iterable<string>): Set<string> {
  const used = Array.from(new Set(labels), (label) => combinedOf(policy, label));
  return new Set(
    used.flatMap((one) => (one instanceof CniGateError ? [] : one.profiles.map(({ name }) => name))),
  );
}

/** What depends on a configuration that cannot be read. */
export const unknownConfiguration = notKnown({ why: 'the configuration is not known' });

/** Whether every label names profiles that exist. */
export function checkLabels(facts: Facts): Finding {
  const { configuration, namespaces } = facts;
  if (configuration.trouble !== undefined) return unknownConfiguration;
  const found = optedIn(facts);
  const wrong = [...Map.groupBy(found, ({ profile }) => profile)].flatMap(([profile, some]) => {
    const error = combinedOf(configuration.policy, profile);
    if (!(error instanceof CniGateError)) return [];
    const names = few(some.map(({ name }) => name));
    return [{ code: error.code, text: `namespace${some.length > 1 ? 's' : ''} ${names}: ${error.message}` }];
  });
  const hint = 'Label it again: kubectl label --overwrite namespace NAME cni-gate.io/profile=PROFILE';
  return judged(
    namespaces,
    () => {
      const [first] = wrong;
      if (first)
        return failed(
          first.code,
          few(
            wrong.map(({ text }) => text),
            mostTexts,
            '; ',
          ),
          hint,
        );
      return found.length === 0
        ? skipped('no namespace has opted in', 'Label one, and "check --pre" proposes profiles')
        : passed(`${counted(found.length, 'namespace')} opted in`);
    },
    true,
  );
}

/** Whether the DaemonSets of the profiles in use exist. @param ofPods labels of pods */
export function checkDaemonSets(facts: Facts, ofPods: readonly string[] = []): Finding {
  const { configuration, namespaces, daemonSets } = facts;
  if (configuration.trouble !== undefined) return unknownConfiguration;
  const { policy } = configuration;
  const used = profilesInUse(policy, [...optedIn(facts).map(({ profile }) => profile), ...ofPods]);
  return judged(namespaces, () =>
    judged(daemonSets, (found = []) => {
      if (used.size === 0) return skipped('no profile is in use');
      const existing = new Set(found.map(nameOf));
      const wanted = [...policy.profiles.values()].flatMap(({ name: profile, daemonSets: its }) =>
        its.flatMap(({ namespace, name }) =>
          used.has(profile) ? [{ key: nameOf({ namespace, name }), profile }] : [],
        ),
      );
      const missing = Map.groupBy(
        wanted.filter(({ key }) => !existing.has(key)),
        ({ key }) => key,
      );
      if (missing.size === 0) return passed(`those of ${few([...used].toSorted())} exist`);
      const texts = Array.from(missing, ([key, some]) => {
        const profiles = some.map(({ profile }) => profile).join(', ');
        return `DaemonSet ${key} of profile ${profiles} does not exist: nothing is held back for it`;
      });
      const hint =
        'Compare "kubectl get daemonsets -A" with the profile, and correct the profile or the label of the namespace';
      return failed('CNI_GATE_DAEMONSET_UNKNOWN', few(texts, mostTexts, '; '), hint);
    }),
  );
}

import { mutate } from '../../admission/mutate.ts';
import { KnownNamespaces } from '../../admission/namespaces.ts';
import type { Policy } from '../../config/policy.ts';
import { profileLabel } from '../../names.ts';
import type { Admission } from './judge.ts';

/**
 * Admission without a server: the code that answers `/mutate`, called in this process.
 *
 * @param labels of the namespaces that are known
 * @param profile opts every namespace in
 * @param annotations of the namespaces that are known
 */
export function inProcess(
  policy: Policy,
  labels: ReadonlyMap<string, Record<string, string>>,
  profile: string | undefined,
  annotations?: ReadonlyMap<string, Record<string, string>>,
): Admission {
  const namespaces = new KnownNamespaces(labels, profile, annotations);
  return {
    answer: async (body) => (await mutate(body, { policy, namespaces })).review,
    uncalled: (namespace) => {
      const facts = namespaces.facts(namespace);
      if (facts === undefined) return 'namespace-not-given';
      // the webhook configuration selects namespaces by this label
      return Object.hasOwn(facts.labels, profileLabel) ? undefined : 'not-opted-in';
    },
  };
}

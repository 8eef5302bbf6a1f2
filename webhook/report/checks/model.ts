import type { ClusterIdentity } from '../facts/cluster-identity.ts';
import type { Network, Proposal } from '../facts/networks.ts';
import type { CheckId, catalogue } from './catalogue.ts';
import type { CheckResult, Finding } from './finding.ts';

/** A check with its result, as `check --output json` prints it. */
export interface Check extends Omit<Finding, 'essential'> {
  id: CheckId;
  group: (typeof catalogue)[CheckId]['group'];
  /** What is as it should be where the check passes. */
  expects: string;
  /** The section of the documentation about this check. */
  link: string;
}

/** `not-known`: nothing is known to be wrong, but a right is missing for a verdict. */
export type CheckVerdict = 'passed' | 'failed' | 'not-known' | 'not-installed';

/** What `check --output json` prints. Fields may be added to it; none is removed or gets another meaning. */
export interface CheckReport {
  /** RFC 3339. */
  time: string;
  /** Whether it was made before installing (`--pre`). */
  mode: 'pre' | 'installed';
  verdict: CheckVerdict;
  /** The verdict in one line, with the first check that failed. */
  headline: string;
  /** Which cluster was checked. */
  cluster: ClusterIdentity;
  /** Where the configuration is from. */
  configuration: string;
  /** How many checks have each result. */
  counts: Record<CheckResult, number>;
  checks: Check[];
  /** With `--pre`: networks that were found, and what is missing of them. */
  networks: Network[];
  /** With `--pre`: the profiles that fit the namespaces which have not opted in. */
  proposals: Proposal[];
}

import { texts } from '../../lib/limits.ts';
import { statusAnnotation } from '../../lib/names.ts';
import { own } from '../../lib/own.ts';
import { version } from '../../lib/version.ts';
import type { Pod } from '../pod.ts';

/** Who chose the profile: the namespace's label, or the pod's own. */
export type ChosenBy = 'namespace' | 'pod';

/** The content of the annotation `cni-gate.io/status`. The order of the keys is part of its text. */
export interface Status {
  /** The version of cni-gate that wrote it. */
  version: string;
  /** The label's value: every chosen profile. */
  profile?: string;
  chosenBy?: ChosenBy;
  /** Why nothing is proved although cni-gate reviewed the pod: see {@link reasonText}. */
  reason?: string;
  /** Those of them that apply to this pod. */
  profiles: string[];
  /** The names of the init container's checks. */
  checks: string[];
}

/** The readable part of the pod's status annotation, which anybody can write. */
export function readStatus(pod: Pick<Pod, 'metadata'>): Partial<Status> | undefined {
  const text = own(pod.metadata.annotations, statusAnnotation);
  if (text === undefined) return undefined;
  if (text.length > texts.annotation) return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** Whether a status reports an injection. An unreadable one does not: anybody can write it. */
export function saysProfiles(status: Partial<Status> | undefined): boolean {
  return Array.isArray(status?.profiles) && status.profiles.length > 0;
}

/**
 * The text of a pod's status annotation.
 *
 * @param profiles those that apply to the pod
 * @param checks the checks of its init container
 */
export function statusText(
  { profile, chosenBy }: { profile: string; chosenBy: ChosenBy },
  profiles: { name: string }[] = [],
  checks: string[] = [],
): string {
  const status: Status = { version, profile, chosenBy, profiles: profiles.map(({ name }) => name), checks };
  return JSON.stringify(status);
}

/**
 * The text of the status annotation of a pod without a decision by profiles.
 *
 * @param reason the code of a refusal that `proof.mode: warn` turned into a warning, or an exemption
 */
export function reasonText(reason: string): string {
  const status: Status = { version, reason, profiles: [], checks: [] };
  return JSON.stringify(status);
}

import type { Pod } from '../admission/pod.ts';
import { texts } from '../lib/limits.ts';
import { statusAnnotation } from '../lib/names.ts';
import { own } from '../lib/own.ts';
import { version } from '../lib/version.ts';

/** Who chose the profile: the namespace's label, or the pod's own. */
export type ChosenBy = 'namespace' | 'pod';

/** What the annotation `cni-gate.io/status` says. The order of the keys is part of its text. */
export interface Status {
  /** The cni-gate that wrote it. */
  version: string;
  /** The label's value: every profile asked for. */
  profile?: string;
  chosenBy?: ChosenBy;
  /** Why nothing is proved though cni-gate was asked: see {@link reasonText}. */
  reason?: string;
  /** Those of them that promise something to this pod. */
  profiles: string[];
  /** The words of the checks that the init container makes. */
  checks: string[];
}

/** The pod's status annotation, as far as it can be read: anybody may have written it. */
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

/** Whether a status tells of an injection. One that cannot be read tells nothing: anybody may have written it. */
export function saysProfiles(status: Partial<Status> | undefined): boolean {
  return Array.isArray(status?.profiles) && status.profiles.length > 0;
}

/**
 * The text of a pod's status annotation.
 *
 * @param profiles those that promise something to the pod
 * @param checks what its init container proves
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
 * The text of the status annotation of a pod about which no profile decided.
 *
 * @param reason the code of a refusal that `proof.mode: warn` turned into a warning, or an exemption
 */
export function reasonText(reason: string): string {
  const status: Status = { version, reason, profiles: [], checks: [] };
  return JSON.stringify(status);
}

import { env } from '../../../validator/shared/contract.ts';
import { isObject } from '../../lib/json.ts';
import { texts } from '../../lib/limits.ts';
import { getOwn } from '../../lib/maps.ts';
import { podInfoVolume, profileLabel, statusAnnotation } from '../../lib/names.ts';
import { version } from '../../lib/version.ts';
import type { ProofMode } from '../profiles/types.ts';
import { type Container, isOurContainer, type ObjectMeta, type Pod, type Volume, variableOf } from './pod.ts';

/** Who chose the profile: the namespace's label, or the pod's own. */
export type ChosenBy = 'namespace' | 'pod';

/** The content of the annotation `cni-gate.io/status`. The order of the keys is part of its text. */
export interface Status {
  /** The version of cni-gate that wrote it. */
  version: string;
  /** The label's value: every chosen profile. */
  profile?: string;
  chosenBy?: ChosenBy;
  /** Present if the init container only reports failures: the policy over the final pod compares it. */
  mode?: 'warn';
  /** Why nothing is proved although cni-gate reviewed the pod: see {@link reasonText}. */
  reason?: string;
  /** Those of them that apply to this pod. */
  profiles: string[];
  /** The names of the init container's checks. */
  checks: string[];
}

/** The pod's status annotation, which any user can write; undefined where it is missing or cannot be read. */
export function readStatus(pod: Pick<Pod, 'metadata'>): Partial<Status> | undefined {
  const value = parsed(getOwn(pod.metadata.annotations, statusAnnotation));
  return isObject(value) ? value : undefined;
}

/** The value of a JSON text; undefined where it is too long, or not JSON. Any user may have written it. */
function parsed(text = ''): unknown {
  try {
    return text === '' || text.length > texts.annotation ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

const reportedProfiles = (pod: Pick<Pod, 'metadata'>): string[] => stringsOf(readStatus(pod)?.profiles);

/** What an earlier call for the same pod left in it. */
export interface EarlierCall {
  status: Partial<Status> | undefined;
  /** Whether anything of an injection is left, of this version or another, besides the mark of a review. */
  injected: boolean;
  /** The index of our init container, or -1. */
  container: number;
  /** The index of our volume, or -1. */
  volume: number;
  /** Whether the pod's label was copied from its namespace, so that it is no choice of the pod's author. */
  copiedLabel: boolean;
}

export function earlierCall(pod: Pod): EarlierCall {
  const { metadata, spec } = pod;
  const status = readStatus(pod);
  const container = (spec.initContainers ?? []).findIndex(isOurContainer);
  const injected = container >= 0 || stringsOf(status?.profiles).length > 0;
  // a downward API volume with our name
  const isOurs = ({ name, downwardAPI }: Volume): boolean => name === podInfoVolume && isObject(downwardAPI);
  const label = getOwn(metadata.labels, profileLabel);
  return {
    status,
    injected,
    container,
    volume: injected ? (spec.volumes ?? []).findIndex(isOurs) : -1,
    copiedLabel: label !== undefined && status?.chosenBy === 'namespace' && status.profile === label,
  };
}

/** The text of the status annotation of a pod: the profiles that apply to it, and the checks of its init container. */
export function statusText(
  { profile, chosenBy }: { profile: string; chosenBy: ChosenBy },
  profiles: readonly { name: string }[] = [],
  checks: string[] = [],
  mode: ProofMode = 'enforce',
): string {
  const status: Status = {
    ...{ version, profile, chosenBy, ...(mode === 'warn' && checks.length > 0 && { mode }) },
    ...{ profiles: profiles.map(({ name }) => name), checks },
  };
  return JSON.stringify(status);
}

/** The status of a pod without a decision by profiles. @param reason the code of a refusal, or an exemption */
export const reasonText = (reason: string): string =>
  JSON.stringify({ version, reason, profiles: [], checks: [] } satisfies Status);

export interface AnnotatedPod {
  metadata: Pick<ObjectMeta, 'labels' | 'annotations'>;
  spec?: { initContainers?: Pick<Container, 'name' | 'env'>[] | null };
}

/**
 * The profiles that promise something to a pod: those in its status annotation, and those whose checks its init
 * container runs. Users can remove the annotation, but cannot change the environment of a container.
 */
export function requiredProfiles(pod: AnnotatedPod): string[] {
  return [...new Set([...reportedProfiles(pod), ...checkedIn(pod)])];
}

/** The profiles whose checks the init container makes; of a network's own validator, those of annotation or label. */
export function checkedIn(pod: AnnotatedPod): string[] {
  const container = pod.spec?.initContainers?.find(isOurContainer);
  const checked = new Set(profilesProvedBy(container));
  if (checked.size > 0 || container === undefined) return [...checked];
  const reported = reportedProfiles(pod);
  if (reported.length > 0) return [...new Set(reported)];
  const label = getOwn(pod.metadata.labels, profileLabel) ?? '';
  return label !== '' && label.length <= max.characters ? label.split('.') : [];
}

/** The value of a label has at most 63 characters: at most 32 names joined by dots. */
const max = { names: 32, characters: 63 };

/** The names in a list that any user may have written. */
const stringsOf = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.filter((name) => typeof name === 'string' && name.length <= max.characters).slice(0, max.names)
    : [];

/** The profiles whose checks the container runs; none where they cannot be read. */
function profilesProvedBy(container: Pick<Container, 'name' | 'env'> | undefined): string[] {
  const checks = parsed(container && variableOf(container, env.checks));
  return Array.isArray(checks) ? stringsOf(checks.map((check) => check?.profile)) : [];
}

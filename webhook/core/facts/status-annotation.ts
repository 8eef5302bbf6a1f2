import { env } from '../../../validator/shared/contract.ts';
import { isObject } from '../../lib/json.ts';
import { texts } from '../../lib/limits.ts';
import { getOwn } from '../../lib/maps.ts';
import { podInfoVolume, profileLabel, statusAnnotation } from '../../lib/names.ts';
import { version } from '../../lib/version.ts';
import type { ProofMode } from '../profiles/types.ts';
import { type Container, isOurContainer, type ObjectMeta, type Pod, type Volume, variableOf } from './pod.ts';

/** Whose label chose the profile: the namespace's, or the pod's own. */
export type ChosenBy = 'namespace' | 'pod';

/** The content of the annotation `cni-gate.io/status`. The annotation's text has the keys in this order. */
export interface Status {
  /** The version of cni-gate that wrote the annotation. */
  version: string;
  /** The value of the label `cni-gate.io/profile`, which names every chosen profile. */
  profile?: string;
  chosenBy?: ChosenBy;
  /** Present if the init container only reports failures. A policy compares this field with CNI_GATE_MODE. */
  mode?: 'warn';
  /** Why nothing is proved even though cni-gate reviewed the pod: see {@link reasonText}. */
  reason?: string;
  /** Present if the mutating policy left the pod to the webhook: see policies/left.ts. */
  left?: string;
  /** The chosen profiles that apply to this pod. */
  profiles: string[];
  /** The names of the init container's checks. */
  checks: string[];
}

/** The pod's status annotation, which any user can write; undefined if it is missing or cannot be read. */
export function readStatus(pod: Pick<Pod, 'metadata'>): Partial<Status> | undefined {
  const value = parsed(getOwn(pod.metadata.annotations, statusAnnotation));
  return isObject(value) ? value : undefined;
}

/** Parses JSON that any user may have written; undefined if the text is too long, or is not JSON. */
function parsed(text = ''): unknown {
  try {
    return text === '' || text.length > texts.annotation ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

const reportedProfiles = (pod: Pick<Pod, 'metadata'>): string[] => stringsOf(readStatus(pod)?.profiles);

/** What an earlier admission call for the same pod wrote into the pod. */
export interface EarlierCall {
  status: Partial<Status> | undefined;
  /** Whether the pod has our init container, or our status annotation with profiles, of any version. */
  injected: boolean;
  /** The index of our init container, or -1. */
  container: number;
  /** The index of our volume, or -1. */
  volume: number;
  /** Whether an earlier call copied the pod's label from its namespace, so the user did not choose it. */
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

/** The status annotation's text for a pod without a proof. @param reason an error code, or an exemption */
export const reasonText = (reason: string): string =>
  JSON.stringify({ version, reason, profiles: [], checks: [] } satisfies Status);

export interface AnnotatedPod {
  metadata: Pick<ObjectMeta, 'labels' | 'annotations'>;
  spec?: { initContainers?: Pick<Container, 'name' | 'env'>[] | null };
}

/**
 * The profiles that apply to a pod: those in its status annotation, and those whose checks its init container runs.
 * Users can remove the annotation, but Kubernetes does not let them change the environment of a container.
 */
export function requiredProfiles(pod: AnnotatedPod): string[] {
  return [...new Set([...reportedProfiles(pod), ...checkedIn(pod)])];
}

/** The profiles that the init container proves; for a network's own validator, by the annotation or label. */
export function checkedIn(pod: AnnotatedPod): string[] {
  const container = pod.spec?.initContainers?.find(isOurContainer);
  const checked = new Set(profilesProvedBy(container));
  if (checked.size > 0 || container === undefined) return [...checked];
  const reported = reportedProfiles(pod);
  if (reported.length > 0) return [...new Set(reported)];
  const label = getOwn(pod.metadata.labels, profileLabel) ?? '';
  return label !== '' && label.length <= max.characters ? label.split('.') : [];
}

/** A label value has at most 63 characters, so it has at most 32 names, which are joined by dots. */
const max = { names: 32, characters: 63 };

/** The names in a list that any user may have written, limited in number and length. */
const stringsOf = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.filter((name) => typeof name === 'string' && name.length <= max.characters).slice(0, max.names)
    : [];

/** The profiles whose checks the container runs; none if the list of checks cannot be read. */
function profilesProvedBy(container: Pick<Container, 'name' | 'env'> | undefined): string[] {
  const checks = parsed(container && variableOf(container, env.checks));
  return Array.isArray(checks) ? stringsOf(checks.map((check) => check?.profile)) : [];
}

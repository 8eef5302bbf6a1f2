import { isDeepStrictEqual } from 'node:util';
import { parseDuration } from '../../validator/shared/duration.ts';
import { unfitTargets } from '../../validator/shared/targets.ts';
import { conflicts } from '../core/profiles/conflicts.ts';
import { hasProof } from '../core/profiles/policy.ts';
import type { Condition, Profile, ProofResources } from '../core/profiles/types.ts';
import { checkNameOf } from '../core/profiles/types.ts';
import { ownPrefix } from '../lib/names.ts';
import { quantity } from '../lib/quantity.ts';
import type { Fault } from './parse.ts';

/** Returns the errors of a profile that a schema cannot find. @param path the profile's path in the document */
export function profileFaults(profile: Profile, path: (string | number)[]): Fault[] {
  return [
    ...whenFaults(profile, [...path, 'when']),
    ...annotationFaults(profile, [...path, 'annotations']),
    ...evidenceFaults(profile, [...path, 'evidence']),
    ...checkFaults(profile, [...path, 'proof', 'checks']),
    ...containerFaults(profile, [...path, 'proof', 'container']),
    ...replacesFaults(profile, [...path, 'proof', 'replaces']),
    ...intervalFaults(profile, [...path, 'proof', 'continuous', 'interval']),
    ...conflicts([profile]).map((text) => ({ path, text })),
  ];
}

export function resourceFaults({ requests, limits }: ProofResources): Fault[] {
  const names = Object.keys(limits) as (keyof typeof limits)[];
  return names.flatMap((name) =>
    Object.entries({ requests, limits }).flatMap(([kind, amounts]) => {
      const value = quantity(amounts[name]);
      const path = ['proof', 'resources', kind, name];
      if (value <= 0) return [{ path, text: 'must be more than 0' }];
      if (name === 'cpu' && Number.isInteger(value)) return [{ path, text: wholeCpus }];
      if (value <= quantity(limits[name])) return [];
      return [{ path, text: `is more than limits.${name} (${limits[name]})` }];
    }),
  );
}

const wholeCpus =
  'is a whole number: in a Guaranteed pod, the static CPU manager would give the init container exclusive CPUs';

/** Forbids keys of cni-gate: the injection sets some, so a second call could choose other profiles. */
function whenFaults({ when }: Profile, path: (string | number)[]): Fault[] {
  return [when].flat().flatMap((condition, index) => {
    const at = [...path, ...(Array.isArray(when) ? [index] : [])];
    return (['labels', 'annotations', 'namespaceLabels'] as const).flatMap((map) =>
      Object.keys(condition[map] ?? {})
        .filter((key) => key.startsWith(ownPrefix))
        .map((key) => ({ path: [...at, map, key], text: 'is not allowed: it is for cni-gate' })),
    );
  });
}

function annotationFaults({ annotations }: Profile, path: (string | number)[]): Fault[] {
  return Object.keys(annotations)
    .filter((key) => key.startsWith(ownPrefix))
    .map((key) => ({ path: [...path, key], text: 'must not be set: cni-gate writes it itself' }));
}

/** Checks `proof.container`. Every pod with the profile must have the container that `imageOf` names. */
function containerFaults({ when, proof }: Profile, path: (string | number)[]): Fault[] {
  const { checks, container, witness, continuous } = proof;
  if (container === undefined) return [];
  const { image, imageOf } = container;
  const faults: Fault[] = [];
  const needing = { checks: checks[0], witness, continuous };
  const other = Object.entries(needing).find(([, setting]) => setting !== undefined)?.[0];
  if (other !== undefined)
    faults.push({ path, text: `replaces the validator that proof.${other} needs: set one of the two` });
  if ((image === undefined) === (imageOf === undefined)) {
    faults.push({ path, text: 'needs either image or imageOf' });
  }
  if (imageOf !== undefined && [when].flat().some((condition) => condition.container !== imageOf)) {
    const text = `"${imageOf}" must be required by each condition of when (container: ${imageOf}), because its image is used`;
    faults.push({ path: [...path, 'imageOf'], text });
  }
  return faults;
}

/** linkerd's validator proves the outbound redirect, so only a proof of that redirect may replace the validator. */
function replacesFaults({ proof }: Profile, path: (string | number)[]): Fault[] {
  const proves = proof.checks.some((check) => 'redirect' in check && check.redirect.direction === 'outbound');
  return proof.replaces === undefined || proves || proof.container !== undefined
    ? []
    : [{ path, text: 'needs a redirect check with direction outbound, or proof.container' }];
}

function intervalFaults({ proof: { continuous } }: Profile, path: (string | number)[]): Fault[] {
  const interval = continuous && parseDuration(continuous.interval);
  return interval === undefined || (interval >= 1000 && interval <= 3_600_000)
    ? []
    : [{ path, text: `must be from 1s to 1h, is ${continuous?.interval}` }];
}

function evidenceFaults({ evidence, proof }: Profile, path: (string | number)[]): Fault[] {
  const text = 'needs proof.checks, proof.container or proof.witness: without them, no proof ever passes';
  return evidence === 'proof' && !hasProof(proof) ? [{ path, text }] : [];
}

function checkFaults({ proof, when }: Profile, path: (string | number)[]): Fault[] {
  const isForAll = [when].flat().some(requiresNothing);
  return proof.checks.flatMap((check, index) => {
    const at = [...path, index, checkNameOf(check)];
    return [
      ...('policy' in check && isForAll ? [{ path: at, text: needsCondition }] : []),
      ...unfitTargets(check).map(({ setting, place, text }) => ({ path: [...at, setting, place], text })),
    ];
  });
}

/** Whether a condition applies to every pod: it is empty, or has only empty maps. */
const requiresNothing = (condition: Condition): boolean =>
  Object.values<unknown>(condition).every((part) => isDeepStrictEqual(part, {}));

const needsCondition =
  'needs a condition in when, such as namespaceLabels: without a network policy, no pod ever passes';

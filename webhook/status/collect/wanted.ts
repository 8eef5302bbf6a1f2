import { CniGateError } from '../../lib/errors.ts';
import type { OptIn } from '../facts.ts';
import type { Exempting } from '../pick-pod.ts';

/** What a status is to be about. */
export interface Wanted extends Exempting {
  /** Of the namespaces that opted in, only this one. */
  namespace: string | undefined;
}

/** @throws CniGateError CNI_GATE_CLUSTER_NOT_FOUND where the namespace that was named is not there */
export function checkFound({ namespace }: Wanted, found: OptIn[]): void {
  if (namespace === undefined || found.length > 0) return;
  throw new CniGateError('CNI_GATE_CLUSTER_NOT_FOUND', `the cluster has no namespace ${namespace}`);
}

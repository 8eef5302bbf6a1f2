import { notReady } from '../status/nodes.ts';
import type { Judged } from '../status/status.ts';

/** The result of a status in one line. */
export function headline(status: Judged): string {
  const { result, installation, faults, notKnown } = status;
  const [first] = faults;
  switch (result) {
    case 'well': {
      const unknown = installation.filter(({ result }) => result === 'not-known' || result === 'skipped');
      const counts = countsOf(status);
      const noted = counts.length === 0 ? '' : ` Of note: ${counts.join(', ')}.`;
      const dark = unknown.length === 0 ? '' : ` Not known: ${unknown.map(({ what }) => what).join('; ')}.`;
      const warnings = warningsOf(status);
      const well = `All is well${dark === '' ? '' : ', as far as it is known'}`;
      return `${warnings.length === 0 ? well : `No fault. Warnings: ${warnings.join('; ')}`}.${noted}${dark}`;
    }
    case 'not-known':
      return `It is not known whether all is well. Not known: ${notKnown.join('; ')}.`;
    case 'not-installed':
      return first?.message ?? 'cni-gate is not installed.';
    case 'not-well':
      return first === undefined
        ? `Not all is well: ${countsOf(status).join(', ')}.`
        : `Not all is well: ${first.message} (${first.code})`;
  }
}

/** What checks warn of, and what to do. */
export const warningsOf = ({ installation }: Pick<Judged, 'installation'>): string[] =>
  installation.flatMap(({ result, what, hint }) => (result === 'warning' ? `${what}. ${hint}` : []));

/** How many there are of each kind of trouble, and of what is to be known beside it. */
export function countsOf(status: Judged): string[] {
  const { nodes, heldPods, pods } = status;
  const counts = {
    'not ready': notReady(nodes).length,
    'pods held': heldPods.length,
    'failed proofs': status.failedPods.length,
    'pods that wait': pods.waiting - heldPods.length,
    'pods without a proof': status.podsWithoutProof.length,
    'duplicate addresses': status.duplicateAddresses.length,
    'nodes without a pod that shows their proof': status.unprovedNodes,
    'pods that passed without an answer of their node': status.wayNotShown,
    faults: status.faults.length,
  };
  return Object.entries(counts).flatMap(([what, count]) => (count > 0 ? [`${what}: ${count}`] : []));
}

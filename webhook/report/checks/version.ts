import { leastVersion } from '../../leader/steering/eligibility.ts';
import type { Facts } from '../facts/collect.ts';
import { type Finding, failed, judged, passed, skipped, warning } from './finding.ts';

/** The oldest Kubernetes on which the manifests work: ValidatingAdmissionPolicy is v1 from 1.30 on. */
const least = { major: 1, minor: 30 };

/** Whether the version of Kubernetes is one that is supported. */
export function checkVersion({ version }: Pick<Facts, 'version'>): Finding {
  return judged(version, (found) => {
    if (found === undefined) return skipped('the API server does not say its version');
    const { major, minor, text, usesNominations } = found;
    if (major < least.major || (major === least.major && minor < least.minor)) {
      return failed(
        'CNI_GATE_KUBERNETES',
        `the API server is ${text}, and cni-gate needs ${least.major}.${least.minor} or later`,
        'Upgrade the control plane first',
      );
    }
    if (usesNominations) return passed(text);
    const hint = 'Set gate.mode to audit where pods must not wait for one node while others are ready';
    return warning(`${text}: refused pods are not steered, which needs ${leastVersion}`, hint);
  });
}

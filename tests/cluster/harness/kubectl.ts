import { run } from '../../support/run.ts';
import { programPath } from '../binaries/ensure.ts';
import type { Access } from './access.ts';

/** What kubectl is told beside its arguments. */
export interface KubectlOptions {
  /** Standard input: text, or objects that are sent as one List in JSON, for `-f -`. */
  input?: string | object[];
}

/**
 * Runs kubectl, and returns what it wrote to its standard output.
 *
 * @throws Error with its arguments and what it wrote to its standard error where it does not end with 0
 */
export type Kubectl = (args: string[], options?: KubectlOptions) => Promise<string>;

/** kubectl as a user. */
export function kubectlFor({ kubeconfig }: Access): Kubectl {
  return (args, { input = '' } = {}) => {
    const text =
      typeof input === 'string' ? input : JSON.stringify({ apiVersion: 'v1', kind: 'List', items: input });
    return run(programPath('kubectl'), ['--kubeconfig', kubeconfig, ...args], text);
  };
}

import { fileURLToPath } from 'node:url';
import { GoProgram } from '../support/go-program.ts';

export const helmProgram = new GoProgram('helm.sh/helm/v4/cmd/helm', 'v4.3.1');

/** Runs Helm: its standard output. */
export const helm = (args: string[], input?: string): Promise<string> => helmProgram.run(args, input);

/** The chart in this checkout. */
export const chart = fileURLToPath(new URL('../../charts/cni-gate', import.meta.url));

// before the tests run, which have no network: node tests/chart/programs.ts
if (import.meta.main) await helmProgram.build();

import { fileURLToPath } from 'node:url';
import { GoProgram } from '../support/go-program.ts';

export const helmProgram = new GoProgram('helm.sh/helm/v4/cmd/helm', 'v4.3.1');

/** Runs Helm and returns its standard output. */
export const helm = (args: string[], input?: string): Promise<string> => helmProgram.run(args, input);

/** The chart in this checkout. */
export const chart = fileURLToPath(new URL('../../charts/cni-gate', import.meta.url));

// run as `node tests/chart/programs.ts` before the tests, because the tests have no network
if (import.meta.main) await helmProgram.build();

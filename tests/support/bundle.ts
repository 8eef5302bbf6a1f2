import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const checkout = fileURLToPath(new URL('../../', import.meta.url));

/** The environment variable with the folder of the bundle that tests run as `cni-gate`. */
const variable = 'CNI_GATE_BUNDLE';

/** Bundles `cni-gate` as the server's image does. Tests that this process starts afterwards run the bundle. */
export function runBundled(folder: string): void {
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(checkout, 'package.json'), join(folder, 'package.json'));
  execFileSync(process.execPath, [join(checkout, 'release/bundle.ts'), join(folder, 'dist')]);
  process.env[variable] = folder;
}

const bundle = process.env[variable];

/**
 * The folder and the file of the `cni-gate` that tests run: the bundle, or else the sources, which use one more second
 * of processor time to start.
 */
export const program =
  bundle === undefined
    ? { folder: checkout, file: 'webhook/main.ts' }
    : { folder: bundle, file: 'dist/webhook/main.js' };

import { readFileSync } from 'node:fs';

/** package.json is two folders up in a checkout, and three in the published `dist/`. */
function readVersion(): string {
  for (const path of ['../../package.json', '../../../package.json']) {
    try {
      const manifest: unknown = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
      if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) {
        return String(manifest.version);
      }
    } catch {
      // not here: try one folder further up
    }
  }
  throw new Error('package.json of cni-gate is missing beside its sources');
}

/** The version of cni-gate that runs. */
export const version = readVersion();

/** The image of the server, of this release. */
export const serverImage = `ghcr.io/cni-gate/cni-gate:${version}`;

/** The image of the validator, of this release: what is injected if nothing else is named. */
export const validatorImage = `ghcr.io/cni-gate/cni-gate-validator:${version}`;

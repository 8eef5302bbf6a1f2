import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './run.ts';

const checkout = fileURLToPath(new URL('../', import.meta.url));

/**
 * Writes what krew installs `kubectl cni-gate` from: an archive with the bundled command line, and the plugin manifest
 * with its checksum. Needs GNU tar.
 *
 * @param folder that exists
 * @param version of the release
 */
export async function writePlugin(folder: string, version: string): Promise<void> {
  const archive = join(folder, `kubectl-cni_gate-${version}.tgz`);
  const content = mkdtempSync(join(tmpdir(), 'kubectl-cni_gate-'));
  try {
    await run(process.execPath, [join(checkout, 'release/bundle.ts')]);
    fill(content, version);
    const same = [
      '--sort=name',
      '--mtime=@0',
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      '--mode=go=rX,u+rw',
    ];
    await run('tar', [...same, '--use-compress-program=gzip -n9', '-cf', archive, '-C', content, '.']);
  } finally {
    rmSync(content, { recursive: true });
  }
  const template = readFileSync(join(checkout, 'integrations/krew/cni-gate.yaml'), 'utf8');
  const sum = createHash('sha256').update(readFileSync(archive)).digest('hex');
  writeFileSync(join(folder, 'cni-gate-krew.yaml'), manifestOf(template, version, sum));
}

/** The manifest of a release, without the comments of its template. */
export const manifestOf = (template: string, version: string, sum: string): string =>
  template
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll('VERSION', version)
    .replaceAll('SHA256', sum);

/** Puts into a folder what the plugin runs: as in the server's image. */
function fill(folder: string, version: string): void {
  const bundle = join(checkout, 'dist');
  const target = join(folder, 'dist/webhook');
  mkdirSync(target, { recursive: true });
  cpSync(join(bundle, 'webhook'), target, { recursive: true });
  cpSync(join(bundle, 'LICENSES'), join(folder, 'LICENSES'));
  cpSync(join(checkout, 'LICENSE'), join(folder, 'LICENSE'));
  const description = { name: 'cni-gate', version, license: 'Apache-2.0', type: 'module', private: true };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(description, null, 2)}\n`);
}

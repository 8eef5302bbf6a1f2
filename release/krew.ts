import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const checkout = fileURLToPath(new URL('../', import.meta.url));

/** Writes what krew needs to install `kubectl cni-gate`: an archive with the bundled command line, and its manifest. */
export function writePlugin(folder: string, version: string): void {
  const archive = join(folder, `kubectl-cni_gate-${version}.tgz`);
  const content = mkdtempSync(join(tmpdir(), 'kubectl-cni_gate-'));
  try {
    execFileSync(process.execPath, [join(checkout, 'release/bundle.ts')]);
    cpSync(join(checkout, 'dist/webhook'), join(content, 'dist/webhook'), { recursive: true });
    cpSync(join(checkout, 'dist/LICENSES'), join(content, 'LICENSES'));
    cpSync(join(checkout, 'LICENSE'), join(content, 'LICENSE'));
    const description = { name: 'cni-gate', version, license: 'Apache-2.0', type: 'module', private: true };
    writeFileSync(join(content, 'package.json'), `${JSON.stringify(description, null, 2)}\n`);
    const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=go=rX,u+rw'];
    const same = ['--sort=name', '--mtime=@0', ...owner, '--use-compress-program=gzip -n9'];
    execFileSync('tar', [...same, '-cf', archive, '-C', content, '.']);
  } finally {
    rmSync(content, { recursive: true });
  }
  const template = readFileSync(join(checkout, 'integrations/krew/cni-gate.yaml'), 'utf8');
  const sum = createHash('sha256').update(readFileSync(archive)).digest('hex');
  // without the template's comments
  const manifest = template
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll('VERSION', version)
    .replaceAll('SHA256', sum);
  writeFileSync(join(folder, 'cni-gate-krew.yaml'), manifest);
}

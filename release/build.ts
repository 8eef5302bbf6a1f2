import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kustomize } from './kustomize.ts';

/*
 * usage: npx node release/build.ts [FOLDER]
 *
 * Writes install.yaml and install-strict.yaml into the folder, dist-release by default. Needs kubectl.
 */
const root = new URL('../', import.meta.url);
const [folder = 'dist-release'] = process.argv.slice(2);
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
/** The files with which one command installs cni-gate, and the overlay of each file. */
const overlays = { 'install.yaml': 'permissive', 'install-strict.yaml': 'strict' };

mkdirSync(folder, { recursive: true });
for (const [name, overlay] of Object.entries(overlays)) {
  const url = `https://github.com/cni-gate/cni-gate/releases/download/v${version}/${name}`;
  const header = `# cni-gate ${version}, overlay ${overlay}: docs/guides/install.md\n# kubectl apply -f ${url}\n`;
  writeFileSync(join(folder, name), header + (await kustomize({ overlay })));
}

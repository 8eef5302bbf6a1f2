import { kustomize } from './kustomize.ts';

/** The files that install cni-gate by one command, and the overlay of each. */
const overlays = { 'install.yaml': 'strict', 'install-permissive.yaml': 'permissive' };

/**
 * Renders the overlays as single files.
 *
 * @param version of the release
 * @returns name and text of each file
 */
export function installFiles(version: string, kubectl?: string): Promise<[name: string, text: string][]> {
  return Promise.all(
    Object.entries(overlays).map(async ([name, overlay]): Promise<[string, string]> => {
      const url = `https://github.com/cni-gate/cni-gate/releases/download/v${version}/${name}`;
      const header =
        `# cni-gate ${version}, overlay ${overlay}: docs/guides/install.md\n` + `# kubectl apply -f ${url}\n`;
      return [name, header + (await kustomize({ overlay }, kubectl))];
    }),
  );
}

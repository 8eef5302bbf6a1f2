import type { MeshGap } from '../mesh/gaps.ts';
import type { Finding, Workload } from '../model.ts';
import { nameOf } from '../name.ts';

/** A pod that requests a mesh, and that a profile checks only after the mesh's injector has run. */
export function proxyMissing(workload: Workload, { mesh, profiles }: MeshGap): Finding {
  const { document, line } = workload;
  const names = `profile${profiles.length === 1 ? '' : 's'} ${profiles.join(', ')}`;
  return {
    code: 'CNI_GATE_PROXY_MISSING',
    message: `requests ${mesh.name} and has no ${mesh.proxy} yet, so ${names} cannot check it: run the manifests through \`${mesh.injector}\` first, or use --assume-meshed`,
    subject: nameOf(workload),
    file: document.file,
    line,
    workload,
  };
}

import type { Workload } from './model.ts';

/** `Deployment shop/web`, or `PyTorchJob shop/train pytorchReplicaSpecs.Worker` for one of several templates. */
export function nameOf({
  kind,
  namespace,
  name,
  part,
}: Pick<Workload, 'kind' | 'namespace' | 'name'> & { part?: string | undefined }): string {
  return `${kind} ${namespace}/${name}${part === undefined ? '' : ` ${part}`}`;
}

import { KnownNamespaces, type Namespaces } from '../admission/namespaces.ts';
import { parseNamespaces } from '../cluster-state.ts';
import { LiveFiles, type LiveFilesOptions } from '../files/live.ts';

/** Where the server gets the labels of namespaces from. */
export interface NamespaceSource {
  /** Read for each request: a reload replaces it. */
  readonly value: Namespaces;
  /** Why no calls should come here yet, or undefined when they may. */
  unready?(): string | undefined;
  close?(): void | Promise<void>;
}

/**
 * Namespaces from a file that is looked at for changes, or every namespace with the profile of the flag.
 *
 * @throws CniGateError CNI_GATE_STATE_INVALID
 */
export function openNamespaces(
  { clusterState: file, profile }: { clusterState?: string | undefined; profile?: string | undefined },
  told: Pick<LiveFilesOptions<unknown>, 'onReload' | 'onError' | 'interval'>,
): NamespaceSource {
  if (file === undefined) return { value: new KnownNamespaces(new Map(), profile) };
  return new LiveFiles({
    ...told,
    paths: [file],
    unreadable: 'CNI_GATE_STATE_INVALID',
    parse: ([text = '']) => new KnownNamespaces(parseNamespaces(text, file), profile),
  });
}

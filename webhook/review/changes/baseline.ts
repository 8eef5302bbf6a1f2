import type { TemplateKind } from '../../config/types.ts';
import { readStream } from '../input/documents.ts';
import { standardInputName } from '../input/inputs.ts';
import { ManifestReader } from '../input/manifest-reader.ts';
import type { Input } from '../input/read.ts';
import { type Changes, changesBetween, type Objects } from './compare.ts';
import type { Revision } from './revision.ts';

/** The input compared with a revision: files are noted while they are read, and compared when all are. */
export class Baseline {
  readonly #revision: Revision;
  readonly #paths = new Map<string, string>();
  readonly #same = new Set<string>();

  constructor(revision: Revision) {
    this.#revision = revision;
  }

  /** Notes a file of the input. */
  note({ file, text }: Input): void {
    const path = file === standardInputName ? undefined : this.#revision.pathOf(file);
    if (path === undefined) return;
    this.#paths.set(file, path);
    if (this.#revision.has(path, text)) this.#same.add(file);
  }

  /**
   * What changed in the noted files.
   *
   * @param namespace the namespace of objects that name none
   * @throws CniGateError CNI_GATE_GIT, CNI_GATE_INPUT_TOO_LARGE
   */
  async changes(now: Objects, namespace: string, kinds: readonly TemplateKind[]): Promise<Changes> {
    const others = [...this.#paths].flatMap(([file, path]) => (this.#same.has(file) ? [] : [path]));
    const before = new ManifestReader(namespace, kinds, true);
    for (const [path, text] of await this.#revision.texts(others)) {
      for (const read of readStream(path, text)) {
        // what could not be read then counts as new now
        if (!('code' in read) && !before.full) before.take(read);
      }
    }
    const { workloads, namespaces } = now;
    return changesBetween({ workloads, namespaces, paths: this.#paths, same: this.#same }, before);
  }
}

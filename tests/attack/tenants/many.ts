import type { Api } from '../../cluster/harness/api.ts';

/** So many objects are made side by side: a tenant's share of the API server's queues. */
const sideBySide = 4;

/** Makes objects, one after another. @param object the object of each number */
export async function makeNumbered(
  api: Api,
  path: string,
  count: number,
  object: (index: number) => object,
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      await api.post(path, object(index));
    }
  };
  await Promise.all(Array.from({ length: sideBySide }, work));
}

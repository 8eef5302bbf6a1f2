import fc, { type Arbitrary } from 'fast-check';
import type { Quantities, Resources } from '../../../webhook/core/facts/pod.ts';

/** A request, and a limit that is not lower than the request, each in one of several spellings. */
type Pair = [request: string | number, limit: string | number];

const pair = (
  amounts: number[],
  factors: number[],
  spell: (amount: number) => Arbitrary<string | number>,
): Arbitrary<Pair> =>
  fc
    .tuple(fc.constantFrom(...amounts), fc.constantFrom(...factors))
    .chain(([amount, factor]) => fc.tuple(spell(amount), spell(amount * factor)));

const cpu = (factors: number[]): Arbitrary<Pair> =>
  pair([0, 1, 10, 50, 100, 250, 1000, 4000], factors, (milli) =>
    fc.constantFrom(`${milli}m`, `${milli / 1000}`, milli / 1000, `${milli}e-3`, `${milli}000u`),
  );

const memory = (factors: number[]): Arbitrary<Pair> =>
  pair([0, 1, 16, 64, 65, 512, 2048], factors, (mebi) =>
    fc.constantFrom(`${mebi}Mi`, `${mebi * 1024}Ki`, mebi * 2 ** 20, `${mebi / 1024}Gi`),
  );

const storage = fc.constantFrom<Pair>(['1Gi', '2Gi'], ['500M', '500M']);

const given = fc.constantFrom('both', 'both', 'request', 'limit', 'neither');

function resourcesOf(parts: [name: string, given: string, pair: Pair][], none: null | object): Resources {
  const requests: Quantities = {};
  const limits: Quantities = {};
  for (const [name, kind, [request, limit]] of parts) {
    if (kind === 'both' || kind === 'request') requests[name] = request;
    if (kind === 'both' || kind === 'limit') limits[name] = limit;
  }
  return {
    requests: Object.keys(requests).length > 0 ? requests : (none as null),
    limits: Object.keys(limits).length > 0 ? limits : (none as null),
  };
}

export const anyResources: Arbitrary<Resources | null> = fc.option(
  fc
    .tuple(given, cpu([1, 1, 2]), given, memory([1, 1, 3]), given, storage, fc.constantFrom(null, {}))
    .map(([cpus, cpuPair, memories, memoryPair, storages, storagePair, none]) =>
      resourcesOf(
        [
          ['cpu', cpus, cpuPair],
          ['memory', memories, memoryPair],
          ['ephemeral-storage', storages, storagePair],
        ],
        none,
      ),
    ),
);

/** Resources for the containers of a Guaranteed pod. If a value is zero, the pod is not Guaranteed. */
const equalResources: Arbitrary<Resources> = fc.tuple(cpu([1]), memory([1])).map(([cpuPair, memoryPair]) =>
  resourcesOf(
    [
      ['cpu', 'both', cpuPair],
      ['memory', 'both', memoryPair],
    ],
    {},
  ),
);

/** Generators of resources. A pod uses one of them for all its containers, so that each QoS class occurs often. */
export const styles: Arbitrary<Arbitrary<Resources | null>> = fc.constantFrom(
  anyResources,
  equalResources,
  fc.constantFrom(null, {}),
);

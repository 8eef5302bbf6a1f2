import type { Api } from './api.ts';

/**
 * The sum of a metric of the API server over all series that carry the labels; 0 where there is none.
 *
 * @param name with `_total`, `_count` or `_sum` where it has one
 */
export async function metric(api: Api, name: string, labels: Record<string, string> = {}): Promise<number> {
  const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
  const lines = (await api.text('/metrics')).split('\n');
  return lines
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => wanted.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

import type { Api } from './api.ts';

/** The sum of a metric over all series that have the labels; 0 if there is no such series. */
export function sumIn(text: string, name: string, labels: Record<string, string> = {}): number {
  const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => wanted.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

export const metric = async (api: Api, name: string, labels?: Record<string, string>): Promise<number> =>
  sumIn(await api.text('/metrics'), name, labels);

export async function ownMetric(
  replicas: readonly { ops(path: string): Promise<Response> }[],
  name: string,
  labels?: Record<string, string>,
): Promise<number> {
  const sums = replicas.map(async ({ ops }) => sumIn(await (await ops('/metrics')).text(), name, labels));
  return (await Promise.all(sums)).reduce((all, one) => all + one, 0);
}

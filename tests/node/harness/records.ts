import { readFileSync } from 'node:fs';

export interface Start {
  id: string;
  image: string;
  /** In milliseconds since 1970. */
  at: number;
  ended?: number;
}

/** `TIME ZONE NAMESPACE TOPIC JSON`, as `ctr events` prints it. */
const line = /^(?<day>\S+) (?<time>\S+) \+0000 UTC \S+ (?<topic>\/\S+) (?<details>\{.*\})$/;

/** Every container that containerd started, by what `ctr events` wrote to a file, in their order. */
export function startsIn(file: string): Start[] {
  const images = new Map<string, string>();
  const starts = new Map<string, Start>();
  for (const text of readFileSync(file, 'utf8').split('\n')) {
    const { day, time, topic, details } = line.exec(text)?.groups ?? {};
    if (details === undefined) continue;
    const { id, image, container_id: of } = JSON.parse(details);
    const at = Date.parse(`${day}T${time}Z`);
    if (topic === '/containers/create') images.set(id, image);
    if (topic === '/tasks/start') starts.set(of, { id: of, image: images.get(of) ?? 'unknown', at });
    const started = starts.get(of);
    // the end of its first process, not of one that a probe ran in it
    if (topic === '/tasks/exit' && id === of && started !== undefined) started.ended = at;
  }
  return [...starts.values()];
}

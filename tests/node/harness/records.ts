import { readFileSync } from 'node:fs';

export interface Start {
  id: string;
  image: string;
  /** In milliseconds since 1970. */
  at: number;
  ended?: number;
}

/** A line that `ctr events` prints: `TIME ZONE NAMESPACE TOPIC JSON`. */
const line = /^(?<day>\S+) (?<time>\S+) \+0000 UTC \S+ (?<topic>\/\S+) (?<details>\{.*\})$/;

/** All containers that containerd started, in order, according to a file with the output of `ctr events`. */
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
    // the exit of the container's first process, not of a process that a probe ran in the container
    if (topic === '/tasks/exit' && id === of && started !== undefined) started.ended = at;
  }
  return [...starts.values()];
}

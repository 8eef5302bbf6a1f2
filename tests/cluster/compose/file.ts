import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** The checkout: paths of the file are relative to it. */
export const checkout = fileURLToPath(new URL('../../../', import.meta.url));

/** What is read of a service. */
export interface Service {
  image: string;
  entrypoint?: string[];
  command?: string[];
  user?: string;
  environment?: Record<string, string>;
  read_only?: boolean;
  volumes?: string[];
  networks?: string[] | Record<string, { ipv4_address?: string }>;
  depends_on?: Record<string, { condition: string }>;
}

/** The services of docker-compose.yml, by name, with what they share merged in. */
export function readServices(): Map<string, Service> {
  const { services } = parse(readFileSync(`${checkout}docker-compose.yml`, 'utf8'), { merge: true });
  return new Map(Object.entries(services as Record<string, Service>));
}

/** The address that the file gives to a service. */
export const addressOf = ({ networks }: Service): string | undefined =>
  networks === undefined || Array.isArray(networks) ? undefined : networks.cluster?.ipv4_address;

/** The services that have to end before others begin, and those that nobody waits for and that end by themselves. */
export function endingServices(services: ReadonlyMap<string, Service>): Set<string> {
  const awaited = [...services.values()].flatMap(({ depends_on = {} }) =>
    Object.entries(depends_on).flatMap(([name, { condition }]) =>
      condition === 'service_completed_successfully' ? [name] : [],
    ),
  );
  return new Set([...awaited, 'story']);
}

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { CniGateError, messageOf } from '../lib/errors.ts';
import type { Access, Connection } from './access.ts';

/** What is read of a cluster; a file with anything else is not plain. */
const clusterKeys = [
  'server',
  'certificate-authority',
  'certificate-authority-data',
  'insecure-skip-tls-verify',
  'tls-server-name',
] as const;

/** What is read of a user: certificates, or a token, or a password. */
const userKeys = [
  'client-certificate',
  'client-certificate-data',
  'client-key',
  'client-key-data',
  'token',
  'username',
  'password',
] as const;

type Texts<Key extends string> = { [K in Key]?: string };

/** A cluster and a user that need no program, no other server and no proxy. */
interface Plain {
  context: string;
  cluster: Texts<(typeof clusterKeys)[number]> & { server: string };
  user: Texts<(typeof userKeys)[number]>;
}

/**
 * The way that a plain kubeconfig names: one file, with certificates, a token or a password. It takes no more than a
 * YAML parser. `fromKubeconfig` gives the same for every kubeconfig, and loads 77 MiB for it.
 *
 * @param file undefined for `$KUBECONFIG`, then `~/.kube/config`
 * @param context of the file; undefined for its current one
 * @returns undefined where the file is not plain, or cannot be used: `fromKubeconfig` has the words for that
 */
export function fromPlainKubeconfig(file: string | undefined, context?: string): Access | undefined {
  const source = file ?? (process.env.KUBECONFIG || join(homedir(), '.kube', 'config'));
  if (file === undefined && source.includes(delimiter)) return undefined;
  let plain = read(source, context);
  if (plain === undefined) return undefined;
  // what others make the current context later is not what was asked for
  const chosen = plain.context;
  let stale = false;
  return {
    source,
    context: chosen,
    connection: async () => {
      if (stale) plain = read(source, chosen);
      stale = false;
      // the file was replaced by one that is not plain, or by none
      if (plain === undefined) return fromPackage(file, chosen);
      try {
        return connectionOf(plain, dirname(source));
      } catch (error) {
        throw new CniGateError(
          'CNI_GATE_CLUSTER_CONFIG',
          `cannot use kubeconfig ${source}: ${messageOf(error)}`,
          { cause: error },
        );
      }
    },
    refresh: () => {
      // the next request reads the file anew
      stale = true;
    },
  };
}

async function fromPackage(file: string | undefined, context: string): Promise<Connection> {
  const { fromKubeconfig } = await import('./kubeconfig.ts');
  return fromKubeconfig(file, context).connection();
}

/** The cluster and the user of a context; undefined where they are not plain. */
function read(file: string, context: string | undefined): Plain | undefined {
  try {
    const config: unknown = parse(readFileSync(file, 'utf8'));
    if (!isObject(config)) return undefined;
    const wanted = context ?? config['current-context'];
    const chosen = named(config, 'contexts', 'context', wanted);
    const cluster = textsOf(named(config, 'clusters', 'cluster', chosen?.cluster), clusterKeys);
    const user = textsOf(named(config, 'users', 'user', chosen?.user), userKeys);
    const { server } = cluster ?? {};
    // the package knows when it allows HTTP
    if (cluster === undefined || user === undefined || !server?.startsWith('https://')) return undefined;
    if (typeof wanted !== 'string') return undefined;
    if (user.token !== undefined && user.username !== undefined) return undefined;
    if ((user.username === undefined) !== (user.password === undefined)) return undefined;
    return { context: wanted, cluster: { ...cluster, server }, user };
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The one entry of a list with this name, without its name. */
function named(
  config: Record<string, unknown>,
  list: string,
  entry: string,
  name: unknown,
): Record<string, unknown> | undefined {
  const all = config[list];
  if (!Array.isArray(all) || typeof name !== 'string') return undefined;
  const [found, ...others] = all.filter((one) => isObject(one) && one.name === name);
  return others.length === 0 && isObject(found?.[entry]) ? found[entry] : undefined;
}

/** The values of the known keys; undefined where there is another key, or a value that is no text. */
function textsOf<const Key extends string>(
  value: Record<string, unknown> | undefined,
  keys: readonly Key[],
): Texts<Key> | undefined {
  if (value === undefined) return undefined;
  const texts: Texts<Key> = {};
  for (const [key, one] of Object.entries(value)) {
    // notes of other programs, which the package does not read either
    if (key === 'extensions') continue;
    const known = keys.find((each) => each === key);
    if (known === undefined) return undefined;
    if (known === 'insecure-skip-tls-verify' && typeof one === 'boolean') {
      if (one) texts[known] = 'true';
    } else if (typeof one === 'string' && one !== '') texts[known] = one;
    else return undefined;
  }
  return texts;
}

/** Certificates are read anew for each connection: they may have been replaced. */
function connectionOf({ cluster, user }: Plain, folder: string): Connection {
  const contentOf = (file: string | undefined, data: string | undefined): Buffer | undefined => {
    if (file !== undefined) return readFileSync(resolve(folder, file));
    return data === undefined ? undefined : Buffer.from(data, 'base64');
  };
  const ca = contentOf(cluster['certificate-authority'], cluster['certificate-authority-data']);
  const cert = contentOf(user['client-certificate'], user['client-certificate-data']);
  const key = contentOf(user['client-key'], user['client-key-data']);
  const servername = cluster['tls-server-name'];
  const basic = `${user.username}:${user.password}`;
  return {
    server: cluster.server.replace(/\/$/, ''),
    headers: {
      ...(user.token !== undefined && { Authorization: `Bearer ${user.token}` }),
      ...(user.username !== undefined && { authorization: `Basic ${Buffer.from(basic).toString('base64')}` }),
    },
    tls: {
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(servername !== undefined && { servername }),
      ...(cluster['insecure-skip-tls-verify'] !== undefined && { rejectUnauthorized: false }),
    },
  };
}

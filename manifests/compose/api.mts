/** The API server of the compose file, asked as its administrator. Its certificate comes by NODE_EXTRA_CA_CERTS. */
const server = 'https://kube-apiserver:6443';
const authorization = 'Bearer for-trying-out-admin';

/** What is read of the objects here. */
export interface Thing {
  items?: Thing[];
  metadata: { name: string };
  spec: { initContainers?: { name: string }[]; nodeName?: string };
  status: { phase?: string; conditions?: { type: string; message?: string }[] };
}

/**
 * Sends one request.
 *
 * @throws Error with the API server's words where it refuses
 */
export async function ask(method: string, path: string, body?: object): Promise<Thing> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const headers = { authorization, 'content-type': type };
  const answer = await fetch(server + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text.startsWith('{') ? JSON.parse(text) : { metadata: { name: '' }, spec: {}, status: {} };
}

/** Tries again, every half second, until an attempt gives something. It throws the last error after two minutes. */
export async function eventually<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + 120_000;
  let last: unknown = 'nothing yet';
  while (Date.now() < deadline) {
    try {
      const result = await attempt();
      if (result !== undefined) return result;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error(`not within two minutes: ${last}`);
}

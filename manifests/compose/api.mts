import { readFileSync } from 'node:fs';
import { setDefaultCACertificates } from 'node:tls';

/** The address of the API server in the compose file. Requests are made as its administrator. */
const server = 'https://172.30.36.2:6443';
/** The API server writes this file while it starts. */
const serverCertificate = '/pki/apiserver.crt';
const authorization = 'Bearer for-trying-out-admin';

/** The fields of the API's objects that are read. */
export interface Thing {
  items?: Thing[];
  metadata: { name: string };
  spec: { initContainers?: { name: string }[]; nodeName?: string };
  status: { phase?: string; conditions?: { type: string; message?: string }[] };
}

/**
 * Sends one request.
 *
 * @throws Error if the API server has not started yet, or with the API server's message if it refuses the request
 */
export async function ask(method: string, path: string, body?: object): Promise<Thing> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const headers = { authorization, 'content-type': type };
  setDefaultCACertificates([readFileSync(serverCertificate, 'utf8')]);
  const answer = await fetch(server + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text.startsWith('{') ? JSON.parse(text) : { metadata: { name: '' }, spec: {}, status: {} };
}

/** Repeats an attempt every half second until it returns a value. Throws the last error after two minutes. */
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

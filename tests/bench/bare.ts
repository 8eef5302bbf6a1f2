import { createServer, type Server } from 'node:https';

/** What a server here does, that decides nothing. */
export interface Bare {
  /** The UID of its answers is that of the review; without, that of the recorded review. */
  parses: boolean;
  /** Characters of the patch in its answers. It is no patch: an API server refuses it. */
  patch: number;
}

/** Characters of cni-gate's patch for the review that the benches send, in base64. */
export const patchLength = 1600;

/**
 * The least that any admission server has to do: read the body, parse it, answer.
 *
 * @param tls certificate and key in PEM
 */
export function bareServer(tls: { cert: string; key: string }, { parses, patch }: Bare): Server {
  const more = patch > 0 ? { patchType: 'JSONPatch', patch: 'x'.repeat(patch) } : {};
  return createServer(tls, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const uid: string = parses ? JSON.parse(text).request.uid : 'a7d6e32a-6857-44b0-b6c3-0390c061b051';
      const review = {
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        response: { uid, allowed: true, ...more },
      };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(review));
    });
  });
}

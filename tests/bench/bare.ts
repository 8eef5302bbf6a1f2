/** The least that any admission server has to do: read the body, parse it, answer. */
import { createServer, type Server } from 'node:https';

/** @param tls certificate and key in PEM */
export const bareServer = (tls: { cert: string; key: string }): Server =>
  createServer(tls, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { uid } = JSON.parse(Buffer.concat(chunks).toString()).request;
      const review = {
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        response: { uid, allowed: true },
      };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(review));
    });
  });

import { request } from 'node:https';
import { json } from 'node:stream/consumers';
import type { AdmissionReview } from '../../webhook/admission/review.ts';

/** Sends an AdmissionReview as an API server does. */
export type Ask = (review: object) => Promise<AdmissionReview>;

/** The way to a path of the server. @param ca the authority of its certificate */
export const clientOf =
  (url: string, ca: string): Ask =>
  async (review) => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const headers = { 'content-type': 'application/json' };
    request(url, { method: 'POST', ca, headers, timeout: 10_000 }, (response) =>
      json(response).then(resolve, reject),
    )
      .on('error', reject)
      .end(JSON.stringify(review));
    return (await promise) as AdmissionReview;
  };

import { request } from 'node:https';
import type { AdmissionReview } from '../../webhook/admission/review.ts';
import { exchange } from '../support/exchange.ts';

/** Sends an AdmissionReview to the server, as an API server does. */
export type Ask = (review: object) => Promise<AdmissionReview>;

/** Returns a function that sends reviews to the URL. @param ca the authority that signed the server's certificate */
export const clientOf =
  (url: string, ca: string): Ask =>
  async (review) => {
    const headers = { 'content-type': 'application/json' };
    const call = request(url, { method: 'POST', ca, headers, timeout: 10_000 });
    return JSON.parse((await exchange(call, JSON.stringify(review))).body);
  };

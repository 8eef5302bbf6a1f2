import { request } from 'node:https';
import type { AdmissionReview } from '../../webhook/admission/review.ts';
import { exchange } from '../support/exchange.ts';

/** Sends an AdmissionReview as an API server does. */
export type Ask = (review: object) => Promise<AdmissionReview>;

/** The way to a path of the server. @param ca the authority of its certificate */
export const clientOf =
  (url: string, ca: string): Ask =>
  async (review) => {
    const headers = { 'content-type': 'application/json' };
    const call = request(url, { method: 'POST', ca, headers, timeout: 10_000 });
    return JSON.parse((await exchange(call, JSON.stringify(review))).body);
  };

import { profileLabel } from '../../webhook/lib/names.ts';
import { reviewOf } from './reviews.ts';

export const namespaceWith = (label: unknown): object => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'shop', labels: label === undefined ? {} : { [profileLabel]: label } },
});

export const namespaceReview = (object: unknown, request: object = {}): Record<string, unknown> =>
  reviewOf(object, {
    kind: { group: '', version: 'v1', kind: 'Namespace' },
    resource: { group: '', version: 'v1', resource: 'namespaces' },
    namespace: 'shop',
    name: 'shop',
    ...request,
  });

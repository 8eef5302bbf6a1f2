import assert from 'node:assert/strict';
import { decodePodRequest } from '../../../webhook/admission/decode.ts';
import { reviewNamespace } from '../../../webhook/admission/mutate/namespace-label.ts';
import { annotationsOf } from '../../../webhook/admission/namespaces.ts';
import { growsLinearly, map, on, onText } from '../../support/hostile-work.ts';
import { namespaceReview, namespaceWith } from '../../support/namespace-reviews.ts';
import { reviewOf } from '../../support/reviews.ts';
import { containers, everything, nested } from './inputs.ts';

growsLinearly('reviews that are decoded', [
  ['annotationsOf', on((size) => map(size, (index) => `${index}`), annotationsOf)],
  ['annotationsOf: digits', onText((text) => annotationsOf({ a: text }), '1')],
  [
    'reviewNamespace: a label',
    onText((label) => reviewNamespace(namespaceReview(namespaceWith(label)), everything), 'cilium.'),
  ],
  [
    'reviewNamespace: labels',
    on(
      (size) => namespaceReview({ metadata: { name: 'a', labels: map(size, () => 'x') } }),
      (body) => reviewNamespace(body, everything),
    ),
  ],
  [
    'decodePodRequest: a kind',
    onText(
      (text) => assert.throws(() => decodePodRequest(reviewOf({}, { kind: { group: text, kind: text } }))),
      'a',
    ),
  ],
  [
    'decodePodRequest: a wrong label',
    onText(
      (text) =>
        assert.throws(() =>
          decodePodRequest(reviewOf({ metadata: { labels: { [text]: 1 } }, spec: { containers } })),
        ),
      'a',
    ),
  ],
  [
    'decodePodRequest: values in values',
    on(
      (size) => ({ a: JSON.parse(nested(size)) }),
      (deep) => decodePodRequest(reviewOf({ metadata: { name: 'a' }, spec: { containers, affinity: deep } })),
    ),
  ],
]);

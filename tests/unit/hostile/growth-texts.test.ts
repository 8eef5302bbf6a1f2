import { fitText, inBytes } from '../../../validator/shared/fit-text.ts';
import { fitWarnings, respond } from '../../../webhook/admission/respond.ts';
import { fitNote } from '../../../webhook/cluster/events/event.ts';
import { clean, quoted } from '../../../webhook/lib/clean.ts';
import { isNamespaceName, isObjectName, isUid } from '../../../webhook/lib/object-names.ts';
import { quantity } from '../../../webhook/lib/quantity.ts';
import { wrap } from '../../../webhook/lib/wrap.ts';
import { addAll, amountsOf } from '../../../webhook/nodes/scheduling/amounts.ts';
import { podRequests } from '../../../webhook/nodes/scheduling/requests.ts';
import { growsLinearly, many, map, on, onText } from '../../support/hostile-work.ts';
import { requests } from './inputs.ts';

growsLinearly('texts, names and quantities of others', [
  ['clean: OSC without an end', onText(clean, '\u001b]')],
  ['clean: OSC with text and no end', onText(clean, '\u001b]0;a')],
  ['clean: one OSC without an end', onText(clean, 'a', '\u001b]')],
  ['clean: CSI without an end', onText(clean, '\u001b[')],
  ['clean: CSI with parameters and no end', onText(clean, '0;', '\u001b[', '\n')],
  ['clean: CSI with intermediates and no end', onText(clean, ' 0', '\u001b[0', '\n')],
  ['clean: C1 controls', onText(clean, '\u009b0;')],
  ['clean: bidirectional controls', onText(clean, '\u202e')],
  ['quoted', onText(quoted, '\u001b]')],
  ['fitText: one word', onText((text) => fitText(text, 900, inBytes), 'a')],
  ['fitText: a code that does not end', onText((text) => fitText(text, 900), 'A', 'a (CNI_GATE_', ')')],
  ['fitText: codes that do not end', onText((text) => fitText(text, 900), ' (CNI_GATE_A')],
  ['fitText: blanks', onText((text) => fitText(text, 900), ' ', '', 'a')],
  ['fitNote', onText(fitNote, '\u001b]')],
  ['fitWarnings: a long one', onText((text) => fitWarnings([text]), ' a\n')],
  ['fitWarnings: many', on((size) => many(size, (index) => `warning ${index}`), fitWarnings)],
  [
    'respond: a long message',
    onText(
      (message) =>
        respond('u', {
          outcome: 'refused',
          reason: 'r',
          profiles: [],
          operations: [],
          warnings: [],
          message,
        }),
      '\u001b] ',
    ),
  ],
  ['wrap', onText((text) => wrap(text, 100), 'a ')],
  ['wrap: one word', onText((text) => wrap(text, 100), 'a')],

  ['names: hyphens', onText((text) => [isObjectName(text), isNamespaceName(text), isUid(text)], 'a-')],
  ['names: dots', onText((text) => [isObjectName(text), isNamespaceName(text), isUid(text)], 'a.')],

  ['quantity: digits that end in none', onText(quantity, '1', '', '!')],
  ['quantity: digits', onText(quantity, '1')],
  ['quantity: digits behind a point', onText(quantity, '1', '1.', '!')],
  ['quantity: an exponent', onText(quantity, '1', '1e', '!')],
  ['amountsOf', on((size) => map(size, () => '1'), amountsOf)],
  ['sumOf', on((size) => many(size, (index) => ({ [`r${index}`]: 1 })), addAll)],
  [
    'podRequests: containers with resources of their own',
    on((size) => ({ containers: many(size, requests) }), podRequests),
  ],
  ['podRequests: init containers', on((size) => ({ initContainers: many(size, requests) }), podRequests)],
  [
    'podRequests: sidecars',
    on(
      (size) => ({
        initContainers: many(size, (index) => ({
          ...requests(index),
          restartPolicy: index % 2 ? 'Always' : null,
        })),
      }),
      podRequests,
    ),
  ],
]);

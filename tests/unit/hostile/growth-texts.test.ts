import { fitText } from '../../../validator/shared/fit-text.ts';
import { fitWarnings, respond } from '../../../webhook/admission/respond.ts';
import { clean, quoted } from '../../../webhook/lib/clean.ts';
import { isNamespaceName, isObjectName, isUid } from '../../../webhook/lib/object-names.ts';
import { quantity } from '../../../webhook/lib/quantity.ts';
import { podRequests } from '../../../webhook/nodes/scheduling/requests.ts';
import { growsLinearly, many, on, onText } from '../../support/hostile-work.ts';
import { requests } from './inputs.ts';

growsLinearly('texts, names and quantities of others', [
  ['clean: OSC without an end', onText(clean, '\u001b]')],
  ['clean: CSI with parameters and no end', onText(clean, '0;', '\u001b[', '\n')],
  ['clean: CSI with intermediates and no end', onText(clean, ' 0', '\u001b[0', '\n')],
  ['quoted', onText(quoted, '\u001b]')],
  ['fitText: a code that does not end', onText((text) => fitText(text, 900), 'A', 'a (CNI_GATE_', ')')],
  ['fitText: codes that do not end', onText((text) => fitText(text, 900), ' (CNI_GATE_A')],
  ['fitWarnings: a long one', onText((text) => fitWarnings([text]), ' a\n')],
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

  ['names: hyphens', onText((text) => [isObjectName(text), isNamespaceName(text), isUid(text)], 'a-')],

  ['quantity: digits that end in none', onText(quantity, '1', '', '!')],
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

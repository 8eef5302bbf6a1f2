import { ambient } from '../rules/ambient.ts';
import { halfBreaks } from './meshes.ts';
import { type Cells, cannot, fails, passes } from './plan.ts';
import {
  answerOutside,
  downLo,
  dropEverything,
  flush,
  leadBack,
  masquerade,
  openZtunnel,
  ownTarget,
  refuseByRouter,
  write,
} from './steps.ts';

/**
 * The proof always checks both families, sends nothing and binds no port. The rules match a mark that only ztunnel can
 * set, not users.
 */
export const ambientCells: Cells = {
  'correct rules': passes(write(ambient()), openZtunnel),
  'no rules': fails(openZtunnel),
  'no rules, a router refuses': fails(openZtunnel, refuseByRouter),
  'rules flushed': fails(write(ambient()), openZtunnel, flush),
  'only IPv4 rules on a dual-stack pod': fails(write(ambient(), { families: 'ipv4' }), openZtunnel),
  'wrong port': fails(write(ambient({ outbound: 15_002 })), openZtunnel),
  'wrong port: that of the other direction': fails(write(ambient({ outbound: 15_006 })), openZtunnel),
  'wrong port: that of encrypted traffic': fails(write(ambient({ outbound: 15_008 })), openZtunnel),
  'listeners missing': fails(write(ambient())),
  "no default route, only the subnet's": {
    shape: { defaultRoute: false },
    ...passes(write(ambient()), openZtunnel),
  },
  "no default route, only the services'": {
    shape: { defaultRoute: 'services', gateway: 'by-link-route' },
    ...passes(write(ambient()), openZtunnel),
  },
  'no default route, no rules': { shape: { defaultRoute: 'services' }, ...fails(openZtunnel) },
  'no route at all': { shape: { gateway: 'none' }, ...cannot(write(ambient()), openZtunnel) },
  'correct rules, lo is down': fails(write(ambient()), openZtunnel, downLo),
  'the target itself answers': fails(openZtunnel, answerOutside('banner')),
  'the target itself answers, correct rules': passes(write(ambient()), openZtunnel, answerOutside('banner')),
  'the target connects back to the pod': fails(openZtunnel, answerOutside(15_001)),
  'the node routes back to the pod': fails(openZtunnel, leadBack(15_001)),
  'half breaks at 2 s, the rest appears at 3 s': halfBreaks(ambient(), false, [openZtunnel]),
  'half breaks at 2 s, recovers at 5 s, the rest appears at 3 s': halfBreaks(ambient(), true, [openZtunnel]),
  'the target is an address of the pod': passes(ownTarget, write(ambient()), openZtunnel),
  'the target is an address of the pod, no rules': fails(ownTarget, openZtunnel),
  'a MASQUERADE rule in the pod': passes(write(ambient()), openZtunnel, masquerade),
  'a MASQUERADE rule in the pod, no rules': fails(openZtunnel, masquerade, leadBack(15_001)),
  'rules are written after 3 s': {
    before: [openZtunnel],
    while: [{ after: 3000, step: write(ambient()) }],
    ends: 0,
  },
  'a policy drops every packet': passes(write(ambient()), openZtunnel, dropEverything),
};

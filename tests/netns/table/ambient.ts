import { ambient } from '../rules/ambient.ts';
import { halfBreaks } from './meshes.ts';
import type { Cells } from './plan.ts';
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
  'correct rules': { before: [write(ambient()), openZtunnel], ends: 0 },
  'no rules': { before: [openZtunnel], ends: 95 },
  'no rules, a router refuses': { before: [openZtunnel, refuseByRouter], ends: 95 },
  'rules flushed': { before: [write(ambient()), openZtunnel, flush], ends: 95 },
  'only IPv4 rules on a dual-stack pod': {
    before: [write(ambient(), { families: 'ipv4' }), openZtunnel],
    ends: 95,
  },
  'wrong port': { before: [write(ambient({ outbound: 15_002 })), openZtunnel], ends: 95 },
  'wrong port: that of the other direction': {
    before: [write(ambient({ outbound: 15_006 })), openZtunnel],
    ends: 95,
  },
  'wrong port: that of encrypted traffic': {
    before: [write(ambient({ outbound: 15_008 })), openZtunnel],
    ends: 95,
  },
  'listeners missing': { before: [write(ambient())], ends: 95 },
  "no default route, only the subnet's": {
    shape: { defaultRoute: false },
    before: [write(ambient()), openZtunnel],
    ends: 0,
  },
  "no default route, only the services'": {
    shape: { defaultRoute: 'services', gateway: 'by-link-route' },
    before: [write(ambient()), openZtunnel],
    ends: 0,
  },
  'no default route, no rules': {
    shape: { defaultRoute: 'services' },
    before: [openZtunnel],
    ends: 95,
  },
  'no route at all': { shape: { gateway: 'none' }, before: [write(ambient()), openZtunnel], ends: 69 },
  'correct rules, lo is down': { before: [write(ambient()), openZtunnel, downLo], ends: 95 },
  'the target itself answers': { before: [openZtunnel, answerOutside('banner')], ends: 95 },
  'the target itself answers, correct rules': {
    before: [write(ambient()), openZtunnel, answerOutside('banner')],
    ends: 0,
  },
  'the target connects back to the pod': { before: [openZtunnel, answerOutside(15_001)], ends: 95 },
  'the node routes back to the pod': { before: [openZtunnel, leadBack(15_001)], ends: 95 },
  'half breaks at 2 s, the rest appears at 3 s': halfBreaks(ambient(), false, [openZtunnel]),
  'half breaks at 2 s, recovers at 5 s, the rest appears at 3 s': halfBreaks(ambient(), true, [openZtunnel]),
  'the target is an address of the pod': { before: [ownTarget, write(ambient()), openZtunnel], ends: 0 },
  'the target is an address of the pod, no rules': { before: [ownTarget, openZtunnel], ends: 95 },
  'a MASQUERADE rule in the pod': { before: [write(ambient()), openZtunnel, masquerade], ends: 0 },
  'a MASQUERADE rule in the pod, no rules': { before: [openZtunnel, masquerade, leadBack(15_001)], ends: 95 },
  'rules are written after 3 s': {
    before: [openZtunnel],
    while: [{ after: 3000, step: write(ambient()) }],
    ends: 0,
  },
  'a policy drops every packet': { before: [write(ambient()), openZtunnel, dropEverything], ends: 0 },
};

import { ambient } from '../rules/ambient.ts';
import { halfBreaks } from './meshes.ts';
import type { Cells } from './plan.ts';
import { answerOutside, downLo, dropEverything, leadBack, masquerade, openZtunnel, write } from './steps.ts';

/** Some situations are missing: rules match ztunnel's mark, not users, and the proof's connections stay in the pod. */
export const ambientCells: Cells = {
  'correct rules': { before: [write(ambient()), openZtunnel] },
  'no rules': { before: [openZtunnel], fails: 'not-captured' },
  'only IPv4 rules on a dual-stack pod': {
    before: [write(ambient(), { families: 'ipv4' }), openZtunnel],
    fails: 'not-captured (IPv6)',
  },
  'wrong port': { before: [write(ambient({ outbound: 15_002 })), openZtunnel], fails: 'not-captured' },
  'listeners missing': { before: [write(ambient())], fails: 'no-listener' },
  "no default route, only the services'": {
    shape: { defaultRoute: 'services', gateway: 'by-link-route', families: 'ipv4' },
    before: [write(ambient()), openZtunnel],
  },
  'no route at all': {
    shape: { gateway: 'none' },
    before: [write(ambient()), openZtunnel],
    fails: 'no-route',
  },
  'correct rules, lo is down': { before: [write(ambient()), openZtunnel, downLo], fails: 'not-captured' },
  'the target itself answers': { before: [openZtunnel, answerOutside('banner')], fails: 'not-captured' },
  'the target itself answers, correct rules': {
    before: [write(ambient()), openZtunnel, answerOutside('banner')],
  },
  'the target connects back to the pod': {
    before: [openZtunnel, answerOutside(15_001)],
    fails: 'not-captured',
  },
  'the node routes back to the pod': { before: [openZtunnel, leadBack(15_001)], fails: 'not-captured' },
  'half breaks at 2 s, the rest appears at 3 s': {
    ...halfBreaks(ambient(), false, [openZtunnel]),
    fails: 'not-captured (IPv4)',
  },
  'half breaks at 2 s, recovers at 5 s, the rest appears at 3 s': halfBreaks(ambient(), true, [openZtunnel]),
  'a MASQUERADE rule in the pod': { before: [write(ambient()), openZtunnel, masquerade] },
  'a MASQUERADE rule in the pod, no rules': {
    before: [openZtunnel, masquerade, leadBack(15_001)],
    fails: 'not-captured',
  },
  'rules are written after 3 s': {
    before: [openZtunnel],
    while: [{ after: 3000, step: write(ambient()) }],
  },
  'a policy drops every packet': { before: [write(ambient()), openZtunnel, dropEverything] },
};

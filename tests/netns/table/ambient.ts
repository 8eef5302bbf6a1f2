import { ambient } from '../rules/ambient.ts';
import { notOfMeshes, onlyLo } from './meshes.ts';
import type { Cells } from './plan.ts';
import {
  answerOutside,
  downLo,
  dropEverything,
  flush,
  leadBack,
  openZtunnel,
  refuseByRouter,
  write,
} from './steps.ts';

const bothAlways = 'the proof asks for both families in any case';
const byMark = 'the rules go by a mark that only ztunnel can set, not by users';

export const ambientCells: Cells = {
  ...notOfMeshes,
  'right rules': { before: [write(ambient()), openZtunnel], ends: 0 },
  'no rules': { before: [openZtunnel], ends: 95 },
  'no rules, a router refuses': { before: [openZtunnel, refuseByRouter], ends: 95 },
  'rules flushed': { before: [write(ambient()), openZtunnel, flush], ends: 95 },
  'only IPv4 rules on a dual-stack pod': {
    before: [write(ambient(), { families: 'ipv4' }), openZtunnel],
    ends: 95,
  },
  'only IPv4 rules on a dual-stack pod, IPv6 is its first address': 'the same, whichever comes first',
  'the mesh serves both families, right rules': bothAlways,
  'the mesh serves both families, only IPv4 rules': bothAlways,
  'wrong port': { before: [write(ambient({ outbound: 15_002 })), openZtunnel], ends: 95 },
  'wrong port: one of the proxy for the other direction': {
    before: [write(ambient({ outbound: 15_006 })), openZtunnel],
    ends: 95,
  },
  "wrong port: the proxy's for what comes encrypted": {
    before: [write(ambient({ outbound: 15_008 })), openZtunnel],
    ends: 95,
  },
  'listeners missing': { before: [write(ambient())], ends: 95 },
  "proxy's uid skipped: run as the wrong user": byMark,
  "proxy's uid skipped: the rules skip the proof's": byMark,
  'the proxy runs as another user and group, right rules': byMark,
  'the proxy runs as another user and group, rules for the usual one': byMark,
  'port taken': 'the proof binds no port: ztunnel has them',
  'no default route, the subnet only': {
    shape: { defaultRoute: false },
    before: [write(ambient()), openZtunnel],
    ends: 0,
  },
  'no default route, the services only': {
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
  'right rules, lo is down': { before: [write(ambient()), openZtunnel, downLo], ends: 95 },
  'target answers by itself': { before: [openZtunnel, answerOutside('banner')], ends: 95 },
  'target sends back what it gets': 'nothing is sent: who accepts the connection decides',
  'target answers by itself, right rules': {
    before: [write(ambient()), openZtunnel, answerOutside('banner')],
    ends: 0,
  },
  'target hands the connection back to the pod': { before: [openZtunnel, answerOutside(15_001)], ends: 95 },
  'node leads the connection back to the pod': { before: [openZtunnel, leadBack(15_001)], ends: 95 },
  'rules come 3 s late': { before: [openZtunnel], while: [{ after: 3000, step: write(ambient()) }], ends: 0 },
  'sandbox without the interface': onlyLo,
  'every packet dropped by policy': { before: [write(ambient()), openZtunnel, dropEverything], ends: 0 },
};

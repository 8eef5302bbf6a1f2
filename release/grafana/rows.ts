import type { Row } from './model.ts';
import { admissions, gate, networks, overview } from './rows-admission.ts';
import { cluster, limits, process } from './rows-server.ts';
import { certificates, proofs, repair, steering } from './rows-work.ts';

/** The rows of the dashboard, from the top. */
export const rows: Row[] = [
  overview,
  admissions,
  gate,
  networks,
  proofs,
  steering,
  repair,
  certificates,
  limits,
  cluster,
  process,
];

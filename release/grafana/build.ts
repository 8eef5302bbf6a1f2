import { writeFileSync } from 'node:fs';
import { dashboardOf } from './dashboard.ts';
import { rows } from './rows.ts';

/*
 * usage: node release/grafana/build.ts
 *
 * Writes the dashboard for Grafana into its component of the manifests.
 */
const file = new URL('../../manifests/components/grafana-dashboard/cni-gate.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(dashboardOf(rows), null, 2)}\n`);

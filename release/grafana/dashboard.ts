import type { Form, Panel, Row } from './model.ts';

/** The variables by which a user chooses what the dashboard shows. */
export const variables = ['namespace', 'job'] as const;

const selector = variables.map((name) => `${name}=~"$${name}"`).join(',');
/** Grafana replaces the variable: to JavaScript this is no template. */
const datasource = { type: 'prometheus', uid: ['$', '{datasource}'].join('') };

/** Columns of Grafana's grid. */
const columns = 24;
const heights: Record<Form, number> = { number: 4, lines: 8, stacked: 8, table: 8 };

/** A panel as Grafana reads it: only the fields that tests read are named. */
export interface GrafanaPanel {
  id: number;
  type: string;
  title: string;
  targets?: { expr: string; legendFormat: string; refId: string }[];
  [field: string]: unknown;
}

/**
 * The dashboard in Grafana's JSON model (https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/).
 * The panels of a row share its width.
 */
export function dashboardOf(rows: readonly Row[]) {
  const panels: GrafanaPanel[] = [];
  let y = 0;
  for (const { title, panels: inRow } of rows) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: columns, h: 1 },
      panels: [],
    });
    y += 1;
    const w = Math.floor(columns / inRow.length);
    for (const [index, panel] of inRow.entries()) {
      const gridPos = { x: index * w, y, w, h: heights[panel.form] };
      panels.push({ id: panels.length + 1, gridPos, ...panelOf(panel) });
    }
    y += Math.max(...inRow.map(({ form }) => heights[form]));
  }
  return {
    uid: 'cni-gate',
    title: 'cni-gate',
    description: "Pods' networks: what is proved, held, steered and repaired.",
    tags: ['kubernetes', 'cni', 'cni-gate'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: '',
    links: [
      {
        title: 'Metrics',
        type: 'link',
        url: 'https://github.com/cni-gate/cni-gate/blob/main/docs/reference/metrics.md',
        targetBlank: true,
      },
    ],
    annotations: { list: [] },
    templating: { list: [datasourceVariable, ...variables.map(labelVariable)] },
    panels,
  };
}

const datasourceVariable = {
  name: 'datasource',
  label: 'Data source',
  type: 'datasource',
  query: 'prometheus',
  refresh: 1,
};

/** A variable whose values are those of a label. "All" also matches series without the label. */
function labelVariable(name: (typeof variables)[number], index: number) {
  const chosenBefore = variables.slice(0, index).map((before) => `${before}=~"$${before}"`);
  const matchers = chosenBefore.length === 0 ? '' : `{${chosenBefore.join(',')}}`;
  const query = `label_values(cni_gate_build_info${matchers}, ${name})`;
  return {
    name,
    label: name === 'job' ? 'Job' : 'Namespace',
    type: 'query',
    datasource,
    // 1: the values of a label
    query: { qryType: 1, query, refId: 'PrometheusVariableQueryEditor-VariableQuery' },
    definition: query,
    refresh: 2,
    sort: 1,
    multi: true,
    includeAll: true,
    allValue: '.*',
    current: { selected: true, text: ['All'], value: ['$__all'] },
  };
}

function panelOf({ title, description, form, unit, alarm, queries }: Panel): {
  type: string;
  title: string;
  [field: string]: unknown;
} {
  const isInstant = form === 'table' || form === 'number';
  const targets = queries.map(({ expr, legend }, index) => ({
    refId: String.fromCharCode('A'.charCodeAt(0) + index),
    datasource,
    editorMode: 'code',
    expr: expr.replaceAll('SELECTOR', selector),
    legendFormat: legend,
    instant: isInstant,
    range: !isInstant,
    ...(form === 'table' && { format: 'table' }),
  }));
  return {
    type: types[form],
    title,
    description,
    datasource,
    targets,
    fieldConfig: { defaults: { ...(unit !== undefined && { unit }), ...fields(form, alarm) }, overrides: [] },
    options: optionsOf[form],
    ...(form === 'table' && { transformations: [withoutTime] }),
  };
}

const types: Record<Form, string> = {
  lines: 'timeseries',
  stacked: 'timeseries',
  number: 'stat',
  table: 'table',
};

function fields(form: Form, alarm: number | undefined): object {
  if (form === 'table') return {};
  if (form === 'number') {
    const steps = [
      { color: 'green', value: null },
      ...(alarm === undefined ? [] : [{ color: 'red', value: alarm }]),
    ];
    return { color: { mode: 'thresholds' }, thresholds: { mode: 'absolute', steps } };
  }
  const stacking = { group: 'A', mode: form === 'stacked' ? 'normal' : 'none' };
  const fillOpacity = form === 'stacked' ? 20 : 0;
  return { custom: { drawStyle: 'line', lineWidth: 1, fillOpacity, showPoints: 'never', stacking } };
}

const timeseries = {
  legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
  tooltip: { mode: 'multi', sort: 'desc' },
};

const optionsOf: Record<Form, object> = {
  lines: timeseries,
  stacked: timeseries,
  number: {
    colorMode: 'value',
    graphMode: 'none',
    reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
    textMode: 'auto',
  },
  table: { showHeader: true, cellHeight: 'sm' },
};

const withoutTime = {
  id: 'organize',
  options: { excludeByName: { Time: true }, renameByName: { Value: 'nodes' } },
};

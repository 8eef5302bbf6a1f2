/** A query of a panel, in PromQL. */
export interface Query {
  /** `SELECTOR` stands for the label matchers of the dashboard's variables. */
  expr: string;
  /** Name of each series: Grafana replaces `{{label}}`. Empty: all labels. */
  legend: string;
}

/** How a panel draws its queries. */
export type Form =
  /** Lines over time. */
  | 'lines'
  /** Lines over time, one on top of the other. */
  | 'stacked'
  /** The last value, large. */
  | 'number'
  /** The last values, in rows. */
  | 'table';

export interface Panel {
  title: string;
  /** What the panel shows, and what to do about it. */
  description: string;
  form: Form;
  /** Name of a unit of Grafana, such as `s`, `bytes`, `reqps`. */
  unit?: string;
  /** From this value on, a number is red. */
  alarm?: number;
  queries: Query[];
}

/** A row of the dashboard: its heading, and the panels below it. */
export interface Row {
  title: string;
  panels: Panel[];
}

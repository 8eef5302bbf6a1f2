/** Bars as an SVG. Pure. */
import { aimText, aimValue, type Row, textOf } from './figures.ts';

const width = 760;
const margin = 16;
/** Right of the longest bar, for its figure. */
const forFigure = 150;
const rowHeight = 38;
/** Above and below the bars of one unit. */
const [head, foot] = [8, 48];
/** Enough for a figure between a bar's end and a line right of it. */
const gap = 110;
const bars = width - 2 * margin - forFigure;

// the page behind an image may be light or dark, so the plot has a background of its own
const style = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328; stroke: #ffffff; stroke-width: 3; paint-order: stroke }
  .tick { fill: #59636e }
  .page { fill: #ffffff }
  .bar { fill: #0969da }
  .grid { stroke: #d1d9e0 }
  .aim { stroke: #bc4c00; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; stroke: #0d1117 }
    .tick { fill: #9198a1 }
    .page { fill: #0d1117 }
    .bar { fill: #4493f8 }
    .grid { stroke: #3d444d }
    .aim { stroke: #f0883e }
  }
`;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** At most six round values from 0 to a little above the largest: steps of 1, 2 or 5 times a power of ten. */
function ticks(largest: number): number[] {
  if (!(largest > 0)) return [0, 1];
  const power = 10 ** Math.floor(Math.log10(largest / 5));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => largest / one <= 5) ?? 10 * power;
  const count = Math.ceil(largest / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(6)));
}

/** Coordinates with one decimal are the same on every machine. */
const at = (value: number): string => String(Math.round(value * 10) / 10);

/** The bars of one unit, from `top` on. */
function panel(unit: string, rows: readonly Row[], top: number): string[] {
  const values = ticks(
    Math.max(...rows.map(({ measured, aim }) => Math.max(measured, aim ? aimValue(aim) : 0))),
  );
  const x = (value: number): number => margin + (Math.max(0, value) / (values.at(-1) ?? 1)) * bars;
  const [first, last] = [top + head, top + head + rows.length * rowHeight];
  const axis = values.flatMap((value) => [
    `<line class="grid" x1="${at(x(value))}" x2="${at(x(value))}" y1="${first}" y2="${last}"/>`,
    `<text class="tick" text-anchor="middle" x="${at(x(value))}" y="${last + 16}">${textOf(value, '')}</text>`,
  ]);
  const drawn = rows.flatMap(({ figure, conditions, measured, aim }, index) => {
    const y = first + index * rowHeight;
    const what = [figure, conditions].filter((text) => text !== '').join(', ');
    const limit = aim ? ` (aim ${aimText(aim, unit)})` : '';
    const end = x(measured);
    const line = aim ? x(aimValue(aim)) : 0;
    const right = line >= end && line < end + gap ? line : end;
    return [
      `<text x="${margin}" y="${y + 14}">${escaped(what + limit)}</text>`,
      `<rect class="bar" x="${margin}" y="${y + 19}" width="${at(end - margin)}" height="12"/>`,
      ...(aim ? [`<line class="aim" x1="${at(line)}" x2="${at(line)}" y1="${y + 17}" y2="${y + 33}"/>`] : []),
      `<text x="${at(right + 6)}" y="${y + 29}">${escaped(textOf(measured, unit))}</text>`,
    ];
  });
  const label = escaped(unit === '' ? 'number' : unit);
  return [
    ...axis,
    ...drawn,
    `<text class="tick" text-anchor="middle" x="${at(margin + bars / 2)}" y="${last + 32}">${label}</text>`,
  ];
}

/**
 * Draws one bar for each row. Rows of one unit share an axis from 0; a line across a bar is its aim.
 *
 * @param title what the plot shows, for readers who do not see it
 */
export function plot(title: string, rows: readonly Row[]): string {
  const groups = Map.groupBy(rows, ({ unit }) => unit);
  let top = 8;
  const body: string[] = [];
  for (const [unit, ofUnit] of groups) {
    body.push(...panel(unit, ofUnit, top));
    top += head + ofUnit.length * rowHeight + foot;
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" width="${width}" height="${top}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${style}</style>`,
    `<rect class="page" width="${width}" height="${top}"/>`,
    ...body,
    '</svg>',
    '',
  ].join('\n');
}

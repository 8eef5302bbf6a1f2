import type { Page } from 'playwright-core';
import type { Dashboard } from '../../webhook/dashboard/model.ts';

/** How long something took, in milliseconds: the median, the longest, and how many took longer than a long task does. */
export interface Times {
  median: number;
  longest: number;
  long: number;
}

/** The browser calls a task long from this time on, in milliseconds: https://w3c.github.io/longtasks/ */
const longTask = 50;

/** Milliseconds from the navigation until the data is drawn and laid out. */
export const firstRender = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const [show] = performance.getEntriesByName('show');
    return show === undefined ? Number.NaN : show.startTime + show.duration;
  });

/** The frames while the nodes are scrolled by so many pixels a frame. */
export async function scrollFrames(page: Page, pixels: number): Promise<Times> {
  const frames = await page.evaluate(async (step) => {
    const grid = document.querySelector('.matrix');
    const taken: number[] = [];
    let last = performance.now();
    for (let frame = 1; frame <= 30; frame += 1) {
      if (grid) grid.scrollTop = frame * step;
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const now = performance.now();
      taken.push(now - last);
      last = now;
    }
    if (grid) grid.scrollTop = 0;
    return taken;
  }, pixels);
  return timesOf(frames);
}

/** From each change of the search to its layout. */
export async function searches(page: Page, texts: readonly string[]): Promise<Times> {
  const taken = await page.evaluate((all) => {
    const search = document.querySelector<HTMLInputElement>('#search');
    return all.map((text) => {
      const began = performance.now();
      if (search) search.value = text;
      search?.dispatchEvent(new Event('input'));
      document.body.getBoundingClientRect();
      return performance.now() - began;
    });
  }, texts);
  return timesOf(taken);
}

/** From the data of an update, in which one node changed, to its layout. */
export async function updates(
  page: Page,
  dashboard: Dashboard,
  set: (dashboard: Dashboard) => void,
): Promise<Times> {
  for (let update = 0; update < 2; update += 1) {
    const nodes = dashboard.nodes.map((node, index) =>
      index === update ? { ...node, group: `${node.group}-${update}` } : node,
    );
    set({ ...dashboard, nodes, headline: `Update ${update}` });
    await page.locator(`#verdict:has-text("Update ${update}")`).waitFor();
  }
  const taken = await page.evaluate(() =>
    performance
      .getEntriesByName('show')
      .slice(1)
      .map(({ duration }) => duration),
  );
  set(dashboard);
  return timesOf(taken);
}

/** As text. */
export const told = ({ median, longest, long }: Times): string =>
  `${median} ms (longest ${longest} ms, ${long} of more than ${longTask} ms)`;

function timesOf(taken: readonly number[]): Times {
  const sorted = taken.toSorted((one, other) => one - other);
  return {
    median: Math.round(sorted[Math.floor(sorted.length / 2)] ?? Number.NaN),
    longest: Math.round(sorted.at(-1) ?? Number.NaN),
    long: sorted.filter((one) => one > longTask).length,
  };
}

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import type { Dashboard } from '../../webhook/report/dashboard/data.ts';
import { dashboardOfNodes } from '../support/dashboard-cluster.ts';
import { openDashboard, startBrowser } from './browser.ts';

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser?.close());

const five = dashboardOfNodes(5);
const textOf = (page: Page, selector: string): Promise<string> => page.locator(selector).innerText();

for (const [count, colorScheme] of [
  [3, 'light'],
  [60, 'light'],
  [500, 'dark'],
  [1000, 'light'],
] as const)
  test(`the picture of ${count} nodes: worst first, no horizontal scrolling, a reason on hover and by keyboard`, async (t) => {
    const dashboard = dashboardOfNodes(count);
    const { page, complaints } = await openDashboard(t, browser, dashboard, { colorScheme });
    assert.equal(await page.locator('#text').textContent(), dashboard.text);
    if (process.env.UPDATE_SCREENSHOTS && count === 500)
      await page.screenshot({
        path: fileURLToPath(new URL('../../docs/images/dashboard-500.png', import.meta.url)),
      });
    const size = await page.locator('#bands').getAttribute('data-size');
    assert.equal(size, count === 3 ? 'named' : count === 60 ? 'small' : 'group');
    const bands = await page.locator('.band').count();
    const cells = page.locator('#bands .cell');
    assert.equal(bands, 3);
    if (count <= 200) assert.equal(await cells.count(), bands * count);
    else assert.ok((await cells.count()) < 60);
    assert.equal(await cells.first().getAttribute('data-tone'), 'bad');
    assert.match(await textOf(page, '#detail'), /broken: DaemonSet net\/linkerd: its pod is not Ready/);
    for (const width of [500, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
    }
    // Tab stops once in each network, and arrow keys move within it
    await page.keyboard.press('Tab');
    const focused = (): Promise<string> => page.locator(':focus').getAttribute('aria-label').then(String);
    const first = await focused();
    await page.keyboard.press('ArrowRight');
    assert.notEqual(await focused(), first);
    assert.equal(await textOf(page, '#detail'), await focused());
    assert.ok((await focused()).includes('· linkerd ·'));
    await page.keyboard.press('Tab');
    assert.ok(!(await focused()).includes('· linkerd ·'));
    const last = cells.last();
    await last.hover();
    assert.equal(await textOf(page, '#detail'), await last.locator('input').getAttribute('aria-label'));
    assert.deepEqual(complaints, []);
  });

test('a change in the cluster shows without a reload, and the picture keeps its focus', async (t) => {
  const { page, set } = await openDashboard(t, browser, five);
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowRight');
  const label = await page.locator(':focus').getAttribute('aria-label');
  set({ ...five, result: 'passed', headline: 'All checks passed.', text: 'as of now' });
  await page.locator('#result[data-result=passed]').waitFor();
  assert.equal(await page.locator(':focus').getAttribute('aria-label'), label);
  assert.deepEqual(
    [await textOf(page, '#result'), await textOf(page, '#text')],
    ['All checks passed.', 'as of now'],
  );
});

test('a ready network that no pod has proved is not green', async (t) => {
  const { grid, ...rest } = five;
  const bands = grid.bands.map(({ network, cells }) => ({
    network,
    cells: cells.map((cell) => ({ ...cell, state: 'ready', isUnsure: true })),
  }));
  const { page } = await openDashboard(t, browser, { ...rest, grid: { ...grid, bands } });
  assert.equal(await page.locator('#bands [data-tone=none]').count(), 15);
});

test('every control has a name, and every section a heading', async (t) => {
  const { page } = await openDashboard(t, browser, five);
  const nameless = await page.evaluate(() =>
    [...document.querySelectorAll('button, select, input, section')].flatMap((element) => {
      const label = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : '';
      const by = document.getElementById(element.getAttribute('aria-labelledby') ?? '')?.textContent;
      return by || label ? [] : [element.outerHTML.slice(0, 80)];
    }),
  );
  assert.deepEqual(nameless, []);
});

test('an unreachable server, old data and a wrong token are shown, and the last data stays', async (t) => {
  const { page, set, stop } = await openDashboard(t, browser, five);
  set({ ...five, stale: 'cannot list nodes' });
  await page.locator('#trouble:text("The data may be old: cannot list nodes")').waitFor();
  await stop();
  await page.locator('#trouble:text("does not answer")').waitFor();
  assert.equal(await textOf(page, '#result'), five.headline);
  const other = await openDashboard(t, browser, five, { token: 'wrong' });
  await other.page.locator('#trouble:text("The token of this page")').waitFor();
  assert.equal(await textOf(other.page, '#text'), '');
});

const attack =
  '"><img src=x onerror=alert(1)><script>alert(2)</script>\'; </script>{{1}} javascript:alert(3)';

/** The dashboard with every text from the cluster replaced by the attack. */
function hostile(): Dashboard {
  const kept = new Set(['time', 'result']);
  const spoilt = (value: unknown, key = ''): unknown => {
    if (kept.has(key)) return value;
    if (typeof value === 'string') return value === '' ? '' : attack;
    if (Array.isArray(value)) return value.map((one) => spoilt(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, spoilt(one, name)]));
  };
  return spoilt(five) as Dashboard;
}

test('names, reasons and labels that are markup stay text', async (t) => {
  const { page, complaints } = await openDashboard(t, browser, hostile());
  const shown = await page.locator('body').innerText();
  assert.ok(shown.split('<img src=x onerror=alert(1)>').length > 5);
  assert.equal(await page.locator('img, a').count(), 0);
  assert.deepEqual(complaints, []);
});

test('the security policy of the page refuses an injected script', async (t) => {
  const { page } = await openDashboard(t, browser, five);
  const outcome = await page.evaluate(() => {
    const script = document.createElement('script');
    try {
      script.textContent = 'window.ran = true';
      document.body.append(script);
    } catch {
      // the page's policy for Trusted Types refuses the text before it can run
    }
    return 'ran' in window;
  });
  assert.equal(outcome, false);
});

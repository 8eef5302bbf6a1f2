import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import type { Dashboard } from '../../webhook/report/dashboard/data.ts';
import { clusterFacts, dashboardFrom, nodeName, rowsOf } from '../support/dashboard-cluster.ts';
import { drawn, openDashboard, startBrowser } from './browser.ts';

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser?.close());

const five = dashboardFrom(clusterFacts(5));
const textOf = (page: Page, selector: string): Promise<string> => page.locator(selector).innerText();
const countOf = (page: Page, table: string): Promise<string> => textOf(page, `#${table} .count`);

for (const [count, scheme] of [
  [5, 'light'],
  [500, 'dark'],
  [5000, 'light'],
] as const)
  test(`${count} nodes: counts are right, the worst come first, and a bounded number of rows is drawn`, async (t) => {
    const dashboard = dashboardFrom(clusterFacts(count));
    const { page, complaints, elsewhere } = await openDashboard(t, browser, dashboard, { scheme });
    await drawn(page);
    const nodes = rowsOf(dashboard, 'nodes');
    assert.equal(await countOf(page, 'nodes'), String(nodes));
    assert.equal(await page.locator('#nodes tbody tr').count(), Math.min(200, nodes));
    assert.match(await textOf(page, '#nodes tbody tr >> nth=0'), /\bbroken\b.*its pod is not Ready/);
    assert.match(await textOf(page, '#heldPods'), /payments\/orders-\d+[\s\S]*ip-10-20-/);
    assert.match(await textOf(page, '#failedPods'), /not-redirected[\s\S]*deleted to be recreated/);
    assert.match(await textOf(page, '#duplicateAddresses'), /10\.44\.0\.17[\s\S]*shop\/cache-0/);
    assert.match(await textOf(page, '#faults'), /1 of 2 replicas are ready[\s\S]*CNI_GATE_DEPLOYMENT/);
    assert.match(await textOf(page, '#installation'), /deployment\s+failed/);
    assert.match(await textOf(page, '#features'), /prove\s+enforce\s+yes/);
    if (process.env.UPDATE_SCREENSHOTS && count === 500)
      await page.screenshot({
        path: fileURLToPath(new URL('../../docs/images/dashboard-500.png', import.meta.url)),
      });
    assert.deepEqual([complaints, elsewhere], [[], []]);
  });

test('the filter leaves the rows with all of its words, in every table, also rows that are not drawn', async (t) => {
  const dashboard = dashboardFrom(clusterFacts(500));
  const { page } = await openDashboard(t, browser, dashboard);
  await drawn(page);
  await page.fill('#filter', nodeName(499));
  const [networks, nodes] = [rowsOf(dashboard, 'daemonSets'), rowsOf(dashboard, 'nodes')];
  assert.equal(await countOf(page, 'nodes'), `${networks} of ${nodes}`);
  await page.fill('#filter', `${nodeName(499)} Net/LINKERD`);
  assert.equal(await countOf(page, 'nodes'), `1 of ${nodes}`);
  await page.fill('#filter', 'orders-1');
  assert.match(await countOf(page, 'heldPods'), /^1 of \d$/);
});

test('500 pixels wide, every reason can be read without scrolling aside, and rows stay short', async (t) => {
  const { page } = await openDashboard(t, browser, dashboardFrom(clusterFacts(500)));
  await page.setViewportSize({ width: 500, height: 1200 });
  await drawn(page);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 500);
  const { height, right, labels } = await page.evaluate(() => {
    const boxes = (selector: string) =>
      [...document.querySelectorAll(selector)].map((element) => element.getBoundingClientRect());
    return {
      height: Math.max(...boxes('tbody tr').map((box) => box.height)),
      right: Math.max(...boxes('td.text').map((box) => box.right)),
      labels: [...document.querySelectorAll('#nodes tbody tr:first-child td')].map(
        (cell) => getComputedStyle(cell, '::before').content,
      ),
    };
  });
  assert.ok(right <= 500, `a reason ends at ${right}`);
  assert.ok(height <= 200, `a row is ${height} pixels tall`);
  assert.deepEqual(labels, ['"node: "', '"daemonset: "', '"state: "', '"age: "', '"pod: "', '"why: "']);
});

for (const count of [3, 60, 1000])
  test(`the picture of ${count} nodes: worst first, no scrolling aside, a reason on hover and by keyboard`, async (t) => {
    const dashboard = dashboardFrom(clusterFacts(count));
    const { page, complaints } = await openDashboard(t, browser, dashboard);
    await drawn(page);
    const size = await page.locator('#bands').getAttribute('data-size');
    assert.equal(size, count === 3 ? 'named' : count === 60 ? 'small' : 'group');
    const bands = await page.locator('#bands [role=row]').count();
    const cells = page.locator('#bands [role=gridcell]');
    assert.equal(bands, 3);
    if (count <= 200) assert.equal(await cells.count(), bands * count);
    else assert.ok((await cells.count()) < 60);
    assert.equal(await cells.first().getAttribute('data-tone'), 'bad');
    assert.match(await textOf(page, '#detail'), /broken: its pod is not Ready/);
    for (const width of [500, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
    }
    // one stop of Tab for the whole picture, and arrow keys within it
    assert.equal(await page.locator('#bands [tabindex="0"]').count(), 1);
    await page.keyboard.press('Tab');
    const focused = (): Promise<string> => page.locator(':focus').getAttribute('aria-label').then(String);
    const first = await focused();
    await page.keyboard.press('ArrowRight');
    assert.notEqual(await focused(), first);
    assert.equal(await textOf(page, '#detail'), await focused());
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowDown');
    assert.ok(!(await focused()).includes('net/linkerd'));
    const last = cells.last();
    await last.hover();
    assert.equal(await textOf(page, '#detail'), await last.getAttribute('aria-label'));
    const reasons = await textOf(page, '#reasons');
    assert.match(reasons, /net\/linkerd\s+broken\s+its pod is not Ready: install-cni \(CrashLoopBackOff\)/);
    assert.deepEqual(complaints, []);
  });

test('a redrawn picture keeps its focus, and the filter makes other cells faint', async (t) => {
  const { page, set } = await openDashboard(t, browser, five);
  await drawn(page);
  await page.keyboard.press('Tab');
  await page.keyboard.press('End');
  const label = await page.locator(':focus').getAttribute('aria-label');
  set({ ...five, headline: 'redrawn' });
  await page.locator('#result:text("redrawn")').waitFor();
  assert.equal(await page.locator(':focus').getAttribute('aria-label'), label);
  await page.fill('#filter', nodeName(0));
  assert.equal(await page.locator('#bands .cell:not(.faint)').count(), rowsOf(five, 'daemonSets'));
});

test('every control has a name, and every section a heading', async (t) => {
  const { page } = await openDashboard(t, browser, five);
  await drawn(page);
  const nameless = await page.evaluate(() =>
    [...document.querySelectorAll('button, select, input, section')].flatMap((element) => {
      const label = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : '';
      const by = document.getElementById(element.getAttribute('aria-labelledby') ?? '')?.textContent;
      return by || label ? [] : [element.outerHTML.slice(0, 80)];
    }),
  );
  assert.deepEqual(nameless, []);
});

test('a change in the cluster shows without a reload, and the filter stays', async (t) => {
  const { page, set } = await openDashboard(t, browser, five);
  await drawn(page);
  await page.fill('#filter', nodeName(0));
  const shown = await countOf(page, 'nodes');
  const tables = five.tables.filter(({ id }) => id !== 'faults');
  set({ ...five, result: 'well', headline: 'All is well.', tables });
  await page.locator('#result[data-result=well]').waitFor();
  assert.equal(await textOf(page, '#result'), 'All is well.');
  assert.equal(await page.locator('#faults').count(), 0);
  assert.deepEqual([await page.inputValue('#filter'), await countOf(page, 'nodes')], [nodeName(0), shown]);
});

test('a server that is gone, old data and a wrong token are shown, and what was known stays', async (t) => {
  const { page, set, stop } = await openDashboard(t, browser, five);
  await drawn(page);
  set({ ...five, stale: 'cannot list nodes' });
  await page.locator('#trouble:text("The data may be old: cannot list nodes")').waitFor();
  await stop();
  await page.locator('#trouble:text("does not answer")').waitFor();
  assert.equal(await countOf(page, 'nodes'), String(rowsOf(five, 'nodes')));
  const other = await openDashboard(t, browser, five, { token: 'wrong' });
  await other.page.locator('#trouble:text("The token of this page")').waitFor();
  assert.equal(await other.page.locator('tbody tr').count(), 0);
});

const attack =
  '"><img src=x onerror=alert(1)><script>alert(2)</script>\'; </script>{{1}} javascript:alert(3)';

/** The dashboard with the attack as every text of the cluster. */
function hostile(): Dashboard {
  const kept = new Set(['time', 'result', 'id']);
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
  const { page, complaints, elsewhere } = await openDashboard(t, browser, hostile());
  await drawn(page);
  const shown = await page.locator('body').innerText();
  assert.ok(shown.split('<img src=x onerror=alert(1)>').length > 20);
  assert.equal(await page.locator('img, a').count(), 0);
  assert.deepEqual([complaints, elsewhere], [[], []]);
});

test('the policy of the page refuses a script that is put into it', async (t) => {
  const { page } = await openDashboard(t, browser, five);
  await drawn(page);
  const outcome = await page.evaluate(() => {
    const script = document.createElement('script');
    try {
      script.textContent = 'window.ran = true';
      document.body.append(script);
    } catch {
      // trusted types refuse it before
    }
    return 'ran' in window;
  });
  assert.equal(outcome, false);
});

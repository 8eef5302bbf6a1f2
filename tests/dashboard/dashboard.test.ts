import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import type { Dashboard } from '../../webhook/dashboard/model.ts';
import { readPage } from '../../webhook/dashboard/page-files.ts';
import { staticPage } from '../../webhook/dashboard/static-page.ts';
import { clusterFacts, dashboardFrom, nodeName } from '../support/dashboard-cluster.ts';
import { drawn, newPage, openDashboard, startBrowser } from './browser.ts';
import { firstRender, scrollFrames, searches, told, updates } from './measure.ts';

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser?.close());

const five = dashboardFrom(clusterFacts(5));
const textOf = (page: Page, selector: string): Promise<string> => page.locator(selector).innerText();

for (const [count, scheme] of [
  [5, 'light'],
  [500, 'dark'],
  [5000, 'light'],
] as const)
  test(`${count} nodes: counts, groups and the first rows are right, and only rows in view exist`, async (t) => {
    const dashboard = dashboardFrom(clusterFacts(count));
    const { page, complaints, elsewhere } = await openDashboard(t, browser, dashboard, { scheme });
    await drawn(page);
    assert.equal(await textOf(page, '#nodes-count'), count.toLocaleString('en'));
    const troubled = await page.locator('#tiles [data-key=nodes] .tile-count').innerText();
    const chips = await page.locator('.chip:not([data-state=ready]) b').allInnerTexts();
    const sum = chips.reduce((total, text) => total + Number(text.replaceAll(',', '')), 0);
    assert.equal(Number(troubled.replaceAll(',', '')), sum);
    const sizes = await page.locator('.groups tbody td.number').allInnerTexts();
    assert.equal(
      sizes.reduce((total, text) => total + Number(text.replaceAll(',', '')), 0),
      count,
    );
    assert.match(await textOf(page, '.matrix-body .matrix-row >> nth=0'), /broken/);
    assert.ok((await page.locator('.matrix-body .matrix-row').count()) < 60);
    assert.equal(await page.locator('.matrix').getAttribute('aria-rowcount'), String(count + 1));
    assert.match(await textOf(page, '#heldPods'), /payments\/orders-\d+[\s\S]*→ ip-10-20-/);
    assert.match(await textOf(page, '#failedPods'), /not-redirected[\s\S]*deleted to be recreated/);
    assert.match(await textOf(page, '#duplicateAddresses'), /10\.44\.0\.17[\s\S]*shop\/cache-0/);
    assert.match(await textOf(page, '#faults'), /1 of 2 replicas are ready[\s\S]*CNI_GATE_DEPLOYMENT/);
    assert.match(await textOf(page, '#proofs'), /passed/);
    if (process.env.UPDATE_SCREENSHOTS) {
      const path = fileURLToPath(new URL(`../../docs/images/dashboard-${count}.png`, import.meta.url));
      // otherwise the rows below the last scroll position may still be drawn
      await page.waitForFunction(() => document.querySelector('[data-row="0"]') !== null);
      await page.screenshot({ path });
    }
    assert.deepEqual([complaints, elsewhere], [[], []]);
  });

/** Issue 15 wants 5,000 nodes drawn within this time; a machine that is busy with other tests may take some times longer. */
const wanted = 2000;

test('5,000 nodes are drawn soon; the run prints how long scrolling, searching and updates take', async (t) => {
  const dashboard = dashboardFrom(clusterFacts(5000));
  const { page, set } = await openDashboard(t, browser, dashboard);
  await drawn(page);
  const first = Math.round(await firstRender(page));
  t.diagnostic(`from the navigation to the layout: ${first} ms; wanted are ${wanted} ms`);
  t.diagnostic(`frames, scrolling by a row: ${told(await scrollFrames(page, 30))}`);
  t.diagnostic(`frames, scrolling by 2,000 pixels: ${told(await scrollFrames(page, 2000))}`);
  const texts = ['i', 'ip', 'ip-1', 'ip-10-2', 'gpu', 'nothing', ''];
  t.diagnostic(`a key in the search: ${told(await searches(page, texts))}`);
  t.diagnostic(`an update: ${told(await updates(page, dashboard, set))}`);
  assert.ok(first < 10 * wanted, `${first} ms`);
});

test('search, states, network and groups narrow the nodes', async (t) => {
  const { page } = await openDashboard(t, browser, dashboardFrom(clusterFacts(500)));
  await drawn(page);
  await page.fill('#search', nodeName(42));
  assert.equal(await textOf(page, '#nodes-count'), '1 of 500');
  assert.match(await textOf(page, '.matrix-body'), new RegExp(nodeName(42)));
  await page.fill('#search', '');
  await page.click('.chip[data-state=starting]');
  assert.equal(await textOf(page, '#nodes-count'), '6 of 500');
  assert.equal(await page.locator('.chip[data-state=starting]').getAttribute('aria-pressed'), 'true');
  await page.selectOption('#network', { label: 'net/linkerd' });
  assert.equal(await textOf(page, '#nodes-count'), '0 of 500');
  assert.match(await textOf(page, '.matrix-body'), /No node matches/);
  await page.click('.chip[data-state=starting]');
  await page.selectOption('#grouping', 'group');
  await page.click('.group-name:text-is("gpu")');
  assert.equal(await textOf(page, '#nodes-count'), '100 of 500');
});

test('nodes and pods come worst first and longest first, each node with its reason in its row', async (t) => {
  const dashboard = dashboardFrom(clusterFacts(500));
  const { page } = await openDashboard(t, browser, dashboard);
  await drawn(page);
  const rows = await page
    .locator('.matrix-body .matrix-row')
    .evaluateAll((all) => all.map((row) => row.querySelector('[data-column="1"]')?.textContent ?? ''));
  const troubled = rows.filter((text) => text !== '');
  const states = troubled.map((text) => text.replace(/^\S+ (\w+).*$/, '$1'));
  assert.deepEqual(states, ['broken', 'absent', ...Array<string>(6).fill('starting')]);
  assert.match(troubled[0] ?? '', / broken 13 d: its pod is not Ready: /);
  const seconds = troubled.map((text) => Number(/ starting (\d+) s: /.exec(text)?.[1])).slice(2);
  assert.deepEqual(
    seconds,
    seconds.toSorted((one, other) => other - one),
  );
  for (const { rows: pods } of [dashboard.heldPods, dashboard.failedPods, dashboard.waitingPods]) {
    const times = pods.map(({ since }) => since ?? '~');
    assert.deepEqual(times, times.toSorted());
  }
});

test('1,200 pixels wide, the tools over the nodes are one line', async (t) => {
  const { page } = await openDashboard(t, browser, dashboardFrom(clusterFacts(500)));
  await page.setViewportSize({ width: 1200, height: 1000 });
  await drawn(page);
  const tops = await page
    .locator('.tools > label')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
  assert.deepEqual([tops.length, new Set(tops).size], [4, 1]);
});

test('500 pixels wide, the header names the cluster, titles are one line, lists are not cut off, and a reason is in view', async (t) => {
  const { page } = await openDashboard(t, browser, dashboardFrom(clusterFacts(500)));
  await page.setViewportSize({ width: 500, height: 1200 });
  await drawn(page);
  const titles = await page.locator('h1, h2').evaluateAll((all) =>
    all.map((title) => {
      const range = document.createRange();
      range.selectNodeContents(title);
      return [title.textContent, new Set(Array.from(range.getClientRects(), ({ top }) => top)).size];
    }),
  );
  assert.ok(titles.length > 8);
  assert.deepEqual(
    titles.filter(([, lines]) => lines !== 1),
    [],
  );
  const cluster = await page.locator('#cluster').boundingBox();
  assert.ok(cluster !== null && cluster.width > 300, JSON.stringify(cluster));
  const cut = await page
    .locator('#lists .scroll')
    .evaluateAll((all) => all.map((one) => one.scrollWidth - one.clientWidth));
  assert.deepEqual(new Set(cut), new Set([0]));
  const sent = await page.locator('#heldPods [data-head="sent to"] > *').first().boundingBox();
  assert.ok(sent !== null && sent.width > 100, JSON.stringify(sent));
  const box = await page.locator('.matrix-row:first-child .reason-cell').boundingBox();
  assert.ok(box !== null && box.x < 300, JSON.stringify(box));
});

test('the keyboard reaches a node at the end, opens it, and comes back', async (t) => {
  const { page } = await openDashboard(t, browser, dashboardFrom(clusterFacts(500)));
  await drawn(page);
  await page.selectOption('#order', 'name');
  await page.focus('.matrix');
  await page.keyboard.press('Control+End');
  const active = await page.locator('.matrix').getAttribute('aria-activedescendant');
  assert.equal(active, 'cell-499-6');
  assert.ok(await page.locator(`#${active}`).isVisible());
  await page.keyboard.press('Enter');
  const dialog = page.locator('#details');
  assert.match(await dialog.innerText(), new RegExp(nodeName(499)));
  await page.keyboard.press('Escape');
  assert.equal(await dialog.isVisible(), false);
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('role')), 'grid');
});

test('every control has a name, and every section a heading', async (t) => {
  const { page } = await openDashboard(t, browser, five);
  await drawn(page);
  const nameless = await page.evaluate(() =>
    [...document.querySelectorAll('button, select, input, [role=grid], section')].flatMap((element) => {
      const labels =
        element instanceof HTMLInputElement || element instanceof HTMLSelectElement ? element.labels : null;
      const by = document.getElementById(element.getAttribute('aria-labelledby') ?? '')?.textContent;
      const own = element.matches('button') ? element.textContent : '';
      const name = element.getAttribute('aria-label') || by || labels?.[0]?.textContent || own;
      return name || element.id === 'nothing' || element.classList.contains('detail')
        ? []
        : [element.outerHTML.slice(0, 80)];
    }),
  );
  assert.deepEqual(nameless, []);
});

test('a change in the cluster shows without a reload, and the choice of the reader stays', async (t) => {
  const { page, set } = await openDashboard(t, browser, five);
  await drawn(page);
  await page.fill('#search', nodeName(0));
  set({ ...five, verdict: 'well', headline: 'All is well.', faults: [] });
  await page.locator('#verdict[data-verdict=well]').waitFor();
  assert.equal(await textOf(page, '#verdict'), 'All is well.');
  assert.equal(await page.locator('#faults').isVisible(), false);
  assert.equal(await page.inputValue('#search'), nodeName(0));
  assert.equal(await textOf(page, '#nodes-count'), '1 of 5');
});

test('a server that is gone, old data and a wrong token are told, and what was known stays', async (t) => {
  const { page, set, stop } = await openDashboard(t, browser, five);
  await drawn(page);
  set({ ...five, stale: 'cannot list nodes' });
  await page.locator('#trouble:text("The data may be old: cannot list nodes")').waitFor();
  await stop();
  await page.locator('#trouble:text("does not answer")').waitFor();
  assert.equal(await textOf(page, '#nodes-count'), '5');
  const other = await openDashboard(t, browser, five, { token: 'wrong' });
  await other.page.locator('#trouble:text("The token of this page")').waitFor();
  assert.equal(await other.page.locator('.matrix-body .matrix-row').count(), 0);
});

test('after scrolling and updates, each row shows its node', async (t) => {
  const dashboard = dashboardFrom(clusterFacts(500));
  const { page, set } = await openDashboard(t, browser, dashboard);
  await drawn(page);
  await page.selectOption('#order', 'name');
  const rows = (): Promise<string[][]> =>
    page
      .locator('.matrix-body .matrix-row')
      .evaluateAll((all) =>
        all.map((row) => [row.getAttribute('data-row') ?? '', row.firstElementChild?.textContent ?? '']),
      );
  const scrollTo = async (row: number): Promise<string[][]> => {
    await page.locator('.matrix').evaluate((grid, top) => {
      grid.scrollTop = top;
    }, row * 30);
    await page.locator(`.matrix-row[data-row="${row}"]`).waitFor();
    return rows();
  };
  const names = dashboard.nodes.map(({ name }) => name);
  const ordered = names.toSorted(new Intl.Collator('en', { numeric: true }).compare);
  for (const row of [3, 20, 400, 10]) {
    const shown = await scrollTo(row);
    assert.deepEqual(
      shown,
      shown.map(([index]) => [index, ordered[Number(index)]]),
    );
    const indexes = shown.map(([index]) => Number(index));
    assert.deepEqual(
      indexes,
      indexes.toSorted((one, other) => one - other),
    );
  }
  const [gone, ...rest] = dashboard.nodes.toSorted(
    (one, other) => ordered.indexOf(one.name) - ordered.indexOf(other.name),
  );
  set({ ...dashboard, nodes: rest, headline: 'One less' });
  await page.locator('#verdict:has-text("One less")').waitFor();
  const shown = await rows();
  assert.deepEqual(
    shown,
    shown.map(([index]) => [index, ordered.filter((name) => name !== gone?.name)[Number(index)]]),
  );
});

test('the theme is that of the system until the reader chooses one', async (t) => {
  const { page } = await openDashboard(t, browser, five, { scheme: 'dark' });
  await drawn(page);
  const background = (): Promise<string> =>
    page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background();
  await page.click('#theme');
  assert.equal(await textOf(page, '#theme'), 'Theme: light');
  assert.notEqual(await background(), dark);
  await page.reload();
  await drawn(page);
  assert.equal(await textOf(page, '#theme'), 'Theme: light');
});

const attack =
  '"><img src=x onerror=alert(1)><script>alert(2)</script>\'; </script>{{1}} javascript:alert(3)';

/** The dashboard with the attack as every text of the cluster. */
function hostile(): Dashboard {
  const kept = new Set([
    'time',
    'state',
    'verdict',
    'verb',
    'mode',
    'part',
    'reason',
    'since',
    'seen',
    'provedAt',
    'states',
    'code',
  ]);
  const spoilt = (value: unknown, key = ''): unknown => {
    if (kept.has(key)) return value;
    if (typeof value === 'string') return value === '' ? '' : attack;
    if (Array.isArray(value)) return value.map((one) => spoilt(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, spoilt(one, name)]));
  };
  return spoilt(five) as Dashboard;
}

for (const form of ['served', 'as a file'] as const)
  test(`names, reasons and labels that are markup stay text, ${form}`, async (t) => {
    const dashboard = hostile();
    const { page, complaints, elsewhere } =
      form === 'served' ? await openDashboard(t, browser, dashboard) : await openFile(t, dashboard);
    await drawn(page);
    await page.locator('.matrix-body [data-column]').first().click();
    await page.locator('#details h2').waitFor();
    const shown = await page.locator('body').innerText();
    assert.ok(shown.split('<img src=x onerror=alert(1)>').length > 20);
    assert.equal(await page.locator('img').count(), 0);
    const links = await page
      .locator('a[href]')
      .evaluateAll((all) => all.map((one) => one.getAttribute('href')));
    assert.deepEqual(links, ['#nodes']);
    assert.deepEqual([complaints, elsewhere], [[], []]);
  });

async function openFile(t: Parameters<typeof newPage>[0], dashboard: Dashboard): ReturnType<typeof newPage> {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'dashboard.html');
  writeFileSync(file, staticPage(readPage(), dashboard));
  const opened = await newPage(t, browser);
  await opened.page.goto(pathToFileURL(file).href);
  return opened;
}

test('the file works without a server, and says of when it is', async (t) => {
  const { page, complaints, elsewhere } = await openFile(t, five);
  await drawn(page);
  assert.equal(await textOf(page, '#nodes-count'), '5');
  assert.match(await textOf(page, '#freshness'), /^as of 21 Nov 2026, 12:00:00$/);
  assert.deepEqual([complaints, elsewhere], [[], []]);
});

test('the file opened a day later shows the ages of its time', async (t) => {
  const { page } = await openFile(t, five);
  const ages = async (): Promise<string[]> => {
    await drawn(page);
    return page.locator('.age, .since').allInnerTexts();
  };
  const before = await ages();
  assert.ok(before.length > 5);
  await page.addInitScript('const clock = Date.now; Date.now = () => clock() + 86_400_000');
  await page.reload();
  assert.deepEqual(await ages(), before);
});

test('the policy of the page refuses a script that somebody gets into it', async (t) => {
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

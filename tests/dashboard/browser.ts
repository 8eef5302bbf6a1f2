import { existsSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { Dashboard } from '../../webhook/report/dashboard/data.ts';
import { dashboardServer } from '../../webhook/report/dashboard/server.ts';

const program = '/usr/bin/chromium';

/** After this many milliseconds, the browser counts as failed, not just as slow. */
const pageTimeout = 90_000;

/** Starts Debian's Chromium without a window. @throws Error if it is not installed, because no test is skipped */
export async function startBrowser(): Promise<Browser> {
  if (!existsSync(program))
    throw new Error(`NOT RUN: there is no ${program}. To get it: tests/dashboard/install.sh`);
  // Chromium's own sandbox does not work in a container or as root; the tests open only local pages
  return chromium.launch({ executablePath: program, args: ['--no-sandbox'], timeout: pageTimeout });
}

/** A page that is open in the browser. */
export interface Opened {
  page: Page;
  /** Errors, refused scripts, dialogs, and requests to other machines. */
  complaints: string[];
  /** Replaces the dashboard that the server sends. */
  set: (dashboard: Dashboard) => void;
  /** Ends the server. */
  stop: () => Promise<void>;
}

/** Serves a dashboard, opens it in the browser, and waits until the page shows the data or an error. */
export async function openDashboard(
  t: TestContext,
  browser: Browser,
  dashboard: Dashboard,
  { colorScheme = 'light' as 'light' | 'dark', token = 'right' } = {},
): Promise<Opened> {
  let sent = dashboard;
  const app = dashboardServer('right', () => sent);
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const stop = async (): Promise<void> => void (await app.close());
  t.after(stop);
  const viewport = { width: 1440, height: 1180 };
  const page = await browser.newPage({ viewport, colorScheme, reducedMotion: 'reduce', locale: 'en' });
  t.after(() => page.close());
  page.setDefaultTimeout(pageTimeout);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => complaints.push(`a dialog: ${dialog.message()}`));
  page.on('console', (message) => {
    // the browser also reports each 401, and an unreachable server, as an error
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text()))
      complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`)) complaints.push(`a request to ${request.url()}`);
  });
  await page.goto(`${url}/#token=${token}`);
  await page.locator('#bands .cell, #trouble:not([hidden])').first().waitFor();
  const set = (next: Dashboard): void => {
    sent = next;
  };
  return { page, complaints, set, stop };
}

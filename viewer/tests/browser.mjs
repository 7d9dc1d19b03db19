// Headless Chromium with pages of the built viewer.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { page as embed } from './scenes.mjs';

const here = dirname(fileURLToPath(import.meta.url));
export const out = join(here, 'out');
export const built = process.env.LIEDYN_VIEWER ?? join(here, '..', 'dist', 'viewer.html');
export const template = () => readFileSync(built, 'utf8');

export function launch() {
  const executablePath = process.env.LIEDYN_CHROMIUM ?? '/usr/bin/chromium';
  if (!existsSync(executablePath)) throw new Error(`${executablePath} is missing: install the package chromium, or set LIEDYN_CHROMIUM`);
  return chromium.launch({
    executablePath,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}

// A page with scenes inside, opened from disk. `errors` collects what the console reports.
export async function open(browser, name, scenes, { query = '?play=0', ...options } = {}) {
  mkdirSync(out, { recursive: true });
  const file = join(out, `${name}.html`);
  writeFileSync(file, embed(template(), ...scenes));
  return openUrl(browser, pathToFileURL(file).href + query, options);
}

export async function openUrl(browser, url, { width = 900, height = 520, dark = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light' });
  context.setDefaultTimeout(120000); // software rendering on a busy machine is slow
  const tab = await context.newPage();
  const errors = [];
  tab.on('console', (message) => {
    if (message.type() === 'error' || (message.type() === 'warning' && !/GPU stall|swiftshader|GL Driver/i.test(message.text()))) errors.push(message.text());
  });
  tab.on('pageerror', (error) => errors.push(String(error)));
  await tab.goto(url);
  await tab.evaluate(() => (window.liedyn ?? window.liedynStudy).ready);
  return { tab, errors, close: () => context.close() };
}

export const seek = (tab, time) => tab.evaluate((t) => {
  const { app } = window.liedyn;
  app.timeline.pause();
  app.timeline.seek(t);
}, time);
export const vertices = (tab, name) => tab.evaluate((n) => window.liedyn.vertices(n), name);

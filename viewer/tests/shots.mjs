// Pictures of the test scenes, to look at: node tests/shots.mjs [NAME...]
import { launch, open, out, seek } from './browser.mjs';
import * as scenes from './scenes.mjs';

const wanted = process.argv.slice(2);
const browser = await launch();
const shot = async (name, list, options, act) => {
  if (wanted.length > 0 && !wanted.includes(name)) return;
  const started = Date.now();
  const { tab, errors, close } = await open(browser, name, list, { width: 1280, height: 760, query: '?play=0&quality=high', ...options });
  await act?.(tab);
  await tab.waitForTimeout(300);
  await tab.screenshot({ path: `${out}/${name}.png`, timeout: 120000 });
  console.log(name, Date.now() - started, 'ms', errors.join('\n'));
  await close();
};
await shot('top', [scenes.top().json], {}, async (tab) => {
  await tab.evaluate(() => { const { app } = window.liedyn; app.toggleTrail(0); app.toggleArrows(); app.openTab('plots'); });
  await seek(tab, 2.1);
});
await shot('top_dark', [scenes.top().json], { dark: true }, async (tab) => {
  await tab.evaluate(() => { const { app } = window.liedyn; app.toggleTrail(0); app.selectByName('top'); });
  await seek(tab, 1.1);
});
await shot('chain', [scenes.chain().json], {}, (tab) => seek(tab, 0.5));
await shot('beams', [scenes.beams().json], {}, (tab) => seek(tab, 1.0));
await shot('plate', [scenes.plate().json], { dark: true }, async (tab) => {
  await tab.evaluate(() => window.liedyn.app.setColoring('stress'));
  await seek(tab, 1.0);
});
await shot('modes', [scenes.modes().json], {}, async (tab) => {
  await tab.click('[data-mode="1"]');
  await seek(tab, 0);
});
await shot('compare', [scenes.top().json, scenes.top({ precession: 2, phase: -0.15, tilt: 0.55, title: 'coarse steps' }).json], {}, (tab) => seek(tab, 1.5));
await shot('gallery', [scenes.gallery().json], {}, (tab) => seek(tab, 0));
await shot('phone', [scenes.top().json], { width: 390, height: 800 }, (tab) => seek(tab, 1));
await shot('corrupt', ['{"format": "liedyn scene 1", '], {});
await browser.close();

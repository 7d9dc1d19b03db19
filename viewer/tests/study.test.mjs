// The page of a study in headless Chromium: data in closed form, ranges, and a case in 3D.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { deflateSync } from 'node:zlib';
import { built, launch, openUrl, out, template } from './browser.mjs';
import * as scenes from './scenes.mjs';

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

const pack = (values, type) => {
  const array = type === 'u32' ? Uint32Array.from(values) : Float64Array.from(values);
  return { type, shape: [values.length], data: deflateSync(Buffer.from(array.buffer)).toString('base64') };
};
const range = (count) => Array.from({ length: count }, (_, i) => i);

// Case i: a = i/(n - 1), b = 1 - a, sum = a + 2 b = 2 - a; the last case failed.
function study(n, shown) {
  const a = range(n).map((i) => i / (n - 1)), failed = (values) => values.map((x, i) => (i === n - 1 ? NaN : x));
  const column = (name, kind, values, rest = {}) => ({ name, kind, unit: 'm', values: pack(values, 'f64'), ...rest });
  return {
    format: 'liedyn study 1', liedyn: '1', name: 'line <b>', description: '', sampling: 'grid', cases: n, points: n,
    variants: [{ model: 'm', formulation: 'f', integrator: 'i', command: 'liedyn run m' }],
    columns: [column('a', 'parameter', a, { paths: ['bodies.x.mass', 'p[1]'] }), column('b', 'parameter', a.map((x) => 1 - x), { paths: [] }), column('sum', 'output', failed(a.map((x) => 2 - x)))],
    status: pack(range(n).map((i) => (i === n - 1 ? 2 : 1)), 'u32'), message: pack(range(n).map((i) => (i === n - 1 ? 1 : 0)), 'u32'), messages: ['diverged at 0.1 s'], scenes: shown,
  };
}

const page = () => readFileSync(join(dirname(built), 'study.html'), 'utf8');
async function open(name, data, cases = {}, options = {}) {
  const element = (id, text) => `<script type="application/json" id="${id}">${text.replaceAll('<', '\\u003c')}</script>\n`;
  let elements = element('liedyn-study', typeof data === 'string' ? data : JSON.stringify(data));
  if (Object.keys(cases).length > 0) elements += element('liedyn-viewer', JSON.stringify(template()));
  for (const [i, scene] of Object.entries(cases)) elements += element(`liedyn-case-${i}`, JSON.stringify(scene));
  mkdirSync(out, { recursive: true });
  const file = join(out, `${name}.html`);
  writeFileSync(file, page().replace('<!--liedyn-study-->', () => elements));
  return openUrl(browser, pathToFileURL(file).href, { width: 1300, height: 860, ...options });
}
const frame = (tab) => tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

test('the page is one small file with one place for the study', () => {
  assert.ok(page().length < 120e3, `${page().length} bytes`);
  assert.equal(page().split('<!--liedyn-study-->').length, 2);
  assert.doesNotMatch(page().replace(/<script type="module">[^]*<\/script>/, ''), /src=|href="(?!data:)/);
});

test('values that differ by their last digit have an axis', { timeout: 60e3 }, async () => {
  const data = study(5, []);
  const next = 0.30000000000000004; // after 0.3
  data.columns[2].values = pack([0.3, next, 0.3, next, NaN], 'f64');
  const { tab, errors, close } = await open('study_last_digit', data);
  assert.equal(await tab.textContent('#count'), '5 cases');
  assert.deepEqual(errors, []);
  await close();
});

test('a range on an axis selects in all views; a case opens in 3D', async () => {
  const n = 401, top = scenes.top();
  const { tab, errors, close } = await open('study_line', study(n, [100]), { 100: top.json });
  assert.equal(await tab.textContent('#title'), 'line <b>');
  assert.equal(await tab.textContent('#count'), '401 cases');
  assert.equal(await tab.textContent('[data-status="failed"]'), '1 failed');

  // From the middle of the first axis to its upper end: a in [0.5, 1], 201 cases.
  const [x, low, high] = await tab.evaluate(() => {
    const { parallel } = window.liedynStudy.app, box = document.getElementById('parallel-canvas').getBoundingClientRect();
    return [box.left + parallel.x(0), box.top + parallel.low, box.top + parallel.high];
  });
  await tab.mouse.move(x, (low + high) / 2);
  await tab.mouse.down();
  await tab.mouse.move(x, high + 20);
  await tab.mouse.move(x, high - 10);
  await tab.mouse.up();
  await frame(tab);
  const selected = await tab.evaluate(() => window.liedynStudy.app.state.count);
  assert.ok(Math.abs(selected - 201) <= 2, `${selected} cases`); // a pixel is a hundredth of the axis at most
  assert.equal(await tab.textContent('#count'), `${selected} of 401 cases`);
  assert.match(await tab.textContent('#chips'), /^a /);
  // Mean of sum = 2 - a over a in [0.5, 1): 1.25.
  const mean = Number((await tab.textContent('#histogram-figures')).match(/selected ([\d.]+)/)[1]);
  assert.ok(Math.abs(mean - 1.25) < 0.01, `mean ${mean}`);

  // The table is sorted by the output, rising: the failed case has none and stands last.
  await tab.click('[data-key="sum"]');
  assert.equal(await tab.getAttribute('.table-row', 'data-case'), '399');
  await tab.focus('.scroller');
  await tab.keyboard.press('End');
  await frame(tab);
  assert.equal(await tab.textContent('#case-title'), 'Case 400');
  assert.equal(await tab.textContent('#case-message'), 'diverged at 0.1 s');
  assert.equal(await tab.textContent('#case-command'), "liedyn run m --set bodies.x.mass=1 --set 'p[1]=1' --html case_400.html");
  assert.equal(await tab.$('#case-stage'), null);

  await tab.keyboard.press('Escape');
  await tab.keyboard.press('Escape');
  await frame(tab);
  assert.equal(await tab.evaluate(() => window.liedynStudy.app.state.count), n);

  // The point of case 100 in the scatter plot.
  const [px, py] = await tab.evaluate(() => {
    const { scatter } = window.liedynStudy.app, box = document.getElementById('scatter-canvas').getBoundingClientRect();
    return [box.left + scatter.px(0.25), box.top + scatter.py(1.75)];
  });
  await tab.mouse.move(px, py);
  await frame(tab);
  assert.equal(await tab.evaluate(() => window.liedynStudy.app.state.hovered), 100);
  await tab.mouse.click(px, py);
  await tab.waitForSelector('#case-stage');
  assert.equal(await tab.textContent('#case-title'), 'Case 100');
  const inside = await (await tab.$('#case-stage')).contentFrame();
  await inside.waitForFunction(() => window.liedyn?.app.view !== undefined);
  assert.equal(await inside.textContent('#title'), top.json.title);
  await tab.click('#show-theme');
  await inside.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
  assert.deepEqual(errors, []);
  await close();
});

test('10 000 cases: a range is drawn at once; a phone has no overflow', async () => {
  const n = 10000;
  const { tab, errors, close } = await open('study_many', study(n, []), {}, { width: 390, height: 800 });
  const milliseconds = await tab.evaluate(async () => {
    const { app } = window.liedynStudy, start = performance.now();
    app.state.setRange(app.study.columns[0], [0.2, 0.4]);
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    return performance.now() - start;
  });
  assert.ok(milliseconds < 2000, `${milliseconds} ms`); // 0.1 s where nothing else runs
  assert.equal(await tab.evaluate(() => window.liedynStudy.app.state.count), 2000);
  assert.ok((await tab.evaluate(() => document.querySelectorAll('.table-row').length)) < 60);
  assert.ok(await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  assert.deepEqual(errors, []);
  await close();
});

test('damaged data gives a message', async () => {
  const cases = [
    ['{"format": ', /not valid JSON/],
    ['{"format": "liedyn study 2"}', /no study that it can read/],
    [{ ...study(5, []), cases: 6 }, /cases of the study cannot be read/],
    [{ ...study(5, []), columns: [{ name: 'a', unit: '', kind: 'output', values: { type: 'f64', shape: [5], data: 'AAAA' } }] }, /cannot be decompressed/],
    [{ ...study(5, []), scenes: [7] }, /scenes of the study cannot be read/],
    [{ ...study(5, []), columns: [] }, /columns of the study cannot be read/],
  ];
  for (const [data, message] of cases) {
    const { tab, close } = await open('study_damaged', data);
    assert.match(await tab.textContent('#message'), message);
    await close();
  }
});

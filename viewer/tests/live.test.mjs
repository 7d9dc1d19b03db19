// The page of a running simulation: the program liedyn simulates, the page in headless Chromium shows and steers it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { built, launch, openUrl, out } from './browser.mjs';

const program = process.env.LIEDYN_PROGRAM;
const skip = program ? false : 'LIEDYN_PROGRAM names no program';
let browser;
before(async () => (browser = skip ? undefined : await launch()));
const children = [];
after(async () => {
  for (const child of children) child.kill('SIGKILL');
  await browser?.close();
});

// A spatial slider-crank mechanism with a motor: with the drive d the crank tends to d / 0.01 rad/s on average.
const crank = {
  liedyn: 1,
  parameters: { speed: 6, drive: 0.06 },
  gravity: [0, 0, 0],
  bodies: {
    crank: { type: 'rigid', mass: 0.12, inertia: [1e-4, 1e-4, 1e-5], position: [0, 0.1, 0.16], velocity: [0, '-0.04*speed', 0], angular_velocity: ['speed', 0, 0] },
    rod: { type: 'rigid', mass: 0.5, inertia: [4e-4, 4e-3, 4e-3], position: [0.1, 0.05, 0.1], orientation: { cardan: ['-atan(0.5)', 'asin(sqrt(5)/3)', 0] }, velocity: ['0.02*speed', '-0.04*speed', 0], angular_velocity_inertial: ['0.32*speed', '-0.16*speed', '0.08*speed'] },
    slider: { type: 'rigid', mass: 2, inertia: [1e-4, 1e-4, 1e-4], position: [0.2, 0, 0], velocity: ['0.04*speed', 0, 0] },
  },
  joints: {
    A: { type: 'revolute', between: ['ground', 'crank'], at: [0, 0.1, 0.12], axis: [1, 0, 0] },
    B: { type: 'spherical', between: ['crank', 'rod'], at: [0, 0.1, 0.2] },
    C: { type: 'universal', between: ['rod', 'slider'], at: [0.2, 0, 0], first_axis: [0, 2, -1], second_axis: [1, 0, 0] },
    D: { type: 'prismatic', between: ['ground', 'slider'], at: [0.2, 0, 0], axis: [1, 0, 0] },
  },
  forces: { motor: { type: 'joint_effort', joint: 'A', effort: 'drive - 0.01*crank_speed' } },
  sensors: { crank_speed: { type: 'joint_angle_rate', of: 'A' }, slider_position: { type: 'joint_displacement', of: 'D' }, slider_velocity: { type: 'velocity', of: 'slider' } },
  simulation: { end: 5, step: 1e-3, integrator: 'generalized-alpha,rho=0.875' },
};

// Starts the program; `address` is that of its page, `code` its exit code.
async function run(...options) {
  mkdirSync(out, { recursive: true });
  const model = join(out, 'driven_crank.json');
  writeFileSync(model, JSON.stringify(crank));
  const child = spawn(program, ['run', model, '--view', '--no-open', ...options], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, LIEDYN_VIEWER: built } });
  children.push(child);
  const code = new Promise((done) => child.on('exit', (status, signal) => done(status ?? signal)));
  let said = '';
  const address = await new Promise((found, fail) => {
    child.stderr.on('data', (text) => {
      said += text;
      const match = /http:\S+/.exec(said);
      if (match) found(match[0]);
    });
    code.then((status) => fail(new Error(`exit code ${status}: ${said}`)));
  });
  return { child, address, code, said: () => said };
}

// Waits until a function of the page gives true. Unlike waitForFunction it needs no eval, which the page's content security policy forbids.
async function until(tab, condition, argument) {
  for (let i = 0; i < 2400; i++) {
    if (await tab.evaluate(condition, argument)) return;
    await tab.waitForTimeout(50);
  }
  assert.fail(`${condition} was not true within two minutes: ${await tab.textContent('body')}`);
}

const time = (tab) => tab.evaluate(() => window.liedyn.app.timeline.end);
const state = (tab) => tab.textContent('#live .state');
const times = (file) => readFileSync(file, 'utf8').trim().split('\n').slice(1).map((line) => Number(line.split(',')[0]));

test('a run at real time: it is shown while it goes on, sliders change it, pause holds it, stop ends it', { skip }, async () => {
  const csv = join(out, 'live.csv');
  const { address, code, said } = await run('--pace', '1', '--end', '1000', '--slider', 'drive', '--out', csv);
  const { tab, errors, close } = await openUrl(browser, address);
  await until(tab, () => window.liedyn.app.timeline.end > 0.5);
  assert.equal(await state(tab), 'running');
  assert.equal(await tab.textContent('#title'), 'driven_crank');
  assert.deepEqual(await tab.evaluate(() => window.liedyn.app.plots.shown.sort()), ['crank_speed', 'slider_position']);
  assert.equal(await tab.evaluate(() => window.liedyn.app.timeline.time === window.liedyn.app.timeline.end), true, 'the latest state is shown');
  // Early on: a page that comes late has got the rows since the start.
  const slow = await tab.evaluate(() => {
    const { times, values } = window.liedyn.app.view.scene.channels.find((channel) => channel.name === 'crank_speed');
    return values[times.findIndex((t) => t >= 0.5)];
  });
  assert.ok(slow < 9, `${slow} rad/s`);

  // The rod has its length at every time that the page has got.
  const lengths = await tab.evaluate(() => {
    const { scene } = window.liedyn.app.view;
    const i = Math.floor(scene.times.length / 2);
    const [crank, , slider] = [0, 1, 2].map((f) => scene.positions.slice(3 * (3 * i + f), 3 * (3 * i + f) + 3));
    return [Math.hypot(crank[1] - 0.1, crank[2] - 0.12), Math.hypot(slider[1], slider[2])];
  });
  assert.ok(Math.abs(lengths[0] - 0.04) < 1e-6 && lengths[1] < 1e-6, `${lengths}`);

  // Ten times the drive.
  assert.deepEqual(await tab.$$eval('#live [data-input]', (sliders) => sliders.map((slider) => slider.dataset.input)), ['drive']);
  await tab.fill('#live input[type="number"]', '0.6');
  await tab.keyboard.press('Enter');
  await until(tab, () => window.liedyn.app.view.scene.channels[0].values.at(-1) > 15);
  assert.equal(await tab.$eval('#live [data-input="drive"]', (slider) => Number(slider.value)), 0.6);
  await tab.$eval('#live [data-input="drive"]', (slider) => {
    slider.value = '0.1';
    slider.dispatchEvent(new Event('input'));
  });

  await tab.click('#live-pause');
  await until(tab, () => document.querySelector('#live').dataset.state === 'paused');
  await tab.waitForTimeout(300);
  const held = await time(tab);
  await tab.waitForTimeout(500);
  assert.equal(await time(tab), held, 'pause holds the time');
  await tab.click('#live-step');
  await until(tab, (t) => window.liedyn.app.timeline.end > t, held);
  await tab.waitForTimeout(300);
  assert.ok(Math.abs((await time(tab)) - held - 1e-3) < 1e-9, 'one step');

  // While it rests, the motion so far can be looked at.
  await tab.$eval('#scrub', (slider) => {
    slider.value = '0.5';
    slider.dispatchEvent(new Event('input'));
  });
  await tab.click('#live-now');
  assert.equal(await tab.evaluate(() => window.liedyn.app.timeline.time === window.liedyn.app.timeline.end), true);

  await tab.click('#live-pause');
  await until(tab, (t) => window.liedyn.app.timeline.end > t + 0.1, held);
  await tab.click('#live-stop');
  await until(tab, () => /^stopped at/.test(document.querySelector('#live .state').textContent));
  const end = await time(tab);
  await tab.click('[data-tab="summary"]');
  assert.match(await tab.textContent('#tab-summary'), /parameters were changed during the run.*drive = 0.6/s);
  assert.deepEqual(errors, []);
  await close();
  assert.equal(await code, 130, said());
  assert.ok(Math.abs(times(csv).at(-1) - end) < 1e-9, 'the results are complete');
  assert.match(said(), /does not reproduce/);
});

test('a run that was over before the page was opened is played from its start', { skip }, async () => {
  // A page keeps the program; who opens another one gets the same.
  const { address, code } = await run('--paused');
  const first = await openUrl(browser, address);
  await until(first.tab, () => document.querySelector('#live').dataset.state === 'paused');
  await first.tab.click('#live-pause');
  await until(first.tab, () => document.querySelector('#live').dataset.state === 'ended');
  const second = await openUrl(browser, address);
  await until(second.tab, () => document.querySelector('#live').dataset.state === 'ended' && window.liedyn.app.timeline.playing);
  assert.equal(await second.tab.evaluate(() => window.liedyn.app.timeline.end), 5);
  assert.match(await second.tab.textContent('#live .state'), /finished at 5 s/);
  // At the start nothing is fast yet; the legend has the largest values of the whole run all the same.
  const legends = [];
  for (const { tab } of [first, second]) {
    await tab.evaluate(() => (window.liedyn.app.timeline.pause(), window.liedyn.app.timeline.seek(0)));
    await tab.keyboard.press('a');
    legends.push(await tab.$$eval('#arrow-kinds button', (rows) => rows.map((row) => row.textContent).filter((text) => !text.startsWith('velocity'))));
  }
  assert.deepEqual(legends[1], legends[0]);
  const rows = await second.tab.evaluate(() => {
    const { channels, loads } = window.liedyn.app.view.scene;
    const sizes = (type) => [...channels, ...loads].filter((channel) => channel.type === type).flatMap(({ values }) => Array.from({ length: values.length / 3 }, (_, i) => Math.hypot(...values.subarray(3 * i, 3 * i + 3))));
    const drawn = Object.fromEntries(window.liedyn.app.arrows.kinds.map(({ kind, largest }) => [kind, largest]));
    return ['reaction_force', 'reaction_torque', 'applied_torque'].map((type) => [type, drawn[type], Math.max(...sizes(type)), sizes(type)[0]]);
  });
  for (const [type, shown, largest] of rows) assert.ok(shown >= 0.999 * largest && shown < 2 * largest, `${type}: ${shown} of rows up to ${largest}`);
  assert.deepEqual([...first.errors, ...second.errors], []);
  await first.close();
  await second.close();
  assert.equal(await code, 0);
});

test('Ctrl-C ends the run with its output complete; the page says that the connection is lost', { skip }, async () => {
  const csv = join(out, 'interrupted.csv');
  const { child, address, code } = await run('--pace', '1', '--end', '1000', '--out', csv);
  const { tab, errors, close } = await openUrl(browser, address);
  await until(tab, () => window.liedyn.app.timeline.end > 0.1);
  const forged = await fetch(address.replace(/token=./, 'token=x'));
  assert.equal(forged.status, 403);
  child.kill('SIGINT');
  assert.equal(await code, 130);
  await until(tab, () => document.querySelector('#live').dataset.state === 'ended');
  assert.match(await tab.textContent('#live'), /stopped at|connection lost/);
  assert.ok(times(csv).length > 100);
  assert.deepEqual(errors, []);
  await close();
});

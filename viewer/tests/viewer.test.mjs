// The page in headless Chromium: what it shows is compared with motions in closed form.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { launch, open, out, seek, template, vertices } from './browser.mjs';
import * as scenes from './scenes.mjs';

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
const points = (flat) => Array.from({ length: flat.length / 3 }, (_, i) => flat.slice(3 * i, 3 * i + 3));
const near = (got, expected, tolerance, what) => assert.ok(distance(got, expected) <= tolerance, `${what}: got ${got}, expected ${expected}, tolerance ${tolerance}`);

// 16-bit quaternions are right to 1.5e-5 of a radian; what is checked is at most 1 m away from the frame's origin.
const SIZE_TOLERANCE = 2e-5;

test('the page is one file of at most 900 kB with one place for scenes', () => {
  assert.ok(template().length < 900e3, `${template().length} bytes`);
  assert.equal(template().split('<!--liedyn-scene-->').length, 2);
  assert.doesNotMatch(template().replace(/<script type="module">[^]*<\/script>/, ''), /src=|href="(?!data:)/);
});

test('a spinning top: pose, playback, keys, selection, curves, path, arrows', async () => {
  const top = scenes.top();
  const { tab, errors, close } = await open(browser, 'test_top', [top.json]);
  // Vertices of the disc at an output time: all on the cylinder about the axis of the closed form.
  const times = scenes.times(Math.PI, 401);
  for (const t of [0, times[123], times[400]]) {
    await seek(tab, t);
    const { position, rotation } = top.at(t);
    const axis = scenes.transform({ position: [0, 0, 0], rotation }, [0, 0, 1]);
    const along = points(await vertices(tab, 'top')).map((p) => p.reduce((sum, x, k) => sum + (x - position[k]) * axis[k], 0));
    assert.ok(Math.abs(Math.max(...along) - 0.47) < SIZE_TOLERANCE && Math.abs(Math.min(...along) + 0.95) < SIZE_TOLERANCE, `at ${t}: ${Math.min(...along)} to ${Math.max(...along)}`);
  }
  // Between two times: linear positions.
  await seek(tab, (times[10] + times[11]) / 2);
  const middle = await tab.evaluate(() => Array.from(window.liedyn.app.view.poses.positions));
  near(middle, [0, 1, 2].map((k) => (top.at(times[10]).position[k] + top.at(times[11]).position[k]) / 2), 1e-6, 'between frames');

  await seek(tab, 0);
  await tab.keyboard.press('.');
  assert.ok(Math.abs((await tab.evaluate(() => window.liedyn.app.timeline.time)) - times[1]) < 1e-12);
  await tab.keyboard.press('End');
  assert.equal(await tab.evaluate(() => window.liedyn.app.timeline.time), times[400]);
  await tab.keyboard.press('Home');
  await tab.keyboard.press(' ');
  await tab.waitForFunction(() => window.liedyn.app.timeline.time > 0);
  await tab.keyboard.press(' ');
  assert.equal(await tab.evaluate(() => window.liedyn.app.timeline.playing), false);
  await tab.$eval('#scrub', (slider) => {
    slider.value = '0.5';
    slider.dispatchEvent(new Event('input'));
  });
  assert.ok(Math.abs((await tab.evaluate(() => window.liedyn.app.timeline.time)) - Math.PI / 2) < 1e-9);
  assert.match(await tab.textContent('#clock'), /^1\.571 s$/);

  // Selection in the list, then in the picture.
  await tab.click('.row[data-name="top"]');
  assert.equal(await tab.textContent('#selected'), 'top');
  assert.match(await tab.textContent('.values'), /mass kg1\.5/);
  // At this time y is zero but for round-off.
  assert.match(await tab.textContent('.values'), /position m-0\.4794  0  0\.8776/);
  await tab.keyboard.press('Escape');
  const where = await tab.evaluate(() => {
    const { stage, view } = window.liedyn.app;
    const p = stage.controls.target.clone().fromArray(view.poses.positions).project(stage.camera);
    const r = stage.renderer.domElement.getBoundingClientRect();
    return [r.left + ((p.x + 1) / 2) * r.width, r.top + ((1 - p.y) / 2) * r.height];
  });
  await tab.mouse.click(...where);
  assert.equal(await tab.textContent('#selected'), 'top');

  await tab.keyboard.press('t');
  await tab.keyboard.press('a');
  await tab.keyboard.press('o');
  assert.deepEqual(await tab.$$eval('#trail.on, #arrows.on, #follow.on', (list) => list.length), 3);
  // The same velocity in inertial and in body axes is the same arrow.
  await seek(tab, times[77]);
  const [inertial, body] = await tab.evaluate(() => ['velocity', 'velocity_body'].map((name) => Array.from(window.liedyn.app.arrows.list.find((arrow) => arrow.name === name).group.matrix.elements)));
  body.forEach((x, i) => assert.ok(Math.abs(x - inertial[i]) < 1e-3, `arrow in body axes: ${body} instead of ${inertial}`));
  // Velocities from the frames are those of the sensor, to second order in their distance.
  const [sensed, found] = await tab.evaluate(() => {
    const { arrows, stage, timeline, view } = window.liedyn.app;
    const vector = stage.controls.target.clone();
    arrows.list.find((arrow) => arrow.name === 'velocity').value(timeline.time, view.poses, vector);
    return [vector.toArray(), Array.from(view.poses.velocities.subarray(0, 3))];
  });
  near(found, sensed, 2e-3 * Math.hypot(...sensed), 'velocity from the frames');
  const before = await tab.evaluate(() => { const { stage, view } = window.liedyn.app; stage.camera.updateMatrixWorld(); return stage.controls.target.clone().fromArray(view.poses.positions).project(stage.camera).toArray(); });
  await seek(tab, 0.4);
  const after = await tab.evaluate(() => { const { stage, view } = window.liedyn.app; stage.camera.updateMatrixWorld(); return stage.controls.target.clone().fromArray(view.poses.positions).project(stage.camera).toArray(); });
  near(after, before, 1e-2, 'a followed body stays where it is in the picture');

  // Curves: two are shown, another is added, a click goes to a time.
  await tab.click('[data-tab="plots"]');
  assert.deepEqual(await tab.evaluate(() => window.liedyn.app.plots.shown.sort()), ['pivot_force', 'position']);
  await tab.selectOption('#channels', { label: 'total energy [J]' });
  assert.match(await tab.textContent('[data-channel="total energy"] .legend'), /21\.5/);
  const box = await tab.locator('[data-channel="total energy"] .u-over').boundingBox();
  await tab.mouse.click(box.x + 0.25 * box.width, box.y + 20);
  const clicked = await tab.evaluate(() => window.liedyn.app.timeline.time);
  assert.ok(Math.abs(clicked - 0.25 * Math.PI) < 0.12, `clicked at ${clicked}`);

  // Text of data is text.
  assert.match(await tab.textContent('.warning'), /<b>body<\/b>/);
  assert.equal(await tab.$$eval('.warning b', (list) => list.length), 0);
  await tab.keyboard.press('c');
  assert.equal(await tab.isVisible('#colorbar'), true);
  await tab.keyboard.press('d');
  assert.equal(await tab.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await tab.keyboard.press('?');
  assert.equal(await tab.isVisible('#help'), true);
  await tab.keyboard.press('Escape');
  assert.equal(await tab.isVisible('#help'), false);
  assert.deepEqual(errors, []);
  await close();
});

test('1000 links: few draw calls, poses of the closed form', async () => {
  const chain = scenes.chain();
  const { tab, errors, close } = await open(browser, 'test_chain', [chain.json]);
  const t = scenes.times((2 * Math.PI) / 3, 61)[37];
  await seek(tab, t);
  const got = await tab.evaluate(() => Array.from(window.liedyn.app.view.poses.positions));
  chain.poses(t).forEach((pose, i) => near(got.slice(3 * i, 3 * i + 3), pose.position, 5e-6 * 50, `link ${i}`));
  for (const i of [0, 501, 999]) {
    const link = points(await vertices(tab, `link[${i}]`));
    const center = [0, 1, 2].map((k) => link.reduce((sum, p) => sum + p[k], 0) / link.length);
    assert.ok(link.every((p) => distance(p, chain.poses(t)[i].position) < 0.0215 + 0.0111));
    near(center, chain.poses(t)[i].position, 1e-3, `centre of link ${i}`);
  }
  const cost = await tab.evaluate(() => {
    const { app } = window.liedyn;
    app.stage.render();
    const started = performance.now();
    for (let i = 0; i < 20; i++) app.view.update(i / 20);
    return { calls: app.stage.renderer.info.render.calls, update: (performance.now() - started) / 20 };
  });
  console.log(`chain of 1000: ${cost.calls} draw calls, ${cost.update.toFixed(1)} ms per update of all poses`);
  assert.ok(cost.calls < 20, `${cost.calls} draw calls`);
  assert.deepEqual(errors, []);
  await close();
});

test('beams bend to arcs and twist', async () => {
  const beams = scenes.beams();
  const { tab, errors, close } = await open(browser, 'test_beams', [beams.json]);
  const t = scenes.times(2 * Math.PI, 241)[60];
  await seek(tab, t);
  // All vertices of the outer wall lie on the torus of radius 0.06 about the arc, between nodes as well.
  const wall = points(await vertices(tab, 'bending')).slice(0, 97 * 29);
  const k = 1.1 * Math.sin(t);
  for (const [x, y, z] of wall) {
    const radius = Math.hypot(Math.hypot(x, z - 1 / k) - 1 / Math.abs(k), y);
    assert.ok(Math.abs(radius - 0.06) < 5e-5, `wall at ${radius}`);
  }
  const flat = points(await vertices(tab, 'twisting'));
  const last = flat.slice(96 * 36, 97 * 36); // the last ring: width 0.1, height 0.04
  const pose = beams.twisted(beams.length, t);
  near(last[0], scenes.transform(pose, [0, 0.05, -0.02]), SIZE_TOLERANCE, 'corner at the end');
  near(flat[0], scenes.transform(beams.twisted(0, t), [0, 0.11, -0.02]), SIZE_TOLERANCE, 'corner at the start');
  // Colours by the bending moment E I k and by the stress E r k at the wall, which vanishes on the neutral line; red where it is largest.
  const range = (coloring) => tab.evaluate((name) => (window.liedyn.app.setColoring(name), window.liedyn.app.view.range()), coloring);
  const expected = { moment: 1.1 * scenes.YOUNG * scenes.INERTIA, force: 0, strain: 1.1 * 0.06, stress: 1.1 * 0.06 * scenes.YOUNG };
  assert.deepEqual(await tab.evaluate(() => window.liedyn.app.view.colorings), ['body', 'speed', 'force', 'moment', 'strain', 'stress']);
  for (const [coloring, value] of Object.entries(expected)) assert.ok(Math.abs((await range(coloring)) - value) <= 1e-3 * value, `${coloring}: ${await range(coloring)} instead of ${value}`);
  assert.match(await tab.textContent('#colorbar'), /von Mises stress \[MPa\]0132$/); // 1.1 0.06 E = 132 MPa
  const colors = await tab.evaluate(() => Array.from(window.liedyn.app.view.beams[0].mesh.geometry.colors.array));
  const ring = 48 * 29 * 3; // the middle one: the outline begins at +y, on the neutral line, and a quarter further is +z
  assert.ok(colors[ring + 2] > colors[ring] && colors[ring + 3 * 7] > 4 * colors[ring + 3 * 7 + 2], `neutral ${colors.slice(ring, ring + 3)}, outer ${colors.slice(ring + 21, ring + 24)}`);
  assert.deepEqual(errors, []);
  await close();
});

test('stresses of beams: torsion and shear forces of rectangles, boxes, rods and tubes', async () => {
  // Largest von Mises stresses by handbooks: T/(k w h^2) of rectangles with k = 0.267 (3:1) and 0.208 (square) after Timoshenko and Goodier, Theory of Elasticity, table of section 109;
  // T/(2 A_m t) of thin boxes; T r/J; shear forces 3/2, 4/3 and about 2 Q/A. A load is N, Q_y, Q_z, T, M_y, M_z.
  const [w, h, t, R, r] = [0.03, 0.01, 0.001, 0.012, 0.011];
  const solid = { type: 'rectangle', width: w, height: h };
  const rectangle = [w * h, (w * h ** 3) / 12, (h * w ** 3) / 12, 0.2633 * w * h ** 3];
  const boxed = (f) => f(w, h) - f(w - 2 * t, h - 2 * t);
  const box = [boxed((a, b) => a * b), boxed((a, b) => (a * b ** 3) / 12), boxed((a, b) => (b * a ** 3) / 12), (2 * t * (w - t) ** 2 * (h - t) ** 2) / (w + h - 2 * t)];
  const round = (r) => [Math.PI * (R ** 2 - r ** 2), (Math.PI / 4) * (R ** 4 - r ** 4), (Math.PI / 4) * (R ** 4 - r ** 4), (Math.PI / 2) * (R ** 4 - r ** 4)];
  const root3 = Math.sqrt(3);
  const sigma = 40 / rectangle[0] + (2 * h) / 2 / rectangle[1]; // N = 40, M_y = 2: upper side
  const webs = ((w * (h / 2) ** 2 - (w - 2 * t) * (h / 2 - t) ** 2) / 2) * (300 / (2 * t * box[1])); // first moment of the upper half
  const cases = [
    ['rectangle, T', solid, rectangle, [0, 0, 0, 7, 0, 0], (root3 * 7) / (0.267 * w * h ** 2), 2e-3],
    ['square, T', { ...solid, width: h }, [h * h, h ** 4 / 12, h ** 4 / 12, 0.1406 * h ** 4], [0, 0, 0, 7, 0, 0], (root3 * 7) / (0.208 * h ** 3), 2e-3],
    ['rectangle, Q_z', solid, rectangle, [0, 0, 300, 0, 0, 0], (root3 * 1.5 * 300) / rectangle[0], 1e-6],
    ['rectangle, Q_z helps T on one side', solid, rectangle, [0, 0, 1000, 7, 0, 0], root3 * ((0.753 * 7) / (0.267 * w * h ** 2) + 1500 / rectangle[0]), 3e-3], // short side: 0.753 of the long one
    ['rectangle, N, T and M_y', solid, rectangle, [40, 0, 0, 7, 2, 0], Math.hypot(sigma, (root3 * 7) / (0.267 * w * h ** 2)), 2e-3],
    ['box, T', { ...solid, type: 'box', thickness: t }, box, [0, 0, 0, 7, 0, 0], (root3 * 7) / (2 * (w - t) * (h - t) * t), 1e-6],
    ['box, Q_z', { ...solid, type: 'box', thickness: t }, box, [0, 0, 300, 0, 0, 0], root3 * webs, 1e-6],
    ['rod, T', { type: 'circle', radius: R }, round(0), [0, 0, 0, 7, 0, 0], (root3 * 2 * 7) / (Math.PI * R ** 3), 1e-6],
    ['rod, Q_y', { type: 'circle', radius: R }, round(0), [0, 300, 0, 0, 0, 0], (root3 * (4 / 3) * 300) / (Math.PI * R ** 2), 1e-6],
    ['tube, Q_z', { type: 'tube', radius: R, inner: r }, round(r), [0, 0, 300, 0, 0, 0], (root3 * 2 * 300) / round(r)[0], 2e-3],
  ];
  for (const [what, section, constants, load, expected, tolerance] of cases) {
    const { json } = scenes.beams();
    const N = json.bodies[1].nodes.length;
    Object.assign(json.bodies[1], { section, constants, section_forces: load.map((value) => scenes.pack('f32', [241, N], Array(241 * N).fill(value))) });
    const { tab, errors, close } = await open(browser, 'test_section_stress', [json]);
    const found = await tab.evaluate(() => (window.liedyn.app.setColoring('stress'), window.liedyn.app.view.range()));
    assert.ok(Math.abs(found / expected - 1) <= tolerance, `${what}: ${found} instead of ${expected}`);
    assert.deepEqual(errors, []);
    await close();
  }
});

test('beams of given stiffness have strains and no stress', async () => {
  const { json } = scenes.beams();
  const given = json.bodies[2];
  const [N, t] = [given.nodes.length, scenes.times(2 * Math.PI, 241)];
  const over = (value) => scenes.pack('f32', [241, N], t.flatMap((x) => Array.from({ length: N }, (_, n) => value(x, n / (N - 1)))));
  // Its twist falls from the root to the tip; besides, it is stretched at one time.
  given.section_forces = [0, 1, 2, 3, 4, 5].map((c) => over((x, s) => (c === 3 ? 50 * Math.sin(x) * (1 - s) : 0)));
  given.section_strains = [over((x) => (Math.abs(x - Math.PI / 2) < 0.1 ? 0.02 : 0)), over((x, s) => Math.abs(0.8 * Math.sin(x)) * (1 - s))];
  const { tab, errors, close } = await open(browser, 'test_stiffness', [json]);
  assert.deepEqual(await tab.evaluate(() => window.liedyn.app.view.colorings), ['body', 'speed', 'force', 'moment', 'axis_strain', 'curvature', 'strain', 'stress']);
  const range = (coloring) => tab.evaluate((name) => (window.liedyn.app.setColoring(name), window.liedyn.app.view.range()), coloring);
  assert.ok(Math.abs((await range('axis_strain')) - 0.02) < 1e-6);
  assert.ok(Math.abs((await range('curvature')) - 0.8) < 1e-3);
  assert.match(await tab.textContent('#colorbar'), /curvature and twist \[1\/m\]/);
  await seek(tab, Math.PI / 2);
  const [root, tip, other] = await tab.evaluate(() => {
    const [bending, twisting] = window.liedyn.app.view.beams.map(({ mesh }) => Array.from(mesh.geometry.colors.array));
    return [twisting.slice(0, 3), twisting.slice(96 * 36 * 3, 96 * 36 * 3 + 3), bending.slice(0, 3)];
  });
  assert.ok(root[0] > 4 * root[2] && tip[2] > tip[0], `red at the root, blue at the tip: ${root}, ${tip}`);
  assert.ok(Math.max(...other) - Math.min(...other) < 0.1, `the other beam has no such value and is grey: ${other}`);
  await tab.click('.row[data-name="twisting"]');
  assert.match(await tab.textContent('.values'), /stress.*the section is given by its stiffness/);
  await tab.click('.row[data-name="bending"]');
  assert.doesNotMatch(await tab.textContent('.values'), /stress/);
  assert.deepEqual(errors, []);
  await close();
});

test('flexible bodies: vertices of the shader equal the sum of modes; stresses are shown', async () => {
  const plate = scenes.plate();
  const { tab, errors, close } = await open(browser, 'test_plate', [plate.json]);
  const t = scenes.times(2 * Math.PI, 201)[33];
  await seek(tab, t);
  const got = points(await vertices(tab, 'plate'));
  assert.equal(got.length, plate.count);
  got.forEach((p, i) => near(p, plate.vertexAt(i, t), SIZE_TOLERANCE, `vertex ${i}`));
  await tab.keyboard.press('c');
  await tab.keyboard.press('c');
  assert.match(await tab.textContent('#colorbar'), /von Mises/);
  await tab.evaluate(() => window.liedyn.app.stage.render());
  assert.deepEqual(errors, []);
  await close();
});

test('two results: the second is overlaid, their distance is plotted', async () => {
  const [a, b] = [scenes.top(), scenes.top({ phase: 0.01, title: 'other' })];
  const { tab, errors, close } = await open(browser, 'test_compare', [a.json, b.json]);
  assert.match(await tab.textContent('#title'), /spinning top and, in pink, other/);
  await seek(tab, 1);
  const shown = Number(await tab.textContent('[data-channel="distance to other"] .legend em'));
  const expected = 2 * Math.sin(0.005) * Math.sin(0.5); // chord of the angle 0.01 on a circle of radius sin(tilt)
  assert.ok(Math.abs(shown - expected) < 5e-6, `${shown} instead of ${expected}`);
  // A path is drawn for both, the second in pink and along its own positions.
  const drawn = () => tab.evaluate(() => [...window.liedyn.app.trails.values()].flat().map((trail) => [trail.line.material.color.getHexString(), trail.line.geometry.attributes.instanceStart.getX(0)]));
  await tab.evaluate(() => window.liedyn.app.toggleTrail(0));
  const [mine, its] = await drawn();
  assert.equal(its[0], 'e0489a');
  assert.ok(Math.abs(mine[1] - Math.sin(0.5)) < 1e-6 && its[1] < mine[1], `paths begin at ${mine[1]} and ${its[1]}`);
  await tab.evaluate(() => window.liedyn.app.toggleTrail(0));
  assert.deepEqual(await drawn(), []);
  // A third one under the name of the second: its own distance.
  const third = scenes.top({ phase: 0.03, title: 'other' });
  await tab.evaluate((text) => window.liedyn.app.openFiles([new File([text], 'third.json')]), JSON.stringify(third.json));
  await seek(tab, 1);
  const later = Number(await tab.textContent('[data-channel="distance to other"] .legend em'));
  const further = 2 * Math.sin(0.015) * Math.sin(0.5);
  assert.ok(Math.abs(later - further) < 5e-6, `${later} instead of ${further}`);
  assert.deepEqual(errors, []);
  await close();
});

test('modes: chosen from a list, with their amplitude', async () => {
  const string = scenes.modes();
  const { tab, errors, close } = await open(browser, 'test_modes', [string.json]);
  await tab.click('[data-mode="2"]');
  await tab.$eval('#amplitude', (slider) => {
    slider.value = '0.1';
    slider.dispatchEvent(new Event('input'));
  });
  await seek(tab, 0.125);
  const got = points(await tab.evaluate(() => Array.from(window.liedyn.app.view.poses.positions)));
  got.forEach((p, i) => near(p, [string.x(i), 0, 0.2 * Math.cos(Math.PI / 4) * string.shape(3, i)], 1e-6, `bead ${i}`));
  // Keys of a slider move it, and not the time.
  await tab.focus('#amplitude');
  await tab.keyboard.press('ArrowLeft');
  assert.ok(Number(await tab.$eval('#amplitude', (slider) => slider.value)) < 0.1);
  assert.ok(Math.abs((await tab.evaluate(() => window.liedyn.app.timeline.time)) - 0.125) < 1e-12);
  assert.deepEqual(errors, []);
  await close();
  // Those that do not oscillate come last, folded.
  string.json.mode_list[0].frequency = 0;
  const other = await open(browser, 'test_modes_still', [string.json]);
  assert.deepEqual(await other.tab.$$eval('.modes [data-mode]', (rows) => rows.map((row) => Number(row.dataset.mode))), [1, 2, 3, 0]);
  assert.equal(await other.tab.textContent('.modes details summary'), '1 without oscillation');
  assert.equal(await other.tab.$eval('.modes .selected', (row) => row.dataset.mode), '1');
  await other.close();
});

test('stresses of a mode are coloured up to the largest one of its period', async () => {
  const plate = scenes.plate().json;
  const still = (array, width) => scenes.pack('f32', [1, width], Array(width).fill(0));
  Object.assign(plate, {
    kind: 'modes', times: scenes.pack('f64', [1], [0]), positions: scenes.pack('f32', [1, 1, 3], [0, 0, 0]), rotations: scenes.pack('i16', [1, 1, 4], [32767, 0, 0, 0]),
    mode_list: [{ frequency: 3, displacement: scenes.pack('f32', [1, 6, 2], Array(12).fill(0)), coordinates: scenes.pack('f32', [3, 2], [1, 0, 0, 0, 0, 0]) }],
  });
  plate.bodies[0].coordinates = still(plate.bodies[0].coordinates, 3);
  const { tab, errors, close } = await open(browser, 'test_mode_stress', [plate]);
  assert.deepEqual(await tab.evaluate(() => window.liedyn.app.view.colorings), ['body', 'displacement', 'stress']);
  await tab.evaluate(() => window.liedyn.app.setColoring('stress'));
  // 4e9 z (1 - x/a) with z = 0.015, times the amplitude
  const expected = async () => 4e9 * 0.015 * (await tab.evaluate(() => window.liedyn.app.view.amplitude));
  const shown = async () => 1e6 * Number(await tab.textContent('#colorbar .largest'));
  assert.ok(Math.abs((await shown()) - (await expected())) < 1e-3 * (await expected()), `${await shown()} instead of ${await expected()}`);
  await tab.$eval('#amplitude', (slider) => {
    slider.value = '0.3';
    slider.dispatchEvent(new Event('input'));
  });
  assert.ok((await expected()) > 2e7 && Math.abs((await shown()) - (await expected())) < 1e-3 * (await expected()), `${await shown()} instead of ${await expected()}`);
  assert.deepEqual(errors, []);
  await close();
});

test('an equilibrium: the way to it, what acts on the way, and no speeds', async () => {
  for (const steps of [1, 4]) {
    const bob = scenes.equilibrium({ steps });
    const { tab, errors, close } = await open(browser, 'test_equilibrium', [bob.json], { query: '' });
    // It plays by itself.
    await tab.waitForFunction(() => window.liedyn.app.timeline.time > 0.1);
    for (const factor of [0, 0.5, 1]) {
      await seek(tab, factor);
      near(await tab.evaluate(() => Array.from(window.liedyn.app.view.poses.positions)), [0, 0, -bob.sunk(factor)], 1e-6, `at ${factor}`);
    }
    assert.match(await tab.textContent('#clock'), /load factor 1\.000/);
    assert.deepEqual(await tab.evaluate(() => window.liedyn.app.view.colorings), ['body', 'displacement']);
    await tab.keyboard.press('c');
    assert.match(await tab.textContent('#colorbar'), /displacement \[m\]00\.4$/);
    await tab.keyboard.press('a');
    assert.deepEqual(await tab.$$eval('#arrow-kinds button', (rows) => rows.map((row) => row.textContent)), ['reaction forceup to 7 N', 'applied forceup to 39.24 N']);
    const arrow = await tab.evaluate(() => Array.from(window.liedyn.app.arrows.list.find(({ name }) => name === 'spring.applied_force').group.matrix.elements));
    near(arrow.slice(12, 15), [0, 0, -0.4], 1e-6, 'it acts on the bob');
    // There are few frames: the largest force has the usual length, not that of a peak.
    const longest = await tab.evaluate(() => { const { shaft, heads } = window.liedyn.app.arrows.list.find(({ name }) => name === 'spring.applied_force'); return shaft.scale.z + heads[0].scale.z; });
    assert.ok(Math.abs(longest - 0.22 * 1.5) < 1e-6, `${longest}`);
    // Fitted, the picture has the arrows as well: that of the guide reaches beyond the bob.
    const fitted = async () => { await tab.keyboard.press('f'); return tab.evaluate(() => { const { camera, controls } = window.liedyn.app.stage; return camera.position.distanceTo(controls.target); }); };
    await tab.setViewportSize({ width: 800, height: 1400 });
    await tab.waitForFunction(() => window.liedyn.app.stage.camera.aspect < 1);   // the page has noticed
    const withArrows = await fitted();
    await tab.keyboard.press('a');
    assert.ok(withArrows > 1.02 * (await fitted()), 'farther away');
    await tab.setViewportSize({ width: 900, height: 520 });
    // The joint is where the bob is, not where it was drawn.
    await tab.click('.row[data-name="guide"]');
    const values = () => tab.$$eval('.values dt', (list) => Object.fromEntries(list.map((dt) => [dt.textContent, dt.nextSibling.textContent])));
    assert.deepEqual([(await values())['position m'], (await values())['displacement m'], (await values())['reaction force N']], ['0  0  -0.4', '-0.4', '7  0  0']);
    assert.deepEqual(await tab.$$eval('.values .tools button', (list) => list.filter((one) => !one.hidden).map((one) => one.textContent)), ['Follow', 'Path', 'Plot position']);
    await seek(tab, 0.5);
    assert.equal((await values())['position m'], '0  0  -0.2');
    await tab.click('[data-tab="plots"]');
    assert.deepEqual(await tab.evaluate(() => window.liedyn.app.plots.shown), ['height']);
    assert.deepEqual(errors, []);
    await close();
  }
});

test('keys: fit keeps the direction of view, follow and path light all of their buttons', async () => {
  const { tab, errors, close } = await open(browser, 'test_keys', [scenes.top().json]);
  const camera = () => tab.evaluate(() => {
    const { camera, controls } = window.liedyn.app.stage;
    const offset = camera.position.clone().sub(controls.target);
    return { direction: offset.clone().normalize().toArray(), distance: offset.length() };
  });
  const first = await camera();
  const look = (x, y, z) => tab.evaluate((d) => {
    const { camera, controls } = window.liedyn.app.stage;
    camera.position.fromArray(d).normalize().multiplyScalar(40).add(controls.target);
    controls.update();
  }, [x, y, z]);
  for (const direction of [[0.3, 0.9, 0.3], [-1, 0.1, -0.2], [1e-9, 1e-9, 1]]) {
    await look(...direction);
    await tab.evaluate(() => window.liedyn.app.draw());
    const before = await camera();
    await tab.keyboard.press('f');
    const after = await camera();
    near(after.direction, before.direction, 1e-3, 'direction');
    assert.ok(distance(after.direction, first.direction) > 0.5 && after.distance < 0.5 * before.distance, `nearer: ${after.distance}`);
    // Everything is in the picture.
    const inside = await tab.evaluate(() => {
      const { stage } = window.liedyn.app;
      stage.camera.updateMatrixWorld();
      const p = stage.controls.target.clone();
      const r = stage.renderer.domElement.getBoundingClientRect();
      for (let i = 0; i < stage.points.length; i += 3) {
        p.fromArray(stage.points, i).project(stage.camera);
        if (Math.abs(p.x) > 1.001 || Math.abs(p.y) > 1.001) return [p.x, p.y, r.width, r.height];
      }
      return true;
    });
    assert.equal(inside, true);
  }
  await tab.click('.row[data-name="top"]');
  const lit = () => tab.$$eval('#follow.on, #trail.on, .values .tools button.on', (list) => list.map((one) => one.id || one.textContent));
  assert.deepEqual(await lit(), []);
  await tab.keyboard.press('t');
  assert.deepEqual((await lit()).sort(), ['Path', 'trail'], 'T');
  await tab.keyboard.press('o');
  assert.deepEqual((await lit()).sort(), ['Follow', 'Path', 'follow', 'trail'], 'O');
  await tab.keyboard.press('t');
  await tab.keyboard.press('o');
  assert.deepEqual(await lit(), []);
  assert.deepEqual(errors, []);
  await close();
});

test('what acts in joints and forces has arrows, values and curves without sensors', async () => {
  const top = scenes.top().json;
  const t = scenes.times(Math.PI, 101);
  const load = (name, type, of, unit, values, place) => ({ name, type, unit, ...of, ...place, components: values[0].length === 3 ? ['x', 'y', 'z'] : [], values: { ...scenes.pack('i16', [101, values[0].length], values.flat().map((x) => 1000 * x)), scale: 1e-3 } });
  top.load_times = scenes.pack('f64', [101], t);
  top.joints.push({ name: 'axle', type: 'revolute', bodies: ['ground', 'top'], frame: -1, at: [0, 0, 0], radius: 0.06 });
  top.forces = [{ name: 'motor', type: 'joint_effort', ends: [], radius: 0 }];
  top.loads = [
    load('axle.joint_angle', 'joint_angle', { joint: 'axle' }, 'rad', t.map((x) => [2 * x])),
    load('axle.reaction_force', 'reaction_force', { joint: 'axle' }, 'N', t.map((x) => [0, 0, 6 + x]), { frame: -1, at: [0, 0, 0.2] }),
    load('axle.reaction_torque', 'reaction_torque', { joint: 'axle' }, 'N m', t.map(() => [1, 0, 0]), { frame: -1, at: [0, 0, 0.2] }),
    load('motor.applied_torque', 'applied_torque', { force: 'motor' }, 'N m', t.map(() => [0, 3, 0]), { frame: -1, at: [0, 0, 0] }),
  ];
  top.channels[1].joint = 'axle';
  const { tab, errors, close } = await open(browser, 'test_loads', [top]);
  await seek(tab, 1);
  await tab.keyboard.press('a');
  const arrows = () => tab.evaluate(() => Object.fromEntries(window.liedyn.app.arrows.list.map(({ name, group, heads }) => [name, { matrix: Array.from(group.matrix.elements), visible: group.visible, heads: heads.length }])));
  const shown = await arrows();
  near(shown['axle.reaction_force'].matrix.slice(8, 11), [0, 0, 1], 1e-6, 'reaction');
  near(shown['axle.reaction_force'].matrix.slice(12, 15), [0, 0, 0.2], 1e-6, 'where it begins');
  near(shown['motor.applied_torque'].matrix.slice(8, 11), [0, 1, 0], 1e-6, 'torque');
  assert.deepEqual([shown['motor.applied_torque'].heads, shown['axle.reaction_force'].heads], [2, 1]);
  // Each kind is switched in the legend; torques of joints are off at first.
  assert.equal(shown['axle.reaction_torque'].visible, false);
  await tab.click('#arrow-kinds [data-kind="reaction_torque"]');
  await tab.click('#arrow-kinds [data-kind="reaction_force"]');
  const switched = await arrows();
  assert.deepEqual([switched['axle.reaction_torque'].visible, switched['axle.reaction_force'].visible, switched['motor.applied_torque'].visible], [true, false, true]);
  // Values of the joint, with the sensor that looks at it, follow the time; a click on one plots it.
  await tab.click('.row[data-name="axle"]');
  const values = () => tab.$$eval('.values dt', (list) => Object.fromEntries(list.map((dt) => [dt.textContent, dt.nextSibling.textContent])));
  assert.deepEqual([(await values())['angle rad'], (await values())['reaction force N'], 'pivot_force N' in (await values())], ['2', '0  0  7', true]);
  await seek(tab, 2);
  assert.equal((await values())['angle rad'], '4');
  await tab.click('.values dt button:text("reaction force")');
  assert.deepEqual((await tab.evaluate(() => window.liedyn.app.plots.shown)).includes('axle.reaction_force'), true);
  await tab.click('[data-tab="values"]');
  await tab.click('.row[data-name="motor"]');
  assert.equal((await values())['applied torque N m'], '0  3  0');
  assert.deepEqual(errors, []);
  await close();
});

test('bodies without sensors have arrows of their velocities', async () => {
  const { tab, errors, close } = await open(browser, 'test_arrows', [scenes.plate().json]);
  await seek(tab, 1);
  await tab.keyboard.press('a');
  const [arrow] = await tab.evaluate(() => window.liedyn.app.arrows.list.map(({ name, group }) => ({ name, matrix: Array.from(group.matrix.elements) })));
  assert.equal(arrow.name, 'plate');
  near(arrow.matrix.slice(8, 11), [1, 0, 0], 1e-6, 'direction'); // x = 0.1 sin t
  near(arrow.matrix.slice(12, 15), [0.1 * Math.sin(1), 0, 0], 1e-4, 'where it begins');
  assert.match(await tab.innerText('#arrow-kinds'), /velocity\s+up to 0\.1 m\/s/); // 0.1 cos t
  await tab.keyboard.press('c');
  await tab.selectOption('#coloring', 'stress');
  assert.equal(await tab.evaluate(() => window.liedyn.app.view.coloring), 'stress');
  await tab.selectOption('#coloring', 'body');
  assert.equal(await tab.isVisible('#colorbar'), false);
  assert.deepEqual(errors, []);
  await close();
});

test('all kinds of shapes and joints are drawn', async () => {
  const gallery = scenes.gallery();
  const { tab, errors, close } = await open(browser, 'test_gallery', [gallery.json], { query: '?play=0&quality=high' });
  const extent = async (name) => {
    const p = points(await vertices(tab, name));
    return [0, 1, 2].map((k) => Math.max(...p.map((v) => v[k])) - Math.min(...p.map((v) => v[k])));
  };
  const expected = { box: [0.4, 0.3, 0.2], sphere: [0.4, 0.4, 0.4], cylinder: [0.3, 0.3, 0.4], capsule: [0.24, 0.24, 0.49], cone: [0.36, 0.36, 0.4], tube: [0.4, 0.4, 0.2], ellipsoid: [0.5, 0.3, 0.2], mesh: [0.4, 0.4, 0.4] };
  for (const [name, size] of Object.entries(expected)) near(await extent(name), size, 1e-5, name);
  const symbols = await tab.evaluate(() => window.liedyn.app.view.scene.joints.map((_, index) => window.liedyn.app.view.symbols.vertices({ kind: 'joint', index }).length));
  assert.ok(symbols.every((n) => n > 0));
  await tab.hover('.row[data-name="box"]');
  await tab.click('.row[data-name="box"] .eye');
  assert.deepEqual((await extent('box')).map((x) => Math.round(x)), [0, 0, 0]);
  assert.deepEqual(errors, []);
  await close();
});

test('damaged, foreign and empty files give a message, never a blank page', async () => {
  const top = scenes.top().json;
  const cases = [
    ['empty', ' ', /empty/],
    ['cut off', JSON.stringify(top).slice(0, 500), /not valid JSON/],
    ['foreign', '{"format": "gltf"}', /format is "gltf"/],
    ['list', '[1, 2]', /not an object/],
    ['shape', { ...top, positions: { ...top.positions, shape: [1, 1, 3] } }, /positions has the shape/],
    ['base64', { ...top, positions: { ...top.positions, data: '***' } }, /positions cannot be decompressed/],
    ['short', { ...top, times: scenes.pack('f64', [401], [0, 1]) }, /times has 16 bytes/],
    ['frame', { ...top, bodies: [{ name: 'b', kind: 'rigid', frame: 7, shapes: [] }] }, /bodies\[0\]\.frame is 7/],
    ['kind of shape', { ...top, bodies: [{ name: 'b', kind: 'rigid', frame: 0, shapes: [{ type: 'blob' }] }] }, /blob/],
    ['not finite', { ...top, positions: scenes.pack('f32', [401, 1, 3], Array(1203).fill(NaN)) }, /not finite/],
    ['no frames', { ...top, times: scenes.pack('f64', [0], []) }, /no frames/],
  ];
  // One page reads all of them, as dropped files would be.
  const { tab, errors, close } = await open(browser, 'test_corrupt', ['{"format": ']);
  assert.match(await tab.textContent('#message'), /not valid JSON/);
  for (const [name, data, message] of cases) {
    await tab.evaluate(async (text) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text], 'scene.json'));
      await window.liedyn.app.openFiles(transfer.files);
    }, typeof data === 'string' ? data : JSON.stringify(data));
    assert.match(await tab.textContent('#message'), message, name);
    assert.equal(await tab.isVisible('#message'), true);
  }
  // After all that a good file still opens.
  await tab.evaluate(async (text) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], 'scene.json'));
    await window.liedyn.app.openFiles(transfer.files);
  }, JSON.stringify(top));
  assert.equal(await tab.textContent('#title'), 'spinning top');
  assert.equal(await tab.isVisible('#message'), false);
  assert.deepEqual(errors, []);
  await close();
});

test('a page that is cut off says so, wherever it is cut', async () => {
  const whole = scenes.page(template(), scenes.top().json);
  const at = (text, share = 0) => Math.round(whole.indexOf(text) + share * whole.length);
  const cuts = { style: at('<style>', 0.005), scene: at('"liedyn-scene"', 0.01), script: at('<script type="module">', 0.3), end: at('<i id="complete"') - 20, 'nothing but the end tag': whole.length - 9 };
  for (const [where, length] of Object.entries(cuts)) {
    const context = await browser.newContext({ viewport: { width: 390, height: 600 } });
    const tab = await context.newPage();
    const file = join(out, 'test_cut.html');
    writeFileSync(file, whole.slice(0, length));
    await tab.goto(pathToFileURL(file).href);
    const isWhole = where === 'nothing but the end tag';
    assert.equal(await tab.$$eval('#incomplete', (list) => list.length), isWhole ? 0 : 1, where);
    if (!isWhole) assert.match(await tab.innerText('#incomplete'), /This file is incomplete/, where);
    await context.close();
  }
});

test('phone: panels are closed at the start, nothing overflows', async () => {
  const { tab, errors, close } = await open(browser, 'test_phone', [scenes.top().json], { width: 390, height: 700 });
  assert.equal(await tab.isVisible('#right'), false);
  await tab.click('#show-right');
  assert.equal(await tab.isVisible('#right'), true);
  await tab.click('#show-tree');
  assert.equal(await tab.isVisible('#right'), false);
  assert.equal(await tab.isVisible('#left'), true);
  assert.ok(await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  assert.deepEqual(errors, []);
  await close();
});

test('phone: the bar has all its buttons, beside and not above each other', async () => {
  for (const width of [390, 320]) {
    const { tab, errors, close } = await open(browser, 'test_phone_bar', [scenes.top().json], { width, height: 640 });
    const ids = ['back', 'play', 'forward', 'scrub', 'clock', 'speed', 'loop'];
    const boxes = await Promise.all(ids.map((id) => tab.locator(`#${id}`).boundingBox()));
    boxes.forEach((box, i) => {
      assert.ok(box && box.x >= 0 && box.x + box.width <= width && box.y + box.height <= 640 && box.width > 25, `${ids[i]} at ${JSON.stringify(box)}`);
      boxes.slice(0, i).forEach((other, j) => assert.ok(box.x >= other.x + other.width || other.x >= box.x + box.width || box.y >= other.y + other.height || other.y >= box.y + box.height, `${ids[i]} over ${ids[j]}`));
    });
    await tab.click('#forward');
    assert.ok(Math.abs((await tab.evaluate(() => window.liedyn.app.timeline.time)) - Math.PI / 400) < 1e-9);
    await tab.click('#loop');
    assert.equal(await tab.evaluate(() => window.liedyn.app.timeline.loop), false);
    // An open panel ends above the bar.
    await tab.click('#show-right');
    const [panel, bar] = [await tab.locator('#right').boundingBox(), await tab.locator('.timeline').boundingBox()];
    assert.ok(panel.y + panel.height <= bar.y, `${panel.y + panel.height} above ${bar.y}`);
    assert.deepEqual(errors, []);
    await close();
  }
});

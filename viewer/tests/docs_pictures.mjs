// The pictures of docs/pictures: LIEDYN_PROGRAM=FILE node tests/docs_pictures.mjs DIRECTORY [NAME...]
import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { launch, openUrl, out } from './browser.mjs';

const [directory, ...wanted] = process.argv.slice(2);
const program = process.env.LIEDYN_PROGRAM ?? 'liedyn';
const run = (...args) => execFileSync(program, args, { cwd: out, stdio: ['ignore', 'ignore', 'inherit'] });
mkdirSync(out, { recursive: true });

// ---- a robot with meshes: bodies of revolution about z, and boxes

const revolve = (profile, place = (p) => p, n = 40) => ({
  vertices: profile.flatMap(([r, z]) => Array.from({ length: n }, (_, i) => place([r * Math.cos((2 * Math.PI * i) / n), r * Math.sin((2 * Math.PI * i) / n), z]))),
  faces: profile.slice(1).flatMap((_, k) => Array.from({ length: n }, (_, i) => [k * n + i, k * n + ((i + 1) % n), (k + 1) * n + ((i + 1) % n), (k + 1) * n + i])),
});
const box = ([a, b, c], [x, y, z]) => ({
  vertices: Array.from({ length: 8 }, (_, i) => [x + (i & 1 ? a : -a) / 2, y + (i & 2 ? b : -b) / 2, z + (i & 4 ? c : -c) / 2]),
  faces: [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]],
});
const alongY = ([x, y, z]) => [x, -z, y];
const drum = (radius, half, edge = 0.012) => [[0, -half], [radius - edge, -half], [radius, -half + edge], [radius, half - edge], [radius - edge, half], [0, half]];
function writeMesh(file, parts) {
  let text = '';
  let base = 1;
  for (const { vertices, faces } of parts) {
    for (const v of vertices) text += `v ${v.map((x) => x.toFixed(5)).join(' ')}\n`;
    for (const f of faces) text += `f ${f.map((i) => base + i).join(' ')}\n`;
    base += vertices.length;
  }
  writeFileSync(file, text);
}
function writeRobot() {
  const folder = join(out, 'robot', 'meshes');
  mkdirSync(folder, { recursive: true });
  const links = {
    base: { parts: [revolve([[0, 0], [0.13, 0], [0.14, 0.01], [0.14, 0.03], [0.1, 0.05], [0.085, 0.12], [0, 0.12]])], color: '0.25 0.29 0.34' },
    turret: { parts: [revolve(drum(0.085, 0.05), ([x, y, z]) => [x, y, z + 0.05]), revolve(drum(0.08, 0.1), (p) => { const [x, y, z] = alongY(p); return [x, y - 0.03, z + 0.12]; })], color: '0.93 0.91 0.86' },
    upper_arm: { parts: [revolve(drum(0.08, 0.05), alongY), revolve([[0.06, 0.02], [0.055, 0.1], [0.045, 0.3], [0.048, 0.4]]), revolve(drum(0.065, 0.055), (p) => { const [x, y, z] = alongY(p); return [x, y, z + 0.42]; })], color: '0.91 0.45 0.2' },
    forearm: { parts: [revolve(drum(0.06, 0.045), alongY), revolve([[0.045, 0.02], [0.042, 0.1], [0.033, 0.3], [0.033, 0.34]]), revolve(drum(0.045, 0.042, 0.008), (p) => { const [x, y, z] = alongY(p); return [x, y, z + 0.36]; })], color: '0.93 0.91 0.86' },
    hand: { parts: [revolve(drum(0.035, 0.045, 0.006), alongY), revolve(drum(0.028, 0.03, 0.004), ([x, y, z]) => [x, y, z + 0.05]), box([0.09, 0.03, 0.025], [0, 0, 0.09]), box([0.014, 0.026, 0.07], [0.035, 0, 0.135]), box([0.014, 0.026, 0.07], [-0.035, 0, 0.135])], color: '0.25 0.29 0.34' },
  };
  const joints = { base: null, turret: ['base', '0 0 0.12', '0 0 1'], upper_arm: ['turret', '0 -0.18 0.12', '0 1 0'], forearm: ['upper_arm', '0 0.1 0.42', '0 1 0'], hand: ['forearm', '0 0 0.36', '0 1 0'] };
  let text = '<robot name="robot">\n';
  for (const [name, { parts, color }] of Object.entries(links)) {
    writeMesh(join(folder, `${name}.obj`), parts);
    text += `<link name="${name}"><inertial><origin xyz="0 0 0.1"/><mass value="2"/><inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial>
      <visual><geometry><mesh filename="package://robot/meshes/${name}.obj"/></geometry><material name="${name}"><color rgba="${color} 1"/></material></visual></link>\n`;
    const [parent, at, axis] = joints[name] ?? [];
    if (parent) text += `<joint name="to_${name}" type="continuous"><parent link="${parent}"/><child link="${name}"/><origin xyz="${at}"/><axis xyz="${axis}"/></joint>\n`;
  }
  writeFileSync(join(out, 'robot', 'robot.urdf'), `${text}</robot>\n`);
}
const motor = (name, target) => [['proportional', 400], ['derivative', 30], ['target', target]].flatMap(([key, value]) => ['--set', `forces.to_${name}_motor.${key}=${value}`]);

// ---- pictures: how to write the page, when, and what to do in it

const select = (frame) => `app.toggleTrail(app.view.scene.frames.indexOf('${frame}'))`;
const turn = (azimuth, elevation = 0, closer = 1) => `app.stage.look(${azimuth}, ${elevation}, ${closer})`;
const PICTURES = {
  heavy_top: { make: () => run('run', 'heavy_top', '--end', '2', '--html', 'heavy_top.html'), at: 0.62, act: `${select('top')}; app.toggleArrows()`, panel: true },
  slider_crank: { make: () => run('run', 'slider_crank', '--end', '2', '--html', 'slider_crank.html'), at: 0.28, act: `${select('rod')}` },
  puma560: { make: () => run('run', 'puma560', '--html', 'puma560.html'), at: 0.32, act: select('link6') },
  four_bar_flexible: { make: () => run('run', 'four_bar_flexible', '--html', 'four_bar_flexible.html'), at: 0.55, act: `app.setColoring('moment')` },
  lateral_buckling: { make: () => run('run', 'lateral_buckling', '--html', 'lateral_buckling.html'), at: 0.55, act: `app.setColoring('moment')`, panel: true },
  rotating_shaft: { make: () => run('run', 'rotating_shaft', '--html', 'rotating_shaft.html'), at: 0.44, act: `app.setColoring('moment')` },
  slider_crank_flexible: { make: () => run('run', 'slider_crank_flexible', '--html', 'slider_crank_flexible.html'), at: 0.4, act: `app.setColoring('stress')`, dark: true },
  chain_1000: { make: () => run('run', 'chain', '--set', 'links=1000', '--end', '6', '--step', '2e-3', '--output-every', '10', '--html', 'chain_1000.html'), at: 1, act: `app.selectByName('link12'); app.toggleFollow(); app.select(undefined); ${turn(0, 0, 0.025)}` },
  robot: { make: () => (writeRobot(), run('run', 'robot/robot.urdf', '--end', '2', ...motor('turret', 0.9), ...motor('upper_arm', 0.7), ...motor('forearm', 1.2), ...motor('hand', 0.7), '--html', 'robot.html')), at: 0.5, act: select('hand') },
  two_integrators: {
    make: () => {
      run('run', 'heavy_top', '--end', '1', '--step', '8e-3', '--integrator', 'generalized-alpha,rho=0.5', '--scene', 'coarse.json');
      run('run', 'heavy_top', '--end', '1', '--html', 'two_integrators.html', '--compare', 'coarse.json');
    },
    at: 0.9, act: select('top'), panel: true,
  },
};

const browser = await launch();
for (const [name, { make, at, act, dark, panel }] of Object.entries(PICTURES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  make();
  const { tab, errors, close } = await openUrl(browser, `file://${join(out, `${name}.html`)}?play=0&quality=high`, { width: panel ? 1160 : 960, height: 620, dark });
  await tab.evaluate(([share, code, open]) => {
    const { app } = window.liedyn;
    app.togglePanel('left');
    if (!open) app.togglePanel('right');
    app.openTab('plots');
    app.fit();
    app.timeline.seek(app.timeline.start + share * (app.timeline.end - app.timeline.start));
    new Function('app', code)(app);
  }, [at, act ?? '', panel ?? false]);
  await tab.waitForTimeout(400);
  const file = resolve(directory, `${name}.jpg`);
  for (let quality = 84; quality > 30; quality -= 6) {
    await tab.screenshot({ path: file, type: 'jpeg', quality });
    if (statSync(file).size < 60e3) break;
  }
  console.log(`${file}: ${statSync(file).size} bytes ${errors.join(' ')}`);
  await close();
}
await browser.close();

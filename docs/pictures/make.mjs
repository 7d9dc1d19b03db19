// Makes the pictures of the pages again: node docs/pictures/make.mjs BUILD [NAME...]
// BUILD is the build directory (build/), with the program, the 3D page and its browser. Animations need ffmpeg, pictures Chromium.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

// run: the command without --html. time: of a still picture. Animations have frames from `from` to `to` at `fps`, `speed` times real time.
// bare: without the panels of the page; closed: with its bars. arrows: of forces and reactions, without velocities. plots: curves of these names. before: other runs, whose files are in SCRATCH. turn: degrees about the vertical axis; lift: degrees up; zoom: nearer. joints: false hides them.
const pictures = {
  'walk.webp': { run: ['run', 'examples/four_legs/robot.json'], bare: true, from: 0.5, to: 2.5, fps: 15, speed: 1, turn: 20, zoom: 1.3, width: 960, height: 400, follow: 'torso' },
  'robot.jpg': { run: ['run', 'examples/robot/arm.urdf', '--set', 'initial.shoulder=0.6', '--set', 'initial.elbow=1.2', '--end', '0.1'], bare: true, time: 0, turn: 10, width: 1080, height: 640 },
  'heavy_top.jpg': { run: ['run', 'heavy_top'], time: 0.9, trail: ['top'], width: 1080, height: 640 },
  'lateral_buckling.jpg': { run: ['run', 'lateral_buckling', '--end', '0.4'], time: 0.181, turn: 45, lift: 10, zoom: 0.86, coloring: 'moment', width: 1080, height: 640 },
  'four_legs.jpg': { run: ['run', 'examples/four_legs/robot.json'], time: 1.5, width: 1080, height: 640 },
  'rotating_shaft.jpg': { run: ['run', 'rotating_shaft', '--end', '0.6', '--output-every', '5'], time: 0.5, closed: true, coloring: 'moment', width: 960, height: 560 },
  'slider_crank.jpg': { run: ['run', 'slider_crank', '--end', '2'], closed: true, time: 0.45, trail: ['rod'], width: 960, height: 600 },
  'puma560.jpg': { run: ['run', 'puma560'], closed: true, time: 0.32, trail: ['link6'], joints: false, zoom: 1.1, width: 960, height: 600 },
  'four_bar_flexible.jpg': { run: ['run', 'four_bar_flexible'], closed: true, time: 3.5, coloring: 'moment', width: 960, height: 560 },
  'slider_crank_flexible.jpg': { run: ['run', 'slider_crank_flexible'], closed: true, time: 0.037, coloring: 'stress', dark: true, width: 960, height: 560 },
  'chain_1000.jpg': { run: ['run', 'chain', '--set', 'links=1000', '--end', '9', '--step', '2e-3', '--output-every', '20'], closed: true, time: 9, coloring: 'speed', width: 960, height: 560 },
  'robot_meshes.jpg': {
    run: ['run', 'SCRATCH/robot/robot.urdf', '--end', '2', ...motor('turret', 2.6), ...motor('upper_arm', 0.5), ...motor('forearm', 0.9), ...motor('hand', 0.5)],
    closed: true, time: 0.8, zoom: 1.15, trail: ['hand'], width: 960, height: 600,
  },
  'forces.jpg': { run: ['run', 'SCRATCH/crane.json'], time: 0.75, arrows: true, plots: ['hinge.reaction_force', 'jack.applied_force'], turn: 150, lift: -4, zoom: 0.9, width: 1080, height: 640 },
  'two_integrators.jpg': {
    before: [['run', 'heavy_top', '--step', '8e-3', '--integrator', 'generalized-alpha,rho=0.5', '--scene', 'SCRATCH/coarse.json']],
    run: ['run', 'heavy_top', '--compare', 'SCRATCH/coarse.json'], time: 0.9, trail: ['top'], width: 1080, height: 640,
  },
};
function motor(name, target) {
  return [['proportional', 400], ['derivative', 30], ['target', target]].flatMap(([key, value]) => ['--set', `forces.to_${name}_motor.${key}=${value}`]);
}

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '..', '..');
const [build = join(root, 'build'), ...wanted] = process.argv.slice(2);
const { launch, openUrl, seek } = await import(pathToFileURL(resolve(build, 'dev', 'viewer', 'tests', 'browser.mjs')).href);
const scratch = mkdtempSync(join(tmpdir(), 'pictures-'));
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
  const folder = join(scratch, 'robot', 'meshes');
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
  writeFileSync(join(scratch, 'robot', 'robot.urdf'), `${text}</robot>\n`);
}
writeRobot();

// ---- a crane without sensors: a boom that a hydraulic cylinder holds, and a load that swings at its tip

function writeCrane() {
  const [length, angle] = [3, (35 * Math.PI) / 180];
  const along = (s) => [s * Math.cos(angle), 0, 1 + s * Math.sin(angle)];
  const tip = along(length);
  const [rope, swing] = [1.3, 0.35];
  const load = [tip[0], -rope * Math.sin(swing), tip[2] - rope * Math.cos(swing)];
  writeFileSync(join(scratch, 'crane.json'), JSON.stringify({
    liedyn: 1, gravity: [0, 0, -9.81],
    bodies: {
      tower: { type: 'rigid', mass: 500, inertia: [100, 100, 100], position: [0.3, 0, 0.2], shapes: [{ type: 'box', size: [1.5, 0.9, 0.2], at: [0, 0, -0.1] }, { type: 'box', size: [0.3, 0.3, 0.8], at: [-0.3, 0, 0.4] }] },
      boom: { type: 'rigid', mass: 80, inertia: [2, 60, 60], position: along(length / 2), orientation: { rotation_vector: [0, -angle, 0] }, shapes: [{ type: 'box', size: [length, 0.16, 0.16] }] },
      load: { type: 'rigid', mass: 250, inertia: [10, 10, 10], position: load, orientation: { rotation_vector: [-swing, 0, 0] },
        shapes: [{ type: 'rod', from: [0, 0, 0], to: [0, 0, rope], radius: 0.015 }, { type: 'box', size: [0.5, 0.5, 0.4] }] },
    },
    joints: {
      bolts: { type: 'fixed', between: ['ground', 'tower'], at: [0.3, 0, 0] },
      hinge: { type: 'revolute', between: ['tower', 'boom'], at: [0, 0, 1], axis: [0, 1, 0] },
      hook: { type: 'spherical', between: ['boom', 'load'], at: tip },
    },
    forces: {
      jack: {
        type: 'hydraulic_cylinder', between: ['tower', 'boom'], points: [[0.9, 0, 0.2], along(1.5)], area_a: 4e-3, area_b: 2.5e-3, dead_volume_a: 2e-4, dead_volume_b: 2e-4, stroke: 1.1, retracted: 1.1,
        bulk_modulus: 1.4e9, valve: 0, rated_flow: 8e-4, rated_drop: 3.5e6, supply_pressure: 1.6e7, tank_pressure: 1e5, leakage: 1e-12, damping: 2000, initial_pressure_a: 1.75e6, initial_pressure_b: 1e5,
      },
    },
    simulation: { end: 3, step: 1e-3, integrator: 'generalized-alpha,rho=0.6', initial: 'project', output_every: 5 },
  }));
}
writeCrane();

const SMALL = 60e3; // bytes of a still picture
const browser = await launch();
for (const [name, picture] of Object.entries(pictures)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const file = join(scratch, 'page.html');
  for (const args of [...(picture.before ?? []), [...picture.run, '--html', file]])
    execFileSync(resolve(build, 'dev', 'bin', 'liedyn'), args.map((word) => word.replace('SCRATCH', scratch)), { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  const { tab, close } = await openUrl(browser, `${pathToFileURL(file).href}?play=0&quality=high`, picture);
  await tab.evaluate(({ bare, closed, trail, coloring, joints, turn, lift, zoom, follow, arrows, plots }) => {
    const { app } = window.liedyn;
    if (bare || closed) for (const side of ['left', 'right']) app.setPanel(side, false);
    else {
      app.setPanel('left', false);
      app.openTab('plots');
    }
    if (bare) {
      for (const part of [...document.querySelectorAll('.panel, header, .scale-note'), app.timeline.element]) part.style.display = 'none';
    }
    app.fit();
    for (const frame of trail ?? []) app.toggleTrail(app.view.scene.frames.indexOf(frame));
    if (coloring) app.setColoring(coloring);
    if (joints === false) app.toggleSymbols();
    if (plots) app.plots.clear();
    for (const name of plots ?? []) app.plot(name);
    if (arrows) {
      app.toggleArrows();
      document.querySelector('#arrow-kinds [data-kind="velocity"]').click();
    }
    const { camera, controls } = app.stage;
    const offset = camera.position.clone().sub(controls.target);
    if (turn) offset.applyAxisAngle(camera.up, (turn * Math.PI) / 180);
    if (lift) offset.applyAxisAngle(offset.clone().cross(camera.up).normalize(), (lift * Math.PI) / 180);
    camera.position.copy(controls.target).add(offset.divideScalar(zoom ?? 1));
    controls.update();
    if (follow) { app.selectByName(follow); app.toggleFollow?.(); app.select(undefined); }
  }, picture);
  if (picture.fps) {
    const count = Math.round(((picture.to - picture.from) * picture.fps) / picture.speed);
    for (let n = 0; n < count; n++) {
      await seek(tab, picture.from + (n * picture.speed) / picture.fps);
      await tab.waitForTimeout(60);
      await tab.screenshot({ path: join(scratch, `${String(n).padStart(4, '0')}.png`) });
    }
    execFileSync('ffmpeg', ['-v', 'error', '-y', '-framerate', String(picture.fps), '-i', join(scratch, '%04d.png'), '-loop', '0',
      '-c:v', 'libwebp_anim', '-q:v', '55', '-compression_level', '4', join(here, name)]);
    for (const frame of readdirSync(scratch).filter((f) => f.endsWith('.png'))) rmSync(join(scratch, frame));
  } else {
    await seek(tab, picture.time);
    await tab.waitForTimeout(200);
    for (let quality = 84; quality > 40; quality -= 7) {
      await tab.screenshot({ path: join(here, name), type: 'jpeg', quality });
      if (statSync(join(here, name)).size < SMALL) break;
    }
  }
  await close();
}
await browser.close();
rmSync(scratch, { recursive: true });

// What the program writes: positions in the page beside those in VTK files, and glTF files beside the validator of Khronos. Needs LIEDYN_PROGRAM, the program.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import validator from 'gltf-validator';
import { launch, openUrl, out, seek, vertices } from './browser.mjs';

const program = process.env.LIEDYN_PROGRAM;
const skip = program ? false : 'LIEDYN_PROGRAM names no program';
const run = (...args) => execFileSync(program, args, { cwd: out, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });

let browser;
before(async () => {
  mkdirSync(out, { recursive: true });
  if (program) browser = await launch();
});
after(() => browser?.close());

// An arm of solid elements that is spun and swings, and a rigid ball.
const ARM = {
  liedyn: 1, gravity: [0, 0, -9.81],
  bodies: { ball: { type: 'rigid', mass: 2, inertia: [0.01, 0.01, 0.01], position: [1, 0.5, 0], velocity: [0, 1, 2] } },
  flexible: {
    arm: { type: 'brick', size: [1, 0.05, 0.02], divisions: [20, 2, 2], position: [0.5, 0, 0], young: 5e8, poisson: 0.33, density: 2700, modes: 6 },
    root: { type: 'interface', of: 'arm', at: [0, 0, 0], group: 'x-' },
  },
  joints: { hinge: { type: 'revolute', between: ['ground', 'root'], at: [0, 0, 0], axis: [0, 1, 0] } },
  simulation: { end: 0.2, step: 2e-3, integrator: 'generalized-alpha,rho=0.6', output_every: 10 },
};

// Points of a VTK file: the array inside of <Points>, appended behind its size of eight bytes.
function vtkPoints(file) {
  const bytes = readFileSync(file);
  const text = bytes.toString('latin1');
  const offset = Number(/<Points>[^]*?offset="(\d+)"/.exec(text)[1]);
  const start = text.indexOf('_', text.indexOf('<AppendedData')) + 1 + offset;
  const size = Number(bytes.readBigUInt64LE(start));
  return Array.from({ length: size / 24 }, (_, i) => [0, 1, 2].map((k) => bytes.readDoubleLE(start + 8 + 24 * i + 8 * k)));
}

test('vertices of the page are those of VTK files, to 1e-5 of the size', { skip }, async () => {
  writeFileSync(join(out, 'arm.json'), JSON.stringify(ARM));
  run('run', 'arm.json', '--html', 'arm.html', '--vtk', 'arm_vtk');
  const files = readdirSync(join(out, 'arm_vtk')).filter((name) => name.endsWith('.vtu')).sort();
  assert.equal(files.length, 11);
  const { tab, errors, close } = await openUrl(browser, `file://${join(out, 'arm.html')}?play=0`);
  const size = await tab.evaluate(() => window.liedyn.app.view.scene.size);
  let largest = 0;
  for (const [i, file] of files.entries()) {
    await seek(tab, 0.02 * i);
    const nodes = vtkPoints(join(out, 'arm_vtk', file));
    const shown = await vertices(tab, 'arm');
    assert.ok(shown.length > 3 * 100);
    for (let n = 0; n < shown.length; n += 3) largest = Math.max(largest, Math.min(...nodes.map((p) => Math.hypot(p[0] - shown[n], p[1] - shown[n + 1], p[2] - shown[n + 2]))));
  }
  console.log(`vertices read back from the shader: ${(largest / size).toExponential(1)} of the size away from the VTK files`);
  assert.ok(largest < 1e-5 * size, `${largest} of ${size}`);
  assert.deepEqual(errors, []);
  await close();
});

test('glTF files pass the validator of Khronos', { skip }, async () => {
  const files = {
    rigid: ['run', 'slider_crank', '--end', '0.2'], shapes: ['run', 'puma560', '--end', '0.1'], beams: ['run', 'lateral_buckling', '--end', '0.02'],
    flexible: ['run', 'arm.json', '--end', '0.1'], modes: ['modes', 'chain', '--at', 'static'], static: ['static', 'princeton_beam'],
  };
  writeFileSync(join(out, 'arm.json'), JSON.stringify(ARM));
  for (const [name, args] of Object.entries(files)) {
    run(...args, '--gltf', `${name}.glb`);
    const report = await validator.validateBytes(new Uint8Array(readFileSync(join(out, `${name}.glb`))));
    const { numErrors, numWarnings, messages } = report.issues;
    assert.equal(numErrors + numWarnings, 0, `${name}: ${JSON.stringify(messages.slice(0, 5))}`);
    assert.ok(report.info.drawCallCount > 0, name);
    const modes = name === 'modes' ? JSON.parse(run(...args, '--json')).modes.length : 1;
    assert.equal(report.info.animationCount, modes, name);
  }
});

test('an equilibrium of the default single load step moves, with arrows of what acts', { skip }, async () => {
  run('static', 'cantilever_45', '--html', 'bend.html');
  const { tab, errors, close } = await openUrl(browser, `file://${join(out, 'bend.html')}?play=0`);
  const tip = async (factor) => {
    await seek(tab, factor);
    return tab.evaluate(() => Array.from(window.liedyn.app.view.poses.positions.slice(-3)));
  };
  const [start, end] = [await tip(0), await tip(1)];
  const size = await tab.evaluate(() => window.liedyn.app.view.scene.size);
  assert.ok(Math.hypot(...end.map((x, k) => x - start[k])) > 0.2 * size, `from ${start} to ${end}`);
  await tab.keyboard.press('a');
  const kinds = await tab.evaluate(() => Object.fromEntries(window.liedyn.app.arrows.kinds.map(({ kind, largest }) => [kind, largest])));
  // The clamp carries the load.
  assert.ok(kinds.applied_force > 0 && Math.abs(kinds.reaction_force - kinds.applied_force) < 1e-3 * kinds.applied_force, JSON.stringify(kinds));
  assert.ok(!(await tab.evaluate(() => window.liedyn.app.view.colorings)).includes('speed'));
  assert.deepEqual(errors, []);
  await close();
});

// Makes the pictures of the pages again: node docs/pictures/make.mjs BUILD [NAME...]
// BUILD is the build directory (build/), with the program, the 3D page and its browser. Animations need ffmpeg, pictures Chromium.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

// run: the command without --html. time: of a still picture. Animations have frames from `from` to `to` at `fps`, `speed` times real time.
// bare: without the panels of the page. turn: degrees about the vertical axis; lift: degrees up; zoom: nearer.
const pictures = {
  'walk.webp': { run: ['run', 'examples/four_legs/robot.json'], bare: true, from: 0.5, to: 2.5, fps: 15, speed: 1, turn: 20, zoom: 1.7, width: 640, height: 360, follow: 'torso' },
  'robot.jpg': { run: ['run', 'examples/robot/arm.urdf', '--set', 'initial.shoulder=0.6', '--set', 'initial.elbow=1.2', '--end', '0.1'], bare: true, time: 0, turn: 10, width: 960, height: 540 },
  'heavy_top.jpg': { run: ['run', 'heavy_top'], time: 0.9, trail: ['top'], width: 1080, height: 640 },
  'lateral_buckling.jpg': { run: ['run', 'lateral_buckling', '--end', '0.4'], time: 0.19, turn: -25, width: 1080, height: 640 },
  'four_legs.jpg': { run: ['run', 'examples/four_legs/robot.json'], time: 1.5, width: 1080, height: 640 },
  'rotating_shaft.jpg': { run: ['run', 'rotating_shaft', '--end', '0.6', '--output-every', '5'], time: 0.5, width: 1080, height: 640 },
};

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '..', '..');
const [build = join(root, 'build'), ...wanted] = process.argv.slice(2);
const { launch, openUrl, seek } = await import(pathToFileURL(resolve(build, 'dev', 'viewer', 'tests', 'browser.mjs')).href);
const scratch = mkdtempSync(join(tmpdir(), 'pictures-'));
const browser = await launch();
for (const [name, picture] of Object.entries(pictures)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const file = join(scratch, 'page.html');
  execFileSync(resolve(build, 'dev', 'bin', 'liedyn'), [...picture.run, '--html', file], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  const { tab, close } = await openUrl(browser, `${pathToFileURL(file).href}?play=0&quality=high`, picture);
  await tab.evaluate(({ bare, trail, coloring, turn, lift, zoom, follow }) => {
    const { app } = window.liedyn;
    if (bare) {
      for (const side of ['left', 'right']) app.setPanel(side, false);
      for (const part of [...document.querySelectorAll('.panel, header, .scale-note'), app.timeline.element]) part.style.display = 'none';
    }
    app.fit();
    for (const frame of trail ?? []) app.toggleTrail(app.view.scene.frames.indexOf(frame));
    if (coloring) app.setColoring(coloring);
    const { camera, controls } = app.stage;
    const offset = camera.position.clone().sub(controls.target);
    if (turn) offset.applyAxisAngle(camera.up, (turn * Math.PI) / 180);
    if (lift) offset.applyAxisAngle(offset.clone().cross(camera.up).normalize(), (-lift * Math.PI) / 180);
    camera.position.copy(controls.target).add(offset.divideScalar(zoom ?? 1));
    controls.update();
    if (follow) { app.selectByName(follow); app.toggleFollow?.(); }
  }, picture);
  if (picture.fps) {
    const count = Math.round(((picture.to - picture.from) * picture.fps) / picture.speed);
    for (let n = 0; n < count; n++) {
      await seek(tab, picture.from + (n * picture.speed) / picture.fps);
      await tab.waitForTimeout(60);
      await tab.screenshot({ path: join(scratch, `${String(n).padStart(4, '0')}.png`) });
    }
    execFileSync('ffmpeg', ['-v', 'error', '-y', '-framerate', String(picture.fps), '-i', join(scratch, '%04d.png'), '-loop', '0',
      '-c:v', 'libwebp_anim', '-q:v', '55', '-compression_level', '6', join(here, name)]);
    for (const frame of readdirSync(scratch).filter((f) => f.endsWith('.png'))) rmSync(join(scratch, frame));
  } else {
    await seek(tab, picture.time);
    await tab.waitForTimeout(200);
    await tab.screenshot({ path: join(here, name), type: 'jpeg', quality: 82 });
  }
  await close();
}
await browser.close();
rmSync(scratch, { recursive: true });

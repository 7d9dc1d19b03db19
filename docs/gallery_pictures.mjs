// Pictures of 3D pages, for docs/gallery.py: node gallery_pictures.mjs VIEWER LIST.json
// VIEWER is the folder where the page was built, with its browser; the list has {page, picture, time, trail, coloring, mode, turn, lift, zoom}: turn and lift in degrees, zoom > 1 is nearer.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [viewer, list] = process.argv.slice(2);
const { launch, openUrl } = await import(pathToFileURL(resolve(viewer, 'tests', 'browser.mjs')).href);
const browser = await launch();
for (const wanted of JSON.parse(readFileSync(list, 'utf8'))) {
  await picture(wanted).catch((error) => console.error(`gallery: no picture of ${wanted.page}: ${error.message.split('\n')[0]}`));
}
await browser.close();

async function picture(wanted) {
  const url = `${pathToFileURL(resolve(wanted.page)).href}?play=0&quality=high`;
  const { tab, close } = await openUrl(browser, url, { width: 960, height: 540 });
  await tab.evaluate(({ time, trail, coloring, mode, turn, lift, zoom }) => {
    const { app } = window.liedyn;
    for (const side of ['left', 'right']) app.setPanel(side, false);
    for (const part of [...document.querySelectorAll('.panel, header, .scale-note'), app.timeline.element]) part.style.display = 'none';
    app.fit();
    if (trail) for (const name of [trail].flat()) app.toggleTrail(app.view.scene.frames.indexOf(name));
    if (coloring) app.setColoring(coloring);
    if (mode !== undefined) app.view.mode = mode;
    const { camera, controls } = app.stage;
    const offset = camera.position.clone().sub(controls.target);
    if (turn) offset.applyAxisAngle(camera.up, (turn * Math.PI) / 180);
    if (lift) offset.applyAxisAngle(offset.clone().cross(camera.up).normalize(), (-lift * Math.PI) / 180);
    camera.position.copy(controls.target).add(offset.divideScalar(zoom ?? 1));
    controls.update();
    app.timeline.pause();
    const times = app.view.scene.times;
    app.timeline.seek(time ?? 0.4 * times[times.length - 1]);
  }, wanted);
  await tab.waitForTimeout(200);
  await tab.screenshot({ path: wanted.picture, type: 'jpeg', quality: 85 });
  await close();
}

// Frames per second of large scenes in headless Chromium, which renders in software: node tests/frame_rate.mjs
import { cpus, loadavg } from 'node:os';
import { launch, open } from './browser.mjs';
import * as scenes from './scenes.mjs';

const browser = await launch();
const cases = { '10 bodies': scenes.chain(10), '1000 bodies': scenes.chain(1000), '10 000 bodies': scenes.chain(10000), '200 000 deforming vertices': scenes.plate(447) };
console.log(`software rendering (SwiftShader), 1280 x 720, ${cpus()[0].model}, ${cpus().length} cores, load ${loadavg()[0].toFixed(1)}`);
for (const [name, { json, count }] of Object.entries(cases)) {
  const { tab, errors, close } = await open(browser, 'frame_rate', [json], { width: 1280, height: 720, query: '?play=0&quality=low' });
  const cost = await tab.evaluate(() => {
    const { app } = window.liedyn;
    const gl = app.stage.renderer.getContext();
    const pixel = new Uint8Array(4);
    const frame = (i) => {
      app.timeline.seek(app.timeline.start + ((app.timeline.end - app.timeline.start) * (i % 20)) / 20);
      const updated = performance.now();
      app.draw();
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel); // waits until it is drawn
      return updated;
    };
    for (let i = 0; i < 3; i++) frame(i);
    let [updates, draws, frames] = [0, 0, 0];
    const started = performance.now();
    while (performance.now() - started < 4000 || frames < 5) {
      const before = performance.now();
      const updated = frame(frames++);
      updates += updated - before;
      draws += performance.now() - updated;
    }
    return { update: updates / frames, draw: draws / frames, calls: app.stage.renderer.info.render.calls, triangles: app.stage.renderer.info.render.triangles };
  });
  const rate = 1000 / (cost.update + cost.draw);
  console.log(`${name}${count ? ` (${count})` : ''}: ${rate.toFixed(1)} frames per second, update ${cost.update.toFixed(1)} ms, drawing ${cost.draw.toFixed(1)} ms, ${cost.calls} calls, ${cost.triangles} triangles ${errors.join(' ')}`);
  await close();
}
await browser.close();

// Pictures of scenes with motions in closed form beside those in tests/pictures. `npm run pictures` writes them anew: look at them before they are committed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, open, seek } from './browser.mjs';
import { difference, readPicture, takePicture, writePicture } from './pictures.mjs';
import * as scenes from './scenes.mjs';

const TOLERANCE = 12; // of 255, after blurring
const anew = process.env.LIEDYN_NEW_PICTURES === '1';

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

const CASES = {
  top: { scenes: [scenes.top().json], at: 2.1, dark: true, act: () => { window.liedyn.app.toggleTrail(0); window.liedyn.app.toggleArrows(); }, hide: 'top' },
  chain: { scenes: [scenes.chain(12).json], at: 0.5, hide: 'link[6]' },
  beams: { scenes: [scenes.beams().json], at: 1, hide: 'bending' },
  plate: { scenes: [scenes.plate().json], at: 1, act: () => window.liedyn.app.setColoring('stress'), hide: 'plate' },
  compare: { scenes: [scenes.top().json, scenes.top({ phase: -0.4, tilt: 0.7, title: 'other' }).json], at: 1.5, hide: 'top' },
  modes: { scenes: [scenes.modes().json], at: 0, hide: 'bead[9]' },
  gallery: { scenes: [scenes.gallery().json], at: 0, hide: 'sphere' },
};

for (const [name, picture] of Object.entries(CASES))
  test(`picture: ${name}`, async () => {
    const { tab, errors, close } = await open(browser, `picture_${name}`, picture.scenes, { width: 480, height: 360, dark: picture.dark, query: '?play=0&quality=low' });
    if (picture.act) await tab.evaluate(picture.act);
    await seek(tab, picture.at);
    const got = await takePicture(tab);
    if (anew) writePicture(name, got);
    const distance = await difference(tab, got, readPicture(name));
    // The comparison must be able to fail: without one of its bodies the picture is another one.
    await tab.evaluate((body) => {
      const { app } = window.liedyn;
      const index = app.view.scene.bodies.findIndex((entry) => entry.name === body);
      app.view.setVisible({ kind: 'body', index }, false);
    }, picture.hide);
    const without = await difference(tab, await takePicture(tab), readPicture(name));
    console.log(`${name}: ${distance.toFixed(1)} of 255, without ${picture.hide} ${without.toFixed(1)}`);
    assert.ok(distance < TOLERANCE, `differs by ${distance} of 255: npm run pictures writes ${name}.png anew`);
    assert.ok(without > TOLERANCE, `not seen: ${picture.hide} is missing, difference ${without}`);
    assert.deepEqual(errors, []);
    await close();
  });

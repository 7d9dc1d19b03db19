// Pictures of the stage without panels, coarse enough to be the same on all machines: 96 x 72 pixels, blurred.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = join(dirname(fileURLToPath(import.meta.url)), 'pictures');
export const [WIDTH, HEIGHT] = [96, 72];

// As a PNG file.
export async function takePicture(tab) {
  await tab.addStyleTag({ content: 'body > *, #app > * { visibility: hidden !important } #app .stage, #app .stage * { visibility: visible !important }' });
  await tab.evaluate(() => window.liedyn.app.draw());
  const shot = (await tab.screenshot({ type: 'png' })).toString('base64');
  const small = await tab.evaluate(async ([data, w, h]) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [w, h];
    const context = canvas.getContext('2d');
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, w, h);
    return canvas.toDataURL('image/png').split(',')[1];
  }, [shot, WIDTH, HEIGHT]);
  return Buffer.from(small, 'base64');
}

// The largest difference of a colour, of 255, between two pictures whose pixels are means over 5 x 5.
export async function difference(tab, one, other) {
  return tab.evaluate(async ([files, w, h]) => {
    const blurred = [];
    for (const data of files) {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      if (image.width !== w || image.height !== h) return 255;
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [w, h];
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      const pixels = context.getImageData(0, 0, w, h).data;
      const means = [];
      for (let y = 2; y < h - 2; y++)
        for (let x = 2; x < w - 2; x++)
          for (let c = 0; c < 3; c++) {
            let sum = 0;
            for (let j = -2; j <= 2; j++) for (let i = -2; i <= 2; i++) sum += pixels[4 * ((y + j) * w + x + i) + c];
            means.push(sum / 25);
          }
      blurred.push(means);
    }
    return blurred[0].reduce((largest, value, i) => Math.max(largest, Math.abs(value - blurred[1][i])), 0);
  }, [[one, other].map((file) => file.toString('base64')), WIDTH, HEIGHT]);
}

export const readPicture = (name) => readFileSync(join(folder, `${name}.png`));
export const writePicture = (name, picture) => writeFileSync(join(folder, `${name}.png`), picture);

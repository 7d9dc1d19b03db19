// Canvases in pixels of the screen, ticks of axes, and drawing in slices.
import { format, h } from './ui';
import { share, valueAt, type Column } from './study_data';

export const FOCUS = '#ff8a1f'; // as the selected body of the 3D view

export interface Palette {
  text: string;
  muted: string;
  line: string;
  solid: string;
  accent: string;
  pale: string; // cases that are not selected
}

export function palette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(name).trim();
  return { text: of('--text'), muted: of('--muted'), line: of('--line'), solid: of('--solid'), accent: of('--accent'), pale: of('--pale') };
}

export class Layer {
  readonly canvas = h('canvas', {});
  readonly context: CanvasRenderingContext2D;
  width = 0;
  height = 0;

  constructor() {
    this.context = this.canvas.getContext('2d')!;
  }

  resize(width: number, height: number): void {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    this.width = width;
    this.height = height;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  clear(): CanvasRenderingContext2D {
    this.context.clearRect(0, 0, this.width, this.height);
    return this.context;
  }
}

// Draws many items without blocking the page: some milliseconds of each frame, until all are there.
export class Painter {
  finished: Promise<void> = Promise.resolve();
  private run = 0;

  constructor(private readonly budget: number) {}

  paint(count: number, draw: (k: number) => void): void {
    const own = ++this.run;
    let k = 0;
    this.finished = new Promise((done) => {
      const slice = () => {
        if (own !== this.run) return done();
        const end = performance.now() + this.budget;
        // The clock is read for every 32 items.
        while (k < count && (k % 32 !== 0 || performance.now() < end)) draw(k++);
        if (k < count) requestAnimationFrame(slice);
        else done();
      };
      slice();
    });
  }

  stop(): void {
    this.run++;
  }
}

// About `most` round values of a column, and how each is written.
export function ticks(column: Column, most: number): { value: number; text: string }[] {
  if (column.labels) return column.labels.map((text, value) => ({ value, text }));
  const { low, high } = column;
  if (!(high > low)) return [{ value: low, text: format(low) }];
  if (column.log && high / low > 20) {
    const out = [];
    for (let power = Math.ceil(Math.log10(low)); power <= Math.log10(high); power++) out.push({ value: 10 ** power, text: format(10 ** power) });
    return out;
  }
  const raw = (high - low) / Math.max(most, 1), base = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * base).find((s) => s >= raw * 0.999) ?? 10 * base;
  // Values that differ by their last digits: multiples of the step cannot be told from each other.
  if (Math.max(Math.abs(low), Math.abs(high)) / step > 2 ** 45) return [low, high].map((value) => ({ value, text: format(value) }));
  const out = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) out.push({ value: k * step, text: rounded(k * step, step) });
  return out;
}

function rounded(value: number, step: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return format(value);
  return value.toFixed(Math.min(Math.max(-Math.floor(Math.log10(step) + 1e-9), 0), 9));
}

// Pixels of an axis from `from` (least value) to `to`.
export const pixel = (column: Column, value: number, from: number, to: number) => from + share(column, value) * (to - from);
export const fromPixel = (column: Column, at: number, from: number, to: number) => valueAt(column, Math.min(Math.max((at - from) / (to - from), 0), 1));

// A value as a person reads it: a label, or four digits.
export const shown = (column: Column, value: number) => column.labels?.[value] ?? format(value);

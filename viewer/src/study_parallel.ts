// Parallel coordinates: a line per case through its values. Dragging along an axis selects a range.
import { FOCUS, fromPixel, Layer, Painter, palette, pixel, shown, ticks } from './study_canvas';
import { labelOf, share, valueAt, type Column } from './study_data';
import { NO_CASE, type State } from './study_state';
import { h } from './ui';

const TOP = 46;
const BOTTOM = 16;
const LANE = 20; // below the axis, where lines of cases without a value pass
const SIDE = 56;
const LEAST_DISTANCE = 92; // of two axes
const GRIP = 16; // how near to an axis a drag belongs to it
const EDGE = 6;
const NEAR = 8;

type Drag = { column: Column; kind: 'new' | 'move' | 'low' | 'high'; start: number; range: [number, number]; moved: boolean };

export class Parallel {
  readonly element = h('div', { class: 'parallel', id: 'parallel' });
  readonly painter = new Painter(10);
  private readonly background = new Painter(4);
  private readonly stack = h('div', { class: 'stack' });
  private readonly labels = h('div', { class: 'axis-labels' });
  private readonly all = new Layer();
  private readonly some = new Layer();
  private readonly marks = new Layer();
  private readonly order: Uint32Array; // mixed, so that a picture that is not finished looks like the whole one
  private axes: Column[] = [];
  private heights: Float32Array[] = []; // of each case on each axis
  private drag?: Drag;

  constructor(private readonly state: State) {
    this.order = mixed(state.study.cases);
    this.stack.append(this.all.canvas, this.some.canvas, this.marks.canvas, this.labels);
    this.element.append(this.stack);
    const canvas = this.marks.canvas;
    canvas.id = 'parallel-canvas';
    canvas.addEventListener('pointerdown', (event) => this.pressed(event));
    canvas.addEventListener('pointermove', (event) => this.moved(event));
    canvas.addEventListener('pointerup', (event) => this.released(event));
    canvas.addEventListener('pointercancel', () => (this.drag = undefined));
    canvas.addEventListener('pointerleave', () => this.drag || state.hover(NO_CASE));
  }

  setAxes(axes: Column[]): void {
    this.axes = axes;
    this.labels.replaceChildren(
      ...axes.map((column) => {
        const label = h('button', { type: 'button', class: 'axis-label', title: `${labelOf(column)}: click to colour by it; arrow keys select a range`, 'data-column': column.name, click: () => this.state.colorBy(column) }, h('b', {}, column.name), column.unit && h('small', {}, column.unit));
        label.addEventListener('keydown', (event) => this.key(event, column));
        return label;
      }),
    );
    this.resize();
  }

  // Where an axis stands, and its ends, in pixels of the canvas.
  x(axis: number): number {
    return this.axes.length > 1 ? SIDE + (axis * (this.all.width - 2 * SIDE)) / (this.axes.length - 1) : this.all.width / 2;
  }
  get low(): number {
    return this.all.height - BOTTOM - (this.axes.some((c) => c.gaps) ? LANE : 0);
  }
  get high(): number {
    return TOP;
  }

  resize(): void {
    const width = Math.max(this.element.clientWidth, 2 * SIDE + (this.axes.length - 1) * LEAST_DISTANCE), height = this.element.clientHeight;
    if (width === 0 || height === 0) return;
    for (const layer of [this.all, this.some, this.marks]) layer.resize(width, height);
    this.stack.style.width = `${width}px`;
    const lane = this.low + LANE - 4;
    this.heights = this.axes.map((column) =>
      Float32Array.from(column.values, (value) => {
        const s = share(column, value);
        return Number.isFinite(s) ? this.low + s * (this.high - this.low) : lane;
      }),
    );
    [...this.labels.children].forEach((label, i) => {
      const distance = this.axes.length > 1 ? this.x(1) - this.x(0) : width;
      (label as HTMLElement).style.left = `${this.x(i)}px`;
      (label as HTMLElement).style.maxWidth = `${Math.max(distance - 6, 60)}px`;
    });
    this.draw();
  }

  draw(): void {
    this.drawSelected();
    this.drawMarks();
    const { pale } = palette(), c = this.all.clear();
    c.strokeStyle = pale;
    c.lineWidth = 1;
    // Once: what is selected lies over it.
    this.background.paint(this.order.length, (k) => this.line(c, this.order[k]));
  }

  drawSelected(): void {
    const { state } = this, c = this.some.clear();
    c.lineWidth = state.count > 300 ? 1 : 1.4;
    c.globalAlpha = Math.min(Math.max(14 / Math.sqrt(state.count), 0.14), 0.85);
    this.all.canvas.style.opacity = state.filtered ? '1' : '0';
    this.painter.paint(this.order.length, (k) => {
      const i = this.order[k];
      if (!state.selected[i]) return;
      c.strokeStyle = state.colorOf(i);
      this.line(c, i);
    });
  }

  drawMarks(): void {
    const { state } = this, colors = palette(), c = this.marks.clear();
    for (const [i, width] of [[state.chosen, 2.6], [state.hovered, 2]] as const) {
      if (i === NO_CASE) continue;
      c.strokeStyle = colors.solid;
      c.lineWidth = width + 2.5;
      this.line(c, i);
      c.strokeStyle = FOCUS;
      c.lineWidth = width;
      this.line(c, i);
    }
    c.font = `11px ${getComputedStyle(document.documentElement).fontFamily}`;
    c.textBaseline = 'middle';
    this.axes.forEach((column, a) => {
      const x = this.x(a), range = state.ranges.get(column);
      if (range) {
        const [y0, y1] = [pixel(column, range[1], this.low, this.high), pixel(column, range[0], this.low, this.high)];
        const top = Math.max(Math.min(y0, y1 - 3), this.high - 3), height = Math.min(y1, this.low + 3) - top;
        c.fillStyle = colors.accent;
        c.globalAlpha = 0.25;
        c.fillRect(x - 8, top, 16, height);
        c.globalAlpha = 1;
        c.fillRect(x - 8, top, 16, 2);
        c.fillRect(x - 8, top + height - 2, 16, 2);
      }
      c.strokeStyle = state.color === column ? colors.accent : colors.muted;
      c.lineWidth = state.color === column ? 2 : 1;
      c.beginPath();
      c.moveTo(x, this.high);
      c.lineTo(x, this.low);
      c.stroke();
      const last = a === this.axes.length - 1;
      const text = (value: string, y: number) => {
        // With a rim in the colour of the page, so that lines do not cross the digits.
        c.textAlign = last ? 'right' : 'left';
        const at = x + (last ? -7 : 7);
        c.lineWidth = 3;
        c.strokeStyle = colors.solid;
        c.strokeText(value, at, y);
        c.fillStyle = colors.text;
        c.fillText(value, at, y);
      };
      if (range && !column.labels) {
        text(shown(column, range[1]), pixel(column, range[1], this.low, this.high) - 7);
        text(shown(column, range[0]), pixel(column, range[0], this.low, this.high) + 7);
      } else
        for (const tick of ticks(column, Math.max((this.low - this.high) / 34, 3))) {
          const y = pixel(column, tick.value, this.low, this.high);
          c.fillStyle = colors.muted;
          c.fillRect(x - 3, y - 0.5, 6, 1);
          text(tick.text.length > 16 ? `${tick.text.slice(0, 15)}…` : tick.text, y);
        }
      if (column.gaps) {
        c.fillStyle = colors.muted;
        c.textAlign = last ? 'right' : 'left';
        c.fillText('none', x + (last ? -7 : 7), this.low + LANE - 4);
      }
    });
  }

  private line(c: CanvasRenderingContext2D, i: number): void {
    c.beginPath();
    for (let a = 0; a < this.heights.length; a++) c.lineTo(this.x(a), this.heights[a][i]);
    c.stroke();
  }

  // ---- pointer and keys

  private at(event: PointerEvent): [number, number] {
    const box = this.marks.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  private axisAt(x: number): Column | undefined {
    const a = this.axes.findIndex((_, i) => Math.abs(x - this.x(i)) <= GRIP);
    return a < 0 ? undefined : this.axes[a];
  }

  // The line nearest to a point between two axes, of those that are selected.
  private caseAt(x: number, y: number): number {
    const a = Math.min(Math.max(this.axes.findIndex((_, i) => i + 1 === this.axes.length - 1 || x < this.x(i + 1)), 0), this.axes.length - 2);
    if (a < 0) return NO_CASE;
    const s = (x - this.x(a)) / (this.x(a + 1) - this.x(a)), [left, right] = [this.heights[a], this.heights[a + 1]];
    let best = NO_CASE, distance = NEAR;
    for (let i = 0; i < left.length; i++) {
      if (!this.state.selected[i]) continue;
      const d = Math.abs(left[i] + s * (right[i] - left[i]) - y);
      if (d < distance) [best, distance] = [i, d];
    }
    return best;
  }

  private pressed(event: PointerEvent): void {
    if (event.button !== 0) return;
    const [x, y] = this.at(event), column = this.axisAt(x);
    if (!column) return;
    this.marks.canvas.setPointerCapture(event.pointerId);
    const range = this.state.ranges.get(column);
    let kind: Drag['kind'] = 'new';
    if (range) {
      const [low, high] = range.map((value) => pixel(column, value, this.low, this.high));
      if (Math.abs(y - high) <= EDGE) kind = 'high';
      else if (Math.abs(y - low) <= EDGE) kind = 'low';
      else if (y > high && y < low) kind = 'move';
    }
    this.drag = { column, kind, start: y, range: range ? [...range] : [0, 0], moved: false };
  }

  private moved(event: PointerEvent): void {
    const [x, y] = this.at(event);
    if (!this.drag) {
      const axis = this.axisAt(x);
      this.marks.canvas.style.cursor = axis && y > TOP - 8 ? 'ns-resize' : 'default';
      this.state.hover(this.caseAt(x, y));
      return;
    }
    const { column, kind, start, range } = this.drag;
    if (!this.drag.moved && Math.abs(y - start) < 4) return;
    this.drag.moved = true;
    const value = (at: number) => fromPixel(column, at, this.low, this.high);
    if (kind === 'new') this.setRange(column, [value(start), value(y)]);
    else if (kind === 'low') this.setRange(column, [value(y), range[1]]);
    else if (kind === 'high') this.setRange(column, [range[0], value(y)]);
    else this.shift(column, range, (y - start) / (this.high - this.low));
  }

  private released(event: PointerEvent): void {
    const drag = this.drag;
    this.drag = undefined;
    if (drag?.moved) return;
    const [x, y] = this.at(event), found = this.caseAt(x, y);
    // A click on an axis clears its range; elsewhere it chooses a case.
    if (drag && this.state.ranges.has(drag.column)) this.state.setRange(drag.column, undefined);
    else if (found !== NO_CASE) this.state.choose(found);
  }

  // Labels have values 0, 1, ...; a range reaches half-way to the next one.
  private setRange(column: Column, [a, b]: [number, number]): void {
    this.state.setRange(column, column.labels ? [Math.round(Math.min(a, b)) - 0.5, Math.round(Math.max(a, b)) + 0.5] : [a, b]);
  }

  // Moves a range by a part of the axis, within its ends.
  private shift(column: Column, range: [number, number], by: number): void {
    const [low, high] = range.map((value) => share(column, value));
    const d = Math.min(Math.max(by, -low), 1 - high);
    this.state.setRange(column, [valueAt(column, low + d), valueAt(column, high + d)]);
  }

  private key(event: KeyboardEvent, column: Column): void {
    const range = this.state.ranges.get(column), up = event.key === 'ArrowUp';
    if (event.key === 'Delete' || event.key === 'Backspace') this.state.setRange(column, undefined);
    else if (!up && event.key !== 'ArrowDown') return;
    else if (!range) this.setRange(column, up ? [valueAt(column, 0.5), column.high] : [column.low, valueAt(column, 0.5)]);
    else if (event.shiftKey) {
      // The upper end alone.
      const [low, high] = range.map((value) => share(column, value));
      this.setRange(column, [range[0], valueAt(column, Math.min(Math.max(high + (up ? 0.05 : -0.05), low), 1))]);
    } else this.shift(column, range, up ? 0.05 : -0.05);
    event.preventDefault();
  }
}

function mixed(count: number): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  let seed = 1;
  for (let i = count - 1; i > 0; i--) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const k = seed % (i + 1);
    [order[i], order[k]] = [order[k], order[i]];
  }
  return order;
}

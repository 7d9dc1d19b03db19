// How often a column has its values: the selected cases over all of them. Dragging selects a range.
import { chooser } from './study_chooser';
import { FOCUS, fromPixel, Layer, palette, pixel, ticks } from './study_canvas';
import { labelOf, share, type Column } from './study_data';
import { NO_CASE, type State } from './study_state';
import { format, h } from './ui';

const LEFT = 44, RIGHT = 14, TOP = 10, BOTTOM = 40;

interface Moments {
  count: number;
  mean: number;
  deviation: number;
}

export class Histogram {
  readonly element = h('section', { class: 'plot-card panel', id: 'histogram', 'aria-label': 'Histogram' });
  private readonly host = h('div', { class: 'drawing' });
  private readonly layer = new Layer();
  private readonly figures = h('small', { class: 'figures', id: 'histogram-figures' });
  private readonly choice: HTMLSelectElement;
  private drag?: { x: number; moved: boolean };

  constructor(private readonly state: State, public column: Column) {
    this.choice = chooser('histogram-column', 'Quantity', state.study.columns, column, (chosen) => this.show(chosen));
    this.host.append(this.layer.canvas);
    this.element.append(h('header', {}, h('label', {}, 'quantity', this.choice), this.figures), this.host);
    const canvas = this.layer.canvas;
    canvas.id = 'histogram-canvas';
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      this.drag = { x: this.at(event), moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => this.moved(event));
    canvas.addEventListener('pointerup', () => {
      if (this.drag && !this.drag.moved) state.setRange(this.column, undefined);
      this.drag = undefined;
    });
    canvas.addEventListener('pointercancel', () => (this.drag = undefined));
  }

  show(column: Column): void {
    this.column = column;
    this.choice.value = String(this.state.study.columns.indexOf(column));
    this.draw();
  }

  resize(): void {
    const { clientWidth, clientHeight } = this.host;
    if (clientWidth === 0 || clientHeight === 0) return;
    this.layer.resize(clientWidth, clientHeight);
    this.draw();
  }

  private px(value: number): number {
    return pixel(this.column, value, LEFT, this.layer.width - RIGHT);
  }

  draw(): void {
    const { state, column } = this, colors = palette(), c = this.layer.clear(), { width, height } = this.layer;
    if (width === 0) return;
    const bins = column.labels?.length ?? Math.round(Math.min(Math.max(2 * Math.cbrt(state.study.cases), 8), 48, width / 6));
    const all = new Float64Array(bins), some = new Float64Array(bins);
    for (let i = 0; i < column.values.length; i++) {
      const s = share(column, column.values[i]);
      if (!Number.isFinite(s)) continue;
      const bin = Math.min(Math.floor(s * bins), bins - 1);
      all[bin]++;
      some[bin] += state.selected[i];
    }
    const most = Math.max(...all, 1), base = height - BOTTOM, span = base - TOP;
    c.font = `11px ${getComputedStyle(document.documentElement).fontFamily}`;
    c.textBaseline = 'middle';
    c.textAlign = 'right';
    c.strokeStyle = colors.line;
    for (const tick of ticks({ ...column, labels: undefined, log: false, low: 0, high: most }, height / 60)) {
      if (tick.value % 1 !== 0) continue;
      const y = Math.round(base - (tick.value / most) * span) + 0.5;
      c.beginPath();
      c.moveTo(LEFT, y);
      c.lineTo(width - RIGHT, y);
      c.stroke();
      c.fillStyle = colors.muted;
      c.fillText(tick.text, LEFT - 6, y);
    }
    const step = (width - RIGHT - LEFT) / bins;
    for (let b = 0; b < bins; b++) {
      const bar = (value: number, color: string) => {
        c.fillStyle = color;
        const tall = (value / most) * span;
        c.fillRect(LEFT + b * step + 0.5, base - tall, Math.max(step - 1, 1), tall);
      };
      bar(all[b], colors.pale);
      bar(some[b], colors.accent);
    }
    c.fillStyle = colors.muted;
    c.textAlign = 'center';
    if (column.labels) column.labels.forEach((label, b) => c.fillText(label.slice(0, Math.floor(step / 6)), LEFT + (b + 0.5) * step, base + 11));
    else for (const tick of ticks(column, width / 90)) c.fillText(tick.text, this.px(tick.value), base + 11);
    c.fillStyle = colors.text;
    c.fillText(labelOf(column), (LEFT + width - RIGHT) / 2, height - 10);
    const range = state.ranges.get(column);
    if (range && !column.labels) {
      const [left, right] = range.map((value) => this.px(value));
      c.globalAlpha = 0.1;
      c.fillStyle = colors.accent;
      c.fillRect(left, TOP, right - left, span);
      c.globalAlpha = 0.8;
      c.strokeStyle = colors.accent;
      c.strokeRect(left, TOP, right - left, span);
      c.globalAlpha = 1;
    }
    for (const i of [state.chosen, state.hovered]) {
      if (i === NO_CASE || column.labels) continue;
      const x = this.px(column.values[i]);
      if (!Number.isFinite(x)) continue;
      c.fillStyle = FOCUS;
      c.fillRect(x - 1, TOP, 2, span);
    }
    this.tellFigures();
  }

  private tellFigures(): void {
    const { state, column } = this;
    if (column.labels) return this.figures.replaceChildren();
    const of = (m: Moments) => `${format(m.mean)} ± ${format(m.deviation)}`;
    const all = moments(column.values), some = state.filtered ? moments(column.values, state.selected) : undefined;
    this.figures.title = 'mean ± standard deviation';
    this.figures.textContent = some ? `selected ${of(some)}, all ${of(all)}` : `mean ± deviation: ${of(all)}`;
  }

  private at(event: PointerEvent): number {
    return event.clientX - this.layer.canvas.getBoundingClientRect().left;
  }

  private moved(event: PointerEvent): void {
    const { drag, column } = this, x = this.at(event);
    if (!drag || (!drag.moved && Math.abs(x - drag.x) < 4)) return;
    drag.moved = true;
    const value = (at: number) => fromPixel(column, at, LEFT, this.layer.width - RIGHT);
    if (!column.labels) return this.state.setRange(column, [value(drag.x), value(x)]);
    const bins = column.labels.length, bin = (at: number) => Math.min(Math.max(Math.floor(((at - LEFT) / (this.layer.width - RIGHT - LEFT)) * bins), 0), bins - 1);
    this.state.setRange(column, [Math.min(bin(drag.x), bin(x)) - 0.5, Math.max(bin(drag.x), bin(x)) + 0.5]);
  }
}

// Of the finite values; `of`: of these cases only.
export function moments(values: Float64Array, of?: Uint8Array): Moments {
  let count = 0, mean = 0, squares = 0;
  for (let i = 0; i < values.length; i++) {
    if ((of && !of[i]) || !Number.isFinite(values[i])) continue;
    // Welford: m += (x - m)/n, S += (x - m_before)(x - m)
    const before = mean;
    mean += (values[i] - mean) / ++count;
    squares += (values[i] - before) * (values[i] - mean);
  }
  return { count, mean: count > 0 ? mean : NaN, deviation: count > 1 ? Math.sqrt(squares / (count - 1)) : NaN };
}


// One column over another, a point per case. Dragging selects a rectangle.
import { gradient } from './colormap';
import { chooser } from './study_chooser';
import { FOCUS, fromPixel, Layer, palette, pixel, shown, ticks } from './study_canvas';
import { labelOf, type Column } from './study_data';
import { NO_CASE, type State } from './study_state';
import { h } from './ui';

const LEFT = 58, RIGHT = 14, TOP = 10, BOTTOM = 40;
const NEAR = 14;

export class Scatter {
  readonly element = h('section', { class: 'plot-card panel', id: 'scatter', 'aria-label': 'Scatter plot' });
  private readonly host = h('div', { class: 'drawing' });
  private readonly points = new Layer();
  private readonly marks = new Layer();
  private readonly xChoice: HTMLSelectElement;
  private readonly yChoice: HTMLSelectElement;
  private readonly colorChoice: HTMLSelectElement;
  private readonly legend = h('span', { class: 'shades' });
  private drag?: { x: number; y: number; moved: boolean };

  constructor(private readonly state: State, public x: Column, public y: Column) {
    const { columns } = state.study;
    this.xChoice = chooser('scatter-x', 'Horizontal', columns, x, (column) => ((this.x = column), this.draw()));
    this.yChoice = chooser('scatter-y', 'Vertical', columns, y, (column) => ((this.y = column), this.draw()));
    this.colorChoice = chooser('scatter-color', 'Colour', columns, state.color, (column) => state.colorBy(column));
    this.host.append(this.points.canvas, this.marks.canvas);
    this.element.append(
      h('header', {}, h('label', {}, 'x', this.xChoice), h('label', {}, 'y', this.yChoice), h('label', {}, 'colour', this.colorChoice), this.legend), this.host,
    );
    const canvas = this.marks.canvas;
    canvas.id = 'scatter-canvas';
    canvas.addEventListener('pointerdown', (event) => this.pressed(event));
    canvas.addEventListener('pointermove', (event) => this.moved(event));
    canvas.addEventListener('pointerup', (event) => this.released(event));
    canvas.addEventListener('pointercancel', () => (this.drag = undefined));
    canvas.addEventListener('pointerleave', () => this.drag || state.hover(NO_CASE));
  }

  // Of a value, in pixels of the canvas.
  px(value: number): number {
    return pixel(this.x, value, LEFT + 6, this.points.width - RIGHT - 6);
  }
  py(value: number): number {
    return pixel(this.y, value, this.points.height - BOTTOM - 6, TOP + 6);
  }

  resize(): void {
    const { clientWidth, clientHeight } = this.host;
    if (clientWidth === 0 || clientHeight === 0) return;
    for (const layer of [this.points, this.marks]) layer.resize(clientWidth, clientHeight);
    this.draw();
  }

  draw(): void {
    const { state, x, y } = this, colors = palette(), c = this.points.clear(), { width, height } = this.points;
    if (width === 0) return;
    this.colorChoice.value = String(state.study.columns.indexOf(state.color));
    this.legend.replaceChildren(h('small', {}, shown(state.color, state.color.low)), h('i', { style: `background: ${gradient}` }), h('small', {}, shown(state.color, state.color.high)));
    c.font = `11px ${getComputedStyle(document.documentElement).fontFamily}`;
    c.strokeStyle = colors.line;
    c.lineWidth = 1;
    c.fillStyle = colors.muted;
    c.textBaseline = 'middle';
    c.textAlign = 'center';
    for (const tick of ticks(x, width / 90)) {
      const at = Math.round(this.px(tick.value)) + 0.5;
      c.beginPath();
      c.moveTo(at, TOP);
      c.lineTo(at, height - BOTTOM);
      c.stroke();
      c.fillText(tick.text, at, height - BOTTOM + 11);
    }
    c.textAlign = 'right';
    for (const tick of ticks(y, height / 48)) {
      const at = Math.round(this.py(tick.value)) + 0.5;
      c.beginPath();
      c.moveTo(LEFT, at);
      c.lineTo(width - RIGHT, at);
      c.stroke();
      c.fillText(tick.text.length > 9 ? `${tick.text.slice(0, 8)}…` : tick.text, LEFT - 6, at);
    }
    c.fillStyle = colors.text;
    c.textAlign = 'center';
    c.fillText(labelOf(x), (LEFT + width - RIGHT) / 2, height - 10);
    c.save();
    c.translate(10, (TOP + height - BOTTOM) / 2);
    c.rotate(-Math.PI / 2);
    c.fillText(labelOf(y), 0, 0);
    c.restore();
    const size = state.study.cases > 3000 ? 3 : state.study.cases > 400 ? 4 : 6;
    for (const wanted of [0, 1]) {
      c.globalAlpha = wanted ? (state.study.cases > 3000 ? 0.75 : 0.9) : 1;
      c.fillStyle = colors.pale;
      for (let i = 0; i < state.selected.length; i++) {
        if (state.selected[i] !== wanted) continue;
        const a = this.px(x.values[i]), b = this.py(y.values[i]);
        if (!Number.isFinite(a + b)) continue;
        if (wanted) c.fillStyle = state.colorOf(i);
        if (size < 4) c.fillRect(a - size / 2, b - size / 2, size, size);
        else {
          c.beginPath();
          c.arc(a, b, size / 2, 0, 2 * Math.PI);
          c.fill();
        }
      }
    }
    // Cases that can be shown in 3D have a ring.
    c.globalAlpha = 1;
    c.strokeStyle = colors.text;
    c.lineWidth = 1.2;
    for (const i of state.study.scenes) this.ring(c, i, 5);
    this.drawMarks();
  }

  drawMarks(): void {
    const { state, x, y } = this, colors = palette(), c = this.marks.clear();
    const [rx, ry] = [state.ranges.get(x), state.ranges.get(y)];
    if (rx || ry) {
      const [left, right] = rx ? rx.map((v) => this.px(v)) : [LEFT, this.marks.width - RIGHT];
      const [bottom, top] = ry ? ry.map((v) => this.py(v)) : [this.marks.height - BOTTOM, TOP];
      c.fillStyle = c.strokeStyle = colors.accent;
      c.globalAlpha = 0.1;
      c.fillRect(left, top, right - left, bottom - top);
      c.globalAlpha = 0.8;
      c.strokeRect(left, top, right - left, bottom - top);
      c.globalAlpha = 1;
    }
    c.strokeStyle = FOCUS;
    for (const [i, width] of [[state.hovered, 2], [state.chosen, 3]] as const) {
      if (i === NO_CASE) continue;
      c.lineWidth = width;
      this.ring(c, i, 7);
    }
    if (state.hovered === NO_CASE) return;
    const i = state.hovered, a = this.px(x.values[i]), b = this.py(y.values[i]);
    if (!Number.isFinite(a + b)) return;
    const note = `case ${i}: ${shown(x, x.values[i])}, ${shown(y, y.values[i])}`;
    c.font = `11px ${getComputedStyle(document.documentElement).fontFamily}`;
    const half = c.measureText(note).width / 2 + 7, at = Math.min(Math.max(a, half), this.marks.width - half), up = b > TOP + 34 ? b - 22 : b + 22;
    c.fillStyle = colors.text;
    c.beginPath();
    c.roundRect(at - half, up - 10, 2 * half, 20, 6);
    c.fill();
    c.fillStyle = colors.solid;
    c.textAlign = 'center';
    c.textBaseline = 'middle';
    c.fillText(note, at, up);
  }

  private ring(c: CanvasRenderingContext2D, i: number, radius: number): void {
    const a = this.px(this.x.values[i]), b = this.py(this.y.values[i]);
    if (!Number.isFinite(a + b)) return;
    c.beginPath();
    c.arc(a, b, radius, 0, 2 * Math.PI);
    c.stroke();
  }

  private at(event: PointerEvent): [number, number] {
    const box = this.marks.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  private caseAt(px: number, py: number): number {
    let best = NO_CASE, distance = NEAR;
    for (let i = 0; i < this.state.selected.length; i++) {
      if (!this.state.selected[i]) continue;
      const d = Math.hypot(this.px(this.x.values[i]) - px, this.py(this.y.values[i]) - py);
      if (d < distance) [best, distance] = [i, d];
    }
    return best;
  }

  private pressed(event: PointerEvent): void {
    if (event.button !== 0) return;
    const [x, y] = this.at(event);
    this.drag = { x, y, moved: false };
    this.marks.canvas.setPointerCapture(event.pointerId);
  }

  private moved(event: PointerEvent): void {
    const [x, y] = this.at(event), { drag, state } = this;
    if (!drag) return state.hover(this.caseAt(x, y));
    if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < 5) return;
    drag.moved = true;
    const horizontal = (at: number) => fromPixel(this.x, at, LEFT + 6, this.points.width - RIGHT - 6);
    const vertical = (at: number) => fromPixel(this.y, at, this.points.height - BOTTOM - 6, TOP + 6);
    state.setRanges([this.x, [horizontal(drag.x), horizontal(x)]], [this.y, [vertical(drag.y), vertical(y)]]);
  }

  private released(event: PointerEvent): void {
    const drag = this.drag, { state } = this;
    this.drag = undefined;
    if (drag?.moved) return;
    const found = this.caseAt(...this.at(event));
    if (found !== NO_CASE) state.choose(found);
    else state.setRanges([this.x, undefined], [this.y, undefined]);
  }
}

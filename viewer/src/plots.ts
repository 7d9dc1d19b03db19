// Plots of channels over time, with a cursor at the time of the animation. A click goes to that time.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { valueAt } from './channels';
import { SERIES } from './colors';
import type { Channel } from './scene';
import { button, format, formatBeside, h } from './ui';

const MOST_LOADS = 400; // in the menu; a click on a value plots the others

class Plot {
  readonly element: HTMLElement;
  private readonly host = h('div', { class: 'plot' });
  private readonly legend = h('div', { class: 'legend' });
  private chart: uPlot;
  private scale = 0; // the largest value
  private time = 0;

  constructor(
    readonly channel: Channel,
    seek: (time: number) => void,
    close: () => void,
  ) {
    const title = channel.unit ? `${channel.name} [${channel.unit}]` : channel.name;
    this.element = h('section', { class: 'card', 'data-channel': channel.name }, h('header', {}, h('h3', {}, title), button('close', 'Remove this plot', close)), this.host, this.legend);
    const style = getComputedStyle(document.documentElement);
    const axis: uPlot.Axis = { stroke: style.getPropertyValue('--muted').trim(), grid: { stroke: style.getPropertyValue('--line').trim(), width: 1 }, ticks: { show: false }, font: '11px system-ui, sans-serif' };
    this.chart = new uPlot(
      {
        width: 320,
        height: 150,
        scales: { x: { time: false } },
        legend: { show: false },
        cursor: { y: false, points: { show: false }, drag: { setScale: true, x: true, y: false } },
        padding: [8, 18, 0, 0],
        series: [{}, ...channel.components.map((_, c) => ({ stroke: SERIES[c % SERIES.length], width: 1.6, points: { show: (u: uPlot) => u.data[0].length < 3 } }))],
        axes: [{ ...axis, size: 26, values: (_u, ticks) => ticks.map(format) }, { ...axis, size: 54, values: (_u, ticks) => ticks.map(format) }],
        hooks: {
          draw: [(u) => this.drawCursor(u)],
          ready: [
            (u) => {
              let from = 0;
              u.over.addEventListener('pointerdown', (event) => (from = event.clientX));
              u.over.addEventListener('click', (event) => {
                if (Math.abs(event.clientX - from) < 4) seek(u.posToVal(event.clientX - u.over.getBoundingClientRect().left, 'x'));
              });
            },
          ],
        },
      },
      this.data(),
      this.host,
    );
    new ResizeObserver(() => {
      if (this.host.clientWidth > 0) this.chart.setSize({ width: this.host.clientWidth, height: 150 });
    }).observe(this.host);
  }

  private data(): uPlot.AlignedData {
    const { times, values, components } = this.channel;
    const C = components.length;
    this.scale = values.reduce((largest, value) => (Math.abs(value) > largest ? Math.abs(value) : largest), 0);
    const series = components.map((_, c) => Array.from(times, (_t, i) => (Number.isFinite(values[C * i + c]) ? values[C * i + c] : null)));
    return [Array.from(times), ...series];
  }

  private drawCursor(u: uPlot): void {
    const x = u.valToPos(this.time, 'x', true);
    if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) return;
    const { ctx } = u;
    ctx.save();
    ctx.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue('--accent');
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.beginPath();
    ctx.moveTo(x, u.bbox.top);
    ctx.lineTo(x, u.bbox.top + u.bbox.height);
    ctx.stroke();
    this.channel.components.forEach((_, c) => {
      const y = u.valToPos(valueAt(this.channel, this.time, c), 'y', true);
      ctx.fillStyle = SERIES[c % SERIES.length];
      ctx.beginPath();
      ctx.arc(x, y, 3.5 * devicePixelRatio, 0, 2 * Math.PI);
      ctx.fill();
    });
    ctx.restore();
  }

  update(time: number): void {
    this.time = time;
    this.chart.redraw(false, false);
    const { components } = this.channel;
    while (this.legend.children.length < components.length) this.legend.append(h('span', {}, h('i'), h('b'), h('em')));
    components.forEach((name, c) => {
      const [dot, label, value] = this.legend.children[c].children as unknown as HTMLElement[];
      dot.style.background = SERIES[c % SERIES.length];
      label.textContent = name;
      value.textContent = formatBeside(valueAt(this.channel, time, c), this.scale);
    });
  }

  refresh(): void {
    this.chart.setData(this.data());
  }
  destroy(): void {
    this.chart.destroy();
    this.element.remove();
  }
}

export class Plots {
  readonly element = h('div', { class: 'plots' });
  private readonly menu = h('select', { id: 'channels', 'aria-label': 'Add a plot' });
  private readonly hosts = h('div');
  private readonly plots = new Map<string, Plot>();
  private channels: Channel[] = [];
  private time = 0;

  constructor(private readonly seek: (time: number) => void) {
    this.menu.addEventListener('change', () => {
      const channel = this.channels[Number(this.menu.value)];
      if (channel) this.show(channel);
      this.menu.value = '';
    });
    this.element.append(this.menu, this.hosts);
  }

  setChannels(channels: Channel[], loads: Channel[]): void {
    const listed = loads.slice(0, MOST_LOADS);
    this.channels = [...channels, ...listed];
    this.menu.replaceChildren(h('option', { value: '' }, this.channels.length > 0 ? `Add a curve (${this.channels.length} available)` : 'The model has no sensors'));
    const options = (part: Channel[], first: number) => part.map((channel, i) => h('option', { value: first + i }, channel.unit ? `${channel.name} [${channel.unit}]` : channel.name));
    this.menu.append(...options(channels, 0));
    if (listed.length > 0) this.menu.append(h('optgroup', { label: 'Joints and forces' }, ...options(listed, channels.length)));
    this.menu.disabled = this.channels.length === 0;
  }

  get shown(): string[] {
    return [...this.plots.keys()];
  }

  show(channel: Channel): void {
    if (this.plots.has(channel.name)) return;
    const plot = new Plot(channel, this.seek, () => this.hide(channel.name));
    this.plots.set(channel.name, plot);
    this.hosts.prepend(plot.element);
    plot.update(this.time);
  }
  hide(name: string): void {
    this.plots.get(name)?.destroy();
    this.plots.delete(name);
  }
  clear(): void {
    for (const name of this.shown) this.hide(name);
  }
  update(time: number): void {
    this.time = time;
    for (const plot of this.plots.values()) plot.update(time);
  }
  // Takes over data that grew.
  refresh(): void {
    for (const plot of this.plots.values()) plot.refresh();
  }
  // Builds all plots again, in the colours of the theme.
  restyle(): void {
    const channels = [...this.plots.values()].map((plot) => plot.channel).reverse();
    this.clear();
    for (const channel of channels) this.show(channel);
  }
}

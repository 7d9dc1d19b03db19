// The panel of a running simulation: what it does, buttons, pace, and sliders for parameters.
import type { Scene } from './scene';
import { button, format, h, icon } from './ui';

export interface Status {
  state: 'running' | 'paused';
  t: number;
  pace: number; // simulated seconds per second; 0: as fast as possible
  factor: number; // the same as it is
  values: Record<string, number>;
  largest?: Record<string, number>; // vectors of the run so far, by their type
  refused: string; // why the last value was not accepted
}

interface Input {
  name: string;
  path: string;
  unit: string;
  value: number;
  min: number;
  max: number;
}

const PACES: [number, string][] = [[0, 'as fast as possible'], [0.01, '0.01×'], [0.1, '0.1×'], [0.25, '0.25×'], [0.5, '0.5×'], [1, 'real time'], [2, '2×'], [5, '5×'], [10, '10×']];

type Post = (action: string, body: unknown) => Promise<void>;

class Slider {
  readonly element: HTMLElement;
  private readonly range: HTMLInputElement;
  private readonly number: HTMLInputElement;
  private held = false; // by the user
  private sending = false;
  private next?: number;

  constructor(
    private readonly input: Input,
    private readonly post: Post,
  ) {
    const { name, path, unit } = input;
    this.range = h('input', { type: 'range', step: 'any', 'data-input': name, 'aria-label': name });
    this.number = h('input', { type: 'number', step: 'any', 'aria-label': `Value of ${name}` });
    this.range.addEventListener('input', () => this.choose(Number(this.range.value)));
    for (const [event, held] of [['pointerdown', true], ['pointerup', false], ['pointercancel', false]] as const) this.range.addEventListener(event, () => (this.held = held));
    this.number.addEventListener('focus', () => (this.held = true));
    this.number.addEventListener('blur', () => (this.held = false));
    this.number.addEventListener('change', () => {
      if (this.number.value !== '' && Number.isFinite(this.number.valueAsNumber)) this.choose(this.number.valueAsNumber);
    });
    this.element = h('label', { class: 'live-slider', title: path }, h('span', {}, name, unit !== '' && h('small', {}, ` ${unit}`)), this.number, this.range);
    this.draw(input.value);
  }

  // The value that the simulation has.
  show(value: number): void {
    if (!this.held && !this.sending && this.next === undefined) this.draw(value);
  }

  private draw(value: number): void {
    const { input, range, number } = this;
    input.min = Math.min(input.min, value);
    input.max = Math.max(input.max, value);
    range.min = String(input.min);
    range.max = String(input.max);
    range.value = String(value);
    range.style.setProperty('--share', `${(100 * (value - input.min)) / (input.max - input.min)}%`);
    if (document.activeElement !== number) number.value = format(value);
  }

  private choose(value: number): void {
    this.draw(value);
    this.next = value;
    void this.send();
  }

  // One request at a time; of the values in between only the last one is sent.
  private async send(): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    while (this.next !== undefined) {
      const value = this.next;
      this.next = undefined;
      await this.post('set', { name: this.input.name, value });
    }
    this.sending = false;
  }
}

export class LivePanel {
  readonly element = h('section', { class: 'live', id: 'live' });
  private readonly state = h('b', { class: 'state' }, 'connecting');
  private readonly factor = h('small', {}, '');
  private readonly note = h('p', { class: 'warning', role: 'status', hidden: true });
  private readonly sliders = h('div', { class: 'sliders' });
  private readonly paths = h('datalist', { id: 'live-paths' });
  private readonly more = h('input', { type: 'search', class: 'filter', placeholder: 'Another parameter …', list: 'live-paths', 'aria-label': 'Path of another parameter', id: 'live-more' });
  private readonly pause: HTMLButtonElement;
  private readonly step: HTMLButtonElement;
  private readonly stop: HTMLButtonElement;
  private readonly pace = h('select', { id: 'live-pace', title: 'Simulated time per time', 'aria-label': 'Pace' });
  private readonly shown = new Map<string, Slider>();
  private others: Input[] = []; // parameters without a slider so far
  private paused = false;

  constructor(
    private readonly post: Post,
    present: () => void,
  ) {
    this.pause = button('pause', 'Pause or go on', () => this.togglePause(), 'live-pause');
    this.step = button('forward', 'One step', () => void this.post('step', {}), 'live-step');
    this.stop = button('stop', 'End the simulation', () => void this.post('stop', {}), 'live-stop');
    const now = h('button', { type: 'button', class: 'text', id: 'live-now', title: 'Show the latest state (End)', click: present }, 'Latest');
    for (const [value, label] of PACES) this.pace.append(h('option', { value }, label));
    this.pace.addEventListener('change', () => void this.post('pace', { value: Number(this.pace.value) }));
    this.more.addEventListener('input', () => this.addPath());
    this.element.append(
      h('header', {}, h('i', { class: 'lamp' }), this.state, this.factor),
      h('div', { class: 'buttons' }, this.pause, this.step, this.stop, now),
      h('label', { class: 'pace' }, h('span', {}, 'Pace'), this.pace),
      this.note, this.sliders, this.more, this.paths,
    );
  }

  open(scene: Scene): void {
    const live = (scene.live ?? {}) as { inputs?: Input[]; others?: Input[]; pace?: number; paused?: boolean };
    this.shown.clear();
    this.sliders.replaceChildren();
    for (const input of live.inputs ?? []) this.add(input);
    this.others = live.others ?? [];
    this.paths.replaceChildren(...this.others.map((input) => h('option', { value: input.path })));
    this.more.hidden = this.others.length === 0;
    this.setPace(live.pace ?? 0);
    this.setState(live.paused ? 'paused' : 'running');
  }

  show(status: Status): void {
    this.setState(status.state);
    this.setPace(status.pace);
    this.factor.textContent = status.state === 'running' && status.factor > 0 ? `${format(Number(status.factor.toPrecision(2)))} s per second` : `${format(status.t)} s`;
    for (const [name, value] of Object.entries(status.values)) this.shown.get(name)?.show(value);
    this.say(status.refused);
  }

  ended(message: string, good: boolean): void {
    this.setState('ended', message);
    this.factor.textContent = '';
    this.say(good ? '' : message);
    for (const element of this.element.querySelectorAll<HTMLInputElement>('input, select, #live-pause, #live-step, #live-stop')) element.disabled = true;
  }

  lost(): void {
    this.ended('connection lost', true);
    this.element.classList.add('lost');
    this.say('The program has ended, or cannot be reached. What it has sent stays here.');
  }

  private say(text: string): void {
    this.note.textContent = text;
    this.note.hidden = text === '';
  }

  private setState(state: 'running' | 'paused' | 'ended', text: string = state): void {
    this.paused = state === 'paused';
    this.element.dataset.state = state;
    this.state.textContent = text;
    this.pause.replaceChildren(icon(this.paused ? 'play' : 'pause'));
  }

  private setPace(pace: number): void {
    if (document.activeElement === this.pace) return;
    if (!PACES.some(([value]) => value === pace) && !this.pace.querySelector(`option[value="${pace}"]`)) this.pace.append(h('option', { value: pace }, `${format(pace)}×`));
    this.pace.value = String(pace);
  }

  private add(input: Input): void {
    if (this.shown.has(input.name)) return;
    const slider = new Slider(input, this.post);
    this.shown.set(input.name, slider);
    this.sliders.append(slider.element);
  }

  private addPath(): void {
    const input = this.others.find(({ path }) => path === this.more.value.trim());
    if (!input) return;
    this.more.value = '';
    this.add(input);
  }

  private togglePause(): void {
    void this.post(this.paused ? 'resume' : 'pause', {});
    this.setState(this.paused ? 'running' : 'paused');
  }
}

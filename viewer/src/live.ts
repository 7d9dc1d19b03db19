// A running simulation: frames arrive as server-sent events, buttons and sliders send requests.
//
// Events of GET url?token=…: `scene` (a whole scene), `frame` (JSON with t, positions [3F], rotations [4F], coordinates [[K] per
// flexible body], channels [[C] per channel]), `end` (JSON with message). POST url/pause, /resume, /step, /stop; POST url/set with {"name", "value"}.
import { SceneError } from './error';
import { readScene, type Scene } from './scene';
import { button, format, h } from './ui';

interface Frame {
  t: number;
  positions: number[];
  rotations: number[];
  coordinates?: number[][];
  channels?: number[][];
}
interface Input {
  name: string;
  value: number;
  min: number;
  max: number;
}

// An array that grows by doubling; `view` is what is filled.
class Growing<T extends Float32Array | Float64Array> {
  private length: number;
  constructor(private data: T) {
    this.length = data.length;
  }
  push(values: ArrayLike<number>): T {
    if (this.length + values.length > this.data.length) {
      const larger = new (this.data.constructor as new (n: number) => T)(2 * (this.length + values.length));
      larger.set(this.data.subarray(0, this.length));
      this.data = larger;
    }
    this.data.set(values, this.length);
    this.length += values.length;
    return this.data.subarray(0, this.length) as T;
  }
}

export class Live {
  readonly element = h('div', { class: 'live panel', id: 'live' });
  private readonly state = h('span', { class: 'state' }, 'connecting');
  private scene?: Scene;
  private arrays: { take: (frame: Frame) => void }[] = [];
  private pending = false;
  private paused = false;

  constructor(
    private readonly url: string,
    private readonly token: string,
    private readonly opened: (scene: Scene) => void,
    private readonly grown: () => void,
  ) {
    this.element.append(
      h('i', { class: 'lamp' }), this.state,
      button('pause', 'Pause or resume the simulation', () => this.togglePause(), 'live-pause'),
      button('forward', 'One step of the simulation', () => this.post('step'), 'live-step'),
      button('stop', 'Stop the simulation', () => this.post('stop'), 'live-stop'),
    );
  }

  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      const source = new EventSource(`${this.url}?token=${encodeURIComponent(this.token)}`);
      source.addEventListener('scene', (event) => {
        readScene((event as MessageEvent<string>).data).then((scene) => {
          this.prepare(scene);
          this.opened(scene);
          this.state.textContent = 'running';
          this.element.classList.add('running');
          resolve();
        }, reject);
      });
      source.addEventListener('frame', (event) => this.take(JSON.parse((event as MessageEvent<string>).data) as Frame));
      source.addEventListener('end', (event) => {
        source.close();
        this.element.classList.remove('running');
        this.state.textContent = (JSON.parse((event as MessageEvent<string>).data) as { message?: string }).message ?? 'finished';
      });
      source.onerror = () => {
        source.close();
        this.element.classList.remove('running');
        this.state.textContent = 'disconnected';
        if (!this.scene) reject(new SceneError('The running simulation cannot be reached', 'It may have ended, or the address or its token is wrong.'));
      };
    });
  }

  private prepare(scene: Scene): void {
    this.scene = scene;
    const times = new Growing(scene.times);
    const positions = new Growing(scene.positions);
    const rotations = new Growing(scene.rotations);
    this.arrays = [
      { take: (frame) => (scene.times = times.push([frame.t])) },
      { take: (frame) => (scene.positions = positions.push(frame.positions)) },
      { take: (frame) => (scene.rotations = rotations.push(frame.rotations)) },
    ];
    scene.bodies.filter((body) => body.kind === 'flexible').forEach((body, i) => {
      const q = new Growing(body.coordinates);
      this.arrays.push({ take: (frame) => (body.coordinates = q.push(frame.coordinates![i])) });
    });
    scene.channels.forEach((channel, i) => {
      const [t, v] = [new Growing(channel.times), new Growing(channel.values)];
      this.arrays.push({
        take: (frame) => {
          if (!frame.channels) return;
          channel.times = t.push([frame.t]);
          channel.values = v.push(frame.channels[i]);
        },
      });
    });
    for (const input of ((scene.live?.inputs as Input[] | undefined) ?? []).slice(0, 12)) this.element.append(this.slider(input));
  }

  private take(frame: Frame): void {
    if (!this.scene) return;
    const F = this.scene.frames.length;
    if (frame.positions.length !== 3 * F || frame.rotations.length !== 4 * F) return;
    for (const array of this.arrays) array.take(frame);
    // Frames may arrive faster than they can be drawn: at most one update per picture.
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.grown();
    });
  }

  private slider(input: Input): HTMLElement {
    const value = h('em', {}, format(input.value));
    const range = h('input', { type: 'range', min: input.min, max: input.max, step: 'any', 'data-input': input.name });
    const show = () => range.style.setProperty('--share', `${(100 * (Number(range.value) - input.min)) / (input.max - input.min)}%`);
    range.value = String(input.value);
    range.addEventListener('input', () => {
      value.textContent = format(Number(range.value));
      show();
      this.post('set', { name: input.name, value: Number(range.value) });
    });
    show();
    return h('label', { class: 'slider' }, h('span', {}, input.name), range, value);
  }

  private togglePause(): void {
    this.paused = !this.paused;
    this.post(this.paused ? 'pause' : 'resume');
    this.state.textContent = this.paused ? 'paused' : 'running';
  }

  private post(action: string, body: unknown = {}): void {
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${this.token}` };
    fetch(`${this.url}/${action}`, { method: 'POST', headers, body: JSON.stringify(body) }).catch(() => (this.state.textContent = 'disconnected'));
  }
}

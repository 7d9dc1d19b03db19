// A running simulation: its motion arrives as server-sent events, buttons and sliders send requests.
//
// Events of GET path?token=…: `scene` (a whole scene of the first state; `live` has the sliders), `rows` ({times: [n], rows: base64 of 32-bit numbers [n, W]}: positions
// [F, 3], rotations [F, 4], coordinates of flexible bodies, section forces of beams, channels, loads), `status`, `end`. POST path/pause, /resume, /step, /stop, /pace with {value}, /set with {name, value}.
import { SceneError } from './error';
import { LivePanel, type Status } from './live_panel';
import { readScene, type Scene } from './scene';

const MOST_ROWS = 6000; // in this page; then the older ones are thinned
const KEPT_ROWS = 3000;
const LATEST_ROWS = 500; // are never thinned

// Where the page gets its simulation from, if the program serves it.
export function livePath(): string | undefined {
  const element = document.getElementById('liedyn-live');
  return element ? (JSON.parse(element.textContent ?? '{}') as { path?: string }).path : undefined;
}

type Numbers = Float32Array | Float64Array;

// An array of rows that grows by doubling; `view` is what is filled.
class Growing<T extends Numbers> {
  private length: number;
  constructor(
    private data: T,
    private readonly width: number,
    private readonly changed: (view: T) => void,
  ) {
    this.length = data.length;
  }
  push(values: ArrayLike<number>): void {
    if (this.length + values.length > this.data.length) {
      const larger = new (this.data.constructor as new (n: number) => T)(2 * (this.length + values.length));
      larger.set(this.data.subarray(0, this.length));
      this.data = larger;
    }
    this.data.set(values, this.length);
    this.length += values.length;
    this.publish();
  }
  keep(rows: number[]): void {
    rows.forEach((row, i) => this.data.copyWithin(this.width * i, this.width * row, this.width * (row + 1)));
    this.length = this.width * rows.length;
    this.publish();
  }
  private publish(): void {
    this.changed(this.data.subarray(0, this.length) as T);
  }
}

// Rows that stay when there are too many: evenly spaced in time, and the latest.
export function thinned(times: ArrayLike<number>, count: number, latest: number): number[] {
  const last = times.length - latest;
  const spacing = (times[last] - times[0]) / count;
  const kept = [0];
  for (let i = 1; i < times.length; i++) if (i >= last || times[i] - times[kept[kept.length - 1]] >= spacing) kept.push(i);
  return kept;
}

export interface LiveActions {
  opened: (scene: Scene) => void;
  grown: (row: number) => void; // from this row on
  largest: (values: Record<string, number>) => void; // of the whole run, by the type of a vector
  // `late`: the run was over when the page was opened.
  ended: (scene: Scene, late: boolean) => void;
  present: () => void;
}

export class Live {
  readonly panel: LivePanel;
  private scene?: Scene;
  private arrays: { width: number; take: (values: Float32Array) => void; keep: (rows: number[]) => void }[] = [];
  private times?: Growing<Float64Array>;
  private channelTimes?: Growing<Float64Array>;
  private pending = false;
  private fresh = 0; // rows that were not drawn yet
  private ended = false;
  private openedAt = 0;

  constructor(
    private readonly path: string,
    private readonly token: string,
    private readonly actions: LiveActions,
  ) {
    this.panel = new LivePanel((action, body) => this.post(action, body), actions.present);
  }

  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      const source = new EventSource(`${this.path}?token=${encodeURIComponent(this.token)}`);
      // Events are handled one after the other, though reading a scene takes its time.
      let before: Promise<void> = Promise.resolve();
      const on = (name: string, handle: (data: string) => Promise<void> | void) =>
        source.addEventListener(name, (event) => (before = before.then(() => handle((event as MessageEvent<string>).data)).catch(reject)));
      on('scene', async (data) => {
        const scene = await readScene(data);
        this.prepare(scene);
        this.openedAt = performance.now();
        this.panel.open(scene);
        this.actions.opened(scene);
        resolve();
      });
      on('rows', (data) => this.take(JSON.parse(data) as { times: number[]; rows: string }));
      on('status', (data) => {
        const status = JSON.parse(data) as Status;
        this.panel.show(status);
        if (this.scene) this.actions.largest(status.largest ?? {});
      });
      on('end', (data) => this.end(JSON.parse(data) as End, reject));
      source.onerror = () => {
        source.close();
        if (!this.ended) this.panel.lost();
        if (!this.scene) reject(new SceneError('The running simulation cannot be reached', 'It may have ended, or the address or its token is wrong.'));
      };
    });
  }

  private prepare(scene: Scene): void {
    this.scene = scene;
    this.arrays = [];
    const grow = (data: Float32Array, width: number, changed: (view: Float32Array) => void) => {
      const rows = new Growing(data, width, changed);
      this.arrays.push({ width, take: (values) => rows.push(values), keep: (kept) => rows.keep(kept) });
    };
    const F = scene.frames.length;
    this.times = new Growing(scene.times, 1, (view) => (scene.times = view));
    grow(scene.positions, 3 * F, (view) => (scene.positions = view));
    grow(scene.rotations, 4 * F, (view) => (scene.rotations = view));
    for (const body of scene.bodies) if (body.kind === 'flexible') grow(body.coordinates, body.modeCount, (view) => (body.coordinates = view));
    for (const body of scene.bodies) if (body.kind === 'beam') body.sectionValues?.forEach((values, c, all) => grow(values, body.stations.length, (view) => (all[c] = view)));
    const channels = [...scene.channels, ...scene.loads];
    this.channelTimes = channels[0] && new Growing(channels[0].times, 1, (view) => channels.forEach((channel) => (channel.times = view)));
    for (const channel of channels) grow(channel.values, channel.components.length, (view) => (channel.values = view));
  }

  private take({ times, rows }: { times: number[]; rows: string }): void {
    if (!this.scene) return;
    const bytes = Uint8Array.from(atob(rows), (c) => c.charCodeAt(0));
    const values = new Float32Array(bytes.buffer);
    const width = this.arrays.reduce((sum, array) => sum + array.width, 0);
    if (values.length !== width * times.length) throw new SceneError(`A row of the running simulation has ${values.length / times.length} numbers`, `Expected ${width}.`);
    this.times!.push(times);
    this.channelTimes?.push(times);
    for (let n = 0, first = 0; n < times.length; n++)
      for (const array of this.arrays) {
        array.take(values.subarray(first, first + array.width));
        first += array.width;
      }
    this.fresh += times.length;
    if (this.scene.times.length > MOST_ROWS) this.thin();
    // Rows may arrive faster than they can be drawn: at most one update per picture.
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.actions.grown(Math.max(this.scene!.times.length - this.fresh, 0));
      this.fresh = 0;
    });
  }

  private thin(): void {
    const kept = thinned(this.scene!.times, KEPT_ROWS, LATEST_ROWS);
    this.times!.keep(kept);
    this.channelTimes?.keep(kept);
    for (const array of this.arrays) array.keep(kept);
  }

  private end(end: End, reject: (error: Error) => void): void {
    this.ended = true;
    this.panel.ended(end.message, end.completed ?? false);
    if (!this.scene) return reject(new SceneError('The simulation has ended before its first step', end.message));
    this.scene.summary = end.summary ?? {};
    this.scene.warnings = [...this.scene.warnings, ...(end.warnings ?? [])];
    this.actions.largest(end.largest ?? {});
    this.actions.ended(this.scene, performance.now() - this.openedAt < 1500);
  }

  private async post(action: string, body: unknown): Promise<void> {
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${this.token}` };
    try {
      await fetch(`${this.path}/${action}`, { method: 'POST', headers, body: JSON.stringify(body) });
    } catch {
      if (!this.ended) this.panel.lost();
    }
  }
}

interface End {
  message: string;
  completed?: boolean;
  summary?: Record<string, unknown>;
  warnings?: string[];
  largest?: Record<string, number>;
}

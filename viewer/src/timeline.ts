// Playback: the time, how it goes on, and the bar at the bottom.
import { button, format, h, icon } from './ui';

const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

export class Timeline {
  readonly element: HTMLElement;
  time = 0;
  playing = false;
  loop = true;
  speed = 1;
  private times: ArrayLike<number> = [0];
  private label = 'time';
  private unit = 's';
  private readonly slider = h('input', { type: 'range', min: 0, max: 1, step: 'any', id: 'scrub', 'aria-label': 'Time' });
  private readonly clock = h('output', { id: 'clock', class: 'clock' });
  private readonly playButton = button('play', 'Play or pause (space)', () => this.toggle(), 'play');
  private readonly loopButton = button('loop', 'Repeat (L)', () => this.toggleLoop(), 'loop');
  private readonly speeds = h('select', { id: 'speed', title: 'Speed: < and >', 'aria-label': 'Speed' });

  constructor(private readonly changed: () => void) {
    for (const speed of SPEEDS) this.speeds.append(h('option', { value: speed }, `${speed}×`));
    this.speeds.addEventListener('change', () => (this.speed = Number(this.speeds.value)));
    this.slider.addEventListener('input', () => {
      const share = Number(this.slider.value);
      this.pause();
      this.seek(this.start + share * (this.end - this.start));
    });
    this.element = h(
      'footer', { class: 'timeline panel' },
      button('back', 'One frame back (,)', () => this.step(-1), 'back'), this.playButton, button('forward', 'One frame on (.)', () => this.step(1), 'forward'),
      this.slider, this.clock, this.speeds, this.loopButton,
    );
    this.setSpeed(1);
    this.refresh();
  }

  get start(): number {
    return this.times[0];
  }
  get end(): number {
    return this.times[this.times.length - 1];
  }

  // Takes over the times of a scene. Motions much shorter or longer than some seconds start slowed down or sped up.
  reset(times: ArrayLike<number>, label: string, unit: string, speed?: number): void {
    this.times = times;
    this.label = label;
    this.unit = unit;
    const natural = (this.end - this.start) / 8;
    this.setSpeed(speed ?? (natural > 0.06 && natural < 2.5 ? 1 : SPEEDS.reduce((best, s) => (Math.abs(Math.log(s / natural)) < Math.abs(Math.log(best / natural)) ? s : best), 1)));
    this.element.classList.toggle('single', times.length < 2);
    this.pause();
    this.seek(this.start);
  }

  // Times of the same motion, now with more of them.
  extend(times: ArrayLike<number>): void {
    const atEnd = this.time >= this.end - 1e-12;
    this.times = times;
    this.element.classList.toggle('single', times.length < 2);
    if (atEnd && !this.playing) this.seek(this.end);
    else this.refresh();
  }

  seek(time: number): void {
    this.time = Math.min(Math.max(time, this.start), this.end);
    this.refresh();
    this.changed();
  }

  step(direction: number): void {
    this.pause();
    let next = direction > 0 ? this.end : this.start;
    const tolerance = 1e-9 * (this.end - this.start);
    for (let i = 0; i < this.times.length; i++) {
      if (direction > 0 && this.times[i] > this.time + tolerance) {
        next = this.times[i];
        break;
      }
      if (direction < 0 && this.times[i] < this.time - tolerance) next = this.times[i];
    }
    this.seek(next);
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }
  play(): void {
    if (this.times.length < 2) return;
    if (this.time >= this.end) this.seek(this.start);
    this.playing = true;
    this.refresh();
  }
  pause(): void {
    this.playing = false;
    this.refresh();
  }
  toggleLoop(): void {
    this.loop = !this.loop;
    this.refresh();
  }
  setSpeed(speed: number): void {
    this.speed = speed;
    this.speeds.value = String(speed);
  }
  faster(direction: number): void {
    const i = SPEEDS.findIndex((speed) => speed >= this.speed);
    this.setSpeed(SPEEDS[Math.min(Math.max(i + direction, 0), SPEEDS.length - 1)]);
  }

  // Goes on by `seconds` of real time.
  advance(seconds: number): void {
    if (!this.playing) return;
    let time = this.time + seconds * this.speed;
    if (time >= this.end) {
      if (this.loop && this.end > this.start) time = this.start + ((time - this.start) % (this.end - this.start));
      else {
        time = this.end;
        this.playing = false;
      }
    }
    this.seek(time);
  }

  private refresh(): void {
    const span = this.end - this.start;
    const share = span > 0 ? (this.time - this.start) / span : 0;
    this.slider.value = String(share);
    this.slider.style.setProperty('--share', `${100 * share}%`);
    const digits = span > 0 ? Math.min(Math.max(3 - Math.floor(Math.log10(span)), 0), 9) : 3;
    this.clock.textContent = this.label === 'time' ? `${this.time.toFixed(digits)} ${this.unit}` : `${this.label} ${this.time.toFixed(3)}`;
    this.clock.title = `${this.label} ${format(this.start)} to ${format(this.end)} ${this.unit}`;
    this.playButton.replaceChildren(icon(this.playing ? 'pause' : 'play'));
    this.loopButton.classList.toggle('on', this.loop);
  }
}

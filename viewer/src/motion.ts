// Poses of all frames at any time: linear interpolation of positions, spherical interpolation of rotations.
import type { BeamBody, FlexibleBody, Point, Scene, Vector } from './scene';

export class Poses {
  readonly positions: Float64Array; // [F, 3]
  readonly rotations: Float64Array; // [F, 4], w, x, y, z
  readonly velocities: Float64Array; // [F, 3], by differences of frames
  readonly coordinates = new Map<FlexibleBody, Float32Array>();
  readonly sectionValues = new Map<BeamBody, Float32Array>(); // [stations, as many as the beam has]

  constructor(readonly scene: Scene) {
    const F = scene.frames.length;
    this.positions = new Float64Array(3 * F);
    this.rotations = new Float64Array(4 * F);
    this.velocities = new Float64Array(3 * F);
    for (const body of scene.bodies) {
      if (body.kind === 'flexible') this.coordinates.set(body, new Float32Array(body.modeCount));
      if (body.kind === 'beam' && body.sectionValues) this.sectionValues.set(body, new Float32Array(body.sectionValues.length * body.stations.length));
    }
  }

  // Column-major 4x4 matrix of a frame; -1 is the inertial frame.
  matrix(frame: number, out: Float64Array | number[]): void {
    if (frame < 0) {
      for (let i = 0; i < 16; i++) out[i] = i % 5 === 0 ? 1 : 0;
      return;
    }
    const [w, x, y, z] = [this.rotations[4 * frame], this.rotations[4 * frame + 1], this.rotations[4 * frame + 2], this.rotations[4 * frame + 3]];
    out[0] = 1 - 2 * (y * y + z * z);
    out[1] = 2 * (x * y + w * z);
    out[2] = 2 * (x * z - w * y);
    out[4] = 2 * (x * y - w * z);
    out[5] = 1 - 2 * (x * x + z * z);
    out[6] = 2 * (y * z + w * x);
    out[8] = 2 * (x * z + w * y);
    out[9] = 2 * (y * z - w * x);
    out[10] = 1 - 2 * (x * x + y * y);
    out[12] = this.positions[3 * frame];
    out[13] = this.positions[3 * frame + 1];
    out[14] = this.positions[3 * frame + 2];
    out[3] = out[7] = out[11] = 0;
    out[15] = 1;
  }

  private readonly scratch = new Float64Array(16);

  point(point: Point): Vector {
    const [x, y, z] = point.at;
    if (point.frame < 0) return [x, y, z];
    const m = this.scratch;
    this.matrix(point.frame, m);
    return [m[0] * x + m[4] * y + m[8] * z + m[12], m[1] * x + m[5] * y + m[9] * z + m[13], m[2] * x + m[6] * y + m[10] * z + m[14]];
  }

  // How far the origin of a frame is from where it was in the first frame of the motion.
  displacement(frame: number): number {
    if (frame < 0) return 0;
    const start = this.scene.positions;
    return Math.hypot(this.positions[3 * frame] - start[3 * frame], this.positions[3 * frame + 1] - start[3 * frame + 1], this.positions[3 * frame + 2] - start[3 * frame + 2]);
  }

  speed(frame: number): number {
    return frame < 0 ? 0 : Math.hypot(this.velocities[3 * frame], this.velocities[3 * frame + 1], this.velocities[3 * frame + 2]);
  }
}

// Of the two ends of a joint or a force that on the second body, on which it acts, unless this is the ground.
export const movingEnd = ([first, second]: Point[]): Point | undefined => (second && second.frame >= 0 ? second : first);

// The last index i with times[i] <= time, at most `length - 2`, so that i and i + 1 exist; 0 for a single time.
export function interval(times: ArrayLike<number>, time: number): number {
  let low = 0;
  let high = Math.max(times.length - 2, 0);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= time) low = middle;
    else high = middle - 1;
  }
  return low;
}

// Spherical interpolation of the quaternions at a[i] and b[j]; the shorter of the two ways.
export function slerp(a: ArrayLike<number>, i: number, b: ArrayLike<number>, j: number, s: number, out: Float64Array | number[], k: number): void {
  let dot = a[i] * b[j] + a[i + 1] * b[j + 1] + a[i + 2] * b[j + 2] + a[i + 3] * b[j + 3];
  const sign = dot < 0 ? -1 : 1;
  dot *= sign;
  let u = 1 - s;
  let v = s;
  if (dot < 0.9995) {
    const angle = Math.acos(dot);
    u = Math.sin(u * angle) / Math.sin(angle);
    v = Math.sin(v * angle) / Math.sin(angle);
  }
  v *= sign;
  let norm = 0;
  for (let c = 0; c < 4; c++) {
    out[k + c] = u * a[i + c] + v * b[j + c];
    norm += out[k + c] * out[k + c];
  }
  norm = Math.sqrt(norm);
  for (let c = 0; c < 4; c++) out[k + c] /= norm;
}

// The rate of number n of `width` numbers per frame, at frame k: that of the parabola through three frames, of which k is the middle one but at the ends.
function rateAt(times: ArrayLike<number>, values: ArrayLike<number>, width: number, n: number, k: number): number {
  const last = times.length - 1;
  const m = Math.min(Math.max(k, 1), last - 1);
  const span = (from: number) => times[from + 1] - times[from];
  const slope = (from: number) => (span(from) > 0 ? (values[width * (from + 1) + n] - values[width * from + n]) / span(from) : 0);
  if (m < 1) return last === 1 ? slope(0) : 0;
  // At an event there may be two frames.
  if (!(span(m - 1) > 0)) return slope(m);
  if (!(span(m) > 0)) return slope(m - 1);
  // x = x_(m-1) + d (t - t_(m-1)) + c (t - t_(m-1)) (t - t_m)
  const d = slope(m - 1);
  const c = (slope(m) - d) / (times[m + 1] - times[m - 1]);
  return d + c * (2 * times[k] - times[m - 1] - times[m]);
}

export function sampleMotion(scene: Scene, time: number, poses: Poses): void {
  const { times, positions, rotations } = scene;
  const F = scene.frames.length;
  const i = interval(times, time);
  const j = Math.min(i + 1, times.length - 1);
  const span = times[j] - times[i];
  const s = span > 0 ? Math.min(Math.max((time - times[i]) / span, 0), 1) : 0;
  for (let n = 0; n < 3 * F; n++) {
    const a = positions[3 * F * i + n];
    const b = positions[3 * F * j + n];
    poses.positions[n] = a + s * (b - a);
    poses.velocities[n] = (1 - s) * rateAt(times, positions, 3 * F, n, i) + s * rateAt(times, positions, 3 * F, n, j);
  }
  for (let f = 0; f < F; f++) slerp(rotations, 4 * (F * i + f), rotations, 4 * (F * j + f), s, poses.rotations, 4 * f);
  for (const [body, q] of poses.coordinates) {
    const K = body.modeCount;
    for (let k = 0; k < K; k++) q[k] = (1 - s) * body.coordinates[K * i + k] + s * body.coordinates[K * j + k];
  }
  for (const [body, own] of poses.sectionValues) {
    const N = body.stations.length;
    body.sectionValues!.forEach((values, c, { length: W }) => {
      for (let n = 0; n < N; n++) own[W * n + c] = (1 - s) * values[N * i + n] + s * values[N * j + n];
    });
  }
}

// A mode shape about the first frame: displacement a Re(d exp(i phase)), rotations alike.
export function sampleMode(scene: Scene, index: number, phase: number, amplitude: number, poses: Poses): void {
  sampleMotion(scene, scene.times[0], poses);
  const mode = scene.modes[index];
  const c = amplitude * Math.cos(phase);
  const s = amplitude * Math.sin(phase);
  const at = (values: Float32Array, n: number) => c * values[2 * n] - s * values[2 * n + 1];
  const rate = (values: Float32Array, n: number) => -s * values[2 * n] - c * values[2 * n + 1];
  for (let f = 0; f < scene.frames.length; f++) {
    for (let k = 0; k < 3; k++) {
      poses.positions[3 * f + k] += at(mode.displacement, 6 * f + k);
      poses.velocities[3 * f + k] = rate(mode.displacement, 6 * f + k);
    }
    const r = [3, 4, 5].map((k) => at(mode.displacement, 6 * f + k));
    const angle = Math.hypot(...r);
    const factor = angle > 1e-9 ? Math.sin(angle / 2) / angle : 0.5;
    multiplyLeft([Math.cos(angle / 2), factor * r[0], factor * r[1], factor * r[2]], poses.rotations, 4 * f);
  }
  let offset = 0;
  for (const body of scene.bodies) {
    if (body.kind !== 'flexible') continue;
    const q = poses.coordinates.get(body)!;
    for (let k = 0; k < Math.min(body.linearModes, body.modeCount); k++) q[k] += at(mode.coordinates, offset + k);
    offset += body.linearModes;
  }
}

function multiplyLeft(p: number[], q: Float64Array, i: number): void {
  const [a, b, c, d] = [q[i], q[i + 1], q[i + 2], q[i + 3]];
  q[i] = p[0] * a - p[1] * b - p[2] * c - p[3] * d;
  q[i + 1] = p[0] * b + p[1] * a + p[2] * d - p[3] * c;
  q[i + 2] = p[0] * c - p[1] * d + p[2] * a + p[3] * b;
  q[i + 3] = p[0] * d + p[1] * c - p[2] * b + p[3] * a;
}

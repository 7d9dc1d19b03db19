// Curves over time: sensors of the model, and curves that follow from the frames.
import { Quaternion, Vector3 } from 'three';
import { interval, Poses, sampleMotion } from './motion';
import type { Channel, Scene, Vector } from './scene';

export function valueAt(channel: Channel, time: number, component: number): number {
  const { times, values, components } = channel;
  const C = components.length;
  if (times.length === 0) return NaN;
  const i = interval(times, time);
  const j = Math.min(i + 1, times.length - 1);
  const s = times[j] > times[i] ? Math.min(Math.max((time - times[i]) / (times[j] - times[i]), 0), 1) : 0;
  return (1 - s) * values[C * i + component] + s * values[C * j + component];
}

export function framePosition(scene: Scene, frame: number, name: string): Channel {
  const { times, positions, frames } = scene;
  const F = frames.length;
  const values = new Float32Array(3 * times.length);
  for (let i = 0; i < times.length; i++) for (let k = 0; k < 3; k++) values[3 * i + k] = positions[3 * (F * i + frame) + k];
  return { name: `position of ${name}`, unit: 'm', type: 'position', components: ['x', 'y', 'z'], at: [0, 0, 0], times, values };
}

export function frameSpeed(scene: Scene, frame: number, name: string): Channel {
  const { times, positions, frames } = scene;
  const row = 3 * frames.length;
  const values = new Float32Array(times.length);
  for (let i = 0; i < times.length; i++) {
    const [a, b] = [Math.max(i - 1, 0), Math.min(i + 1, times.length - 1)];
    const span = times[b] - times[a];
    let sum = 0;
    for (let k = 0; k < 3; k++) sum += (positions[row * b + 3 * frame + k] - positions[row * a + 3 * frame + k]) ** 2;
    values[i] = span > 0 ? Math.sqrt(sum) / span : 0;
  }
  return { name: `speed of ${name}`, unit: 'm/s', type: 'speed', components: [''], at: [0, 0, 0], times, values };
}

// Path of a point in the axes of a frame, over all times.
export function path(scene: Scene, frame: number, at: Vector): Float32Array {
  const { times, positions, rotations, frames } = scene;
  const result = new Float32Array(3 * times.length);
  const point = new Vector3();
  const rotation = new Quaternion();
  for (let i = 0; i < times.length; i++) {
    const n = frames.length * i + frame;
    rotation.set(rotations[4 * n + 1], rotations[4 * n + 2], rotations[4 * n + 3], rotations[4 * n]);
    point.set(...at).applyQuaternion(rotation);
    result.set([point.x + positions[3 * n], point.y + positions[3 * n + 1], point.z + positions[3 * n + 2]], 3 * i);
  }
  return result;
}

// Distance between two scenes: the largest over all frames of the same name, at the times that both have.
export function distance(a: Scene, b: Scene, name = b.title): Channel | undefined {
  const index = new Map(b.frames.map((name, j) => [name, j]));
  const pairs = a.frames.flatMap((name, i) => (index.has(name) ? [[i, index.get(name)!]] : []));
  if (pairs.length === 0) return undefined;
  const [pa, pb] = [new Poses(a), new Poses(b)];
  const last = Math.min(a.times[a.times.length - 1], b.times[b.times.length - 1]);
  const times = a.times.filter((time) => time >= b.times[0] && time <= last);
  const values = new Float32Array(times.length);
  times.forEach((time, n) => {
    sampleMotion(a, time, pa);
    sampleMotion(b, time, pb);
    for (const [i, j] of pairs)
      values[n] = Math.max(values[n], Math.hypot(pa.positions[3 * i] - pb.positions[3 * j], pa.positions[3 * i + 1] - pb.positions[3 * j + 1], pa.positions[3 * i + 2] - pb.positions[3 * j + 2]));
  });
  return { name: `distance to ${name}`, unit: 'm', type: 'distance', components: [''], at: [0, 0, 0], times, values };
}

// Things drawn over the scene: paths of points, and arrows of vectors.
import { Color, Group, Mesh, MeshStandardMaterial, Quaternion, Vector2, Vector3 } from 'three';
import { Line2 } from 'three/examples/jsm/lines/Line2.js';
import { LineGeometry } from 'three/examples/jsm/lines/LineGeometry.js';
import { LineMaterial } from 'three/examples/jsm/lines/LineMaterial.js';
import { valueAt } from './channels';
import { cone, cylinder } from './geometry';
import { interval, type Poses } from './motion';
import type { Channel, Point, Scene } from './scene';

export class Trail {
  readonly line: Line2;
  constructor(
    points: Float32Array,
    private times: ArrayLike<number>,
    color: Color,
  ) {
    this.line = new Line2(new LineGeometry(), new LineMaterial({ linewidth: 2.5, color, transparent: true, opacity: 0.9 }));
    this.line.frustumCulled = false;
    this.setPoints(points, times);
  }
  setPoints(points: Float32Array, times: ArrayLike<number>): void {
    this.times = times;
    if (times.length > 1) this.line.geometry.setPositions(points);
  }
  update(time: number, resolution: Vector2): void {
    const material = this.line.material as LineMaterial;
    material.resolution.copy(resolution);
    const last = this.times[this.times.length - 1];
    const segments = this.times.length < 2 ? 0 : interval(this.times, time) + (time >= last ? 1 : 0);
    this.line.geometry.instanceCount = segments;
    this.line.visible = segments > 0;
  }
  dispose(): void {
    this.line.geometry.dispose();
    this.line.material.dispose();
  }
}

// ---- vectors at points: those of sensors, what acts in joints and forces, and the velocities of bodies

const VECTORS: Record<string, { label: string; color: string }> = {
  velocity: { label: 'velocity', color: '#3f9d6d' },
  acceleration: { label: 'acceleration', color: '#a067c9' },
  reaction_force: { label: 'reaction force', color: '#c94f6d' },
  applied_force: { label: 'applied force', color: '#c99a2e' },
  reaction_torque: { label: 'reaction torque', color: '#8c5a9e' },
  applied_torque: { label: 'applied torque', color: '#3d8fb8' },
};
const isTorque = (kind: string) => kind.endsWith('_torque');
const MOST = 40; // arrows of a kind, without those of sensors
const isVector = (channel: Channel) => channel.frame !== undefined && channel.components.length === 3 && channel.type in VECTORS;

// The largest of some vectors, at a time of which it is exceeded in a tenth of all.
function usualSize(channels: Channel[]): number {
  const rows = new Map<Float64Array, number[]>();
  for (const { times, values } of channels) {
    const largest = rows.get(times) ?? Array.from(times, () => 0);
    rows.set(times, largest);
    for (let i = 0; i < largest.length; i++) largest[i] = Math.max(largest[i], Math.hypot(values[3 * i], values[3 * i + 1], values[3 * i + 2]) || 0);
  }
  const sorted = [...rows.values()].flat().sort((a, b) => a - b);
  return sorted[Math.floor(0.9 * (sorted.length - 1))] ?? 0;
}

interface Arrow {
  name: string;
  kind: string;
  at: Point;
  value: (time: number, poses: Poses, out: Vector3) => void;
  group: Group;
  shaft: Mesh;
  heads: Mesh[]; // torques have two
}
const SHAFT = cylinder(1, 1).translate(0, 0, 0.5);
const HEAD = cone(1, 1).translate(0, 0, 0.5);

export class Arrows {
  readonly group = new Group();
  readonly list: Arrow[] = [];
  private readonly largest = new Map<string, number>(); // by kind: all arrows of a kind have one scale
  private readonly usual = new Map<string, number>(); // what is exceeded in a tenth of the time: peaks make no other arrow invisible
  private readonly units = new Map<string, string>();
  private readonly hidden = new Set(['reaction_torque']); // kinds

  // `speed` is the largest speed of the motion.
  constructor(
    private readonly scene: Scene,
    speed: () => number,
  ) {
    const largest = ({ values }: Channel) => values.reduce((sum, x) => Math.max(sum, Math.abs(x)), 0);
    const force = Math.max(0, ...scene.loads.filter((channel) => channel.type.endsWith('_force')).map(largest));
    // Torques that are round-off beside the forces are none; those of a run that goes on may still come.
    const isNone = (channel: Channel) => !scene.live && isTorque(channel.type) && largest(channel) < 1e-9 * force * scene.size;
    const loads = scene.loads.filter((channel) => isVector(channel) && !isNone(channel));
    const few = Object.keys(VECTORS).flatMap((kind) => {
      const all = loads.filter((channel) => channel.type === kind);
      return all.filter((_, n) => n % Math.ceil(all.length / MOST) === 0);
    });
    const drawn = [...scene.channels.filter(isVector), ...few];
    for (const channel of drawn) {
      this.add(channel.name, channel.type, channel.unit, { frame: channel.frame!, at: channel.at }, (time, poses, out) => {
        out.set(valueAt(channel, time, 0), valueAt(channel, time, 1), valueAt(channel, time, 2));
        if (!channel.bodyAxes || channel.frame! < 0) return;
        const [w, x, y, z] = poses.rotations.subarray(4 * channel.frame!, 4 * channel.frame! + 4);
        out.applyQuaternion(new Quaternion(x, y, z, w));
      });
      const v = channel.values;
      for (let i = 0; i + 2 < v.length; i += 3) this.grow(channel.type, Math.hypot(v[i], v[i + 1], v[i + 2]));
      this.grow(channel.type, channel.largest ?? 0);
    }
    for (const kind of Object.keys(VECTORS)) {
      const usual = usualSize(drawn.filter((channel) => channel.type === kind));
      if (!scene.live && scene.kind === 'motion' && usual > 0.02 * (this.largest.get(kind) ?? 0)) this.usual.set(kind, usual);
    }
    if (scene.kind !== 'motion') return;
    const sensed = new Set(scene.channels.filter((channel) => channel.type === 'velocity').map((channel) => channel.frame));
    const frames = scene.bodies.flatMap((body) => (body.kind === 'beam' ? body.nodes : [body.frame])).filter((frame) => frame >= 0 && !sensed.has(frame));
    const stride = Math.ceil(frames.length / MOST);
    for (let n = 0; n < frames.length; n += stride)
      this.add(scene.frames[frames[n]], 'velocity', 'm/s', { frame: frames[n], at: [0, 0, 0] }, (_, poses, out) => void out.fromArray(poses.velocities, 3 * frames[n]));
    if (frames.length > 0) this.grow('velocity', speed());
  }

  private add(name: string, kind: string, unit: string, at: Point, value: Arrow['value']): void {
    const material = new MeshStandardMaterial({ color: VECTORS[kind].color, roughness: 0.5, depthTest: false, transparent: true, opacity: 0.92 });
    const arrow = { name, kind, at, value, group: new Group(), shaft: new Mesh(SHAFT, material), heads: Array.from({ length: isTorque(kind) ? 2 : 1 }, () => new Mesh(HEAD, material)) };
    for (const part of [arrow.shaft, ...arrow.heads]) {
      part.renderOrder = 5;
      arrow.group.add(part);
    }
    arrow.group.matrixAutoUpdate = false;
    this.group.add(arrow.group);
    this.list.push(arrow);
    this.units.set(kind, unit);
  }

  // The largest of a kind is at least this.
  grow(kind: string, length: number): void {
    if (length > (this.largest.get(kind) ?? 0)) this.largest.set(kind, length);
  }

  // Kinds that are drawn, with the largest value of the whole motion.
  get kinds(): { kind: string; label: string; color: string; largest: number; unit: string; isShown: boolean }[] {
    const units = Object.keys(VECTORS).flatMap((kind) => (this.units.has(kind) ? [[kind, this.units.get(kind)!]] : []));
    return units.map(([kind, unit]) => ({ kind, ...VECTORS[kind], largest: this.largest.get(kind) ?? 0, unit, isShown: !this.hidden.has(kind) }));
  }
  // Where the arrows that are seen now end.
  tips(): number[] {
    return this.list.filter(({ group }) => group.visible).flatMap(({ group, shaft, heads }) => new Vector3(0, 0, shaft.scale.z + heads[0].scale.z).applyMatrix4(group.matrix).toArray());
  }
  show(kind: string, on: boolean): void {
    if (on) this.hidden.delete(kind);
    else this.hidden.add(kind);
  }

  // An arrow of the usual size of its kind has 22 % of the size of the scene; none has more than 33 %.
  update(time: number, poses: Poses): void {
    const { size } = this.scene;
    const value = new Vector3();
    for (const { kind, at, value: sample, group, shaft, heads } of this.list) {
      sample(time, poses, value);
      this.grow(kind, value.length());
      const length = 0.22 * size * Math.min(value.length() / (this.usual.get(kind) || this.largest.get(kind) || 1), 1.5);
      group.visible = length > 1e-3 * size && Number.isFinite(length) && !this.hidden.has(kind);
      if (!group.visible) continue;
      const radius = Math.min(0.004 * size, 0.06 * length);
      const tip = Math.min(0.032 * size, 0.5 * length);
      shaft.scale.set(radius, radius, length - tip);
      heads.forEach((head, i) => {
        head.scale.set(2.4 * radius, 2.4 * radius, tip);
        head.position.set(0, 0, length - (1 + 0.6 * i) * tip);
      });
      group.matrix.compose(new Vector3(...poses.point(at)), new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), value.normalize()), new Vector3(1, 1, 1));
      group.matrixWorldNeedsUpdate = true;
    }
  }
}

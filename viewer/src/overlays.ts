// Things drawn over the scene: paths of points, and arrows of vectors.
import { Color, Group, Matrix4, Mesh, MeshStandardMaterial, Quaternion, Vector2, Vector3 } from 'three';
import { Line2 } from 'three/examples/jsm/lines/Line2.js';
import { LineGeometry } from 'three/examples/jsm/lines/LineGeometry.js';
import { LineMaterial } from 'three/examples/jsm/lines/LineMaterial.js';
import { valueAt } from './channels';
import { SERIES } from './colors';
import { cone, cylinder } from './geometry';
import { interval, type Poses } from './motion';
import type { Channel } from './scene';

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

// Vectors at a point: forces, reactions, velocities.
export const isVector = (channel: Channel) =>
  channel.frame !== undefined && channel.components.length === 3 && /force|torque|velocity|acceleration|reaction|moment/.test(channel.type);

export class Arrow {
  readonly group = new Group();
  private readonly shaft: Mesh;
  private readonly head: Mesh;
  private largest = 0;

  constructor(
    readonly channel: Channel,
    private readonly size: number,
    index: number,
  ) {
    const material = new MeshStandardMaterial({ color: SERIES[(index + 3) % SERIES.length], roughness: 0.5, depthTest: false, transparent: true, opacity: 0.92 });
    this.shaft = new Mesh(cylinder(1, 1).translate(0, 0, 0.5), material);
    this.head = new Mesh(cone(1, 1).translate(0, 0, 0.5), material);
    this.group.add(this.shaft, this.head);
    this.group.matrixAutoUpdate = false;
    this.shaft.renderOrder = this.head.renderOrder = 5;
    const v = channel.values;
    for (let i = 0; i + 2 < v.length; i += 3) this.grow(Math.hypot(v[i], v[i + 1], v[i + 2]));
  }

  private grow(length: number): void {
    if (length > this.largest) this.largest = length;
  }

  // The longest arrow of the motion is 30 % of the size of the scene.
  update(time: number, poses: Poses): void {
    const value = new Vector3(valueAt(this.channel, time, 0), valueAt(this.channel, time, 1), valueAt(this.channel, time, 2));
    this.grow(value.length());
    const length = (0.3 * this.size * value.length()) / (this.largest || 1);
    this.group.visible = length > 1e-4 * this.size && Number.isFinite(length);
    if (!this.group.visible) return;
    const radius = 0.006 * this.size;
    const head = Math.min(0.045 * this.size, 0.5 * length);
    this.shaft.scale.set(radius, radius, length - head);
    this.head.scale.set(2.4 * radius, 2.4 * radius, head);
    this.head.position.set(0, 0, length - head);
    const at = new Vector3(...poses.point({ frame: this.channel.frame!, at: this.channel.at }));
    this.group.matrix.copy(new Matrix4().compose(at, new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), value.normalize()), new Vector3(1, 1, 1)));
    this.group.matrixWorldNeedsUpdate = true;
  }
}

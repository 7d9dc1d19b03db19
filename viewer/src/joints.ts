// Joints drawn as what they are: hinges as pins in sleeves, sliders as carriages on rails, balls in sockets.
import { Color, Matrix4, Quaternion, Vector3 } from 'three';
import { JOINT, PIN } from './colors';
import { box, cylinder, sphere, torus, tube } from './geometry';
import { attached, Instances, type Make, type Owner } from './instances';
import { Poses, sampleMotion } from './motion';
import type { Joint, Point, Scene, Vector } from './scene';

// A piece belongs to the first body, to the second one, or is the way that the second one goes along the axis: one long, stretched to the travel.
type Piece = { key: string; make: Make; color: Color; turn?: 'x' | 'y'; part?: 'second' | 'way' };

// Pieces in units of the joint's radius, the axis along z.
const pin = (length: number): Piece => ({ key: `joint pin ${length}`, make: (detail) => cylinder(0.42, length, detail), color: PIN });
const sleeve = (length: number): Piece => ({ key: `joint sleeve ${length}`, make: (detail) => tube(0.8, 0.45, length, detail), color: JOINT });
const ball = (radius: number, color = PIN): Piece => ({ key: `joint ball ${radius}`, make: (detail) => sphere(radius, detail), color });
const ring = (radius: number): Piece => ({ key: `joint ring ${radius}`, make: (detail) => torus(radius, 0.16, detail), color: JOINT });
const rail: Piece = { key: 'joint rail', make: () => box([0.42, 0.42, 1]), color: PIN, part: 'way' };
const bar: Piece = { key: 'joint bar', make: (detail) => cylinder(0.42, 1, detail), color: PIN, part: 'way' };
const carriage: Piece = { key: 'joint carriage', make: () => box([1.3, 1.3, 1.5]), color: JOINT, part: 'second' };
const plate: Piece = { key: 'joint plate', make: () => cylinder(2.2, 0.16), color: PIN };
const block: Piece = { key: 'joint block', make: () => box([1.15, 1.15, 1.15]), color: JOINT };

const SYMBOLS: Record<string, Piece[]> = {
  revolute: [pin(2.6), sleeve(1.7)],
  planar_revolute: [pin(2.6), sleeve(1.7)],
  spherical: [ball(0.85), ring(0.86), { ...ring(0.86), turn: 'x' }],
  prismatic: [rail, carriage],
  planar_prismatic: [rail, carriage],
  cylindrical: [bar, { ...sleeve(1.9), part: 'second' }],
  screw: [bar, { ...sleeve(1.2), part: 'second' }, { ...ring(0.5), part: 'second' }],
  universal: [pin(2.2), { ...pin(2.2), turn: 'x' }, ball(0.55, JOINT)],
  planar: [plate, block],
  point_on_plane: [plate, ball(0.7)],
  point_on_line: [rail, { ...ball(0.7), part: 'second' }],
  planar_point_on_line: [rail, { ...ball(0.7), part: 'second' }],
  fixed: [block],
  planar_fixed: [block],
  rolling_disc: [ball(0.5)],
  prescribed_motion: [ring(0.9), ball(0.5)],
  prescribed_velocity: [ring(0.9), ball(0.5)],
};
const OTHER: Piece[] = [ball(0.7, JOINT)];

// Rotation of z into the axis.
export function along(axis: readonly number[] | undefined): Quaternion {
  const direction = axis ? new Vector3(axis[0], axis[1], axis[2]) : new Vector3(0, 0, 1);
  return new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), direction.lengthSq() > 0 ? direction.normalize() : new Vector3(0, 0, 1));
}

export function addJoint(instances: Instances, joint: Joint, owner: Owner, scene: Scene, tint: (color: Color) => Color): void {
  const radius = joint.radius > 0 ? joint.radius : 0.015 * scene.size;
  if (joint.type === 'distance' && joint.ends.length === 2) {
    addRod(instances, joint.ends, owner, 0.3 * radius, tint(JOINT));
    return;
  }
  const end = joint.ends[0];
  if (!end) return;
  for (const piece of SYMBOLS[joint.type] ?? OTHER) {
    const at = piece.part === 'second' && joint.ends.length > 1 ? { ...joint.ends[1], axis: joint.ends[1].axis ?? end.axis } : end;
    const rotation = along(at.axis);
    if (piece.turn) rotation.multiply(new Quaternion().setFromAxisAngle(piece.turn === 'x' ? new Vector3(1, 0, 0) : new Vector3(0, 1, 0), Math.PI / 2));
    const [from, to] = piece.part === 'way' ? travel(joint, scene, radius) : [0, radius];
    const middle = piece.part === 'way' ? new Vector3(0, 0, (from + to) / 2).applyQuaternion(rotation) : new Vector3();
    const local = new Matrix4().compose(middle.add(new Vector3(...at.at)), rotation, new Vector3(radius, radius, to - from));
    instances.add(piece.key, piece.make, { owner, color: tint(piece.color), place: attached(at.frame, local) });
  }
}

// Poses at some times of the motion.
const sampled = new WeakMap<Scene, Poses[]>();
function someOf(scene: Scene): Poses[] {
  if (!sampled.has(scene)) {
    const count = Math.min(scene.times.length, 40);
    const at = (i: number) => scene.times[Math.round((i * (scene.times.length - 1)) / Math.max(count - 1, 1))];
    sampled.set(scene, Array.from({ length: count }, (_, i) => {
      const poses = new Poses(scene);
      sampleMotion(scene, at(i), poses);
      return poses;
    }));
  }
  return sampled.get(scene)!;
}

// How far the second body goes along the axis over the whole motion, with a margin.
function travel(joint: Joint, scene: Scene, radius: number): [number, number] {
  let [low, high] = [0, 0];
  if (joint.ends.length > 1) {
    const direction = new Vector3();
    for (const poses of someOf(scene)) {
      const { frame, at, axis } = joint.ends[0];
      const start = poses.point(joint.ends[0]);
      const tip = poses.point({ frame, at: at.map((x, k) => x + direction.set(...(axis ?? [0, 0, 1])).normalize().getComponent(k)) as Vector });
      const end = poses.point(joint.ends[1]);
      const s = end.reduce((sum, x, k) => sum + (x - start[k]) * (tip[k] - start[k]), 0);
      low = Math.min(low, s);
      high = Math.max(high, s);
    }
  }
  return [low - 3 * radius, high + 3 * radius];
}

const Z = new Vector3(0, 0, 1);

// Places something that extends from 0 to 1 along z between two points, with a radius of `radius` across.
export function between(ends: Point[], radius: number, unit = 1, reach: [number, number] = [0, 1]): (poses: Poses, out: Matrix4) => void {
  const [a, b, rotation, scale] = [new Vector3(), new Vector3(), new Quaternion(), new Vector3()];
  return (poses, out) => {
    a.fromArray(poses.point(ends[0]));
    b.fromArray(poses.point(ends[1])).sub(a);
    const length = Math.max(b.length(), 1e-12);
    rotation.setFromUnitVectors(Z, b.divideScalar(length));
    a.addScaledVector(b, reach[0] * length);
    out.compose(a, rotation, scale.set(radius, radius, ((reach[1] - reach[0]) * length) / unit));
  };
}

export function addRod(instances: Instances, ends: Point[], owner: Owner, radius: number, color: Color, reach?: [number, number]): void {
  instances.add('rod', (detail) => cylinder(1, 1, detail).translate(0, 0, 0.5), { owner, color, place: between(ends, radius, 1, reach) });
}

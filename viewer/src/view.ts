// One scene in 3D: bodies, joints and forces at the poses of a time.
import { Box3, Color, Group, Matrix4, Mesh, MeshStandardMaterial, Quaternion, Vector3, type Intersection, type Object3D, type WebGLRenderer } from 'three';
import { BeamGeometry } from './beams';
import { bodyColor, colormap, GHOST, GROUND, SELECTED } from './colors';
import { FlexibleMesh } from './flexible';
import { addForce } from './forces';
import { shapeGeometry } from './geometry';
import { attached, Instances, type Owner } from './instances';
import { addJoint } from './joints';
import { Poses, sampleMode, sampleMotion } from './motion';
import type { Scene } from './scene';

export type Coloring = 'body' | 'speed' | 'stress';

export class SceneView {
  readonly root = new Group();
  readonly poses: Poses;
  readonly bodies: Instances;
  readonly symbols: Instances; // joints and forces
  readonly beams: { index: number; mesh: Mesh<BeamGeometry, MeshStandardMaterial> }[] = [];
  readonly flexible: { index: number; mesh: FlexibleMesh }[] = [];
  readonly colors: Color[];
  readonly hidden = new Set<string>(); // keys of owners
  selected?: Owner;
  coloring: Coloring = 'body';
  mode = 0;
  amplitude: number;
  private fastest?: number;

  constructor(
    readonly scene: Scene,
    readonly ghost = false,
  ) {
    this.poses = new Poses(scene);
    this.amplitude = 0.12 * scene.size;
    sampleMotion(scene, scene.times[0], this.poses);
    const look = ghost ? { transparent: true, opacity: 0.42, depthWrite: false } : {};
    const material = new MeshStandardMaterial({ roughness: 0.5, metalness: 0.08, ...look });
    this.bodies = new Instances(material, !ghost);
    this.symbols = new Instances(new MeshStandardMaterial({ roughness: 0.35, metalness: 0.2, ...look }), !ghost);
    const tint = (color: Color) => (ghost ? color.clone().lerp(GHOST, 0.75) : color.clone());
    let next = 0;
    this.colors = scene.bodies.map((body) => tint(body.kind === 'ground' ? GROUND : bodyColor(next++)));

    scene.bodies.forEach((body, index) => {
      const owner: Owner = { kind: 'body', index };
      if (body.kind === 'beam') {
        const beam = new Mesh(new BeamGeometry(body, scene.size), new MeshStandardMaterial({ roughness: 0.45, metalness: 0.1, vertexColors: true, ...look }));
        beam.frustumCulled = false;
        beam.castShadow = beam.receiveShadow = !ghost;
        beam.userData.owner = () => owner;
        this.beams.push({ index, mesh: beam });
        this.root.add(beam);
      } else if (body.kind === 'flexible') {
        const mesh = new FlexibleMesh(body, new MeshStandardMaterial({ roughness: 0.5, metalness: 0.08, ...look }));
        mesh.matrixAutoUpdate = false;
        mesh.castShadow = mesh.receiveShadow = !ghost;
        mesh.userData.owner = () => owner;
        this.flexible.push({ index, mesh });
        this.root.add(mesh);
      } else
        for (const shape of body.shapes) {
          const { key, make, scale } = shapeGeometry(shape);
          const [w, x, y, z] = shape.rotation;
          const local = new Matrix4().compose(new Vector3(...shape.at), new Quaternion(x, y, z, w).normalize(), new Vector3(...scale));
          const color = shape.color ? tint(new Color(shape.color)) : this.colors[index];
          this.bodies.add(key, make, { owner, color, place: attached(body.frame, local) });
        }
    });
    scene.joints.forEach((joint, index) => addJoint(this.symbols, joint, { kind: 'joint', index }, scene.size, tint));
    scene.forces.forEach((force, index) => addForce(this.symbols, force, { kind: 'force', index }, scene.size, this.poses, tint));
    this.bodies.build();
    this.symbols.build();
    this.root.add(this.bodies.group, this.symbols.group);
    this.update(scene.times[0]);
    this.recolor();
  }

  // `time` is the phase in radians for modes.
  update(time: number): void {
    if (this.scene.kind === 'modes') sampleMode(this.scene, this.mode, time, this.amplitude, this.poses);
    else sampleMotion(this.scene, time, this.poses);
    this.bodies.update(this.poses);
    this.symbols.update(this.poses);
    for (const { mesh } of this.beams) mesh.geometry.update(this.poses);
    for (const { mesh } of this.flexible) {
      this.poses.matrix(mesh.body.frame, mesh.matrix.elements);
      mesh.matrixWorldNeedsUpdate = true;
      mesh.setCoordinates(this.poses.coordinates.get(mesh.body)!);
    }
    if (this.coloring === 'speed') this.recolor();
  }

  // ---- colours

  setColoring(coloring: Coloring): void {
    this.coloring = coloring;
    this.recolor();
  }

  // The range of what is coloured, for the legend.
  range(): number {
    if (this.coloring === 'stress') return Math.max(0, ...this.flexible.map(({ mesh }) => mesh.largestStress()));
    return this.largestSpeed();
  }

  get hasStress(): boolean {
    return this.flexible.some(({ mesh }) => mesh.hasStress);
  }

  private largestSpeed(): number {
    if (this.scene.kind === 'modes') return this.amplitude;
    if (this.fastest !== undefined) return this.fastest;
    const { times, positions, frames } = this.scene;
    const row = 3 * frames.length;
    let largest = 0;
    for (let i = 0; i + 1 < times.length; i++) {
      const span = times[i + 1] - times[i];
      if (!(span > 0)) continue;
      for (let n = row * i; n < row * (i + 1); n += 3)
        largest = Math.max(largest, Math.hypot(positions[n + row] - positions[n], positions[n + row + 1] - positions[n + 1], positions[n + row + 2] - positions[n + 2]) / span);
    }
    return (this.fastest = largest);
  }

  recolor(): void {
    const is = (owner: Owner) => this.selected !== undefined && this.selected.kind === owner.kind && this.selected.index === owner.index;
    const range = this.coloring === 'speed' ? this.largestSpeed() || 1 : 1;
    const bySpeed = (frame: number) => colormap(this.poses.speed(frame) / range, new Color());
    const paints = this.scene.bodies.map((body, index) => {
      if (is({ kind: 'body', index })) return SELECTED;
      return this.coloring === 'speed' && body.kind !== 'beam' && body.frame >= 0 ? bySpeed(body.frame) : undefined;
    });
    this.bodies.each((instance) => (instance.paint = paints[instance.owner.index]));
    this.bodies.recolor();
    this.symbols.each((instance) => (instance.paint = is(instance.owner) ? SELECTED : undefined));
    this.symbols.recolor();
    for (const { index, mesh } of this.beams)
      mesh.geometry.paint((node) => (paints[index] ?? (this.coloring === 'speed' ? bySpeed(node) : this.colors[index])).toArray() as [number, number, number]);
    const stress = this.coloring === 'stress' ? this.range() : undefined;
    for (const { index, mesh } of this.flexible) {
      mesh.paint(paints[index] ?? this.colors[index]);
      mesh.showStress(is({ kind: 'body', index }) ? undefined : stress);
    }
  }

  select(owner: Owner | undefined): void {
    this.selected = owner;
    this.recolor();
  }

  // ---- visibility

  isVisible(owner: Owner): boolean {
    return !this.hidden.has(`${owner.kind} ${owner.index}`);
  }
  setVisible(owner: Owner, visible: boolean): void {
    if (visible) this.hidden.delete(`${owner.kind} ${owner.index}`);
    else this.hidden.add(`${owner.kind} ${owner.index}`);
    for (const instances of [this.bodies, this.symbols]) {
      instances.each((instance) => (instance.hidden = !this.isVisible(instance.owner)));
      instances.update(this.poses);
    }
    for (const { index, mesh } of [...this.beams, ...this.flexible]) (mesh as Object3D).visible = this.isVisible({ kind: 'body', index });
  }

  // ---- queries

  ownerOf(hit: Intersection): Owner | undefined {
    const owner = hit.object.userData.owner as ((id: number) => Owner) | undefined;
    return owner?.(hit.instanceId ?? 0);
  }

  // The frame that stands for a thing: of a body, the middle node of a beam, the first end of a joint.
  frameOf(owner: Owner): number {
    if (owner.kind === 'joint') return this.scene.joints[owner.index].ends[0]?.frame ?? -1;
    if (owner.kind === 'force') return this.scene.forces[owner.index].ends.at(-1)?.frame ?? -1;
    const body = this.scene.bodies[owner.index];
    return body.kind === 'beam' ? body.nodes[body.nodes.length - 1] : body.frame;
  }

  // Box around everything that moves, over the whole motion, and the lowest point along `up`. A floor may be large: it is in the box only if nothing moves.
  bounds(up: Vector3): { box: Box3; low: number } {
    const box = new Box3();
    let low = Infinity;
    const point = new Vector3();
    const { times } = this.scene;
    const samples = this.scene.kind === 'modes' ? 1 : Math.min(times.length, 60);
    const { bodies } = this.scene;
    const moves = bodies.some((body) => body.kind !== 'ground');
    const visit = (center: Vector3, axes: Vector3[], owner: Owner) => {
      const counts = !(moves && owner.kind === 'body' && bodies[owner.index].kind === 'ground');
      for (const sign of counts ? [-1, 1] : []) {
        point.copy(center);
        for (const axis of axes) for (let k = 0; k < 3; k++) point.setComponent(k, point.getComponent(k) + sign * Math.abs(axis.getComponent(k)));
        box.expandByPoint(point);
      }
      low = Math.min(low, center.dot(up) - axes.reduce((sum, axis) => sum + Math.abs(axis.dot(up)), 0));
    };
    const visitPoint = (x: number, y: number, z: number) => {
      box.expandByPoint(point.set(x, y, z));
      low = Math.min(low, point.dot(up));
    };
    for (let i = 0; i < samples; i++) {
      this.update(times[Math.round((i * (times.length - 1)) / Math.max(samples - 1, 1))]);
      this.bodies.bounds(visit);
      for (const { mesh } of this.beams) {
        const p = mesh.geometry.getAttribute('position').array;
        for (let n = 0; n < p.length; n += 9) visitPoint(p[n], p[n + 1], p[n + 2]);
      }
      for (const { mesh } of this.flexible) {
        const p = mesh.geometry.getAttribute('position');
        const stride = Math.max(Math.floor(p.count / 200), 1);
        const v = new Vector3();
        for (let n = 0; n < p.count; n += stride) {
          v.fromBufferAttribute(p, n).applyMatrix4(mesh.matrix);
          visitPoint(v.x, v.y, v.z);
        }
      }
    }
    if (box.isEmpty()) {
      const half = new Vector3(1, 1, 1).multiplyScalar(this.scene.size / 2);
      const center = new Vector3(...this.scene.center);
      box.set(center.clone().sub(half), center.clone().add(half));
      low = center.dot(up) - this.scene.size / 2;
    }
    return { box, low };
  }

  // Vertices of a body in inertial axes, as drawn.
  vertices(name: string, renderer: WebGLRenderer): number[] {
    const index = this.scene.bodies.findIndex((body) => body.name === name);
    const beam = this.beams.find((entry) => entry.index === index);
    if (beam) return Array.from(beam.mesh.geometry.getAttribute('position').array);
    const flexible = this.flexible.find((entry) => entry.index === index);
    if (!flexible) return this.bodies.vertices({ kind: 'body', index });
    const local = flexible.mesh.readBack(renderer);
    const v = new Vector3();
    const result: number[] = [];
    for (let n = 0; n < local.length; n += 3) result.push(...v.fromArray(local, n).applyMatrix4(flexible.mesh.matrix).toArray());
    return result;
  }

  dispose(): void {
    this.bodies.dispose();
    this.symbols.dispose();
    for (const { mesh } of [...this.beams, ...this.flexible]) mesh.geometry.dispose();
  }
}

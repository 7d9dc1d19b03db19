// One scene in 3D: bodies, joints and forces at the poses of a time.
import { Box3, Color, Group, Matrix4, Mesh, MeshStandardMaterial, Quaternion, Vector3, type Intersection, type Object3D, type WebGLRenderer } from 'three';
import { BeamGeometry } from './beams';
import { bodyColor, colormap, GHOST, GROUND, SELECTED, WITHOUT_VALUE } from './colors';
import { FlexibleMesh } from './flexible';
import { addForce } from './forces';
import { shapeGeometry } from './geometry';
import { attached, Instances, widened, type Owner } from './instances';
import { addJoint } from './joints';
import { movingEnd, Poses, sampleMode, sampleMotion } from './motion';
import type { Scene } from './scene';
import type { Bounds } from './stage';
import { COLORINGS, largestSectionValue, sectionValue, type Coloring } from './sections';

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
  // The size of a pixel at a distance of one, for bodies that are thinner than it.
  readonly pixel = { value: 0 };
  private fastest?: number;
  private readonly ranges = new Map<Coloring, number>();

  constructor(
    readonly scene: Scene,
    readonly ghost = false,
  ) {
    this.poses = new Poses(scene);
    this.amplitude = 0.12 * scene.size;
    sampleMotion(scene, scene.times[0], this.poses);
    const look = ghost ? { transparent: true, opacity: 0.42, depthWrite: false } : {};
    const material = new MeshStandardMaterial({ roughness: 0.5, metalness: 0.08, ...look });
    this.bodies = new Instances(widened(material, this.pixel), !ghost);
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
    scene.joints.forEach((joint, index) => addJoint(this.symbols, joint, { kind: 'joint', index }, scene, tint));
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
    // The shader knows the stresses of flexible bodies; only the range may change.
    const isFixed = this.coloring === 'stress' && this.beams.length === 0 && this.scene.kind !== 'modes' && !this.scene.live;
    if (this.coloring !== 'body' && !isFixed) this.recolor();
  }

  // ---- colours

  setColoring(coloring: Coloring): void {
    this.coloring = coloring;
    this.recolor();
  }

  // The range of what is coloured over the whole motion, for the legend.
  range(): number {
    const { coloring } = this;
    if (coloring === 'body' || coloring === 'speed') return this.largestSpeed();
    if (this.scene.kind === 'modes') return this.rangeOfMode(coloring);
    if (!this.ranges.has(coloring)) this.ranges.set(coloring, coloring === 'displacement' ? this.largestDisplacement() : this.largestFrom(coloring, 0));
    return this.ranges.get(coloring)!;
  }

  // The same over a period of the mode that is shown.
  private modeRange = { key: '', value: 0 };
  private rangeOfMode(coloring: Coloring): number {
    const key = `${coloring} ${this.mode} ${this.amplitude}`;
    if (this.modeRange.key === key) return this.modeRange.value;
    this.modeRange = { key, value: 0 };
    const poses = new Poses(this.scene);
    const steps = 16;
    for (let i = 0; i < steps; i++) {
      sampleMode(this.scene, this.mode, (2 * Math.PI * i) / steps, this.amplitude, poses);
      if (coloring === 'displacement') {
        for (let frame = 0; frame < this.scene.frames.length; frame++) this.modeRange.value = Math.max(this.modeRange.value, poses.displacement(frame));
        continue;
      }
      for (const { mesh } of this.flexible) {
        const stress = mesh.stressAt(poses.coordinates.get(mesh.body)!);
        const value = coloring === 'stress' ? stress : mesh.body.young > 0 ? stress / mesh.body.young : 0;
        this.modeRange.value = Math.max(this.modeRange.value, value);
      }
    }
    return this.modeRange.value;
  }

  private largestFrom(coloring: Coloring, row: number): number {
    let largest = 0;
    for (const { mesh } of this.beams) largest = Math.max(largest, largestSectionValue(mesh.geometry.body, coloring, (node) => mesh.geometry.outline(node), row));
    for (const { mesh } of this.flexible) {
      if (coloring === 'stress') largest = Math.max(largest, mesh.largestStress(row));
      if (coloring === 'strain' && mesh.body.young > 0) largest = Math.max(largest, mesh.largestStress(row) / mesh.body.young);
    }
    return largest;
  }

  // What the scene has values for. Equilibria and modes have no speeds: nothing says how fast the loads rise, nor how far a mode swings.
  get colorings(): Coloring[] {
    const modes = this.scene.kind === 'modes';
    const moves = this.scene.kind === 'motion' ? 'speed' : 'displacement';
    const has = (coloring: Coloring) =>
      (!modes && this.beams.some(({ mesh }) => sectionValue(mesh.geometry.body, coloring))) ||
      this.flexible.some(({ mesh }) => mesh.hasStress && (coloring === 'stress' || (coloring === 'strain' && mesh.body.young > 0)));
    return ['body', moves, ...(Object.keys(COLORINGS) as Coloring[]).filter(has)];
  }

  // Frames of a running simulation were appended, from this one on.
  grew(row: number): void {
    for (let i = Math.max(row - 1, 0); this.fastest !== undefined && i + 1 < this.scene.times.length; i++) this.fastest = Math.max(this.fastest, this.speedOfRow(i));
    for (const [coloring, largest] of this.ranges) this.ranges.set(coloring, Math.max(largest, this.largestFrom(coloring, row)));
  }
  // The running simulation had this speed, perhaps before the page was opened.
  raiseSpeed(speed: number): void {
    this.fastest = Math.max(this.largestSpeed(), speed);
  }

  private largestDisplacement(): number {
    const { positions, frames } = this.scene;
    const row = 3 * frames.length;
    let largest = 0;
    for (let n = row; n < positions.length; n += 3)
      largest = Math.max(largest, Math.hypot(positions[n] - positions[n % row], positions[n + 1] - positions[(n % row) + 1], positions[n + 2] - positions[(n % row) + 2]));
    return largest;
  }

  largestSpeed(): number {
    if (this.scene.kind === 'modes') return this.amplitude;
    if (this.fastest !== undefined) return this.fastest;
    this.fastest = 0;
    for (let i = 0; i + 1 < this.scene.times.length; i++) this.fastest = Math.max(this.fastest, this.speedOfRow(i));
    return this.fastest;
  }

  // The largest speed between a frame of the motion and the next one.
  private speedOfRow(i: number): number {
    const { times, positions, frames } = this.scene;
    const row = 3 * frames.length;
    const span = times[i + 1] - times[i];
    let largest = 0;
    for (let n = row * i; n < row * (i + 1); n += 3)
      largest = Math.max(largest, Math.hypot(positions[n + row] - positions[n], positions[n + row + 1] - positions[n + 1], positions[n + row + 2] - positions[n + 2]));
    return span > 0 ? largest / span : 0;
  }

  recolor(): void {
    const is = (owner: Owner) => this.selected !== undefined && this.selected.kind === owner.kind && this.selected.index === owner.index;
    const ofFrames = this.coloring === 'speed' || this.coloring === 'displacement'; // not of points in bodies
    const largest = this.coloring === 'body' ? 1 : this.range() || 1;
    const byFrame = (frame: number) => colormap((this.coloring === 'speed' ? this.poses.speed(frame) : this.poses.displacement(frame)) / largest, new Color());
    const paints = this.scene.bodies.map((body, index) => {
      if (is({ kind: 'body', index })) return SELECTED;
      if (this.coloring === 'body' || body.kind === 'beam') return undefined;
      if (ofFrames) return body.frame >= 0 ? byFrame(body.frame) : undefined;
      return body.kind === 'flexible' ? undefined : WITHOUT_VALUE;
    });
    this.bodies.each((instance) => (instance.paint = paints[instance.owner.index]));
    this.bodies.recolor();
    this.symbols.each((instance) => (instance.paint = is(instance.owner) ? SELECTED : undefined));
    this.symbols.recolor();
    for (const { index, mesh } of this.beams) {
      const value = sectionValue(mesh.geometry.body, this.coloring);
      const plain = this.coloring === 'body' ? this.colors[index] : WITHOUT_VALUE;
      if (value && !paints[index]) mesh.geometry.paintSections(this.poses.sectionValues.get(mesh.geometry.body)!, (f, point) => value(f, point) / largest);
      else mesh.geometry.paint((node) => (paints[index] ?? (ofFrames ? byFrame(node) : plain)).toArray() as [number, number, number]);
    }
    for (const { index, mesh } of this.flexible) {
      const stress = this.coloring === 'stress' ? largest : this.coloring === 'strain' ? largest * mesh.body.young : undefined;
      mesh.paint(paints[index] ?? this.colors[index]);
      mesh.showStress(is({ kind: 'body', index }) || !mesh.hasStress ? undefined : stress);
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

  // The colour of a body in lists: that of its first shape.
  swatch(index: number): string {
    const body = this.scene.bodies[index];
    const own = 'shapes' in body ? body.shapes[0]?.color : undefined;
    return own ?? `#${this.colors[index].getHexString()}`;
  }

  // ---- queries

  ownerOf(hit: Intersection): Owner | undefined {
    const owner = hit.object.userData.owner as ((id: number) => Owner) | undefined;
    return owner?.(hit.instanceId ?? 0);
  }

  // The frame that stands for a thing: of a body, the last node of a beam, that of the end of a joint or a force that moves.
  frameOf(owner: Owner): number {
    if (owner.kind !== 'body') return movingEnd((owner.kind === 'joint' ? this.scene.joints : this.scene.forces)[owner.index].ends)?.frame ?? -1;
    const body = this.scene.bodies[owner.index];
    return body.kind === 'beam' ? body.nodes[body.nodes.length - 1] : body.frame;
  }

  // Box around everything, over the whole motion, and the lowest point along `up`. A floor may be large: shapes of the ground are in the box only if they are
  // not much larger than what moves.
  bounds(up: Vector3): Bounds {
    const box = new Box3();
    const ground = new Box3();
    const points: number[] = []; // of what moves
    const groundPoints: number[] = [];
    let low = Infinity;
    const point = new Vector3();
    const { times } = this.scene;
    const { bodies } = this.scene;
    const samples = this.scene.kind === 'modes' ? 1 : Math.min(times.length, 60, Math.max(Math.floor(20000 / bodies.length), 4));
    const visit = (center: Vector3, axes: Vector3[], owner: Owner) => {
      const still = owner.kind === 'body' && bodies[owner.index].kind === 'ground';
      for (let i = 0; i < 8; i++) {
        point.copy(center);
        axes.forEach((axis, k) => point.addScaledVector(axis, (i >> k) & 1 ? 1 : -1));
        (still ? ground : box).expandByPoint(point);
        (still ? groundPoints : points).push(point.x, point.y, point.z);
      }
      low = Math.min(low, center.dot(up) - axes.reduce((sum, axis) => sum + Math.abs(axis.dot(up)), 0));
    };
    const visitPoint = (x: number, y: number, z: number) => {
      box.expandByPoint(point.set(x, y, z));
      points.push(x, y, z);
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
    // Where joints and springs are held, unless that is far away.
    const held = new Box3();
    const heldPoints: number[] = [];
    this.symbols.bounds((center, axes) => {
      for (const axis of axes)
        for (const sign of [-1, 1]) {
          held.expandByPoint(point.copy(center).addScaledVector(axis, sign));
          heldPoints.push(point.x, point.y, point.z);
        }
    });
    const size = (of: Box3) => of.getSize(new Vector3()).length();
    for (const [other, its, most] of [[held, heldPoints, 1.5], [ground, groundPoints, 2]] as const) {
      if (other.isEmpty() || !(box.isEmpty() || size(other) < most * size(box))) continue;
      box.union(other);
      for (const x of its) points.push(x);
    }
    if (box.isEmpty()) {
      const half = new Vector3(1, 1, 1).multiplyScalar(this.scene.size / 2);
      const center = new Vector3(...this.scene.center);
      box.set(center.clone().sub(half), center.clone().add(half));
      low = center.dot(up) - this.scene.size / 2;
    }
    return { box, low, points };
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

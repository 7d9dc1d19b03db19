// The scene as it is written by Liedyn, checked and decoded.
import { unpack, unpackFloats } from './arrays';
import { SceneError } from './error';

export type Vector = [number, number, number];
export type Quaternion = [number, number, number, number]; // w, x, y, z

export interface Shape {
  type: 'box' | 'sphere' | 'cylinder' | 'capsule' | 'cone' | 'tube' | 'ellipsoid' | 'mesh';
  size: Vector; // of a box; the radii of an ellipsoid
  radius: number;
  inner: number;
  length: number;
  at: Vector;
  rotation: Quaternion;
  color?: string;
  vertices?: Float32Array;
  triangles?: Uint32Array;
}

export interface Section {
  type: string;
  radius: number;
  inner: number;
  width: number;
  height: number;
  thickness: number;
}

export type SectionConstants = [area: number, aboutY: number, aboutZ: number, torsion: number];

interface Named {
  name: string;
}
export interface RigidBody extends Named {
  kind: 'rigid' | 'ground';
  frame: number;
  shapes: Shape[];
  mass?: number;
}
export interface BeamBody extends Named {
  kind: 'beam';
  nodes: number[];
  section: Section;
  end: Section;
  closed: boolean;
  young: number; // 0: not known
  constants: SectionConstants[]; // at each node; empty: not known
  stations: number[]; // nodes that values are given at: those where forces jump are there twice, from before and from behind
  // N, Q_y, Q_z, T, M_y, M_z in section axes, each [T, stations]. Of sections without outline then the strain of the axis and the curvature.
  sectionValues?: Float32Array[];
}
export interface FlexibleBody extends Named {
  kind: 'flexible';
  frame: number;
  vertices: Float32Array;
  triangles: Uint32Array;
  modeCount: number; // K, products of coordinates included
  linearModes: number; // those that mode_list has coordinates of
  modes: Float32Array; // [K, N, 3]
  coordinates: Float32Array; // [T, K]
  stress?: Float32Array; // [stressModes, N, 6]
  stressModes: number;
  young: number; // 0: not known
}
export type Body = RigidBody | BeamBody | FlexibleBody;

export interface Point {
  frame: number;
  at: Vector;
  axis?: Vector;
}
export interface Joint extends Named {
  type: string;
  bodies: string[];
  ends: Point[];
  radius: number;
}
export interface Force extends Named {
  type: string;
  ends: Point[];
  radius: number;
}
export interface Channel extends Named {
  unit: string;
  type: string;
  components: string[];
  frame?: number;
  at: Vector;
  bodyAxes?: boolean; // components in the axes of `frame`, otherwise in inertial axes
  joint?: string; // what it looks at
  force?: string;
  times: Float64Array;
  values: Float32Array; // [R, C]
  largest?: number; // vector, where times were left out
}
export interface Mode {
  frequency: number;
  damping?: number;
  growth?: number;
  displacement: Float32Array; // [F, 6, 2]
  coordinates: Float32Array; // [K, 2]
}

export interface Scene {
  title: string;
  kind: 'motion' | 'modes' | 'static';
  timeLabel: string;
  size: number;
  center: Vector;
  gravity: Vector;
  times: Float64Array;
  frames: string[];
  positions: Float32Array; // [T, F, 3]
  rotations: Float32Array; // [T, F, 4], unit quaternions w, x, y, z
  bodies: Body[];
  joints: Joint[];
  forces: Force[];
  channels: Channel[];
  loads: Channel[]; // what acts in joints and forces, and coordinates of joints, without sensors of the model
  modes: Mode[];
  summary: Record<string, unknown>;
  warnings: string[];
  live?: Record<string, unknown>;
}

const FORMAT = 'liedyn scene 1';
type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

function list(value: unknown, path: string): unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new SceneError(`${path} is not a list`, 'Expected [ … ].');
  return value;
}
function object(value: unknown, path: string): Json {
  if (!isObject(value)) throw new SceneError(`${path} is not an object`, 'Expected { … }.');
  return value;
}
function text(value: unknown, fallback = ''): string {
  return typeof value === 'string' ? value : fallback;
}
function number(value: unknown, path: string, fallback?: number): number {
  if ((value === undefined || value === null) && fallback !== undefined) return fallback;
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new SceneError(`${path} is ${JSON.stringify(value)}`, 'Expected a finite number.');
  return value;
}
function numbers<T extends number[]>(value: unknown, path: string, count: number, fallback?: T): T {
  if ((value === undefined || value === null) && fallback) return fallback;
  const entries = list(value, path).map((entry, i) => number(entry, `${path}[${i}]`));
  if (entries.length !== count) throw new SceneError(`${path} has ${entries.length} numbers`, `Expected ${count}.`);
  return entries as T;
}
const vector = (value: unknown, path: string, fallback?: Vector) => numbers<Vector>(value, path, 3, fallback);

function triangles(values: ArrayLike<number>, vertexCount: number, path: string): Uint32Array {
  const result = Uint32Array.from(values);
  for (const index of result) if (index >= vertexCount) throw new SceneError(`${path} refers to vertex ${index}`, `Expected less than ${vertexCount}.`);
  return result;
}

// Parses the text of a scene and decodes its arrays. Throws SceneError.
export async function readScene(source: string): Promise<Scene> {
  if (source.trim() === '') throw new SceneError('The file is empty', 'Expected a scene written by liedyn run MODEL --html or --scene.');
  let json: unknown;
  try {
    json = JSON.parse(source);
  } catch (error) {
    throw new SceneError(`The file is not valid JSON: ${(error as Error).message}`, 'It may have been cut off. Write it again with liedyn.');
  }
  return decode(object(json, 'scene'));
}

async function decode(json: Json): Promise<Scene> {
  if (json.format !== FORMAT)
    throw new SceneError(`The format is ${JSON.stringify(json.format) ?? 'missing'}`, `Expected "${FORMAT}". Is this a scene written by Liedyn?`);
  const frames = list(json.frames, 'frames').map((name) => text(name));
  const F = frames.length;
  const times = Float64Array.from(await unpack(json.times, 'times', [-1]));
  const T = times.length;
  if (T === 0) throw new SceneError('The scene has no frames', 'The simulation stopped before the first output.');
  for (let i = 0; i < T; i++)
    if (!Number.isFinite(times[i]) || (i > 0 && times[i] < times[i - 1])) throw new SceneError(`times[${i}] is ${times[i]}`, 'Expected finite times that do not decrease.');
  const positions = await unpackFloats(json.positions, 'positions', [T, F, 3]);
  const rotations = unitQuaternions(await unpack(json.rotations, 'rotations', [T, F, 4]));
  const context = { T, F };

  const bodies: Body[] = [];
  for (const [i, entry] of list(json.bodies, 'bodies').entries()) bodies.push(await body(object(entry, `bodies[${i}]`), `bodies[${i}]`, context));
  const size = number(json.size, 'size', 0);
  const scene: Scene = {
    title: text(json.title, 'untitled'),
    kind: json.kind === 'modes' || json.kind === 'static' ? json.kind : 'motion',
    timeLabel: text(json.time_label, json.kind === 'static' ? 'load factor' : 'time'),
    size: size > 0 ? size : 1,
    center: vector(json.center, 'center', [0, 0, 0]),
    gravity: vector(json.gravity, 'gravity', [0, 0, 0]),
    times,
    frames,
    positions,
    rotations,
    bodies,
    joints: list(json.joints, 'joints').map((entry, i) => joint(object(entry, `joints[${i}]`), `joints[${i}]`, F)),
    forces: list(json.forces, 'forces').map((entry, i) => force(object(entry, `forces[${i}]`), `forces[${i}]`, F)),
    channels: [],
    loads: [],
    modes: [],
    summary: isObject(json.summary) ? json.summary : {},
    warnings: list(json.warnings, 'warnings').map((warning) => (typeof warning === 'string' ? warning : JSON.stringify(warning))),
    live: isObject(json.live) ? json.live : undefined,
  };
  scene.channels = await channels(json, 'channels', 'channel_times', F);
  scene.loads = await channels(json, 'loads', 'load_times', F);
  const K = bodies.reduce((sum, b) => sum + (b.kind === 'flexible' ? b.linearModes : 0), 0);
  for (const [i, entry] of list(json.mode_list, 'mode_list').entries()) scene.modes.push(await mode(object(entry, `mode_list[${i}]`), `mode_list[${i}]`, F, K));
  if (scene.kind === 'modes' && scene.modes.length === 0) throw new SceneError('The scene has no modes', 'Expected mode_list with at least one entry.');
  return scene;
}

function unitQuaternions(values: ArrayLike<number>): Float32Array {
  const result = Float32Array.from(values);
  for (let i = 0; i < result.length; i += 4) {
    const norm = Math.hypot(result[i], result[i + 1], result[i + 2], result[i + 3]);
    if (!(norm > 0)) throw new SceneError(`rotations contain a quaternion of length ${norm}`, 'Expected unit quaternions.');
    for (let k = 0; k < 4; k++) result[i + k] /= norm;
  }
  return result;
}

function frameIndex(value: unknown, path: string, F: number): number {
  const index = number(value, path, -1);
  if (!Number.isInteger(index) || index < -1 || index >= F) throw new SceneError(`${path} is ${index}`, `Expected -1 to ${F - 1}.`);
  return index;
}

async function body(json: Json, path: string, { T, F }: { T: number; F: number }): Promise<Body> {
  const name = text(json.name, path);
  if (json.kind === 'beam') {
    const nodes = list(json.nodes, `${path}.nodes`).map((node, i) => frameIndex(node, `${path}.nodes[${i}]`, F));
    if (nodes.includes(-1)) throw new SceneError(`${path}.nodes contains -1`, 'Expected indices of moving frames.');
    if (nodes.length < 2) throw new SceneError(`${path}.nodes has ${nodes.length} entries`, 'Expected at least 2.');
    const given = object(json.section, `${path}.section`);
    const start = section(given, `${path}.section`);
    const end = isObject(given.end) ? section({ ...given, ...given.end }, `${path}.section.end`) : start;
    // One list of four numbers, or one for each node of a beam whose section varies.
    const known = list(json.constants, `${path}.constants`);
    const constants = known.length === 0 ? [] : nodes.map((_, i) => numbers<SectionConstants>(Array.isArray(known[0]) ? known[i] : known, `${path}.constants`, 4));
    const stations = json.stations === undefined ? nodes.map((_, i) => i) : list(json.stations, `${path}.stations`).map((node) => frameIndex(node, `${path}.stations`, nodes.length));
    const forces = list(json.section_forces, `${path}.section_forces`);
    if (forces.length !== 0 && forces.length !== 6) throw new SceneError(`${path}.section_forces has ${forces.length} entries`, 'Expected 6.');
    const strains = forces.length > 0 ? list(json.section_strains, `${path}.section_strains`) : [];
    if (strains.length !== 0 && strains.length !== 2) throw new SceneError(`${path}.section_strains has ${strains.length} entries`, 'Expected 2.');
    const sectionValues: Float32Array[] = [];
    for (const [i, array] of forces.entries()) sectionValues.push(await unpackFloats(array, `${path}.section_forces[${i}]`, [T, stations.length]));
    for (const [i, array] of strains.entries()) sectionValues.push(await unpackFloats(array, `${path}.section_strains[${i}]`, [T, stations.length]));
    return { name, kind: 'beam', nodes, section: start, end, closed: json.closed === true, young: number(json.young, `${path}.young`, 0), constants, stations, sectionValues: forces.length > 0 ? sectionValues : undefined };
  }
  if (json.kind === 'flexible') {
    const vertices = await unpackFloats(json.vertices, `${path}.vertices`, [-1, 3]);
    const N = vertices.length / 3;
    const coordinates = await unpackFloats(json.coordinates, `${path}.coordinates`, [T, -1]);
    const K = coordinates.length / T;
    const stress = json.stress === undefined || json.stress === null ? undefined : await unpackFloats(json.stress, `${path}.stress`, [-1, N, 6]);
    return {
      name,
      kind: 'flexible',
      frame: frameIndex(json.frame, `${path}.frame`, F),
      vertices,
      triangles: triangles(await unpack(json.triangles, `${path}.triangles`, [-1, 3]), N, `${path}.triangles`),
      modeCount: K,
      linearModes: number(json.mode_count, `${path}.mode_count`, K),
      modes: await unpackFloats(json.modes, `${path}.modes`, [K, N, 3]),
      coordinates,
      stress,
      stressModes: stress ? Math.min(K, stress.length / Math.max(6 * N, 1)) : 0,
      young: number(json.young, `${path}.young`, 0),
    };
  }
  const shapes: Shape[] = [];
  for (const [i, entry] of list(json.shapes, `${path}.shapes`).entries()) shapes.push(await shape(object(entry, `${path}.shapes[${i}]`), `${path}.shapes[${i}]`));
  return { name, kind: json.kind === 'ground' ? 'ground' : 'rigid', frame: frameIndex(json.frame, `${path}.frame`, F), shapes, mass: typeof json.mass === 'number' ? json.mass : undefined };
}

async function shape(json: Json, path: string): Promise<Shape> {
  const types = ['box', 'sphere', 'cylinder', 'capsule', 'cone', 'tube', 'ellipsoid', 'mesh'];
  const type = text(json.type);
  if (!types.includes(type)) throw new SceneError(`${path}.type is ${JSON.stringify(json.type)}`, `Expected one of ${types.join(', ')}.`);
  const result: Shape = {
    type: type as Shape['type'],
    size: vector(type === 'ellipsoid' ? json.radii : json.size, `${path}.size`, type === 'box' || type === 'ellipsoid' ? undefined : [0, 0, 0]),
    radius: number(json.radius, `${path}.radius`, ['box', 'ellipsoid', 'mesh'].includes(type) ? 0 : undefined),
    inner: number(json.inner, `${path}.inner`, 0),
    length: number(json.length, `${path}.length`, ['cylinder', 'capsule', 'cone', 'tube'].includes(type) ? undefined : 0),
    at: vector(json.at, `${path}.at`, [0, 0, 0]),
    rotation: numbers<Quaternion>(json.rotation, `${path}.rotation`, 4, [1, 0, 0, 0]),
    color: /^#[0-9a-f]{6}$/i.test(text(json.color)) ? text(json.color) : undefined,
  };
  if (type === 'mesh') {
    result.vertices = await unpackFloats(json.vertices, `${path}.vertices`, [-1, 3]);
    result.triangles = triangles(await unpack(json.triangles, `${path}.triangles`, [-1, 3]), result.vertices.length / 3, `${path}.triangles`);
  }
  return result;
}

function section(json: Json, path: string): Section {
  const get = (key: string) => number(json[key], `${path}.${key}`, 0);
  return { type: text(json.type, 'circle'), radius: get('radius'), inner: get('inner'), width: get('width'), height: get('height'), thickness: get('thickness') };
}

function point(json: Json, path: string, F: number): Point {
  return {
    frame: frameIndex(json.frame, `${path}.frame`, F),
    at: vector(json.at, `${path}.at`, [0, 0, 0]),
    axis: json.axis === undefined || json.axis === null ? undefined : vector(json.axis, `${path}.axis`),
  };
}

function ends(json: Json, path: string, F: number): Point[] {
  return list(json.ends, `${path}.ends`).map((entry, i) => point(object(entry, `${path}.ends[${i}]`), `${path}.ends[${i}]`, F));
}

function joint(json: Json, path: string, F: number): Joint {
  const given = ends(json, path, F);
  const at = json.at === undefined || json.at === null ? [] : [point(json, path, F)];
  return {
    name: text(json.name, path),
    type: text(json.type),
    bodies: list(json.bodies, `${path}.bodies`).map((name) => text(name)),
    ends: given.length > 0 ? given : at,
    radius: number(json.radius, `${path}.radius`, 0),
  };
}

function force(json: Json, path: string, F: number): Force {
  return { name: text(json.name, path), type: text(json.type), ends: ends(json, path, F), radius: number(json.radius, `${path}.radius`, 0) };
}

async function channels(json: Json, key: string, timesKey: string, F: number): Promise<Channel[]> {
  const entries = list(json[key], key);
  const energy = key === 'channels' && json.energy !== undefined && json.energy !== null;
  if (entries.length === 0 && !energy) return [];
  const times = Float64Array.from(await unpack(json[timesKey], timesKey, [-1]));
  const R = times.length;
  const result: Channel[] = [];
  for (const [i, entry] of entries.entries()) {
    const path = `${key}[${i}]`;
    const channel = object(entry, path);
    // Sensors may be undefined at times, so numbers that are not finite are gaps of the curve.
    const values = Float32Array.from(await unpack(channel.values, `${path}.values`, [R, -1]));
    const C = R > 0 ? values.length / R : 0;
    const components = list(channel.components, `${path}.components`).map((name) => text(name));
    result.push({
      name: text(channel.name, path),
      unit: text(channel.unit),
      type: text(channel.type),
      components: components.length === C ? components : Array.from({ length: C }, (_, c) => (C === 1 ? '' : String(c))),
      frame: channel.frame === undefined || channel.frame === null ? undefined : frameIndex(channel.frame, `${path}.frame`, F),
      at: vector(channel.at, `${path}.at`, [0, 0, 0]),
      bodyAxes: channel.axes === 'body',
      joint: text(channel.joint) || undefined,
      force: text(channel.force) || undefined,
      times,
      values,
      largest: channel.largest === undefined ? undefined : number(channel.largest, `${path}.largest`),
    });
  }
  if (energy)
    result.push({ name: 'total energy', unit: 'J', type: 'energy', components: [''], at: [0, 0, 0], times, values: Float32Array.from(await unpack(json.energy, 'energy', [R])) });
  return result;
}

async function mode(json: Json, path: string, F: number, K: number): Promise<Mode> {
  const optional = (key: string) => (typeof json[key] === 'number' ? (json[key] as number) : undefined);
  return {
    frequency: number(json.frequency, `${path}.frequency`),
    damping: optional('damping'),
    growth: optional('growth'),
    displacement: await unpackFloats(json.displacement, `${path}.displacement`, [F, 6, 2]),
    coordinates: json.coordinates === undefined || json.coordinates === null ? new Float32Array(2 * K) : await unpackFloats(json.coordinates, `${path}.coordinates`, [K, 2]),
  };
}

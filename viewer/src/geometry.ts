// Geometries of shapes and symbols. Round ones are bodies of revolution about z, with small chamfers that catch the light.
import { BufferAttribute, BufferGeometry, CatmullRomCurve3, SphereGeometry, TorusGeometry, TubeGeometry, Vector3 } from 'three';
import { RoundedBoxGeometry } from 'three/examples/jsm/geometries/RoundedBoxGeometry.js';
import type { Shape } from './scene';

// Things that occur many times are drawn with fewer facets.
export type Detail = 'fine' | 'coarse' | 'least';
const facets = (detail: Detail) => ({ fine: 40, coarse: 12, least: 6 })[detail];

type Profile = { r: number; z: number; nr: number; nz: number }[];

const line = (r0: number, z0: number, r1: number, z1: number): Profile => {
  const length = Math.hypot(r1 - r0, z1 - z0) || 1;
  const nr = (z1 - z0) / length;
  const nz = (r0 - r1) / length;
  return [
    { r: r0, z: z0, nr, nz },
    { r: r1, z: z1, nr, nz },
  ];
};
const arc = (r: number, z: number, radius: number, from: number, to: number, steps: number): Profile =>
  Array.from({ length: steps + 1 }, (_, i) => {
    const angle = from + ((to - from) * i) / steps;
    return { r: r + radius * Math.cos(angle), z: z + radius * Math.sin(angle), nr: Math.cos(angle), nz: Math.sin(angle) };
  });

// Surface of revolution about z of pieces of profile, each smooth in itself; counter-clockwise in the (r, z) plane.
function revolve(pieces: Profile[], detail: Detail): BufferGeometry {
  const around = facets(detail);
  const position: number[] = [];
  const normal: number[] = [];
  const index: number[] = [];
  for (const piece of pieces) {
    const base = position.length / 3;
    for (const p of piece)
      for (let i = 0; i <= around; i++) {
        const [c, s] = [Math.cos((2 * Math.PI * i) / around), Math.sin((2 * Math.PI * i) / around)];
        position.push(p.r * c, p.r * s, p.z);
        normal.push(p.nr * c, p.nr * s, p.nz);
      }
    for (let j = 0; j + 1 < piece.length; j++)
      for (let i = 0; i < around; i++) {
        const a = base + j * (around + 1) + i;
        const b = a + around + 1;
        if (piece[j].r > 0) index.push(a, a + 1, b);
        if (piece[j + 1].r > 0) index.push(a + 1, b + 1, b);
      }
  }
  return indexed(position, normal, index);
}

export function indexed(position: number[], normal: number[], index: number[]): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(new Float32Array(position), 3));
  geometry.setAttribute('normal', new BufferAttribute(new Float32Array(normal), 3));
  geometry.setIndex(index);
  return geometry;
}

export function cylinder(radius: number, length: number, detail: Detail = 'fine'): BufferGeometry {
  const [h, b] = [length / 2, 0.06 * Math.min(radius, length)];
  return revolve([line(0, -h, radius - b, -h), arc(radius - b, -h + b, b, -Math.PI / 2, 0, 3), line(radius, -h + b, radius, h - b), arc(radius - b, h - b, b, 0, Math.PI / 2, 3), line(radius - b, h, 0, h)], detail);
}
export function tube(radius: number, inner: number, length: number, detail: Detail = 'fine'): BufferGeometry {
  const [h, b] = [length / 2, 0.06 * Math.min(radius - inner, length)];
  return revolve([line(inner, -h, radius - b, -h), arc(radius - b, -h + b, b, -Math.PI / 2, 0, 3), line(radius, -h + b, radius, h - b), arc(radius - b, h - b, b, 0, Math.PI / 2, 3), line(radius - b, h, inner, h), line(inner, h, inner, -h)], detail);
}
export function cone(radius: number, length: number, detail: Detail = 'fine'): BufferGeometry {
  return revolve([line(0, -length / 2, radius, -length / 2), line(radius, -length / 2, 0, length / 2)], detail);
}
export function capsule(radius: number, length: number, detail: Detail = 'fine'): BufferGeometry {
  const h = length / 2;
  const steps = { fine: 10, coarse: 4, least: 2 }[detail];
  return revolve([[...arc(0, -h, radius, -Math.PI / 2, 0, steps), ...arc(0, h, radius, 0, Math.PI / 2, steps)]], detail);
}
export const sphere = (radius: number, detail: Detail = 'fine') => new SphereGeometry(radius, facets(detail), { fine: 24, coarse: 8, least: 4 }[detail]).rotateX(Math.PI / 2);
export const torus = (radius: number, wire: number, detail: Detail = 'fine') => new TorusGeometry(radius, wire, { fine: 12, coarse: 5, least: 3 }[detail], facets(detail));
export function box(size: readonly number[]): BufferGeometry {
  const smallest = Math.min(...size);
  return new RoundedBoxGeometry(size[0], size[1], size[2], 2, 0.08 * smallest);
}

// A coil spring along z from 0 to `length`, with straight ends.
export function coil(radius: number, length: number): BufferGeometry {
  const turns = Math.min(Math.max(Math.round(length / (1.1 * radius)), 4), 14);
  const points: Vector3[] = [new Vector3(0, 0, 0), new Vector3(0, 0, 0.06 * length)];
  const steps = 16 * turns;
  for (let i = 0; i <= steps; i++) {
    const s = i / steps;
    const angle = 2 * Math.PI * turns * s;
    points.push(new Vector3(radius * Math.cos(angle), radius * Math.sin(angle), length * (0.1 + 0.8 * s)));
  }
  points.push(new Vector3(0, 0, 0.94 * length), new Vector3(0, 0, length));
  return new TubeGeometry(new CatmullRomCurve3(points), 12 * turns + 24, Math.min(0.14 * radius, (0.3 * length) / turns), 8);
}

// A surface with a vertex for each smooth part around a vertex: edges sharper than about 35 degrees stay sharp.
export interface Creased {
  source: Uint32Array; // the given vertex of each vertex
  triangles: Uint32Array;
  fans: number[][]; // given triangles whose normals are averaged at each vertex
}

export function crease(vertices: Float32Array, triangles: Uint32Array): Creased {
  const faces = faceNormals(vertices, triangles);
  // Vertices at the same location are one, so that unwelded files are smooth as well.
  const same = new Map<string, number[]>();
  const around: number[][] = [];
  for (let v = 0; v < vertices.length / 3; v++) {
    const key = `${vertices[3 * v]},${vertices[3 * v + 1]},${vertices[3 * v + 2]}`;
    if (!same.has(key)) same.set(key, []);
    around.push(same.get(key)!);
  }
  for (let c = 0; c < triangles.length; c++) around[triangles[c]].push(Math.floor(c / 3));
  const source: number[] = [];
  const fans: number[][] = [];
  const parts = new Map<number, number[]>(); // vertices made for a given vertex
  const result = new Uint32Array(triangles.length);
  const unit = (t: number, k: number) => faces[4 * t + k];
  for (let c = 0; c < triangles.length; c++) {
    const [v, t] = [triangles[c], Math.floor(c / 3)];
    const fan = around[v].filter((o) => o === t || unit(o, 0) * unit(t, 0) + unit(o, 1) * unit(t, 1) + unit(o, 2) * unit(t, 2) > 0.8);
    const made = parts.get(v) ?? [];
    let found = made.find((m) => fans[m].length === fan.length && fans[m].every((o, i) => o === fan[i]));
    if (found === undefined) {
      found = source.length;
      source.push(v);
      fans.push(fan);
      parts.set(v, [...made, found]);
    }
    result[c] = found;
  }
  return { source: Uint32Array.from(source), triangles: result, fans };
}

// Unit normal and area of each triangle.
function faceNormals(vertices: Float32Array, triangles: Uint32Array): Float32Array {
  const result = new Float32Array((4 * triangles.length) / 3);
  const [a, b, c] = [new Vector3(), new Vector3(), new Vector3()];
  for (let t = 0; t < triangles.length / 3; t++) {
    a.fromArray(vertices, 3 * triangles[3 * t]);
    b.fromArray(vertices, 3 * triangles[3 * t + 1]);
    c.fromArray(vertices, 3 * triangles[3 * t + 2]);
    b.sub(a).cross(c.sub(a));
    result[4 * t + 3] = b.length() / 2;
    b.normalize().toArray(result, 4 * t);
  }
  return result;
}

// Normals of the vertices of `creased`, weighted by area, for vertices that may have moved.
export function creasedNormals(creased: Creased, vertices: Float32Array, triangles: Uint32Array): Float32Array {
  const faces = faceNormals(vertices, triangles);
  const result = new Float32Array(3 * creased.source.length);
  const sum = new Vector3();
  creased.fans.forEach((fan, v) => {
    sum.set(0, 0, 0);
    for (const t of fan) for (let k = 0; k < 3; k++) sum.setComponent(k, sum.getComponent(k) + faces[4 * t + 3] * faces[4 * t + k]);
    sum.normalize().toArray(result, 3 * v);
  });
  return result;
}

export function creasedGeometry(creased: Creased, vertices: Float32Array, normals: Float32Array): BufferGeometry {
  const position = new Float32Array(3 * creased.source.length);
  creased.source.forEach((v, i) => position.set(vertices.subarray(3 * v, 3 * v + 3), 3 * i));
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(position, 3));
  geometry.setAttribute('normal', new BufferAttribute(normals, 3));
  geometry.setIndex(new BufferAttribute(creased.triangles, 1));
  return geometry;
}

export function surface(vertices: Float32Array, triangles: Uint32Array): BufferGeometry {
  const creased = crease(vertices, triangles);
  return creasedGeometry(creased, vertices, creasedNormals(creased, vertices, triangles));
}

// Geometry of a shape, the scale to apply to it, and a key: shapes of equal key share one geometry, and are drawn by one call.
export function shapeGeometry(shape: Shape): { key: string; make: (detail: Detail) => BufferGeometry; scale: [number, number, number] } {
  const { size, radius, inner, length } = shape;
  const one: [number, number, number] = [1, 1, 1];
  switch (shape.type) {
    case 'box':
      return { key: `box ${size}`, make: () => box(size), scale: one };
    case 'sphere':
      return { key: 'sphere', make: (detail) => sphere(1, detail), scale: [radius, radius, radius] };
    case 'ellipsoid':
      return { key: 'sphere', make: (detail) => sphere(1, detail), scale: size };
    case 'cylinder':
      return { key: `cylinder ${radius} ${length}`, make: (detail) => cylinder(radius, length, detail), scale: one };
    case 'capsule':
      return { key: `capsule ${radius} ${length}`, make: (detail) => capsule(radius, length, detail), scale: one };
    case 'cone':
      return { key: 'cone', make: (detail) => cone(1, 1, detail), scale: [radius, radius, length] };
    case 'tube':
      return { key: `tube ${radius} ${inner} ${length}`, make: (detail) => tube(radius, inner, length, detail), scale: one };
    case 'mesh':
      return { key: `mesh ${meshId(shape.vertices!)}`, make: () => surface(shape.vertices!, shape.triangles!), scale: one };
  }
}

const ids = new WeakMap<Float32Array, number>();
let nextId = 0;
function meshId(vertices: Float32Array): number {
  if (!ids.has(vertices)) ids.set(vertices, nextId++);
  return ids.get(vertices)!;
}

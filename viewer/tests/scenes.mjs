// Scenes with motions in closed form, for the tests: each has `at(t)`, what the page must show at a time.
import { deflateSync } from 'node:zlib';

const BYTES = { f32: Float32Array, f64: Float64Array, i16: Int16Array, u32: Uint32Array };

export function pack(type, shape, values) {
  const array = BYTES[type].from(type === 'i16' ? values.map(Math.round) : values);
  return { type, shape, data: deflateSync(Buffer.from(array.buffer)).toString('base64') };
}

// As pack, with differences of rows and bytes sorted by their place in the number.
export function packDelta(type, shape, values) {
  const array = BYTES[type].from(type === 'i16' ? values.map(Math.round) : values);
  const size = array.BYTES_PER_ELEMENT;
  const words = new { 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array }[size](array.buffer);
  const row = shape.slice(1).reduce((p, n) => p * n, 1);
  const differences = words.slice();
  for (let i = row; i < words.length; i++) differences[i] = words[i] - words[i - row];
  const bytes = new Uint8Array(differences.buffer);
  const shuffled = new Uint8Array(bytes.length);
  for (let i = 0; i < words.length; i++) for (let k = 0; k < size; k++) shuffled[k * words.length + i] = bytes[i * size + k];
  return { type, shape, coding: 'delta-shuffle', data: deflateSync(shuffled).toString('base64') };
}

export const times = (end, count) => Array.from({ length: count }, (_, i) => (end * i) / (count - 1));
const rotate = ([w, x, y, z], v) => {
  const t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])];
  return [v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2], v[2] + w * t[2] + x * t[1] - y * t[0]];
};
const multiply = (p, q) => [
  p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3], p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
  p[0] * q[2] + p[2] * q[0] + p[3] * q[1] - p[1] * q[3], p[0] * q[3] + p[3] * q[0] + p[1] * q[2] - p[2] * q[1],
];
const conjugate = ([w, x, y, z]) => [w, -x, -y, -z];
const turn = (axis, angle) => [Math.cos(angle / 2), ...axis.map((a) => a * Math.sin(angle / 2))];
export const transform = ({ position, rotation }, v) => rotate(rotation, v).map((x, k) => x + position[k]);

// `poses(t)` gives [{position, rotation}, ...] of all frames.
function scene({ title, end, count, frames, poses, size, extra, delta = true }) {
  const t = times(end, count);
  const all = t.map(poses);
  const coded = delta ? packDelta : pack;
  return {
    format: 'liedyn scene 1', title, kind: 'motion', size, center: [0, 0, 0], gravity: [0, 0, -9.81],
    times: coded('f64', [count], t), frames,
    positions: coded('f32', [count, frames.length, 3], all.flat().flatMap((p) => p.position)),
    rotations: coded('i16', [count, frames.length, 4], all.flat().flatMap((p) => p.rotation.map((x) => 32767 * x))),
    ...extra,
  };
}

// A spinning top in regular precession, 1 m from its pivot.
export function top({ spin = 40, precession = 2, tilt = 0.5, title = 'spinning top', phase = 0 } = {}) {
  const at = (t) => {
    const rotation = multiply(multiply(turn([0, 0, 1], precession * t + phase), turn([0, 1, 0], tilt)), turn([0, 0, 1], spin * t));
    return { position: rotate(rotation, [0, 0, 1]), rotation };
  };
  const count = 401;
  const t = times(2 * Math.PI / precession, count);
  const reaction = (time) => [3 * Math.cos(precession * time), 3 * Math.sin(precession * time), 12];
  const velocity = (time) => [0, 1].map((k) => (at(time + 1e-5).position[k] - at(time - 1e-5).position[k]) / 2e-5).concat(0);
  return {
    at,
    json: scene({
      title, end: 2 * Math.PI / precession, count, frames: ['top'], poses: (time) => [at(time)], size: 2,
      extra: {
        bodies: [
          { name: 'ground', kind: 'ground', frame: -1, shapes: [{ type: 'cylinder', radius: 0.14, length: 0.06, at: [0, 0, -0.06] }] },
          { name: 'top', kind: 'rigid', frame: 0, mass: 1.5, shapes: [
            { type: 'cylinder', radius: 0.42, length: 0.1 }, { type: 'cylinder', radius: 0.035, length: 1.3, at: [0, 0, -0.3], color: '#8391a0' },
            { type: 'cone', radius: 0.06, length: 0.12, at: [0, 0, 0.41], color: '#8391a0' }, { type: 'box', size: [0.5, 0.06, 0.02], at: [0.1, 0, 0.05], color: '#cf7d56' }] },
        ],
        joints: [{ name: 'pivot', type: 'spherical', bodies: ['ground', 'top'], frame: -1, at: [0, 0, 0], radius: 0.06 }],
        channels: [
          { name: 'position', unit: 'm', type: 'position', components: ['x', 'y', 'z'], frame: 0, at: [0, 0, 0], values: packDelta('f32', [count, 3], t.flatMap((x) => at(x).position)) },
          { name: 'pivot_force', unit: 'N', type: 'reaction_force', components: ['x', 'y', 'z'], frame: -1, at: [0, 0, 0], values: pack('f32', [count, 3], t.flatMap(reaction)) },
          { name: 'velocity', unit: 'm/s', type: 'velocity', components: ['x', 'y', 'z'], frame: 0, at: [0, 0, 0], values: pack('f32', [count, 3], t.flatMap(velocity)) },
          { name: 'velocity_body', unit: 'm/s', type: 'velocity', axes: 'body', components: ['x', 'y', 'z'], frame: 0, at: [0, 0, 0],
            values: pack('f32', [count, 3], t.flatMap((x) => rotate(conjugate(at(x).rotation), velocity(x)))) },
        ],
        channel_times: pack('f64', [count], t), energy: pack('f32', [count], t.map(() => 21.5)),
        summary: { model: 'top', integrator: 'generalized-alpha,rho=0.9', formulation: 'se3', step: 1e-3, steps: 3142, degrees_of_freedom: 3, energy: { max_drift: 3.2e-7 }, completed: true },
        warnings: ['<b>body</b> \'top\' rotates 0.04 rad per step. Use a step of at most 5e-4 s.'],
      },
    }),
  };
}

// A chain that waves: link i hangs at a small angle that runs along the chain.
export function chain(links = 1000) {
  const length = 0.05;
  const poses = (t) => {
    let end = [0, 0, 0];
    return Array.from({ length: links }, (_, i) => {
      const angle = 0.9 * Math.sin(0.02 * i - 3 * t) * (1 - Math.exp(-i / 50));
      const d = [Math.sin(angle), 0, -Math.cos(angle)];
      const position = end.map((x, k) => x + (length / 2) * d[k]);
      end = end.map((x, k) => x + length * d[k]);
      return { position, rotation: multiply(turn([0, 1, 0], -angle), i % 2 ? turn([0, 0, 1], Math.PI / 2) : [1, 0, 0, 0]) };
    });
  };
  const frames = Array.from({ length: links }, (_, i) => `link[${i}]`);
  return {
    poses,
    json: scene({
      title: `chain of ${links} links`, end: 2 * Math.PI / 3, count: 61, frames, poses, size: links * length,
      extra: {
        bodies: frames.map((name, i) => ({ name, kind: 'rigid', frame: i, shapes: [{ type: 'capsule', radius: 0.011, length: length * 0.86 }] })),
        joints: frames.map((name, i) => ({ name: `joint[${i}]`, type: 'spherical', bodies: [i ? frames[i - 1] : 'ground', name], frame: i, at: [0, 0, length / 2], radius: 0.014 })),
      },
    }),
  };
}

// A beam that bends to an arc of curvature k(t) in the x-z plane, and one that twists.
export const [YOUNG, AREA, INERTIA] = [2e9, Math.PI * (0.06 ** 2 - 0.045 ** 2), (Math.PI / 4) * (0.06 ** 4 - 0.045 ** 4)];
export function beams() {
  const [nodes, length] = [9, 2];
  const curvature = (t) => 1.1 * Math.sin(t);
  const arc = (s, t) => {
    const a = curvature(t) * s;
    const x = Math.abs(a) < 1e-9 ? s : s * Math.sin(a) / a;
    const z = Math.abs(a) < 1e-9 ? 0 : s * (1 - Math.cos(a)) / a;
    return { position: [x, 0, z], rotation: turn([0, 1, 0], -a) };
  };
  const twisted = (s, t) => ({ position: [s, 0.8, 0], rotation: turn([1, 0, 0], 0.8 * Math.sin(t) * s) });
  const at = (curve, t) => Array.from({ length: nodes }, (_, i) => curve((length * i) / (nodes - 1), t));
  return {
    arc, twisted, length,
    json: scene({
      title: 'bending and twisting', end: 2 * Math.PI, count: 241, size: 2.2, frames: Array.from({ length: 2 * nodes + 1 }, (_, i) => `node[${i}]`),
      poses: (t) => [...at(arc, t), ...at(twisted, t), { position: [1, -0.8, 0.3 * Math.sin(t)], rotation: [1, 0, 0, 0] }],
      extra: {
        bodies: [
          { name: 'ground', kind: 'ground', frame: -1, shapes: [{ type: 'box', size: [0.1, 2.2, 0.5], at: [-0.05, 0.1, 0] }] },
          { name: 'bending', kind: 'beam', nodes: Array.from({ length: nodes }, (_, i) => i), section: { type: 'tube', radius: 0.06, inner: 0.045 }, young: YOUNG, constants: [AREA, INERTIA, INERTIA, 2 * INERTIA],
            section_forces: [0, 1, 2, 3, 4, 5].map((c) => packDelta('f32', [241, nodes], times(2 * Math.PI, 241).flatMap((t) => Array(nodes).fill(c === 4 ? YOUNG * INERTIA * curvature(t) : 0)))) },
          { name: 'twisting', kind: 'beam', nodes: Array.from({ length: nodes }, (_, i) => nodes + i), section: { type: 'rectangle', width: 0.22, height: 0.04, end: { width: 0.1, height: 0.04 } } },
          { name: 'weight', kind: 'rigid', frame: 2 * nodes, shapes: [{ type: 'sphere', radius: 0.12 }] },
        ],
        forces: [{ name: 'spring', type: 'spring_damper', ends: [{ frame: -1, at: [1, -0.8, 1.1] }, { frame: 2 * nodes, at: [0, 0, 0.12] }], radius: 0.06 }],
      },
    }),
  };
}

// A bob that its weight pulls down along a guide, against a spring: the start and the equilibrium, as `liedyn static` writes them. And how far it is after half the loads.
export function equilibrium({ steps = 1 } = {}) {
  const count = steps + 1;
  const t = times(1, count);
  const sunk = (factor) => 0.4 * factor;
  const load = (name, type, of, unit, values, place) => ({ name, type, unit, ...of, ...place, components: values[0].length === 3 ? ['x', 'y', 'z'] : [], values: pack('f32', [count, values[0].length], values.flat()) });
  return {
    sunk,
    json: {
      ...scene({
        title: 'bob', end: 1, count, size: 1.5, frames: ['bob'], poses: (factor) => [{ position: [0, 0, -sunk(factor)], rotation: [1, 0, 0, 0] }], delta: false,
        extra: {
          bodies: [{ name: 'ground', kind: 'ground', frame: -1, shapes: [] }, { name: 'bob', kind: 'rigid', frame: 0, mass: 4, shapes: [{ type: 'sphere', radius: 0.15 }] }],
          joints: [{ name: 'guide', type: 'prismatic', bodies: ['ground', 'bob'], ends: [{ frame: -1, at: [0, 0, 0], axis: [0, 0, 1] }, { frame: 0, at: [0, 0, 0], axis: [0, 0, 1] }], radius: 0.05 }],
          forces: [{ name: 'spring', type: 'spring_damper', ends: [{ frame: -1, at: [0, 0, 1] }, { frame: 0, at: [0, 0, 0] }], radius: 0.05 }],
          channels: [{ name: 'height', unit: 'm', type: 'position', components: ['x', 'y', 'z'], frame: 0, at: [0, 0, 0], values: pack('f32', [count, 3], t.flatMap((x) => [0, 0, -sunk(x)])) }],
          channel_times: pack('f64', [count], t), load_times: pack('f64', [count], t),
          loads: [
            load('guide.joint_displacement', 'joint_displacement', { joint: 'guide' }, 'm', t.map((x) => [-sunk(x)])),
            load('guide.reaction_force', 'reaction_force', { joint: 'guide' }, 'N', t.map((x) => [7 * x, 0, 0]), { frame: 0, at: [0, 0, 0] }),
            load('spring.applied_force', 'applied_force', { force: 'spring' }, 'N', t.map((x) => [0, 0, 39.24 * x]), { frame: 0, at: [0, 0, 0] }),
          ],
        },
      }),
      kind: 'static', time_label: 'load factor', summary: { converged: true },
    },
  };
}

// A plate with three modes: bending, torsion, bending with two waves; stresses of the bending modes.
export function plate(n = 24) {
  const [a, b, h] = [1.2, 0.6, 0.03];
  const vertices = [];
  const triangles = [];
  const m = Math.max(Math.round(n / 2), 1);
  const side = (z) => {
    const base = vertices.length;
    for (let i = 0; i <= n; i++) for (let j = 0; j <= m; j++) vertices.push([(a * i) / n, b * (j / m - 0.5), z]);
    for (let i = 0; i < n; i++) for (let j = 0; j < m; j++) {
      const v = base + i * (m + 1) + j;
      const quad = [v, v + m + 1, v + 1, v + 1, v + m + 1, v + m + 2];
      triangles.push(...(z > 0 ? quad : quad.reverse()));
    }
  };
  side(h / 2);
  side(-h / 2);
  const half = (n + 1) * (m + 1);
  const wall = (v, w) => triangles.push(v, v + half, w, w, v + half, w + half);
  for (let i = 0; i < n; i++) {
    wall(i * (m + 1), (i + 1) * (m + 1));
    wall((i + 1) * (m + 1) + m, i * (m + 1) + m);
  }
  for (let j = 0; j < m; j++) {
    wall(j + 1, j);
    wall(n * (m + 1) + j, n * (m + 1) + j + 1);
  }
  const shapes = [
    ([x, , z]) => [-z * 2 * x / a / a, 0, (x / a) ** 2],
    ([x, y]) => [0, 0, (x / a) * (2 * y / b)],
    ([x]) => [0, 0, Math.sin((2 * Math.PI * x) / a) * (x / a)],
  ];
  const stress = [
    ([x, , z]) => [4e9 * z * (1 - x / a), 0, 0, 0, 0, 0],
    ([x]) => [0, 0, 0, 2e7 * (1 - x / a) * 2, 0, 0],
    ([x, , z]) => [9e9 * z * Math.sin((2 * Math.PI * x) / a), 1e9 * z, 0, 0, 0, 0],
  ];
  const q = (t) => [0.15 * Math.sin(t), 0.08 * Math.sin(2 * t), 0.03 * Math.sin(3 * t)];
  const pose = (t) => ({ position: [0.1 * Math.sin(t), 0, 0], rotation: turn([0, 0, 1], 0.3 * Math.sin(t)) });
  const count = 201;
  const t = times(2 * Math.PI, count);
  const N = vertices.length;
  return {
    vertexAt: (i, time) => transform(pose(time), vertices[i].map((x, k) => x + shapes.reduce((sum, s, j) => sum + q(time)[j] * s(vertices[i])[k], 0))),
    count: N,
    json: scene({
      title: 'flexible plate', end: 2 * Math.PI, count, size: 1.4, frames: ['plate'], poses: (time) => [pose(time)],
      extra: {
        bodies: [{
          name: 'plate', kind: 'flexible', frame: 0, vertices: pack('f32', [N, 3], vertices.flat()), triangles: pack('u32', [triangles.length / 3, 3], triangles),
          modes: pack('f32', [3, N, 3], shapes.flatMap((s) => vertices.flatMap(s))), coordinates: packDelta('f32', [count, 3], t.flatMap(q)),
          stress: pack('f32', [3, N, 6], stress.flatMap((s) => vertices.flatMap(s))), mode_count: 3,
        }],
      },
    }),
  };
}

// The first modes of a string of beads: displacement i of mode k is sin(pi k i/(n+1)).
export function modes(n = 20) {
  const x = (i) => -1 + (2 * (i + 1)) / (n + 1);
  const shape = (k, i) => Math.sin((Math.PI * k * (i + 1)) / (n + 1));
  const frames = Array.from({ length: n }, (_, i) => `bead[${i}]`);
  return {
    x, shape,
    json: {
      ...scene({ title: 'modes of a string', end: 1, count: 2, frames, poses: () => frames.map((_, i) => ({ position: [x(i), 0, 0], rotation: [1, 0, 0, 0] })), size: 2 }),
      kind: 'modes', times: pack('f64', [1], [0]),
      positions: pack('f32', [1, n, 3], frames.flatMap((_, i) => [x(i), 0, 0])), rotations: pack('i16', [1, n, 4], frames.flatMap(() => [32767, 0, 0, 0])),
      bodies: frames.map((name, i) => ({ name, kind: 'rigid', frame: i, shapes: [{ type: 'sphere', radius: 0.035 }] })),
      forces: frames.slice(1).map((_, i) => ({ name: `wire[${i}]`, type: 'two_point_force', ends: [{ frame: i, at: [0, 0, 0] }, { frame: i + 1, at: [0, 0, 0] }], radius: 0.02 })),
      mode_list: [1, 2, 3, 4].map((k) => ({ frequency: 2.5 * k, damping: 0.01 * k, displacement: pack('f32', [n, 6, 2], frames.flatMap((_, i) => [0, 0, 0, 0, shape(k, i), 0, 0, 0, 0, 0, 0, 0])) })),
    },
  };
}

// All shapes and joints in rows, at rest.
export function gallery() {
  const tetrahedron = { type: 'mesh', vertices: pack('f32', [4, 3], [0, 0, 0, 0.4, 0, 0, 0, 0.4, 0, 0, 0, 0.4]), triangles: pack('u32', [4, 3], [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]) };
  const shapes = [
    { type: 'box', size: [0.4, 0.3, 0.2] }, { type: 'sphere', radius: 0.2 }, { type: 'cylinder', radius: 0.15, length: 0.4 }, { type: 'capsule', radius: 0.12, length: 0.25 },
    { type: 'cone', radius: 0.18, length: 0.4 }, { type: 'tube', radius: 0.2, inner: 0.13, length: 0.2 }, { type: 'ellipsoid', radii: [0.25, 0.15, 0.1] }, tetrahedron,
  ];
  const types = ['revolute', 'spherical', 'prismatic', 'cylindrical', 'universal', 'planar', 'fixed', 'screw', 'point_on_line', 'rolling_disc'];
  return {
    shapes,
    json: scene({
      title: 'gallery', end: 1, count: 2, frames: shapes.map((s) => s.type), size: 4, delta: false,
      poses: () => shapes.map((_, i) => ({ position: [0.6 * i - 2.1, 0, 0.3], rotation: [1, 0, 0, 0] })),
      extra: {
        bodies: shapes.map((s, i) => ({ name: s.type, kind: 'rigid', frame: i, shapes: [s] })),
        joints: types.map((type, i) => ({ name: type, type, bodies: [], frame: -1, at: [0.48 * i - 2.1, -0.9, 0.2], axis: [0, 1, 0], radius: 0.07 })),
        forces: [{ name: 'jack', type: 'hydraulic_cylinder', ends: [{ frame: -1, at: [-2, 0.7, 0.1] }, { frame: -1, at: [-1, 0.7, 0.1] }], radius: 0.06 },
          { name: 'spring', type: 'spring_damper', ends: [{ frame: -1, at: [-0.5, 0.7, 0.1] }, { frame: -1, at: [1, 0.7, 0.1] }], radius: 0.08 }],
      },
    }),
  };
}

// The page with scenes inside, as the program writes it.
export function page(template, ...scenes) {
  const element = (scene, i) => `<script type="application/json" id="liedyn-scene${i ? '-2' : ''}">${typeof scene === 'string' ? scene : JSON.stringify(scene).replaceAll('<', '\\u003c')}</script>`;
  return template.replace('<!--liedyn-scene-->', () => scenes.map(element).join('\n'));
}

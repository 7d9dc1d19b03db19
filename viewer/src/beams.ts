// Beams: the section swept along the nodes. The axis of a node's frame along the beam is x; width is along y, height along z.
//
// Between nodes the centre line is the cubic Hermite curve with the tangents of the sections, and sections turn by slerp: an arc with
// constant curvature and twist is drawn as one.
import { BufferAttribute, BufferGeometry, Color, DynamicDrawUsage } from 'three';
import { colormap } from './colors';
import { slerp, type Poses } from './motion';
import type { BeamBody, Section, SectionConstants } from './scene';
import { between, stressAt, type SectionPoint } from './sections';

const RINGS = 240;
const SIDE_POINTS = 8; // intervals of a side of a rectangle: torsion has its largest stress in the middle, and none in the corners, where they are short
const ROUND_POINTS = 28;

// The surface of a section, or of its hollow: `scale` in y and z.
function outline(section: Section, constants: SectionConstants | undefined, fallback: number, scale = [1, 1]): SectionPoint[] {
  const point = (y: number, z: number, ny: number, nz: number): SectionPoint => {
    const [ys, zs] = [scale[0] * y, scale[1] * z];
    return { y: ys, z: zs, ny, nz, stress: constants ? stressAt(section, constants, ys, zs, ny, nz) : [] };
  };
  if (section.width > 0 && section.height > 0) {
    const [w, h] = [section.width / 2, section.height / 2];
    const side = (ny: number, nz: number) =>
      Array.from({ length: SIDE_POINTS + 1 }, (_, i) => {
        const s = Math.sin(Math.PI * (i / SIDE_POINTS - 0.5));
        return point(w * (ny - nz * s), h * (nz + ny * s), ny, nz);
      });
    return [...side(1, 0), ...side(0, 1), ...side(-1, 0), ...side(0, -1)];
  }
  const radius = section.radius > 0 ? section.radius : fallback;
  return Array.from({ length: ROUND_POINTS + 1 }, (_, i) => {
    const [ny, nz] = [Math.cos((2 * Math.PI * i) / ROUND_POINTS), Math.sin((2 * Math.PI * i) / ROUND_POINTS)];
    return point(radius * ny, radius * nz, ny, nz);
  });
}

function sectionBetween(a: Section, b: Section, s: number): Section {
  const at = (key: 'radius' | 'inner' | 'width' | 'height' | 'thickness') => (1 - s) * a[key] + s * b[key];
  return { ...a, radius: at('radius'), inner: at('inner'), width: at('width'), height: at('height'), thickness: at('thickness') };
}

// Share of the outline that is hollow, in y and z.
function hollow(section: Section): [number, number] {
  if (section.width > 0 && section.height > 0) {
    if (!(section.thickness > 0)) return [0, 0];
    return [Math.max(0, 1 - (2 * section.thickness) / section.width), Math.max(0, 1 - (2 * section.thickness) / section.height)];
  }
  const share = section.radius > 0 ? Math.min(section.inner / section.radius, 1) : 0;
  return [share, share];
}

export class BeamGeometry extends BufferGeometry {
  private readonly steps: number; // rings per interval of nodes
  private readonly rings: number;
  private readonly profiles: { at: SectionPoint[][]; side: number }[] = []; // at each node
  private readonly caps: { ring: number; sign: number }[];
  private readonly ringPosition: Float64Array;
  private readonly ringRotation: Float64Array;
  readonly colors: BufferAttribute;

  constructor(
    readonly body: BeamBody,
    size: number,
  ) {
    super();
    const intervals = body.nodes.length - (body.closed ? 0 : 1);
    this.steps = Math.min(Math.max(Math.round(RINGS / intervals), 1), 12);
    this.rings = intervals * this.steps + 1;
    this.caps = body.closed ? [] : [{ ring: 0, sign: -1 }, { ring: this.rings - 1, sign: 1 }];
    const last = body.nodes.length - 1;
    const sections = body.nodes.map((_, i) => sectionBetween(body.section, body.end, i / last));
    const surfaces = (scale: (section: Section) => number[]) =>
      body.section === body.end
        ? Array<SectionPoint[]>(last + 1).fill(outline(body.section, body.constants[0], 0.004 * size, scale(body.section)))
        : sections.map((section, i) => outline(section, body.constants[i], 0.004 * size, scale(section)));
    const outer = surfaces(() => [1, 1]);
    this.profiles.push({ at: outer, side: 1 });
    const inner = surfaces(hollow);
    const [shareY, shareZ] = hollow(body.section);
    if (shareY > 0 && shareZ > 0) this.profiles.push({ at: inner, side: -1 });

    const P = outer[0].length;
    const index: number[] = [];
    let base = 0;
    for (const { side } of this.profiles) {
      for (let r = 0; r + 1 < this.rings; r++)
        for (let i = 0; i + 1 < P; i++) {
          const a = base + r * P + i;
          const quad = [a, a + 1, a + P, a + 1, a + P + 1, a + P];
          index.push(...(side > 0 ? quad : quad.reverse()));
        }
      base += this.rings * P;
    }
    // A cap is the strip between the outline and the hollow, or the centre.
    for (const { sign } of this.caps) {
      for (let i = 0; i + 1 < P; i++) {
        const quad = [base + i, base + i + 1, base + P + i, base + i + 1, base + P + i + 1, base + P + i];
        index.push(...(sign > 0 ? quad : quad.reverse()));
      }
      base += 2 * P;
    }
    this.setIndex(index);
    const attribute = () => new BufferAttribute(new Float32Array(3 * base), 3).setUsage(DynamicDrawUsage);
    this.setAttribute('position', attribute());
    this.setAttribute('normal', attribute());
    this.colors = attribute();
    this.colors.array.fill(1);
    this.setAttribute('color', this.colors);
    this.capProfile = [
      { outer: outer[0], inner: inner[0] },
      { outer: outer[last], inner: inner[last] },
    ];
    this.ringPosition = new Float64Array(3 * this.rings);
    this.ringRotation = new Float64Array(4 * this.rings);
  }
  private readonly capProfile: { outer: SectionPoint[]; inner: SectionPoint[] }[];

  update(poses: Poses): void {
    this.placeRings(poses);
    const position = this.getAttribute('position') as BufferAttribute;
    const normal = this.getAttribute('normal') as BufferAttribute;
    const [p, n] = [position.array as Float32Array, normal.array as Float32Array];
    let v = 0;
    const m = new Float64Array(6); // the y and z axes of a section
    const put = (r: number, y: number, z: number, nx: number, ny: number, nz: number, x?: number[]) => {
      for (let k = 0; k < 3; k++) {
        p[v + k] = this.ringPosition[3 * r + k] + m[k] * y + m[3 + k] * z;
        n[v + k] = (x ? nx * x[k] : 0) + m[k] * ny + m[3 + k] * nz;
      }
      v += 3;
    };
    for (const { at, side } of this.profiles)
      for (let r = 0; r < this.rings; r++) {
        this.axes(r, m);
        const { i, next, s } = this.nodesAround(r);
        at[i].forEach((a, k) => put(r, (1 - s) * a.y + s * at[next][k].y, (1 - s) * a.z + s * at[next][k].z, 0, side * a.ny, side * a.nz));
      }
    this.caps.forEach(({ ring, sign }, c) => {
      this.axes(ring, m);
      const x = [m[1] * m[5] - m[2] * m[4], m[2] * m[3] - m[0] * m[5], m[0] * m[4] - m[1] * m[3]];
      const { outer, inner } = this.capProfile[c];
      for (const points of [outer, inner]) for (const point of points) put(ring, point.y, point.z, sign, 0, 0, x);
    });
    position.needsUpdate = normal.needsUpdate = true;
    this.boundingSphere = null;
    this.boundingBox = null;
  }

  // Colours along the beam from one colour per node.
  paint(nodeColor: (node: number) => [number, number, number]): void {
    const colors = this.body.nodes.map(nodeColor);
    this.fill((r) => {
      const { i, next, s } = this.nodesAround(r);
      const color = colors[i].map((value, k) => (1 - s) * value + s * colors[next][k]);
      return () => color;
    });
  }

  // Colours from the forces and strains in the sections, W numbers for each station: `value` of these and of a point of the section.
  paintSections(values: Float32Array, value: (values: number[], point: SectionPoint) => number): void {
    const color = new Color();
    const { stations } = this.body;
    const W = values.length / stations.length;
    this.fill((r) => {
      const { i, next, s } = this.nodesAround(r);
      const [from, to] = [stations.lastIndexOf(i), stations.indexOf(next)];
      const own = Array.from({ length: W }, (_, c) => (1 - s) * values[W * from + c] + s * values[W * to + c]);
      return (point) => colormap(value(own, point), color).toArray();
    });
  }

  // The two nodes around a ring, and where between them it is.
  private nodesAround(r: number): { i: number; next: number; s: number } {
    const { nodes } = this.body;
    const i = Math.min(Math.floor(r / this.steps), nodes.length - 1);
    return { i, next: (i + 1) % nodes.length, s: r / this.steps - i };
  }

  // The points of the outline at a node.
  outline(node: number): SectionPoint[] {
    return this.profiles[0].at[node];
  }

  private fill(ringColor: (r: number) => (point: SectionPoint) => number[]): void {
    const out = this.colors.array as Float32Array;
    let v = 0;
    for (const { at } of this.profiles)
      for (let r = 0; r < this.rings; r++) {
        const color = ringColor(r);
        const { i, next, s } = this.nodesAround(r);
        at[i].forEach((a, k) => (out.set(color(between(a, at[next][k], s)), v), (v += 3)));
      }
    this.caps.forEach(({ ring }, c) => {
      const color = ringColor(ring);
      for (const points of [this.capProfile[c].outer, this.capProfile[c].inner]) for (const point of points) (out.set(color(point), v), (v += 3));
    });
    this.colors.needsUpdate = true;
  }

  private placeRings(poses: Poses): void {
    const { nodes } = this.body;
    const { positions, rotations } = poses;
    const [ta, tb] = [new Float64Array(3), new Float64Array(3)];
    for (let r = 0; r < this.rings; r++) {
      const i = Math.min(Math.floor(r / this.steps), nodes.length - (this.body.closed ? 1 : 2));
      const s = r / this.steps - i;
      const [a, b] = [nodes[i], nodes[(i + 1) % nodes.length]];
      slerp(rotations, 4 * a, rotations, 4 * b, s, this.ringRotation, 4 * r);
      tangent(rotations, 4 * a, ta);
      tangent(rotations, 4 * b, tb);
      const chord = Math.hypot(positions[3 * b] - positions[3 * a], positions[3 * b + 1] - positions[3 * a + 1], positions[3 * b + 2] - positions[3 * a + 2]);
      // Length of the arc with this chord and this angle between its tangents.
      const angle = Math.acos(Math.min(Math.max(ta[0] * tb[0] + ta[1] * tb[1] + ta[2] * tb[2], -1), 1));
      const length = angle > 1e-4 ? (chord * angle) / 2 / Math.sin(angle / 2) : chord;
      const [h00, h10, h01, h11] = [(1 + 2 * s) * (1 - s) ** 2, s * (1 - s) ** 2, s * s * (3 - 2 * s), s * s * (s - 1)];
      for (let k = 0; k < 3; k++)
        this.ringPosition[3 * r + k] = h00 * positions[3 * a + k] + h10 * length * ta[k] + h01 * positions[3 * b + k] + h11 * length * tb[k];
    }
  }

  private axes(r: number, m: Float64Array): void {
    const [w, x, y, z] = [0, 1, 2, 3].map((k) => this.ringRotation[4 * r + k]);
    m[0] = 2 * (x * y - w * z);
    m[1] = 1 - 2 * (x * x + z * z);
    m[2] = 2 * (y * z + w * x);
    m[3] = 2 * (x * z + w * y);
    m[4] = 2 * (y * z - w * x);
    m[5] = 1 - 2 * (x * x + y * y);
  }
}

// The x axis of a quaternion: along the beam.
function tangent(q: Float64Array, i: number, out: Float64Array): void {
  const [w, x, y, z] = [q[i], q[i + 1], q[i + 2], q[i + 3]];
  out[0] = 1 - 2 * (y * y + z * z);
  out[1] = 2 * (x * y + w * z);
  out[2] = 2 * (x * z - w * y);
}

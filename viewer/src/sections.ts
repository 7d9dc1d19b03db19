// Stresses and strains in the sections of beams, from the forces in them.
import type { BeamBody, Section, SectionConstants } from './scene';

// What bodies can be coloured by; a unit is `factor` SI units.
export type Coloring = 'body' | 'speed' | 'displacement' | 'force' | 'moment' | 'axis_strain' | 'curvature' | 'strain' | 'stress';
export const COLORINGS: Record<Exclude<Coloring, 'body'>, { label: string; unit: string; factor: number }> = {
  speed: { label: 'speed', unit: 'm/s', factor: 1 },
  displacement: { label: 'displacement', unit: 'm', factor: 1 },
  force: { label: 'section force', unit: 'N', factor: 1 },
  moment: { label: 'section moment', unit: 'N m', factor: 1 },
  axis_strain: { label: 'stretch and shear of the axis', unit: '1', factor: 1 },
  curvature: { label: 'curvature and twist', unit: '1/m', factor: 1 },
  strain: { label: 'von Mises strain', unit: '1', factor: 1 },
  stress: { label: 'von Mises stress', unit: 'MPa', factor: 1e6 },
};

// A point on the surface of a section, with the normal of its wall and the stresses there: sigma by N, M_y and M_z, then tau_xy and tau_xz, each by Q_y, Q_z and T.
export type SectionPoint = { y: number; z: number; ny: number; nz: number; stress: number[] };
export const between = (a: SectionPoint, b: SectionPoint, s: number): SectionPoint =>
  a === b ? a : { ...a, y: (1 - s) * a.y + s * b.y, z: (1 - s) * a.z + s * b.z, stress: a.stress.map((value, k) => (1 - s) * value + s * b.stress[k]) };

// Values are N, Q_y, Q_z, T, M_y, M_z, in sections without outline then the strain of the axis and the curvature.
type SectionValue = (values: ArrayLike<number>, point: SectionPoint) => number;

const vonMises: SectionValue = (f, { stress: c }) => {
  const sigma = c[0] * f[0] + c[1] * f[4] + c[2] * f[5];
  const [tauY, tauZ] = [3, 6].map((k) => c[k] * f[1] + c[k + 1] * f[2] + c[k + 2] * f[3]);
  return Math.sqrt(sigma * sigma + 3 * (tauY * tauY + tauZ * tauZ));
};

// sigma = N/A + M_y z/I_y - M_z y/I_z, and shear stresses
export function stressAt(section: Section, constants: SectionConstants, y: number, z: number, ny: number, nz: number): number[] {
  const [A, Iy, Iz] = constants;
  return [1 / A, z / Iy, -y / Iz, ...shearAt(section, constants, y, z, ny, nz)];
}

// Shear stresses by Q_y, Q_z and T at a point (SectionPoint). Those of Q are Jourawski's, those of T Saint-Venant's or, in thin walls, Bredt's: docs/scenes.md.
function shearAt(section: Section, [A, Iy, Iz, J]: SectionConstants, y: number, z: number, ny: number, nz: number): number[] {
  const { width: w, height: h, thickness: t } = section;
  if (!(w > 0 && h > 0)) {
    const [R, r] = [section.radius, section.inner];
    const k = ((4 / 3) * (R * R + R * r + r * r)) / (R * R + r * r) / A;
    return y === 0 && z === 0 ? [k, 0, 0, 0, k, 0] : [k * nz * nz, -k * ny * nz, -z / J, -k * ny * nz, k * ny * ny, y / J];
  }
  if (t > 0) {
    const [ym, zm] = [(w - t) / 2, (h - t) / 2]; // of the middle lines of the walls
    const wall = (b: number, a: number, at: number, I: number) => {
      const inside = a / 2 - t; // walls along the force, of height a, between walls of width b
      return ((b * (a * a / 4 - inside * inside)) / 2 + t * (inside * inside - Math.min(at * at, inside * inside))) / (2 * t * I);
    };
    const flow = 1 / (8 * ym * zm * t);
    return ny !== 0 ? [0, 0, 0, (-ny * ym * z) / Iz, wall(w, h, z, Iy), ny * flow] : [wall(h, w, y, Iz), (-nz * zm * y) / Iy, -nz * flow, 0, 0, 0];
  }
  const [torsionY, torsionZ] = rectangleTorsion(w / 2, h / 2, y, z);
  const parabola = (s: number) => (1.5 * (1 - s * s)) / A;
  return [parabola((2 * y) / w), 0, torsionY / J, 0, parabola((2 * z) / h), torsionZ / J];
}

// tau_xy and tau_xz of a rectangle of the half sides a and c, for T/J = 1: (dphi/dz, -dphi/dy) with Prandtl's stress function
//   phi = a^2 - y^2 - 32 a^2/pi^3 sum_{n odd} (-1)^((n-1)/2)/n^3 cos(k y) cosh(k z)/cosh(k c),  k = n pi/(2 a)
function rectangleTorsion(a: number, c: number, y: number, z: number): [number, number] {
  let [tauY, tauZ] = [0, 2 * y];
  for (let n = 1, sign = 1; n < 400; n += 2, sign = -sign) {
    const k = (n * Math.PI) / (2 * a);
    const scale = ((16 * a * sign) / (Math.PI * n) ** 2) * (Math.exp(k * (Math.abs(z) - c)) / (1 + Math.exp(-2 * k * c)));
    const back = Math.exp(-2 * k * Math.abs(z));
    tauY -= scale * Math.cos(k * y) * Math.sign(z) * (1 - back);
    tauZ -= scale * Math.sin(k * y) * (1 + back);
  }
  return [tauY, tauZ];
}

// Whether the stress is known: the section has an outline and a material. Of a section that is given by its stiffness alone, forces and strains are known.
export const hasStress = (beam: BeamBody) => beam.constants.length > 0 && beam.young > 0;

// The value that a beam is coloured by; undefined if the scene does not have it.
export function sectionValue(beam: BeamBody, coloring: Coloring): SectionValue | undefined {
  if (!beam.sectionValues) return undefined;
  if (coloring === 'force') return (f) => Math.hypot(f[0], f[1], f[2]);
  if (coloring === 'moment') return (f) => Math.hypot(f[3], f[4], f[5]);
  const hasStrains = beam.sectionValues.length > 6;
  if (coloring === 'axis_strain') return hasStrains ? (f) => f[6] : undefined;
  if (coloring === 'curvature') return hasStrains ? (f) => f[7] : undefined;
  if (!hasStress(beam)) return undefined;
  if (coloring === 'stress') return vonMises;
  if (coloring === 'strain') return (f, point) => vonMises(f, point) / beam.young;
  return undefined;
}

// The largest value from a frame of the motion on. Only stresses and strains depend on the point of the section.
export function largestSectionValue(beam: BeamBody, coloring: Coloring, outline: (node: number) => SectionPoint[], from = 0): number {
  const value = sectionValue(beam, coloring);
  if (!value) return 0;
  const N = beam.stations.length;
  const frames = beam.sectionValues![0].length / N;
  const depends = coloring === 'stress' || coloring === 'strain';
  const points = beam.stations.map((node) => (depends ? outline(node) : outline(node).slice(0, 1)));
  const own = beam.sectionValues!.map(() => 0);
  let largest = 0;
  for (let t = from; t < frames; t++)
    for (let n = 0; n < N; n++) {
      beam.sectionValues!.forEach((values, c) => (own[c] = values[N * t + n]));
      for (const point of points[n]) largest = Math.max(largest, value(own, point));
    }
  return largest;
}

// Stresses and strains in the sections of beams, from the forces in them.
import type { BeamBody } from './scene';

// What bodies can be coloured by; a unit is `factor` SI units.
export type Coloring = 'body' | 'speed' | 'displacement' | 'force' | 'moment' | 'axis_strain' | 'curvature' | 'strain' | 'stress';
export const COLORINGS: Record<Exclude<Coloring, 'body'>, { label: string; unit: string; factor: number }> = {
  speed: { label: 'speed', unit: 'm/s', factor: 1 },
  displacement: { label: 'displacement', unit: 'm', factor: 1 },
  force: { label: 'section force', unit: 'N', factor: 1 },
  moment: { label: 'section moment', unit: 'N m', factor: 1 },
  axis_strain: { label: 'strain of the axis', unit: '1', factor: 1 },
  curvature: { label: 'curvature and twist', unit: '1/m', factor: 1 },
  strain: { label: 'von Mises strain', unit: '1', factor: 1 },
  stress: { label: 'von Mises stress', unit: 'MPa', factor: 1e6 },
};

// Values are N, Q_y, Q_z, T, M_y, M_z at the fraction x of the length, in sections without outline then the strain of the axis and the curvature; y and z are those of a
// point of the section.
type SectionValue = (values: ArrayLike<number>, x: number, y: number, z: number) => number;

// sigma = N/A + M_y z/I_y - M_z y/I_z, and in round sections tau = T r/J. Corners of rectangles have no shear stress.
function vonMises(beam: BeamBody): SectionValue {
  const [start, end] = beam.constants;
  const round = !(beam.section.width > 0);
  return (f, x, y, z) => {
    const [A, Iy, Iz, J] = start.map((value, k) => (1 - x) * value + x * end[k]);
    const sigma = f[0] / A + (f[4] * z) / Iy - (f[5] * y) / Iz;
    const tau = round ? (f[3] * Math.hypot(y, z)) / J : 0;
    return Math.sqrt(sigma * sigma + 3 * tau * tau);
  };
}

// Whether the stress is known: the section has an outline and a material. Of a section that is given by its stiffness alone, forces and strains are known.
export const hasStress = (beam: BeamBody) => beam.constants.length === 2 && beam.young > 0;

// The value that a beam is coloured by; undefined if the scene does not have it.
export function sectionValue(beam: BeamBody, coloring: Coloring): SectionValue | undefined {
  if (!beam.sectionValues) return undefined;
  if (coloring === 'force') return (f) => Math.hypot(f[0], f[1], f[2]);
  if (coloring === 'moment') return (f) => Math.hypot(f[3], f[4], f[5]);
  const hasStrains = beam.sectionValues.length > 6;
  if (coloring === 'axis_strain') return hasStrains ? (f) => f[6] : undefined;
  if (coloring === 'curvature') return hasStrains ? (f) => f[7] : undefined;
  if (!hasStress(beam)) return undefined;
  const stress = vonMises(beam);
  if (coloring === 'stress') return stress;
  if (coloring === 'strain') return (f, x, y, z) => stress(f, x, y, z) / beam.young;
  return undefined;
}

// The largest value from a frame of the motion on. Only stresses and strains depend on the point of the section.
export function largestSectionValue(beam: BeamBody, coloring: Coloring, outline: { y: number; z: number }[], from = 0): number {
  const value = sectionValue(beam, coloring);
  if (!value) return 0;
  const N = beam.nodes.length;
  const frames = beam.sectionValues![0].length / N;
  const points = coloring === 'stress' || coloring === 'strain' ? outline : outline.slice(0, 1);
  const own = beam.sectionValues!.map(() => 0);
  let largest = 0;
  for (let t = from; t < frames; t++)
    for (let n = 0; n < N; n++) {
      beam.sectionValues!.forEach((values, c) => (own[c] = values[N * t + n]));
      for (const { y, z } of points) largest = Math.max(largest, value(own, n / (N - 1), y, z));
    }
  return largest;
}

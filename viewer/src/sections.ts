// Stresses and strains in the sections of beams, from the forces in them.
import type { BeamBody } from './scene';

// What bodies can be coloured by; a unit is `factor` SI units.
export type Coloring = 'body' | 'speed' | 'force' | 'moment' | 'strain' | 'stress';
export const COLORINGS: Record<Exclude<Coloring, 'body'>, { label: string; unit: string; factor: number }> = {
  speed: { label: 'speed', unit: 'm/s', factor: 1 },
  force: { label: 'section force', unit: 'N', factor: 1 },
  moment: { label: 'section moment', unit: 'N m', factor: 1 },
  strain: { label: 'von Mises strain', unit: '1', factor: 1 },
  stress: { label: 'von Mises stress', unit: 'MPa', factor: 1e6 },
};

// Forces are N, Q_y, Q_z, T, M_y, M_z at the fraction x of the length; y and z are those of a point of the section.
type SectionValue = (forces: ArrayLike<number>, x: number, y: number, z: number) => number;

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

// The value that a beam is coloured by; undefined if the scene does not tell it.
export function sectionValue(beam: BeamBody, coloring: Coloring): SectionValue | undefined {
  if (!beam.sectionForces) return undefined;
  if (coloring === 'force') return (f) => Math.hypot(f[0], f[1], f[2]);
  if (coloring === 'moment') return (f) => Math.hypot(f[3], f[4], f[5]);
  if (beam.constants.length < 2 || !(beam.young > 0)) return undefined;
  const stress = vonMises(beam);
  if (coloring === 'stress') return stress;
  if (coloring === 'strain') return (f, x, y, z) => stress(f, x, y, z) / beam.young;
  return undefined;
}

// The largest value of the motion; of very long ones not every frame is looked at.
const MOST_VALUES = 1e6;
export function largestSectionValue(beam: BeamBody, value: SectionValue, outline: { y: number; z: number }[]): number {
  const N = beam.nodes.length;
  const frames = beam.sectionForces![0].length / N;
  let largest = 0;
  for (let t = 0; t < frames; t += Math.max(Math.ceil((frames * N * outline.length) / MOST_VALUES), 1))
    for (let n = 0; n < N; n++) {
      const forces = beam.sectionForces!.map((values) => values[N * t + n]);
      for (const { y, z } of outline) largest = Math.max(largest, value(forces, n / (N - 1), y, z));
    }
  return largest;
}

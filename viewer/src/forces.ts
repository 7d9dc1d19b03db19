// Forces between two points: springs as coils, cylinders as a tube with a rod, all others as a thin rod.
import { Color } from 'three';
import { FORCE, PIN } from './colors';
import { coil } from './geometry';
import type { Instances, Owner } from './instances';
import { addRod, between } from './joints';
import type { Poses } from './motion';
import type { Force } from './scene';

const NOT_DRAWN = /^(contact_|wheel|tyre|clearance|force$|torque$|line_load)/;

export function addForce(instances: Instances, force: Force, owner: Owner, size: number, start: Poses, tint: (color: Color) => Color): void {
  if (force.ends.length !== 2 || NOT_DRAWN.test(force.type)) return;
  const [a, b] = force.ends.map((end) => start.point(end));
  const length = Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
  if (!(length > 1e-6 * size)) return;
  const radius = force.radius > 0 ? force.radius : Math.min(0.02 * size, 0.15 * length);
  if (force.type === 'spring_damper') {
    // Springs of the same slenderness share a geometry; its wire is right for the length at the start.
    const slenderness = Math.max(Math.round(length / radius), 1);
    instances.add(`coil ${slenderness}`, () => coil(1, slenderness), { owner, color: tint(FORCE), place: between(force.ends, radius, slenderness) });
  } else if (force.type.startsWith('hydraulic')) {
    addRod(instances, force.ends, owner, radius, tint(FORCE), [0, 0.55]);
    addRod(instances, force.ends, owner, 0.45 * radius, tint(PIN));
  } else {
    addRod(instances, force.ends, owner, 0.25 * radius, tint(FORCE));
  }
}

// What was simulated, how, and how well: in words that a newcomer understands.
import type { Scene } from './scene';
import { format, h } from './ui';

type Json = Record<string, unknown>;
const asObject = (value: unknown): Json => (typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {});
const plain = (value: unknown): string => (typeof value === 'number' ? format(value) : typeof value === 'string' ? value : JSON.stringify(value));

const count = (n: number, one: string, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

function sentence(scene: Scene): string {
  const bodies = scene.bodies.filter((body) => body.kind !== 'ground');
  const kinds = (['rigid', 'beam', 'flexible'] as const)
    .map((kind) => [kind, bodies.filter((body) => body.kind === kind).length] as const)
    .filter(([, n]) => n > 0)
    .map(([kind, n]) => (kind === 'beam' ? count(n, 'beam') : count(n, `${kind} body`, `${kind} bodies`)));
  const what = [...kinds, scene.joints.length > 0 && count(scene.joints.length, 'joint'), scene.forces.length > 0 && count(scene.forces.length, 'force')].filter(Boolean).join(', ');
  const last = scene.times[scene.times.length - 1];
  if (scene.kind === 'modes') return `${what}. ${count(scene.modes.length, 'mode')} about this position.`;
  if (scene.kind === 'static') return `${what}. Equilibria while the loads rise to ${format(100 * last)} %.`;
  if (scene.times.length < 2) return `${what}. This is the model before a simulation.`;
  return `${what}. ${format(last - scene.times[0])} s of motion in ${scene.times.length} frames.`;
}

// Keys of the summary that say something to a reader, with plain labels. Paths may have dots.
const FACTS: [string, string, string][] = [
  ['integrator', 'integrator', ''],
  ['formulation', 'coordinates', ''],
  ['step', 'step size', 's'],
  ['degrees_of_freedom', 'degrees of freedom', ''],
  ['steps', 'steps', ''],
  ['rejected_steps', 'rejected steps', ''],
  ['newton_iterations', 'Newton iterations', ''],
  ['energy.initial', 'energy at the start', 'J'],
  ['energy.max_drift', 'largest change of energy', 'J'],
  ['constraint_residual.position', 'largest constraint error', ''],
  ['wall_seconds', 'wall time', 's'],
  ['liedyn', 'Liedyn version', ''],
  ['date', 'date', ''],
];

// The name of an integrator and its first option; the details have all of them.
const shortened = (path: string, value: unknown) => {
  if (path === 'integrator' && typeof value === 'string') return value.split(',').slice(0, 2).join(', ');
  if (path === 'date' && typeof value === 'string') return value.replace(/T(\d\d:\d\d)(:\d\d)?Z$/, ' $1 UTC');
  return plain(value);
};

function lookUp(summary: Json, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => asObject(value)[key], summary);
}

// Names for two scenes: their titles, or for the same model what differs, the integrator with its first option and the step.
export function apart(one: Scene, other: Scene): [string, string] {
  if (one.title !== other.title) return [one.title, other.title];
  const method = ({ summary }: Scene) => (typeof summary.integrator === 'string' ? shortened('integrator', summary.integrator) : '');
  const step = ({ summary }: Scene) => (typeof summary.step === 'number' ? `step ${format(summary.step)} s` : '');
  const differing = [method, step].filter((of) => of(one) !== of(other));
  const name = (scene: Scene) => differing.map((of) => of(scene)).filter((text) => text !== '').join(', ');
  return name(one) !== '' && name(other) !== '' ? [`${one.title}: ${name(one)}`, name(other)] : [one.title, `${other.title} (second)`];
}

export function summaryPanel(scene: Scene): HTMLElement {
  const { summary } = scene;
  const list = h('dl', {});
  for (const [path, label, unit] of FACTS) {
    const value = lookUp(summary, path);
    if (value === undefined || value === null || typeof value === 'object') continue;
    list.append(h('dt', {}, label), h('dd', {}, shortened(path, value) + (unit === '' ? '' : ` ${unit}`)));
  }
  const failed = summary.completed === false;
  const everything = h('pre', {});
  const details = h('details', { class: 'everything' }, h('summary', {}, 'All details'), everything);
  details.addEventListener('toggle', () => {
    const { model_text: _text, ...rest } = summary;
    everything.textContent = JSON.stringify(rest, null, 1);
  });
  return h(
    'div', { class: 'summary' },
    h('h2', {}, scene.title),
    h('p', {}, sentence(scene)),
    failed && h('p', { class: 'warning' }, `The simulation stopped early, at ${format(scene.times[scene.times.length - 1])} s. `, plain(summary.failure ?? 'The motion up to there is shown.')),
    ...scene.warnings.map((warning) => h('p', { class: 'warning' }, warning)),
    list,
    Object.keys(summary).length > 0 && details,
  );
}

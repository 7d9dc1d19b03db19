// The list of modes, with the amplitude of the animation.
import type { Scene } from './scene';
import { format, h } from './ui';

const ROUND_OFF = 1e-6;

// The first mode that oscillates: before it come those that nothing resists, links that spin about themselves, say. The list has them below the others.
export const firstMode = (scene: Scene) => Math.max(scene.modes.findIndex((mode) => mode.frequency > 0), 0);

export function modesPanel(scene: Scene, chosen: number, amplitude: number, actions: { choose: (index: number) => void; amplitude: (value: number) => void }): HTMLElement {
  const rows = scene.modes.map((mode, i) => {
    const notes = [mode.damping !== undefined && Math.abs(mode.damping) > ROUND_OFF && `damping ${format(100 * mode.damping)} %`, mode.growth !== undefined && mode.growth > ROUND_OFF && 'unstable: it grows'].filter(Boolean).join(', ');
    const name = mode.frequency > 0 ? `${format(mode.frequency)} Hz` : 'no oscillation';
    const keydown = (event: KeyboardEvent) => event.key === 'Enter' && choose(i);
    return h('div', { class: 'row', role: 'button', tabindex: 0, 'data-mode': i, click: () => choose(i), keydown }, h('small', { class: 'number' }, String(i + 1)), h('span', { class: 'name' }, name), h('small', {}, notes));
  });
  const choose = (index: number) => {
    rows.forEach((row, i) => row.classList.toggle('selected', i === index));
    actions.choose(index);
  };
  rows[chosen]?.classList.add('selected');
  const slider = h('input', { type: 'range', min: 0, max: 0.5, step: 0.005, id: 'amplitude', 'aria-label': 'Amplitude' });
  const show = () => slider.style.setProperty('--share', `${200 * Number(slider.value)}%`);
  slider.value = String(amplitude / scene.size);
  slider.addEventListener('input', () => {
    show();
    actions.amplitude(Number(slider.value) * scene.size);
  });
  show();
  const oscillates = (_: unknown, i: number) => scene.modes[i].frequency > 0;
  const still = rows.filter((row, i) => !oscillates(row, i));
  const moving = rows.filter(oscillates);
  const rest = moving.length === 0 ? still : still.length === 0 ? [] : [h('details', {}, h('summary', { class: 'muted' }, `${still.length} without oscillation`), ...still)];
  return h('div', { class: 'modes' }, h('label', { class: 'slider' }, h('span', {}, 'Amplitude'), slider), ...moving, ...rest);
}

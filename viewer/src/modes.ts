// The list of modes, with the amplitude of the animation.
import type { Scene } from './scene';
import { format, h } from './ui';

export function modesPanel(scene: Scene, amplitude: number, actions: { choose: (index: number) => void; amplitude: (value: number) => void }): HTMLElement {
  const rows = scene.modes.map((mode, i) => {
    const notes = [mode.damping !== undefined && `damping ${format(100 * mode.damping)} %`, mode.growth !== undefined && mode.growth > 1e-6 && 'unstable: it grows'].filter(Boolean).join(', ');
    const name = mode.frequency > 0 ? `${format(mode.frequency)} Hz` : 'no oscillation';
    return h('div', { class: 'row', role: 'button', tabindex: 0, 'data-mode': i, click: () => choose(i) }, h('small', { class: 'number' }, String(i + 1)), h('span', { class: 'name' }, name), h('small', {}, notes));
  });
  const choose = (index: number) => {
    rows.forEach((row, i) => row.classList.toggle('selected', i === index));
    actions.choose(index);
  };
  rows[0]?.classList.add('selected');
  const slider = h('input', { type: 'range', min: 0, max: 0.5, step: 0.005, id: 'amplitude', 'aria-label': 'Amplitude' });
  const show = () => slider.style.setProperty('--share', `${200 * Number(slider.value)}%`);
  slider.value = String(amplitude / scene.size);
  slider.addEventListener('input', () => {
    show();
    actions.amplitude(Number(slider.value) * scene.size);
  });
  show();
  return h('div', { class: 'modes' }, h('label', { class: 'slider' }, h('span', {}, 'Amplitude'), slider), ...rows);
}

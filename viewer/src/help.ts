// The overlay with keyboard shortcuts and gestures.
import { button, h } from './ui';

const KEYS: [string, string][] = [
  ['Space', 'play or pause'],
  [', .', 'one frame back or on'],
  ['← →', 'a fiftieth back or on'],
  ['Home End', 'start or end'],
  ['< >', 'slower or faster'],
  ['L', 'repeat'],
  ['F', 'fit everything into the picture'],
  ['O', 'follow what is selected'],
  ['T', 'path of what is selected'],
  ['A', 'arrows of forces and velocities'],
  ['J', 'joints and springs'],
  ['C', 'colours: bodies, speed, section force and moment, strain, stress'],
  ['M', 'model list'],
  ['P', 'values, curves and summary'],
  ['D', 'light or dark'],
  ['Esc', 'clear the selection'],
  ['?', 'this help'],
];

export function helpOverlay(): HTMLElement {
  const table = h('dl', {});
  for (const [key, meaning] of KEYS) table.append(h('dt', {}, ...key.split(' ').map((k) => h('kbd', {}, k))), h('dd', {}, meaning));
  const overlay = h('div', { class: 'overlay', id: 'help', hidden: true });
  const close = () => (overlay.hidden = true);
  overlay.append(
    h('div', { class: 'panel dialog', role: 'dialog', 'aria-label': 'Help' }, h('header', {}, h('h2', {}, 'Keys and gestures'), button('close', 'Close', close)),
      h('p', { class: 'muted' }, 'Drag to orbit, right-drag or two fingers to pan, wheel or pinch to zoom. Click a body to select it, click in a curve to go to that time. Drop a second file to compare two results.'), table),
  );
  overlay.addEventListener('click', (event) => {
    if (event.target === overlay) close();
  });
  return overlay;
}

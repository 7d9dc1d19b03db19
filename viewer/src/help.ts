// The overlay with keyboard shortcuts and gestures, of any page.
import { button, h } from './ui';

export function helpOverlay(gestures: string, keys: [string, string][]): HTMLElement {
  const table = h('dl', {});
  for (const [key, meaning] of keys) table.append(h('dt', {}, ...key.split(' ').map((k) => h('kbd', {}, k))), h('dd', {}, meaning));
  const overlay = h('div', { class: 'overlay', id: 'help', hidden: true });
  const close = () => (overlay.hidden = true);
  overlay.append(
    h('div', { class: 'panel dialog', role: 'dialog', 'aria-label': 'Help' }, h('header', {}, h('h2', {}, 'Keys and gestures'), button('close', 'Close', close)),
      h('p', { class: 'muted' }, gestures), table),
  );
  overlay.addEventListener('click', (event) => {
    if (event.target === overlay) close();
  });
  return overlay;
}

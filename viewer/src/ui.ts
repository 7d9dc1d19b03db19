// Small helpers for elements of the page. Text is always set as text, never as HTML.
type Attributes = Record<string, string | number | boolean | ((event: never) => void) | undefined>;
type Child = Node | string | undefined | false;

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value as EventListener);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child): child is Node | string => child !== undefined && child !== false));
  return element;
}

const ICONS = {
  play: 'M8 5v14l11-7z',
  pause: 'M7 5h4v14H7zM13 5h4v14h-4z',
  back: 'M17 6v12l-8-6zM6 6h2v12H6z',
  forward: 'M7 6v12l8-6zM16 6h2v12h-2z',
  loop: 'M7 7h9V4l5 4-5 4V9H9v3H7zM17 17H8v3l-5-4 5-4v3h7v-3h2z',
  fit: 'M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4z',
  follow: 'M11 2h2v4h-2zM11 18h2v4h-2zM2 11h4v2H2zM18 11h4v2h-4zM12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8z',
  trail: 'M3 18c4 2 6-2 8-6s5-7 10-6v2c-4-1-6 2-8 5.500S8 22 3 20z',
  arrow: 'M4 18.500 14.500 8H9V6h9v9h-2V9.500L5.500 20z',
  joint: 'M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16zm0 2a6 6 0 1 0 0 12 6 6 0 0 0 0-12zm0 3.500a2.500 2.500 0 1 1 0 5 2.500 2.500 0 0 1 0-5z',
  tree: 'M4 5h6v4H4zM12 6h8v2h-8zM8 11h5v3H8zM15 11.500h5v2h-5zM8 16h5v3H8zM15 16.500h5v2h-5z',
  chart: 'M4 4h2v14h14v2H4zM8 15l4-6 3 3 4-6 1.600 1.100L15.300 15l-3-3-2.600 4z',
  info: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18zm-1 8v6h2v-6zm0-4v2h2V7z',
  theme: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 2v14a7 7 0 0 1 0-14z',
  palette: 'M4 5h4v14H4zM10 5h4v14h-4zm2 2v10h1V7zM16 5h4v14h-4zm1 1v12h2V6z',
  help: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18zm-1 12v2h2v-2zm1-8a3.500 3.500 0 0 0-3.500 3.500h2a1.500 1.500 0 1 1 2.400 1.200c-1 .8-1.900 1.300-1.900 2.300h2c0-.6 3-1.500 3-3.500A3.500 3.500 0 0 0 12 7z',
  eye: 'M12 6c5 0 9 6 9 6s-4 6-9 6-9-6-9-6 4-6 9-6zm0 3a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
  close: 'M6.400 5 12 10.600 17.600 5 19 6.400 13.400 12l5.600 5.600-1.400 1.400L12 13.400 6.400 19 5 17.600 10.600 12 5 6.400z',
  stop: 'M6 6h12v12H6z',
  save: 'M11 3h2v9l3-3 1.400 1.400L12 15.800l-5.400-5.400L8 9l3 3zM4 17h2v2h12v-2h2v4H4z',
};
export type Icon = keyof typeof ICONS;

export function icon(name: Icon): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', ICONS[name]);
  path.setAttribute('fill-rule', 'evenodd');
  svg.append(path);
  return svg;
}

export function button(name: Icon, title: string, click: () => void, id?: string): HTMLButtonElement {
  return h('button', { type: 'button', class: 'icon', title, 'aria-label': title, id, click }, icon(name));
}

// Four significant digits, without exponents where they are easy to avoid.
export function format(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(3).replace('e+', 'e');
  return Number(value.toPrecision(4)).toString();
}

// The same where values of up to `scale` appear: what is round-off beside them is zero.
export const formatBeside = (value: number, scale: number) => format(Math.abs(value) < 1e-7 * scale ? 0 : value);

export const store = {
  get(key: string): string | null {
    try {
      return localStorage.getItem(`liedyn ${key}`);
    } catch {
      return null; // no storage in frames of notebooks
    }
  },
  set(key: string, value: string): void {
    try {
      localStorage.setItem(`liedyn ${key}`, value);
    } catch {
      // The choice lasts as long as the page.
    }
  },
};

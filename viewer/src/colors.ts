// Colours: of bodies, of values, and of the two themes.
import { Color } from 'three';

// Muted, distinct for common kinds of colour blindness, of similar lightness.
const BODIES = ['#5b82ab', '#cf7d56', '#7ba083', '#d3ab57', '#8c76a8', '#56989b', '#b8687b', '#8391a0'];
export const bodyColor = (index: number) => new Color(BODIES[index % BODIES.length]);
export const GROUND = new Color('#98a0aa');
export const SELECTED = new Color('#ff8a1f');
export const JOINT = new Color('#565f6b');
export const PIN = new Color('#b9c1ca');
export const FORCE = new Color('#4f9d78');
export const GHOST = new Color('#e0489a');
export const SERIES = ['#3b78d8', '#d9663b', '#3f9d6d', '#a067c9', '#c99a2e', '#4aa3b5', '#c94f6d', '#7a8694'];

// A map from 0 to 1 with rising lightness: deep blue, teal, yellow, red.
const STOPS: [number, number, number][] = [
  [0.17, 0.26, 0.56],
  [0.13, 0.53, 0.68],
  [0.36, 0.73, 0.52],
  [0.96, 0.79, 0.32],
  [0.84, 0.25, 0.2],
];

export function colormap(value: number, out: Color): Color {
  const x = Math.min(Math.max(value, 0), 1) * (STOPS.length - 1);
  const i = Math.min(Math.floor(x), STOPS.length - 2);
  const [a, b] = [STOPS[i], STOPS[i + 1]];
  const mix = (k: number) => a[k] + (x - i) * (b[k] - a[k]);
  return out.setRGB(mix(0), mix(1), mix(2), 'srgb');
}

export const gradient = `linear-gradient(90deg, ${STOPS.map((s) => `rgb(${s.map((x) => Math.round(255 * x)).join(' ')})`).join(', ')})`;

// The same map in the fragment shader, in linear light.
export const COLORMAP = /* glsl */ `
  vec3 colormap(float value) {
    vec3 stops[5] = vec3[5](${STOPS.map((s) => `vec3(${s.join(', ')})`).join(', ')});
    float x = clamp(value, 0.0, 1.0) * 4.0;
    int i = min(int(x), 3);
    return pow(mix(stops[i], stops[i + 1], x - float(i)), vec3(2.2));
  }
`;

export interface Theme {
  sky: string; // top of the background
  horizon: string;
  line: string; // of the grid
  shadow: number;
  light: number;
  ambient: number;
  trail: string;
}
export const THEMES: Record<'light' | 'dark', Theme> = {
  light: { sky: '#dfe5ec', horizon: '#f7f8fa', line: '#8d98a6', shadow: 0.2, light: 1.7, ambient: 0.8, trail: '#d9663b' },
  dark: { sky: '#0e1116', horizon: '#1d232c', line: '#566273', shadow: 0.5, light: 1.5, ambient: 0.6, trail: '#ffb35c' },
};

// Colours: of bodies, of values, and of the two themes.
import { Color } from 'three';
import { mapped, STOPS } from './colormap';

export { gradient } from './colormap';

// Muted, distinct for common kinds of colour blindness, of similar lightness.
const BODIES = ['#5b82ab', '#cf7d56', '#7ba083', '#d3ab57', '#8c76a8', '#56989b', '#b8687b', '#8391a0'];
export const bodyColor = (index: number) => new Color(BODIES[index % BODIES.length]);
export const GROUND = new Color('#98a0aa');
export const SELECTED = new Color('#ff8a1f');
export const WITHOUT_VALUE = new Color('#9aa1a9'); // rigid bodies, where stresses are coloured
export const JOINT = new Color('#565f6b');
export const PIN = new Color('#b9c1ca');
export const FORCE = new Color('#4f9d78');
export const GHOST = new Color('#e0489a');
export const SERIES = ['#3b78d8', '#d9663b', '#3f9d6d', '#a067c9', '#c99a2e', '#4aa3b5', '#c94f6d', '#7a8694'];

export function colormap(value: number, out: Color): Color {
  return out.setRGB(...mapped(value), 'srgb');
}

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

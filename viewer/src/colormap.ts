// The colour map of values, from 0 to 1: deep blue, teal, green, yellow, red.
export const STOPS: [number, number, number][] = [
  [0.17, 0.26, 0.56],
  [0.13, 0.53, 0.68],
  [0.36, 0.73, 0.52],
  [0.96, 0.79, 0.32],
  [0.84, 0.25, 0.2],
];

export function mapped(value: number): [number, number, number] {
  const x = Math.min(Math.max(value, 0), 1) * (STOPS.length - 1);
  const i = Math.min(Math.floor(x), STOPS.length - 2);
  const mix = (k: number) => STOPS[i][k] + (x - i) * (STOPS[i + 1][k] - STOPS[i][k]);
  return [mix(0), mix(1), mix(2)];
}

export const cssColor = (color: number[]) => `rgb(${color.map((x) => Math.round(255 * x)).join(' ')})`;
export const gradient = `linear-gradient(90deg, ${STOPS.map(cssColor).join(', ')})`;

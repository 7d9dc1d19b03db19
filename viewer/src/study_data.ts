// The data of a study: a value of each column for each case.
import { unpack } from './arrays';
import { SceneError } from './error';

export const STATUSES = ['missing', 'completed', 'failed', 'refused', 'timed out'];
export const MISSING = 0;

export interface Column {
  name: string;
  unit: string;
  kind: 'parameter' | 'output' | 'statistic' | 'variant';
  values: Float64Array;
  log: boolean;
  labels?: string[]; // of the values 0, 1, ... of a column that is no quantity
  low: number; // of the finite values
  high: number;
  gaps: boolean; // some cases have no value
}

export interface Variant {
  model: string;
  formulation: string;
  integrator: string;
  command: string; // `liedyn run` without the parameters of the case
}

export interface Study {
  name: string;
  description: string;
  sampling: string;
  version: string;
  cases: number;
  points: number; // cases of each variant
  variants: Variant[];
  paths: string[][]; // of the model, which get the value of each parameter
  columns: Column[];
  status: Uint32Array;
  messages: string[];
  message: Uint32Array; // 0: none, otherwise one more than the index in `messages`
  scenes: number[]; // cases that can be shown in 3D
}

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

function fail(path: string, expected: string): never {
  throw new SceneError(`${path} of the study cannot be read`, `Expected ${expected}. The file is damaged, or of another version.`);
}
function text(object: Json, key: string, path: string): string {
  const value = object[key];
  return typeof value === 'string' ? value : fail(`${path}${key}`, 'a string');
}
function count(object: Json, key: string): number {
  const value = object[key];
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : fail(key, 'a positive integer');
}
function objects(object: Json, key: string): Json[] {
  const value = object[key];
  return Array.isArray(value) && value.every(isObject) ? value : fail(key, 'a list of objects');
}

export async function readStudy(source: string): Promise<Study> {
  let data: unknown;
  try {
    data = JSON.parse(source);
  } catch {
    throw new SceneError('The study in this page is not valid JSON', 'The file is damaged or was cut off. Write it again: liedyn sweep STUDY --html FILE.');
  }
  if (!isObject(data) || data.format !== 'liedyn study 1') throw new SceneError('This page contains no study that it can read', 'Expected the format "liedyn study 1". The page may be older than the data.');
  const cases = count(data, 'cases'), points = count(data, 'points');
  const variants = objects(data, 'variants').map((v, i) => {
    const path = `variants[${i}].`;
    return { model: text(v, 'model', path), formulation: text(v, 'formulation', path), integrator: text(v, 'integrator', path), command: text(v, 'command', path) };
  });
  if (points * variants.length !== cases) fail('cases', `${points * variants.length}, ${points} points of ${variants.length} variants`);
  const columns: Column[] = [];
  const paths: string[][] = [];
  for (const [i, c] of objects(data, 'columns').entries()) {
    const path = `columns[${i}].`, kind = text(c, 'kind', path);
    if (kind !== 'parameter' && kind !== 'output' && kind !== 'statistic') fail(`${path}kind`, 'parameter, output or statistic');
    const values = Float64Array.from(await unpack(c.values, `${path}values`, [cases]));
    columns.push({ name: text(c, 'name', path), unit: text(c, 'unit', path), kind, values, ...limits(values), log: c.scale === 'log' });
    if (kind !== 'parameter') continue;
    if (!Array.isArray(c.paths)) fail(`${path}paths`, 'a list of strings');
    paths.push(c.paths.map(String));
  }
  if (columns.length === 0) fail('columns', 'at least one');
  for (const column of columns) column.log &&= column.low > 0;
  if (variants.length > 1) columns.unshift(variantColumn(variants, cases, points));
  const status = (await unpack(data.status, 'status', [cases])) as Uint32Array, message = (await unpack(data.message, 'message', [cases])) as Uint32Array;
  const messages = Array.isArray(data.messages) ? data.messages.map(String) : fail('messages', 'a list of strings');
  if (!status.every((s) => s < STATUSES.length)) fail('status', `numbers from 0 to ${STATUSES.length - 1}`);
  if (!message.every((m) => m <= messages.length)) fail('message', `numbers from 0 to ${messages.length}`);
  const scenes = Array.isArray(data.scenes) ? data.scenes.map(Number) : fail('scenes', 'a list of cases');
  if (!scenes.every((s) => Number.isInteger(s) && s >= 0 && s < cases)) fail('scenes', `cases from 0 to ${cases - 1}`);
  return {
    name: text(data, 'name', ''), description: text(data, 'description', ''), sampling: text(data, 'sampling', ''), version: text(data, 'liedyn', ''),
    cases, points, variants, paths, columns, status, messages, message, scenes,
  };
}

function limits(values: Float64Array): { low: number; high: number; gaps: boolean } {
  let low = Infinity, high = -Infinity, gaps = false;
  for (const value of values) {
    if (!Number.isFinite(value)) gaps = true;
    else {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return low <= high ? { low, high, gaps } : { low: 0, high: 0, gaps };
}

// Which variant a case belongs to, named by what differs.
function variantColumn(variants: Variant[], cases: number, points: number): Column {
  const keys = (['model', 'formulation', 'integrator'] as const).filter((key) => variants.some((v) => v[key] !== variants[0][key]));
  const labels = variants.map((v) => keys.map((key) => v[key]).join(' '));
  const values = Float64Array.from({ length: cases }, (_, i) => Math.floor(i / points));
  return { name: keys.length === 1 ? keys[0] : 'variant', unit: '', kind: 'variant', values, log: false, labels, low: 0, high: variants.length - 1, gaps: false };
}

// Where a value stands between the least (0) and the largest one (1), and back.
export function share(column: Column, value: number): number {
  if (column.high === column.low) return value === column.low ? 0.5 : NaN;
  return column.log ? Math.log(value / column.low) / Math.log(column.high / column.low) : (value - column.low) / (column.high - column.low);
}
export function valueAt(column: Column, s: number): number {
  return column.log ? column.low * Math.exp(s * Math.log(column.high / column.low)) : column.low + s * (column.high - column.low);
}

export const labelOf = (column: Column) => (column.unit ? `${column.name} [${column.unit}]` : column.name);

// A word as shells of Unix take it.
const word = (text: string) => (/^[\w.=+:/,@%-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

// The command that runs a case again. Numbers have all their digits.
export function commandOf(study: Study, index: number): string {
  let command = study.variants[Math.floor(index / study.points)].command;
  study.columns.filter((c) => c.kind === 'parameter').forEach((column, i) => {
    for (const path of study.paths[i]) command += ` --set ${word(`${path}=${column.values[index]}`)}`;
  });
  return command;
}

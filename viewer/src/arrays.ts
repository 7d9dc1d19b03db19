// Arrays of numbers inside JSON: little-endian bytes, compressed by zlib, in base64.
import { SceneError } from './error';

export interface PackedArray {
  type: 'f32' | 'f64' | 'i8' | 'i16' | 'u32';
  shape: number[];
  data: string;
  coding?: 'delta-shuffle';
  distance?: number;
  scale?: number | number[];
}

export type Numbers = Float32Array | Float64Array | Int8Array | Int16Array | Uint32Array;

const BYTES = { f32: 4, f64: 8, i8: 1, i16: 2, u32: 4 };
const LARGEST = 2 ** 31;

async function inflate(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Byte k of word i stands at k*n + i; each word is the difference to the word so far before, modulo 2^bits.
function undoDeltaShuffle(bytes: Uint8Array, size: number, distance: number): Uint8Array {
  const n = bytes.length / size;
  const plain = new Uint8Array(bytes.length);
  for (let k = 0; k < size; k++) for (let i = 0; i < n; i++) plain[i * size + k] = bytes[k * n + i];
  const words =
    size === 1 ? plain : size === 2 ? new Uint16Array(plain.buffer) : size === 4 ? new Uint32Array(plain.buffer) : new BigUint64Array(plain.buffer);
  // Typed arrays wrap on assignment, which is the sum modulo 2^bits.
  if (words instanceof BigUint64Array) for (let i = distance; i < n; i++) words[i] += words[i - distance];
  else for (let i = distance; i < n; i++) words[i] += words[i - distance];
  return plain;
}

// The numbers of a packed array. `shape` is what they must have; -1 stands for any size.
export async function unpack(array: unknown, path: string, shape: number[]): Promise<Numbers> {
  const a = array as PackedArray;
  if (typeof a !== 'object' || a === null || typeof a.data !== 'string' || !Array.isArray(a.shape))
    throw new SceneError(`${path} is not an array`, 'Expected an object with type, shape and data.');
  const size = BYTES[a.type];
  if (!size) throw new SceneError(`${path} has the unknown type "${String(a.type)}"`, 'Expected f32, f64, i8, i16 or u32.');
  const agrees = a.shape.length === shape.length && a.shape.every((n, i) => Number.isInteger(n) && n >= 0 && (shape[i] < 0 || shape[i] === n));
  if (!agrees) {
    const wanted = shape.map((n) => (n < 0 ? 'any' : n)).join(', ');
    throw new SceneError(`${path} has the shape [${a.shape.join(', ')}]`, `Expected [${wanted}].`);
  }
  const count = a.shape.reduce((product, n) => product * n, 1);
  if (count * size > LARGEST) throw new SceneError(`${path} is too large for a browser: ${count} numbers`, 'Write fewer frames.');
  let bytes: Uint8Array;
  try {
    const text = atob(a.data);
    bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    bytes = await inflate(bytes);
  } catch {
    throw new SceneError(`${path} cannot be decompressed`, 'The file is damaged or was cut off. Write it again.');
  }
  if (bytes.length !== count * size)
    throw new SceneError(`${path} has ${bytes.length} bytes`, `Expected ${count * size}. The file is damaged or was cut off.`);
  if (a.distance !== undefined && !(Number.isInteger(a.distance) && a.distance > 0)) throw new SceneError(`${path} has the distance ${String(a.distance)}`, 'Expected a whole number above 0.');
  if (a.coding === 'delta-shuffle') bytes = undoDeltaShuffle(bytes, size, a.distance ?? a.shape.slice(1).reduce((p, n) => p * n, 1));
  else if (a.coding !== undefined)
    throw new SceneError(`${path} has the unknown coding "${String(a.coding)}"`, 'Expected delta-shuffle, or none. This page may be older than the file.');
  const buffer = bytes.buffer as ArrayBuffer;
  const values =
    a.type === 'f32' ? new Float32Array(buffer) : a.type === 'f64' ? new Float64Array(buffer) : a.type === 'i8' ? new Int8Array(buffer) : a.type === 'i16' ? new Int16Array(buffer) : new Uint32Array(buffer);
  return a.scale === undefined ? values : scaled(values, a.scale, a.shape[0]);
}

function scaled(values: Numbers, scale: number | number[], first: number): Float32Array {
  const result = new Float32Array(values.length);
  const row = values.length / Math.max(first, 1);
  for (let i = 0; i < values.length; i++) result[i] = values[i] * (typeof scale === 'number' ? scale : scale[Math.floor(i / row)]);
  return result;
}

export async function unpackFloats(array: unknown, path: string, shape: number[]): Promise<Float32Array> {
  const values = await unpack(array, path, shape);
  const floats = values instanceof Float32Array ? values : Float32Array.from(values);
  if (!floats.every(Number.isFinite)) throw new SceneError(`${path} contains numbers that are not finite`, 'The simulation may have failed.');
  return floats;
}

// Flexible bodies: vertex = v + sum_k modes[k] q[k], in the vertex shader. Modes are sent to the graphics card once, as a texture.
import {
  BufferAttribute, BufferGeometry, Color, DataTexture, FloatType, Mesh, MeshDepthMaterial, MeshStandardMaterial, NearestFilter, OrthographicCamera, Points, RGBADepthPacking,
  RGBAFormat, Scene, ShaderMaterial, Vector2, WebGLRenderTarget, type WebGLRenderer,
} from 'three';
import type { FlexibleBody } from './scene';
import { COLORMAP } from './colors';
import { crease, creasedGeometry, creasedNormals, type Creased } from './geometry';

const WIDTH = 2048;
const SAMPLES = 200; // vertices of a first look at the stresses
const MOST_STRESSES = 1e7; // vertices times modes of the second

const grid = (count: number) => new Vector2(Math.min(count, WIDTH) || 1, Math.max(Math.ceil(count / WIDTH), 1));

// Texel (i mod W, k*rows + i div W) holds entry i of mode k.
function texture(values: Float32Array, modes: number, count: number, stride: number, offset: number, part: number): DataTexture {
  const { x: width, y: rows } = grid(count);
  const data = new Float32Array(4 * width * rows * Math.max(modes, 1));
  for (let k = 0; k < modes; k++)
    for (let i = 0; i < count; i++) {
      const texel = 4 * (width * (k * rows + Math.floor(i / width)) + (i % width));
      for (let c = 0; c < part; c++) data[texel + c] = values[stride * (k * count + i) + offset + c];
    }
  const result = new DataTexture(data, width, rows * Math.max(modes, 1), RGBAFormat, FloatType);
  result.minFilter = result.magFilter = NearestFilter;
  result.needsUpdate = true;
  return result;
}

const DEFORM = /* glsl */ `
  uniform sampler2D modeTexture;
  uniform ivec2 modeGrid; // texels per row, rows per mode
  uniform ivec2 normalGrid;
  uniform vec4 q[Q4];
  float coordinate(int k) { return q[k / 4][k % 4]; }
  vec3 sumOfModes(sampler2D values, ivec2 grid, int vertex, int count) {
    vec3 sum = vec3(0.0);
    for (int k = 0; k < count; k++)
      sum += coordinate(k) * texelFetch(values, ivec2(vertex % grid.x, k * grid.y + vertex / grid.x), 0).xyz;
    return sum;
  }
`;

// sqrt(((sx-sy)^2 + (sy-sz)^2 + (sz-sx)^2)/2 + 3 (txy^2 + tyz^2 + tzx^2))
const VON_MISES = /* glsl */ `
  uniform sampler2D normalStress;
  uniform sampler2D shearStress;
  varying float vMises;
  float vonMises(int vertex) {
    vec3 s = sumOfModes(normalStress, modeGrid, vertex, STRESS_MODES);
    vec3 t = sumOfModes(shearStress, modeGrid, vertex, STRESS_MODES);
    vec3 d = s - s.yzx;
    return sqrt(0.5 * dot(d, d) + 3.0 * dot(t, t));
  }
`;

export class FlexibleMesh extends Mesh<BufferGeometry, MeshStandardMaterial> {
  readonly count: number;
  private readonly uniforms: Record<string, { value: unknown }>;
  private readonly coordinates: Float32Array;
  private readonly defines: Record<string, number>;

  constructor(readonly body: FlexibleBody, material: MeshStandardMaterial) {
    const creased = crease(body.vertices, body.triangles);
    const normals = creasedNormals(creased, body.vertices, body.triangles);
    super(creasedGeometry(creased, body.vertices, normals), material);
    this.geometry.setAttribute('source', new BufferAttribute(Float32Array.from(creased.source), 1));
    this.count = body.vertices.length / 3;
    this.frustumCulled = false;

    const K = body.modeCount;
    this.coordinates = new Float32Array(4 * Math.max(Math.ceil(K / 4), 1));
    this.defines = { Q4: this.coordinates.length / 4, MODES: K, STRESS_MODES: body.stressModes };
    const has = body.stress !== undefined && body.stressModes > 0;
    this.uniforms = {
      modeTexture: { value: texture(body.modes, K, this.count, 3, 0, 3) },
      normalTexture: { value: texture(modalNormals(body, creased, normals), K, creased.source.length, 3, 0, 3) },
      modeGrid: { value: grid(this.count) },
      normalGrid: { value: grid(creased.source.length) },
      q: { value: this.coordinates },
      normalStress: { value: has ? texture(body.stress!, body.stressModes, this.count, 6, 0, 3) : null },
      shearStress: { value: has ? texture(body.stress!, body.stressModes, this.count, 6, 3, 3) : null },
      showStress: { value: 0 },
      stressRange: { value: 1 },
    };
    this.patch(material, has);
    const depth = new MeshDepthMaterial({ depthPacking: RGBADepthPacking });
    this.patch(depth, false);
    this.customDepthMaterial = depth;
  }

  // Strains are von Mises stresses divided by Young's modulus.
  get hasStress(): boolean {
    return this.defines.STRESS_MODES > 0;
  }

  private patch(material: MeshStandardMaterial | MeshDepthMaterial, stress: boolean): void {
    const lit = material instanceof MeshStandardMaterial;
    material.defines = { ...material.defines, ...this.defines };
    material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, this.uniforms);
      shader.vertexShader = shader.vertexShader
        .replace('#include <common>', `#include <common>\nattribute float source;\n${DEFORM}${lit ? 'uniform sampler2D normalTexture;' : ''}${stress ? VON_MISES : ''}`)
        .replace('#include <beginnormal_vertex>', '#include <beginnormal_vertex>\nobjectNormal = normalize(objectNormal + sumOfModes(normalTexture, normalGrid, gl_VertexID, MODES));')
        .replace('#include <begin_vertex>', `#include <begin_vertex>\ntransformed += sumOfModes(modeTexture, modeGrid, int(source + 0.5), MODES);\n${stress ? 'vMises = vonMises(int(source + 0.5));' : ''}`);
      if (stress)
        shader.fragmentShader = shader.fragmentShader
          .replace('#include <common>', `#include <common>\nvarying float vMises;\nuniform float showStress;\nuniform float stressRange;\n${COLORMAP}`)
          .replace('#include <color_fragment>', '#include <color_fragment>\nif (showStress > 0.5) diffuseColor.rgb = colormap(vMises / stressRange);');
    };
    material.customProgramCacheKey = () => `flexible ${JSON.stringify(this.defines)} ${stress}`;
  }

  setCoordinates(q: Float32Array): void {
    this.coordinates.set(q);
  }

  // Colours by von Mises stress, from 0 to `range` in N/m^2; undefined: in the colour of the body.
  showStress(range: number | undefined): void {
    this.uniforms.showStress.value = range === undefined ? 0 : 1;
    this.uniforms.stressRange.value = range && range > 0 ? range : 1;
  }

  // The largest von Mises stress from a frame of the motion on. Some vertices say in which frames it is large; all of them are looked at in these.
  largestStress(from = 0): number {
    const { modeCount, coordinates, stressModes } = this.body;
    const frames = coordinates.length / Math.max(modeCount, 1);
    if (!this.hasStress) return 0;
    const stride = Math.max(Math.floor(this.count / SAMPLES), 1);
    const q = (frame: number) => coordinates.subarray(frame * modeCount, (frame + 1) * modeCount);
    const found = Array.from({ length: Math.max(frames - from, 0) }, (_, f) => ({ frame: from + f, stress: this.stressAt(q(from + f), stride) }));
    found.sort((a, b) => b.stress - a.stress);
    const most = Math.max(Math.floor(MOST_STRESSES / (this.count * stressModes)), 1);
    return Math.max(0, ...found.slice(0, most).map(({ frame, stress }) => (stride === 1 ? stress : this.stressAt(q(frame)))));
  }

  // The largest von Mises stress for modal coordinates, at every `stride`-th vertex.
  stressAt(q: ArrayLike<number>, stride = 1): number {
    const { stress, stressModes: K } = this.body;
    if (!stress) return 0;
    let largest = 0;
    const s = new Float64Array(6);
    for (let i = 0; i < this.count; i += stride) {
      s.fill(0);
      for (let k = 0; k < K; k++) for (let c = 0; c < 6; c++) s[c] += q[k] * stress[6 * (k * this.count + i) + c];
      largest = Math.max(largest, 0.5 * ((s[0] - s[1]) ** 2 + (s[1] - s[2]) ** 2 + (s[2] - s[0]) ** 2) + 3 * (s[3] ** 2 + s[4] ** 2 + s[5] ** 2));
    }
    return Math.sqrt(largest);
  }

  paint(color: Color): void {
    this.material.color.copy(color);
  }

  // Vertices in body axes as the vertex shader computes them: each is drawn as one pixel of a float texture.
  readBack(renderer: WebGLRenderer): Float32Array {
    const rows = Math.ceil(this.count / WIDTH);
    const target = new WebGLRenderTarget(WIDTH, rows, { type: FloatType, format: RGBAFormat, depthBuffer: false, minFilter: NearestFilter, magFilter: NearestFilter });
    const material = new ShaderMaterial({
      defines: this.defines,
      uniforms: this.uniforms as Record<string, { value: unknown }>,
      vertexShader: `${DEFORM}
        flat out vec3 vertex;
        void main() {
          vertex = position + sumOfModes(modeTexture, modeGrid, gl_VertexID, MODES);
          vec2 pixel = vec2(gl_VertexID % ${WIDTH}, gl_VertexID / ${WIDTH}) + 0.5;
          gl_Position = vec4(2.0 * pixel / vec2(${WIDTH}.0, ${rows}.0) - 1.0, 0.0, 1.0);
          gl_PointSize = 1.0;
        }`,
      // Flat: nothing is interpolated.
      fragmentShader: 'flat in vec3 vertex;\nvoid main() { gl_FragColor = vec4(vertex, 1.0); }',
    });
    const geometry = new BufferGeometry().setAttribute('position', new BufferAttribute(this.body.vertices, 3));
    const points = new Points(geometry, material);
    points.frustumCulled = false;
    const scene = new Scene().add(points);
    renderer.setRenderTarget(target);
    renderer.render(scene, new OrthographicCamera());
    renderer.setRenderTarget(null);
    const pixels = new Float32Array(4 * WIDTH * rows);
    renderer.readRenderTargetPixels(target, 0, 0, WIDTH, rows, pixels);
    target.dispose();
    material.dispose();
    return Float32Array.from({ length: 3 * this.count }, (_, i) => pixels[4 * Math.floor(i / 3) + (i % 3)]);
  }
}

// Derivatives of the normals with respect to the modal coordinates, by a difference of 1e-3 of the size: light follows bending.
function modalNormals(body: FlexibleBody, creased: Creased, normals: Float32Array): Float32Array {
  const size = body.vertices.reduce((largest, x) => Math.max(largest, Math.abs(x)), 1e-12);
  const result = new Float32Array(body.modeCount * normals.length);
  const moved = new Float32Array(body.vertices.length);
  for (let k = 0; k < body.modeCount; k++) {
    const mode = body.modes.subarray(k * moved.length, (k + 1) * moved.length);
    const largest = mode.reduce((value, x) => Math.max(value, Math.abs(x)), 0);
    if (!(largest > 0)) continue;
    const step = (1e-3 * size) / largest;
    for (let i = 0; i < moved.length; i++) moved[i] = body.vertices[i] + step * mode[i];
    const changed = creasedNormals(creased, moved, body.triangles);
    for (let i = 0; i < normals.length; i++) result[k * normals.length + i] = (changed[i] - normals[i]) / step;
  }
  return result;
}

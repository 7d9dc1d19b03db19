// The stage: camera, light, ground with grid and shadows, background.
import {
  BackSide, Box3, BoxGeometry, BufferGeometry, CanvasTexture, Color, DirectionalLight, DoubleSide, FrontSide, HemisphereLight, Matrix4, Mesh, MeshBasicMaterial, NeutralToneMapping, PCFSoftShadowMap,
  PerspectiveCamera, PlaneGeometry, PMREMGenerator, Quaternion, Raycaster, Scene as ThreeScene, ShaderMaterial, ShadowMaterial, SRGBColorSpace, Vector2, Vector3, WebGLRenderer,
  type Intersection, type Object3D, type Side,
} from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { THEMES } from './colors';
import { SceneError } from './error';
import type { Vector } from './scene';

// What is shown: the box around it, its lowest point along `up`, and points on its outside, from which the camera finds its distance.
export interface Bounds {
  box: Box3;
  low: number;
  points: number[];
}

export class Stage {
  readonly renderer: WebGLRenderer;
  readonly scene = new ThreeScene();
  readonly camera = new PerspectiveCamera(32, 1, 0.01, 100);
  controls: OrbitControls;
  readonly up = new Vector3(0, 0, 1);
  gridStep = 1;
  dirty = true;
  private insets = { left: 0, right: 0, top: 0, bottom: 0 };
  private readonly sun = new DirectionalLight(0xffffff, 2);
  private readonly fill = new HemisphereLight(0xffffff, 0xa8a29a, 0.8);
  private readonly grid: Mesh<PlaneGeometry, ShaderMaterial>;
  private readonly ground: Mesh<PlaneGeometry, ShadowMaterial>;
  private center = new Vector3();
  private radius = 1;
  private box = new Box3();
  private points: number[] = [];

  constructor(readonly host: HTMLElement) {
    const low = lowQuality();
    try {
      this.renderer = new WebGLRenderer({ antialias: !low });
    } catch {
      throw new SceneError('This browser cannot draw in 3D', 'WebGL 2 is needed. Enable hardware acceleration, or use another browser.');
    }
    this.renderer.setPixelRatio(low ? 1 : Math.min(window.devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = !low;
    this.renderer.shadowMap.type = PCFSoftShadowMap;
    this.renderer.toneMapping = NeutralToneMapping;
    host.append(this.renderer.domElement);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 5;
    this.sun.shadow.normalBias = 0.02;
    this.ground = new Mesh(new PlaneGeometry(1, 1), new ShadowMaterial({ opacity: 0.2 }));
    this.ground.receiveShadow = true;
    this.grid = new Mesh(new PlaneGeometry(1, 1), gridMaterial());
    this.grid.renderOrder = -1;
    this.scene.add(this.sun, this.sun.target, this.fill, this.ground, this.grid);
    if (!low) this.scene.environment = softBoxes(this.renderer);
    this.controls = this.newControls();
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
  }

  private newControls(): OrbitControls {
    const controls = new OrbitControls(this.camera, this.renderer.domElement);
    controls.enableDamping = true;
    controls.dampingFactor = 0.12;
    controls.addEventListener('change', () => (this.dirty = true));
    return controls;
  }

  private resize(): void {
    const { clientWidth: w, clientHeight: h } = this.host;
    if (w === 0 || h === 0) return;
    this.renderer.setSize(w, h);
    this.camera.aspect = w / h;
    const { left, right, top, bottom } = this.insets;
    this.camera.setViewOffset(w, h, (right - left) / 2, (bottom - top) / 2, w, h);
    this.dirty = true;
  }

  setTheme(name: 'light' | 'dark'): void {
    const theme = THEMES[name];
    this.scene.background = gradientTexture(theme.sky, theme.horizon);
    this.sun.intensity = theme.light;
    this.fill.intensity = (this.scene.environment ? 0.9 : 2.8) * theme.ambient;
    this.scene.environmentIntensity = 0.75 * theme.ambient;
    this.ground.material.opacity = theme.shadow;
    this.grid.material.uniforms.color.value.set(theme.line);
    this.dirty = true;
  }

  // Adapts light, ground and clipping to what is shown; up is against gravity. The direction of view is the usual one, or stays.
  frame(gravity: Vector, bounds: (up: Vector3) => Bounds, keepDirection = false): void {
    const direction = keepDirection ? this.direction : undefined;
    const g = new Vector3(...gravity);
    let { box, low, points } = bounds(this.up.set(0, 0, 1));
    const extent = box.getSize(new Vector3());
    if (g.lengthSq() > 0) this.up.copy(g).negate().normalize();
    else if (extent.z < 0.2 * Math.min(extent.x, extent.y)) this.up.set(0, 1, 0); // planar
    ({ box, low, points } = bounds(this.up));
    this.box = box;
    this.points = points;
    box.getCenter(this.center);
    this.radius = Math.max(box.getSize(new Vector3()).length() / 2, 1e-9);
    this.camera.up.copy(this.up);
    this.controls.dispose();
    this.controls = this.newControls();

    const toGround = new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), this.up);
    const spot = this.center.clone().addScaledVector(this.up, low - 0.015 * this.radius - this.center.dot(this.up));
    for (const mesh of [this.ground, this.grid]) {
      mesh.quaternion.copy(toGround);
      mesh.position.copy(spot);
      mesh.scale.setScalar(40 * this.radius);
    }
    this.scene.environmentRotation.setFromQuaternion(toGround);
    this.fill.position.copy(this.up);
    this.grid.position.addScaledVector(this.up, -0.002 * this.radius);
    this.gridStep = 10 ** Math.floor(Math.log10(this.radius));
    const uniforms = this.grid.material.uniforms;
    uniforms.inverse.value.copy(new Matrix4().makeRotationFromQuaternion(toGround)).invert();
    uniforms.step.value = this.gridStep / 2;
    uniforms.center.value.copy(spot);
    uniforms.radius.value = 5 * this.radius;
    this.gridStep /= 2;

    const side = new Vector3().crossVectors(this.up, this.viewDirection()).normalize();
    this.sun.position.copy(this.center).addScaledVector(this.up, 3 * this.radius).addScaledVector(side, -1.3 * this.radius).addScaledVector(this.viewDirection(), 1.2 * this.radius);
    this.sun.target.position.copy(this.center);
    const shadow = this.sun.shadow.camera;
    shadow.left = shadow.bottom = -1.7 * this.radius;
    shadow.right = shadow.top = 1.7 * this.radius;
    shadow.near = 0.5 * this.radius;
    shadow.far = 7 * this.radius;
    shadow.updateProjectionMatrix();
    this.sun.shadow.bias = -0.0004;
    this.sun.shadow.normalBias = 0.004 * this.radius;
    this.camera.near = this.radius / 200;
    this.camera.far = this.radius * 60;
    this.fit(direction ?? this.viewDirection());
  }

  // From what is looked at to the camera.
  private get direction(): Vector3 {
    return this.camera.position.clone().sub(this.controls.target).normalize();
  }

  // From the side, a little above; across what is flat.
  private viewDirection(): Vector3 {
    const size = this.box.getSize(new Vector3());
    const axes = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)].filter((axis) => Math.abs(axis.dot(this.up)) < 0.5);
    // The thinner of the two horizontal directions is looked along; y is looked along from its negative side, so that x points right.
    const across = axes.map((axis) => Math.abs(size.dot(axis)));
    const first = across[0] < 0.999 * across[1] ? 0 : 1;
    const flat = across[first] < 0.35 * across[1 - first] || across[first] < 0.35 * Math.abs(size.dot(this.up));
    const look = axes[first].clone();
    const right = new Vector3().crossVectors(this.up, look);
    const sign = right.x + right.y + right.z < 0 ? -1 : 1;
    look.multiplyScalar(sign);
    right.multiplyScalar(sign);
    return look.multiplyScalar(1).addScaledVector(right, flat ? 0.3 : 0.62).addScaledVector(this.up, flat ? 0.22 : 0.42).normalize();
  }

  // The nearest position in a direction, if not given that of the camera now, from which all points are inside of the picture. With x, y, z along right, top and towards the camera, a point is inside if
  // |x - cx| <= a (d - z): of d >= z + (x - cx)/a and d >= z - (x - cx)/a the smallest d is (P + M)/2, at cx = a (P - M)/2, P = max(z + x/a), M = max(z - x/a).
  // `more` are points that it shows besides.
  fit(direction = this.direction, more: number[] = []): void {
    const center = this.box.getCenter(new Vector3());
    // Straight from above, where right is along a horizontal axis, the camera itself says what is right.
    const right = new Vector3().crossVectors(this.up, direction);
    if (right.length() < 1e-3) right.setFromMatrixColumn(this.camera.matrixWorld, 0);
    right.normalize();
    const top = new Vector3().crossVectors(direction, right);
    const vertical = Math.tan((this.camera.fov * Math.PI) / 360);
    const { width, height } = this.freeShare();
    let distance = 0;
    const shift = new Vector3();
    const point = new Vector3();
    for (const [axis, slope] of [[right, vertical * this.camera.aspect * width], [top, vertical * height]] as const) {
      let [plus, minus] = [-Infinity, -Infinity];
      for (const points of [this.points, more])
        for (let i = 0; i < points.length; i += 3) {
          point.fromArray(points, i).sub(center);
          const [x, z] = [point.dot(axis), point.dot(direction)];
          plus = Math.max(plus, z + x / slope);
          minus = Math.max(minus, z - x / slope);
        }
      if (!Number.isFinite(plus)) [plus, minus] = [this.radius / slope, this.radius / slope];
      distance = Math.max(distance, (plus + minus) / 2);
      shift.addScaledVector(axis, (slope * (plus - minus)) / 2);
    }
    distance = Math.max(1.1 * distance, 1e-6);
    this.controls.target.copy(center).add(shift);
    this.camera.position.copy(this.controls.target).addScaledVector(direction, distance);
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.dirty = true;
  }

  private freeShare(): { width: number; height: number } {
    const { left, right, top, bottom } = this.insets;
    const { clientWidth: w, clientHeight: h } = this.host;
    return { width: Math.max((w - left - right) / (w || 1), 0.3), height: Math.max((h - top - bottom) / (h || 1), 0.3) };
  }

  // Pixels at the edges that panels cover. The target of the camera is in the middle of what they leave free.
  setInsets(insets: Stage['insets']): void {
    this.insets = insets;
    this.resize();
  }

  // Moves camera and target along, so that a point that moves stays where it is in the picture.
  follow(shift: Vector3): void {
    this.camera.position.add(shift);
    this.controls.target.add(shift);
    this.dirty = true;
  }

  private readonly raycaster = new Raycaster();
  pick(x: number, y: number, root: Object3D): Intersection[] {
    const rect = this.renderer.domElement.getBoundingClientRect();
    const point = new Vector2((2 * (x - rect.left)) / rect.width - 1, 1 - (2 * (y - rect.top)) / rect.height);
    this.raycaster.setFromCamera(point, this.camera);
    return this.raycaster.intersectObject(root, true);
  }

  // The size of a pixel at a distance of one.
  get pixel(): number {
    return (2 * Math.tan((this.camera.fov * Math.PI) / 360)) / Math.max(this.host.clientHeight, 1);
  }

  render(): void {
    this.renderer.render(this.scene, this.camera);
    this.dirty = false;
  }
}

// Without a graphics card every pixel is computed by the processor: no shadows, no smooth edges. ?quality=high|low decides otherwise.
function lowQuality(): boolean {
  const chosen = new URLSearchParams(location.search).get('quality');
  if (chosen === 'high' || chosen === 'low') return chosen === 'low';
  const gl = document.createElement('canvas').getContext('webgl2');
  const info = gl?.getExtension('WEBGL_debug_renderer_info');
  const name = info ? String(gl!.getParameter(info.UNMASKED_RENDERER_WEBGL)) : '';
  gl?.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

// Lines every `step` and stronger ones every ten, that fade out with the distance.
function gridMaterial(): ShaderMaterial {
  return new ShaderMaterial({
    transparent: true,
    depthWrite: false,
    side: DoubleSide,
    uniforms: { color: { value: new Color() }, step: { value: 1 }, center: { value: new Vector3() }, radius: { value: 1 }, inverse: { value: new Matrix4() } },
    vertexShader: `
      varying vec3 world;
      void main() {
        world = (modelMatrix * vec4(position, 1.0)).xyz;
        gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
      }`,
    fragmentShader: `
      uniform vec3 color, center;
      uniform float step, radius;
      uniform mat4 inverse;
      varying vec3 world;
      float lines(vec2 p, float width) {
        vec2 d = fwidth(p);
        vec2 distance = abs(fract(p - 0.5) - 0.5) / d;
        vec2 line = clamp(width - distance, 0.0, 1.0);
        // Lines closer than a few pixels become an even tone instead of noise.
        line *= clamp(1.0 - 3.0 * d, 0.0, 1.0);
        return max(line.x, line.y);
      }
      void main() {
        vec2 p = (inverse * vec4(world, 1.0)).xy / step;
        float fade = 1.0 - smoothstep(0.2, 1.0, length(world - center) / radius);
        float strength = max(0.32 * lines(p, 1.0), 0.62 * lines(p / 10.0, 1.2));
        gl_FragColor = vec4(color, strength * fade);
        #include <colorspace_fragment>
      }`,
  });
}

function gradientTexture(top: string, bottom: string): CanvasTexture {
  const canvas = document.createElement('canvas');
  canvas.width = 2;
  canvas.height = 256;
  const context = canvas.getContext('2d')!;
  const gradient = context.createLinearGradient(0, 0, 0, 256);
  gradient.addColorStop(0, top);
  gradient.addColorStop(0.75, bottom);
  context.fillStyle = gradient;
  context.fillRect(0, 0, 2, 256);
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  return texture;
}

// A bright room with three lamps, for soft highlights.
function softBoxes(renderer: WebGLRenderer) {
  const room = new ThreeScene();
  const geometry: BufferGeometry = new BoxGeometry(1, 1, 1);
  const add = (color: number, strength: number, position: Vector, scale: Vector, side: Side = FrontSide) => {
    const mesh = new Mesh(geometry, new MeshBasicMaterial({ color: new Color(color).multiplyScalar(strength), side }));
    mesh.position.set(...position);
    mesh.scale.set(...scale);
    room.add(mesh);
  };
  add(0xb8c0cc, 0.75, [0, 0, 0], [20, 20, 20], BackSide);
  add(0xffffff, 9, [0, 0, 9.8], [9, 9, 0.2]);
  add(0xfff4e6, 5, [-9.8, -2, 4], [0.2, 7, 5]);
  add(0xe6f0ff, 4, [4, 9.8, 3], [8, 0.2, 4]);
  const generator = new PMREMGenerator(renderer);
  const target = generator.fromScene(room, 0.03, 0.1, 100);
  generator.dispose();
  return target.texture;
}

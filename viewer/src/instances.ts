// Many equal things in one draw call: shapes of bodies, symbols of joints and forces, arrows.
import { BufferGeometry, Color, DynamicDrawUsage, Group, InstancedBufferAttribute, InstancedMesh, Material, Matrix4, Vector3 } from 'three';
import type { Detail } from './geometry';
import type { Poses } from './motion';

export type Make = (detail: Detail) => BufferGeometry;
const [MANY, VERY_MANY] = [150, 2000];

// What an instance belongs to.
export type Owner = { kind: 'body' | 'joint' | 'force'; index: number };

export interface Instance {
  owner: Owner;
  color: Color;
  // Pose of the thing in inertial axes.
  place: (poses: Poses, out: Matrix4) => void;
  hidden?: boolean;
  paint?: Color; // instead of `color`
}

// Placed at a constant pose in the axes of a frame.
export function attached(frame: number, local: Matrix4): Instance['place'] {
  return (poses, out) => {
    poses.matrix(frame, out.elements);
    out.multiply(local);
  };
}

// Bodies thinner than about two pixels are drawn with that thickness, so that a long chain stays a line that can be seen. `thin` is half of the thickness of an instance.
export function widened(material: Material, pixel: { value: number }): Material {
  material.onBeforeCompile = (shader) => {
    shader.uniforms.pixel = pixel;
    shader.vertexShader = shader.vertexShader
      .replace('#include <common>', '#include <common>\n#ifdef USE_INSTANCING\nattribute float thin;\nuniform float pixel;\n#endif')
      .replace(
        '#include <begin_vertex>',
        `#include <begin_vertex>
        #ifdef USE_INSTANCING
          float away = -(modelViewMatrix * instanceMatrix * vec4(position, 1.0)).z;
          transformed += normalize(normal) * max(0.0, 1.1 * pixel * away - thin);
        #endif`,
      );
  };
  return material;
}

export class Instances {
  readonly group = new Group();
  private readonly sets = new Map<string, { make: Make; instances: Instance[]; mesh?: InstancedMesh }>();
  private readonly matrix = new Matrix4();

  constructor(
    private readonly material: Material,
    private readonly shadows: boolean,
  ) {}

  add(key: string, make: Make, instance: Instance): void {
    if (!this.sets.has(key)) this.sets.set(key, { make, instances: [] });
    this.sets.get(key)!.instances.push(instance);
  }

  build(): void {
    for (const set of this.sets.values()) {
      const count = set.instances.length;
      const mesh = new InstancedMesh(set.make(count > VERY_MANY ? 'least' : count > MANY ? 'coarse' : 'fine'), this.material, count);
      mesh.instanceMatrix.setUsage(DynamicDrawUsage);
      mesh.frustumCulled = false; // instances move, so that bounds of the first frame are of no use
      mesh.castShadow = mesh.receiveShadow = this.shadows;
      mesh.userData.owner = (id: number) => set.instances[id].owner;
      mesh.geometry.computeBoundingBox();
      const size = mesh.geometry.boundingBox!.getSize(new Vector3());
      mesh.geometry.setAttribute('thin', new InstancedBufferAttribute(new Float32Array(set.instances.length).fill(Math.min(size.x, size.y, size.z) / 2), 1));
      set.mesh = mesh;
      this.group.add(mesh);
    }
    this.recolor();
  }

  update(poses: Poses): void {
    for (const { mesh, instances } of this.sets.values()) {
      for (let i = 0; i < instances.length; i++) {
        if (instances[i].hidden) this.matrix.makeScale(0, 0, 0);
        else instances[i].place(poses, this.matrix);
        mesh!.setMatrixAt(i, this.matrix);
      }
      mesh!.instanceMatrix.needsUpdate = true;
      mesh!.boundingSphere = null; // for picking
    }
  }

  each(visit: (instance: Instance) => void): void {
    for (const { instances } of this.sets.values()) instances.forEach(visit);
  }

  recolor(): void {
    for (const { mesh, instances } of this.sets.values()) {
      instances.forEach((instance, i) => mesh!.setColorAt(i, instance.paint ?? instance.color));
      mesh!.instanceColor!.needsUpdate = true;
    }
  }

  // Calls `visit` with the centre and half-diagonal vectors of the box around every instance, and with whose it is.
  bounds(visit: (center: Vector3, axes: Vector3[], owner: Owner) => void): void {
    const [center, half] = [new Vector3(), new Vector3()];
    const axes = [new Vector3(), new Vector3(), new Vector3()];
    for (const { mesh, instances } of this.sets.values()) {
      mesh!.geometry.computeBoundingBox();
      for (let i = 0; i < instances.length; i++) {
        mesh!.getMatrixAt(i, this.matrix);
        mesh!.geometry.boundingBox!.getCenter(center).applyMatrix4(this.matrix);
        mesh!.geometry.boundingBox!.getSize(half).multiplyScalar(0.5);
        this.matrix.extractBasis(axes[0], axes[1], axes[2]);
        axes.forEach((axis, k) => axis.multiplyScalar(half.getComponent(k)));
        visit(center, axes, instances[i].owner);
      }
    }
  }

  // Vertices of all instances of one owner, inertial axes.
  vertices(owner: Owner): number[] {
    const result: number[] = [];
    const point = new Vector3();
    for (const { mesh, instances } of this.sets.values())
      instances.forEach((instance, i) => {
        if (instance.owner.kind !== owner.kind || instance.owner.index !== owner.index) return;
        mesh!.getMatrixAt(i, this.matrix);
        const position = mesh!.geometry.getAttribute('position');
        for (let v = 0; v < position.count; v++) result.push(...point.fromBufferAttribute(position, v).applyMatrix4(this.matrix).toArray());
      });
    return result;
  }

  dispose(): void {
    for (const { mesh } of this.sets.values()) {
      mesh!.geometry.dispose();
      mesh!.dispose();
    }
  }
}

// Values of what is selected, at the time shown.
import { valueAt } from './channels';
import type { Owner } from './instances';
import { movingEnd } from './motion';
import type { Channel } from './scene';
import { hasStress } from './sections';
import { format, formatBeside, h } from './ui';
import type { SceneView } from './view';

export interface ValueActions {
  plot: (what: 'position' | 'speed') => void;
  plotChannel: (channel: Channel) => void;
  follow: () => void;
  trail: () => void;
  isFollowed: () => boolean;
  hasTrail: () => boolean;
}

// "joint_angle_rate" is the angle rate of the joint that is selected.
const quantity = (channel: Channel) => channel.type.replace(/^joint_/, '').replaceAll('_', ' ');
const vector = (values: ArrayLike<number>, scale = 0) => Array.from(values, (value) => formatBeside(value, scale)).join('  ');

export class Values {
  readonly element = h('div', { class: 'values' });
  private update?: () => void;
  private updateTools?: () => void;

  // What is selected, or a note what to do.
  show(view: SceneView, owner: Owner | undefined, time: () => number, actions: ValueActions): void {
    this.update = this.updateTools = undefined;
    if (!owner) {
      this.element.replaceChildren(h('p', { class: 'muted' }, 'Click a body or a joint, in the picture or in the list, to see its values.'));
      return;
    }
    const { scene, poses } = view;
    const thing = owner.kind === 'body' ? scene.bodies[owner.index] : owner.kind === 'joint' ? scene.joints[owner.index] : scene.forces[owner.index];
    const frame = view.frameOf(owner);
    const rows: { label: string; unit: string; value: () => string; channel?: Channel }[] = [];
    const add = (label: string, unit: string, value: () => string, channel?: Channel) => rows.push({ label, unit, value, channel });
    const addChannel = (label: string, channel: Channel) =>
      add(label, channel.unit, () => vector(channel.components.slice(0, 6).map((_, c) => valueAt(channel, time(), c))), channel);
    if ('mass' in thing && thing.mass !== undefined) add('mass', 'kg', () => format(thing.mass!));
    if (owner.kind === 'joint' && scene.joints[owner.index].bodies.length > 0) add('connects', '', () => scene.joints[owner.index].bodies.join(' – '));
    if ('nodes' in thing) add('nodes', '', () => String(thing.nodes.length));
    if ('nodes' in thing && thing.sectionValues && !hasStress(thing)) add('stress', '', () => 'not known: the section is given by its stiffness, not by its outline');
    if ('modeCount' in thing) add('modes', '', () => String(thing.linearModes));
    const end = 'ends' in thing ? movingEnd(thing.ends) : undefined;
    if (end) add('position', 'm', () => vector(poses.point(end), scene.size));
    if (owner.kind !== 'body' && 'ends' in thing && thing.ends.length === 2) {
      const gap = () => {
        const [a, b] = thing.ends.map((end) => poses.point(end));
        return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
      };
      if (owner.kind === 'force') add('length', 'm', () => format(gap()));
    }
    if (owner.kind === 'body' && frame >= 0) {
      const where = 'nodes' in thing ? ' of the last node' : '';
      add(`position${where}`, 'm', () => vector(poses.positions.subarray(3 * frame, 3 * frame + 3), scene.size));
      add('quaternion w x y z', '', () => vector(poses.rotations.subarray(4 * frame, 4 * frame + 4), 1));
      if (scene.kind === 'motion' && scene.times.length > 1) {
        add('velocity', 'm/s', () => vector(poses.velocities.subarray(3 * frame, 3 * frame + 3), view.largestSpeed()));
        add('speed', 'm/s', () => format(poses.speed(frame)));
      }
    }
    const frames = 'nodes' in thing ? thing.nodes : [frame];
    const looksAt = (channel: Channel) => (owner.kind === 'joint' ? channel.joint : owner.kind === 'force' ? channel.force : undefined) === thing.name;
    const isAtBody = (channel: Channel) => owner.kind === 'body' && channel.frame !== undefined && channel.frame >= 0 && frames.includes(channel.frame);
    for (const channel of scene.loads.filter(looksAt)) addChannel(quantity(channel), channel);
    for (const channel of scene.channels.filter((c) => looksAt(c) || isAtBody(c)).slice(0, 12)) addChannel(channel.name, channel);

    const kind = 'kind' in thing ? thing.kind : thing.type.replaceAll('_', ' ');
    const outputs = rows.map((row) => h('dd', {}, row.value()));
    const list = h('dl', {});
    const label = ({ label: text, channel }: (typeof rows)[number]) => (channel ? h('button', { type: 'button', title: 'Plot it', click: () => actions.plotChannel(channel) }, text) : text);
    rows.forEach((row, i) => list.append(h('dt', {}, label(row), row.unit !== '' && h('small', {}, ` ${row.unit}`)), outputs[i]));
    const tool = (name: string, click: () => void) => h('button', { type: 'button', click }, name);
    const [follow, path] = [tool('Follow', actions.follow), tool('Path', actions.trail)];
    const [position, speed] = [tool('Plot position', () => actions.plot('position')), tool('Plot speed', () => actions.plot('speed'))];
    const tools = h('div', { class: 'tools', hidden: frame < 0 }, follow, path, position, speed);
    this.updateTools = () => {
      follow.classList.toggle('on', actions.isFollowed());
      path.classList.toggle('on', actions.hasTrail());
      path.hidden = position.hidden = scene.kind === 'modes' || scene.times.length < 2;
      speed.hidden = path.hidden || scene.kind !== 'motion';
    };
    this.updateTools();
    this.element.replaceChildren(h('header', { class: 'selected-name' }, h('h2', { id: 'selected' }, thing.name), h('small', {}, kind)), tools, list);
    this.update = () => rows.forEach((row, i) => (outputs[i].textContent = row.value()));
  }

  refresh(): void {
    this.update?.();
  }
  // The buttons show what is on, whoever switched it: a key, say.
  refreshTools(): void {
    this.updateTools?.();
  }
}

// The model tree: bodies, joints and forces with names, visibility and selection.
import type { Owner } from './instances';
import type { Scene } from './scene';
import { h, icon } from './ui';

const LONGEST = 400; // rows drawn per group; the filter finds the others

export class Tree {
  readonly element = h('div', { class: 'tree' });
  private readonly rows = new Map<string, HTMLElement>();
  private filter = '';

  constructor(
    private readonly scene: Scene,
    private readonly color: (index: number) => string,
    private readonly actions: { select: (owner: Owner) => void; setVisible: (owner: Owner, visible: boolean) => void; isVisible: (owner: Owner) => boolean },
  ) {
    this.build();
  }

  private build(): void {
    const search = h('input', { type: 'search', placeholder: 'Filter', 'aria-label': 'Filter names', class: 'filter' });
    search.value = this.filter;
    const groups = h('div');
    search.addEventListener('input', () => {
      this.filter = search.value.trim().toLowerCase();
      this.fill(groups);
    });
    this.fill(groups);
    this.element.replaceChildren(search, groups);
  }

  private fill(host: HTMLElement): void {
    this.rows.clear();
    host.replaceChildren(
      this.group('Bodies', 'body', this.scene.bodies, (body) => body.kind),
      this.group('Joints', 'joint', this.scene.joints, (joint) => joint.type.replaceAll('_', ' ')),
      this.group('Forces', 'force', this.scene.forces, (force) => force.type.replaceAll('_', ' ')),
    );
  }

  private group<T extends { name: string }>(title: string, kind: Owner['kind'], things: T[], note: (thing: T) => string): HTMLElement {
    const matching = things.map((thing, index) => ({ thing, index })).filter(({ thing }) => thing.name.toLowerCase().includes(this.filter));
    if (matching.length === 0) return h('div');
    const owners = matching.map(({ index }): Owner => ({ kind, index }));
    const all = h('button', { type: 'button', class: 'eye', title: `Show or hide all ${title.toLowerCase()}` }, icon('eye'));
    const visible = owners.some(this.actions.isVisible);
    all.classList.toggle('off', !visible);
    all.addEventListener('click', (event) => {
      event.preventDefault();
      const show = !owners.some(this.actions.isVisible);
      for (const owner of owners) this.actions.setVisible(owner, show);
      this.build();
    });
    const details = h('details', { open: true }, h('summary', {}, h('span', {}, title), h('small', {}, String(things.length)), all));
    for (const { thing, index } of matching.slice(0, LONGEST)) details.append(this.row({ kind, index }, thing.name, note(thing)));
    if (matching.length > LONGEST) details.append(h('p', { class: 'muted' }, `and ${matching.length - LONGEST} more: type a name above`));
    return details;
  }

  private row(owner: Owner, name: string, note: string): HTMLElement {
    const eye = h('button', { type: 'button', class: 'eye', title: 'Show or hide' }, icon('eye'));
    eye.classList.toggle('off', !this.actions.isVisible(owner));
    eye.addEventListener('click', (event) => {
      event.stopPropagation();
      this.actions.setVisible(owner, !this.actions.isVisible(owner));
      eye.classList.toggle('off', !this.actions.isVisible(owner));
    });
    const dot = h('i', { class: `dot ${owner.kind}` });
    if (owner.kind === 'body') dot.style.background = this.color(owner.index);
    const row = h('div', { class: 'row', role: 'button', tabindex: 0, 'data-name': name, click: () => this.actions.select(owner) }, dot, h('span', { class: 'name' }, name), h('small', {}, note), eye);
    row.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') this.actions.select(owner);
    });
    this.rows.set(`${owner.kind} ${owner.index}`, row);
    return row;
  }

  select(owner: Owner | undefined): void {
    for (const row of this.rows.values()) row.classList.remove('selected');
    const row = owner && this.rows.get(`${owner.kind} ${owner.index}`);
    row?.classList.add('selected');
    row?.scrollIntoView({ block: 'nearest' });
  }
}

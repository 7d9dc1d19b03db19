// The page: connects the scene, the timeline, the panels and the keyboard.
import { Box3, Color, Vector2, Vector3 } from 'three';
import { distance, framePosition, frameSpeed, path } from './channels';
import { GHOST, gradient, THEMES } from './colors';
import { SceneError } from './error';
import { helpOverlay } from './help';
import type { Owner } from './instances';
import { Live, livePath } from './live';
import { sceneOfFile, scenesOfPage } from './load';
import { firstMode, modesPanel } from './modes';
import { Arrows, Trail } from './overlays';
import { Plots } from './plots';
import type { Channel, Scene } from './scene';
import { Stage } from './stage';
import { apart, summaryPanel } from './summary';
import { Timeline } from './timeline';
import { Tree } from './tree';
import { button, format, h, store, type Icon } from './ui';
import { Values } from './values';
import { COLORINGS, type Coloring } from './sections';
import { SceneView } from './view';

const PHONE = '(max-width: 760px)';
const STATIC_SPEED = 0.5; // two seconds for all the loads
const GESTURES =
  'Drag to orbit, right-drag or two fingers to pan, wheel or pinch to zoom. Click a body to select it, click in a curve to go to that time. Drop a second file to compare two results.';
const KEYS: [string, string][] = [
  ['Space', 'play or pause'],
  [', .', 'one frame back or on'],
  ['← →', 'a fiftieth back or on'],
  ['Home End', 'start or end'],
  ['< >', 'slower or faster'],
  ['L', 'repeat'],
  ['F', 'fit everything into the picture, from the same direction'],
  ['O', 'follow what is selected'],
  ['T', 'path of what is selected'],
  ['A', 'arrows of forces and velocities'],
  ['J', 'joints and springs'],
  ['C', 'colours: bodies, speed or displacement, section force and moment, strain, stress'],
  ['M', 'model list'],
  ['P', 'values, curves and summary'],
  ['D', 'light or dark'],
  ['Esc', 'clear the selection'],
  ['?', 'this help'],
];
type Tab = 'values' | 'plots' | 'summary';

export class App {
  readonly stage: Stage;
  readonly timeline: Timeline;
  readonly plots: Plots;
  view?: SceneView;
  other?: SceneView;
  private gap?: string; // the channel of the distance between the two
  selected?: Owner;
  private theme: 'light' | 'dark' = 'light';
  private followed?: number;
  private followedAt = new Vector3();
  private readonly trails = new Map<number, Trail[]>(); // of a frame, and of the same frame of the second scene
  private arrows?: Arrows;
  private tree?: Tree;
  private readonly values = new Values();
  private live?: Live;
  private readonly framed = new Box3(); // where frames of a running simulation are in the picture
  private framedAt = 0;
  private touched = false; // the camera, by the user
  private derived: (() => void)[] = []; // curves that follow from the frames, while these grow

  private readonly title = h('span', { class: 'title', id: 'title' });
  private readonly left = h('aside', { class: 'left panel', id: 'left' });
  private readonly right = h('aside', { class: 'right panel', id: 'right' });
  private readonly tabs: Record<Tab, { button: HTMLButtonElement; body: HTMLElement }>;
  private readonly message = h('div', { class: 'overlay message', id: 'message' });
  private readonly legend = h('div', { class: 'colorbar panel', id: 'colorbar', hidden: true });
  private readonly arrowKinds = h('div', { class: 'arrow-kinds panel', id: 'arrow-kinds', hidden: true });
  private readonly scaleNote = h('div', { class: 'scale-note' });
  private readonly help = helpOverlay(GESTURES, KEYS);
  private readonly tools = new Map<string, HTMLButtonElement>();
  private readonly host = h('div', { class: 'stage' });
  private readonly toolbar = h('nav', { class: 'toolbar panel', 'aria-label': 'View' });

  constructor(root: HTMLElement) {
    this.timeline = new Timeline(() => this.refresh());
    this.plots = new Plots((time) => {
      this.timeline.pause();
      this.timeline.seek(time);
    });
    const tab = (name: Tab, label: string, ...content: HTMLElement[]) => ({
      button: h('button', { type: 'button', role: 'tab', 'data-tab': name, click: () => this.openTab(name) }, label),
      body: h('div', { class: 'tab', role: 'tabpanel', id: `tab-${name}`, hidden: true }, ...content),
    });
    this.tabs = { values: tab('values', 'Values', this.values.element), plots: tab('plots', 'Curves', this.plots.element), summary: tab('summary', 'Summary') };
    const tabs = Object.values(this.tabs);
    this.right.append(h('div', { class: 'tabs', role: 'tablist' }, ...tabs.map((t) => t.button)), ...tabs.map((t) => t.body));
    const tool = (id: string, name: Icon, title: string, click: () => void) => {
      const element = button(name, title, click, id);
      this.tools.set(id, element);
      return element;
    };
    this.toolbar.append(
      tool('fit', 'fit', 'Fit everything (F)', () => this.fit()), tool('follow', 'follow', 'Follow what is selected (O)', () => this.toggleFollow()),
      tool('trail', 'trail', 'Path of what is selected (T)', () => this.toggleTrail()), tool('arrows', 'arrow', 'Arrows of forces, reactions and velocities (A)', () => this.toggleArrows()),
      tool('joints', 'joint', 'Joints and springs (J)', () => this.toggleSymbols()), tool('color', 'palette', 'Colours: bodies, speed, section force, stress (C)', () => this.nextColoring()),
    );
    const header = h(
      'header', { class: 'top' }, h('span', { class: 'brand' }, 'Liedyn'), this.title, h('span', { class: 'space' }),
      tool('show-tree', 'tree', 'Model list (M)', () => this.togglePanel('left')), tool('show-right', 'chart', 'Values, curves, summary (P)', () => this.togglePanel('right')),
      tool('show-theme', 'theme', 'Light or dark (D)', () => this.setTheme(this.theme === 'light' ? 'dark' : 'light')), tool('show-help', 'help', 'Help (?)', () => (this.help.hidden = !this.help.hidden)),
    );
    root.append(this.host, header, this.left, this.right, this.toolbar, h('div', { class: 'legends' }, this.arrowKinds, this.legend), this.scaleNote, this.timeline.element, this.message, this.help);
    this.stage = new Stage(this.host);
    this.setTheme((store.get('theme') as 'light' | 'dark' | null) ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));
    // Inside of another page there is little room: the model comes first. Controls of a running simulation stay.
    const embedded = window.parent !== window;
    const small = matchMedia(PHONE).matches || (!embedded && matchMedia('(max-height: 480px)').matches); // also a phone that lies
    this.setPanel('left', !small && (!embedded || livePath() !== undefined));
    this.setPanel('right', !small && !embedded);
    this.openTab('plots');
    this.listen(root);
    this.showDropArea();
    let before = performance.now();
    const loop = (now: number) => {
      this.timeline.advance(Math.min(now - before, 100) / 1000);
      before = now;
      this.stage.controls.update();
      if (this.stage.dirty) this.draw();
      requestAnimationFrame(loop);
    };
    requestAnimationFrame(loop);
  }

  draw(): void {
    for (const view of [this.view, this.other]) if (view) view.pixel.value = this.stage.pixel;
    this.stage.render();
  }

  // ---- scenes

  async start(): Promise<void> {
    const query = new URLSearchParams(location.search);
    await this.attempt(async () => {
      const scenes = await scenesOfPage();
      if (scenes[0]) this.open(scenes[0]);
      if (scenes[1]) this.compare(scenes[1]);
      const path = livePath();
      if (path) {
        this.message.hidden = true;
        this.live = new Live(path, query.get('token') ?? '', {
          opened: (scene) => this.open(scene),
          grown: (row) => this.grown(row),
          largest: (values) => this.raise(values),
          ended: (scene, late) => this.ended(scene, late),
          present: () => (this.timeline.pause(), this.timeline.seek(this.timeline.end)),
        });
        await this.live.start();
      } else if (scenes[0] && query.get('play') !== '0') this.timeline.play();
    });
  }

  // Runs something that may find mistakes in data, and shows them in the page.
  private async attempt(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      if (error instanceof SceneError) this.showMessage(error.message, error.hint);
      else {
        this.showMessage('The scene cannot be shown', String(error instanceof Error ? error.message : error));
        console.warn(error);
      }
    }
  }

  open(scene: Scene): void {
    this.close();
    const view = new SceneView(scene);
    this.view = view;
    this.stage.scene.add(view.root);
    this.stage.frame(scene.gravity, (up) => view.bounds(up));
    this.title.textContent = scene.title;
    document.title = `${scene.title} – Liedyn`;
    this.message.hidden = true;
    this.scaleNote.textContent = `grid ${format(this.stage.gridStep)} m`;
    this.arrows = new Arrows(scene, () => view.largestSpeed());
    this.setColoring('body');
    this.plots.setChannels(scene.channels, scene.loads);
    this.tree = new Tree(scene, (index) => view.swatch(index), { select: (owner) => this.select(owner), setVisible: (owner, on) => this.setVisible(owner, on), isVisible: (owner) => view.isVisible(owner) });
    const modes = scene.kind === 'modes';
    if (modes) view.mode = firstMode(scene);
    if (modes) this.setPanel('left', true); // the list of the modes, also on a phone
    this.left.replaceChildren(
      ...(this.live ? [this.live.panel.element] : []),
      ...(modes ? [modesPanel(scene, view.mode, view.amplitude, { choose: (index) => ((view.mode = index), this.refresh(), this.updateLegends()), amplitude: (value) => ((view.amplitude = value), this.refresh(), this.updateLegends()) })] : []),
      this.tree.element,
    );
    this.tabs.summary.body.replaceChildren(summaryPanel(scene));
    if (modes) this.timeline.reset(Array.from({ length: 49 }, (_, i) => i / 48), 'phase', '');
    else this.timeline.reset(scene.times, scene.timeLabel, 's', scene.kind === 'static' ? STATIC_SPEED : undefined);
    const first = scene.channels.filter((channel) => channel.type !== 'energy').slice(0, 2);
    if (first.length > 0) for (const channel of [...first].reverse()) this.plots.show(channel);
    this.openTab(scene.warnings.length > 0 || first.length === 0 ? 'summary' : 'plots');
    this.select(undefined);
    this.enableTools();
    this.fit();
  }

  compare(scene: Scene): void {
    if (!this.view) return this.open(scene);
    this.removeOther();
    this.other = new SceneView(scene, true);
    this.stage.scene.add(this.other.root);
    this.redrawTrails();
    const [first, second] = apart(this.view.scene, scene);
    const gap = distance(this.view.scene, scene, second);
    this.plots.setChannels([...(gap ? [gap] : []), ...this.view.scene.channels], this.view.scene.loads);
    if (this.gap) this.plots.hide(this.gap);  // of another scene, perhaps under the same name
    this.gap = gap?.name;
    if (gap) this.plots.show(gap);
    this.openTab('plots');
    this.title.textContent = `${first} and, in pink, ${second}`;
    this.tabs.summary.body.replaceChildren(summaryPanel(this.view.scene), h('p', { class: 'second' }, 'Compared with, in pink:'), summaryPanel(scene));
    this.refresh();
  }

  private removeOther(): void {
    if (!this.other) return;
    this.stage.scene.remove(this.other.root);
    this.other.dispose();
    this.other = undefined;
    this.redrawTrails();
  }

  private redrawTrails(): void {
    for (const frame of [...this.trails.keys()]) {
      this.removeTrail(frame);
      this.addTrail(frame);
    }
  }

  close(): void {
    this.removeOther();
    this.plots.clear();
    this.gap = undefined;
    this.derived = [];
    for (const frame of [...this.trails.keys()]) this.removeTrail(frame);
    if (this.arrows) this.stage.scene.remove(this.arrows.group);
    this.arrows = undefined;
    this.arrowKinds.hidden = true;
    this.followed = this.selected = undefined;
    if (this.view) {
      this.stage.scene.remove(this.view.root);
      this.view.dispose();
      this.view = undefined;
    }
  }

  // Largest values of a running simulation so far, of which this page may have seen only a part.
  private raise(largest: Record<string, number>): void {
    for (const [kind, value] of Object.entries(largest)) this.arrows?.grow(kind, value);
    if (this.view && largest.velocity !== undefined) this.view.raiseSpeed(largest.velocity);
    if (this.view) this.updateLegends();
  }

  // Frames were appended by a running simulation, from this row on.
  private grown(row: number): void {
    if (!this.view) return;
    const { scene } = this.view;
    this.view.grew(row);
    for (const [frame, [trail]] of this.trails) trail.setPoints(path(scene, frame, [0, 0, 0]), scene.times);
    for (const follow of this.derived) follow();
    this.timeline.extend(scene.times);
    this.enableTools();
    const latest = new Vector3();
    const leaves = () => scene.frames.some((_, f) => !this.framed.containsPoint(latest.fromArray(scene.positions, scene.positions.length - 3 * (scene.frames.length - f))));
    if (!this.touched && performance.now() - this.framedAt > 700 && leaves()) this.fit();
    this.plots.refresh();
    this.updateLegends();
    this.refresh();
  }

  // The running simulation has ended. Who opened the page only then sees the motion from its start.
  private ended(scene: Scene, late: boolean): void {
    this.tabs.summary.body.replaceChildren(summaryPanel(scene));
    const { time, end } = this.timeline;
    this.timeline.reset(scene.times, scene.timeLabel, 's');
    if (late) this.timeline.play();
    else this.timeline.seek(time >= end ? this.timeline.end : time);
    if (!this.touched) this.fit();
    this.enableTools();
  }

  // All that the running simulation has shown so far, with a margin for what follows.
  private frameMotion(view: SceneView): void {
    const { positions, gravity } = view.scene;
    this.framed.makeEmpty();
    for (let n = 0; n < positions.length; n += 3) this.framed.expandByPoint(new Vector3().fromArray(positions, n));
    this.framed.expandByScalar(0.15 * this.framed.getSize(new Vector3()).length() + 0.05 * view.scene.size);
    this.framedAt = performance.now();
    this.stage.frame(gravity, (up) => view.bounds(up), this.touched);
    this.refresh();
  }

  private refresh(): void {
    const { view } = this;
    if (!view) return;
    const time = this.timeline.time;
    const at = view.scene.kind === 'modes' ? 2 * Math.PI * time : time;
    view.update(at);
    this.other?.update(at);
    const resolution = this.stage.renderer.getSize(new Vector2());
    for (const trail of [...this.trails.values()].flat()) trail.update(time, resolution);
    this.arrows?.update(time, view.poses);
    if (this.followed !== undefined) {
      const position = new Vector3().fromArray(view.poses.positions, 3 * this.followed);
      this.stage.follow(position.clone().sub(this.followedAt));
      this.followedAt.copy(position);
    }
    this.plots.update(time);
    this.values.refresh();
    this.stage.dirty = true;
  }

  // ---- actions

  select(owner: Owner | undefined): void {
    const { view } = this;
    if (!view) return;
    this.selected = owner;
    view.select(owner);
    this.tree?.select(owner);
    this.values.show(view, owner, () => this.timeline.time, {
      plot: (what) => this.plotFrame(what),
      plotChannel: (channel) => (this.plots.show(channel), this.openTab('plots')),
      follow: () => this.toggleFollow(),
      trail: () => this.toggleTrail(),
      isFollowed: () => this.followed !== undefined && this.followed === this.selectedFrame(),
      hasTrail: () => this.trails.has(this.selectedFrame() ?? -1),
    });
    if (owner) this.openTab('values');
    this.enableTools();
    this.stage.dirty = true;
  }

  selectByName(name: string): void {
    const { scene } = this.view!;
    for (const [kind, things] of [['body', scene.bodies], ['joint', scene.joints], ['force', scene.forces]] as const) {
      const index = things.findIndex((thing) => thing.name === name);
      if (index >= 0) return this.select({ kind, index });
    }
  }

  private setVisible(owner: Owner, visible: boolean): void {
    this.view?.setVisible(owner, visible);
    this.stage.dirty = true;
  }

  private selectedFrame(): number | undefined {
    const frame = this.selected && this.view ? this.view.frameOf(this.selected) : -1;
    return frame >= 0 ? frame : undefined;
  }

  private plotFrame(what: 'position' | 'speed'): void {
    const frame = this.selectedFrame();
    if (frame === undefined || !this.view) return;
    const name = this.view.scene.frames[frame];
    const { scene } = this.view;
    const curve = () => (what === 'position' ? framePosition : frameSpeed)(scene, frame, name);
    const channel = curve();
    if (this.live) this.derived.push(() => Object.assign(channel, curve()));
    this.plots.show(channel);
    this.openTab('plots');
  }

  plot(name: string): void {
    const { channels, loads } = this.view!.scene;
    const channel = [...channels, ...loads].find((entry: Channel) => entry.name === name);
    if (channel) this.plots.show(channel);
  }

  fit(): void {
    this.followed = undefined;
    if (this.live && this.view) this.frameMotion(this.view);
    else this.stage.fit(undefined, this.arrows?.group.parent ? this.arrows.tips() : []);
    this.enableTools();
  }

  toggleFollow(): void {
    const frame = this.selectedFrame();
    this.followed = frame === undefined || this.followed === frame ? undefined : frame;
    if (this.followed !== undefined) {
      this.followedAt.fromArray(this.view!.poses.positions, 3 * this.followed);
      this.stage.follow(this.followedAt.clone().sub(this.stage.controls.target));
    }
    this.enableTools();
  }

  toggleTrail(frame = this.selectedFrame()): void {
    if (frame === undefined || !this.view || this.view.scene.kind === 'modes') return;
    if (this.trails.has(frame)) this.removeTrail(frame);
    else this.addTrail(frame);
    this.enableTools();
    this.refresh();
  }

  private addTrail(frame: number): void {
    const trails = [this.view, this.other].flatMap((view, i) => {
      const mine = view ? view.scene.frames.indexOf(this.view!.scene.frames[frame]) : -1;
      return mine < 0 ? [] : [new Trail(path(view!.scene, mine, [0, 0, 0]), view!.scene.times, i === 0 ? new Color(THEMES[this.theme].trail) : GHOST)];
    });
    for (const { line } of trails) this.stage.scene.add(line);
    this.trails.set(frame, trails);
  }

  private removeTrail(frame: number): void {
    for (const trail of this.trails.get(frame) ?? []) {
      this.stage.scene.remove(trail.line);
      trail.dispose();
    }
    this.trails.delete(frame);
  }

  toggleArrows(): void {
    if (!this.arrows || this.arrows.list.length === 0) return;
    const { group } = this.arrows;
    if (group.parent) this.stage.scene.remove(group);
    else this.stage.scene.add(group);
    this.arrowKinds.hidden = !group.parent;
    this.showArrowKinds();
    this.enableTools();
    this.refresh();
  }

  // What the arrows mean; a click hides or shows those of a kind.
  private showArrowKinds(): void {
    const { arrows } = this;
    if (!arrows || this.arrowKinds.hidden) return;
    const row = ({ kind, label, color, largest, unit, isShown }: Arrows['kinds'][number]) => {
      const mark = h('i', {});
      mark.style.background = color;
      const toggle = () => {
        arrows.show(kind, !isShown);
        this.showArrowKinds();
        this.refresh();
      };
      const title = `${isShown ? 'Hide' : 'Show'} these arrows; the number is the largest of the whole motion`;
      return h('button', { type: 'button', title, class: isShown ? '' : 'off', 'aria-pressed': String(isShown), 'data-kind': kind, click: toggle }, mark, h('span', {}, label), h('small', {}, `up to ${format(largest)} ${unit}`));
    };
    this.arrowKinds.replaceChildren(...arrows.kinds.map(row));
  }

  toggleSymbols(): void {
    if (!this.view) return;
    this.view.symbols.group.visible = !this.view.symbols.group.visible;
    if (this.other) this.other.symbols.group.visible = this.view.symbols.group.visible;
    this.enableTools();
    this.stage.dirty = true;
  }

  nextColoring(): void {
    if (!this.view) return;
    const all = this.view.colorings;
    this.setColoring(all[(all.indexOf(this.view.coloring) + 1) % all.length]);
  }

  setColoring(coloring: Coloring): void {
    if (!this.view) return;
    this.view.setColoring(coloring);
    this.showLegend();
    this.enableTools();
    this.stage.dirty = true;
  }

  // Largest values of a running simulation grow. What one clicks at stays.
  private updateLegends(): void {
    const { coloring } = this.view!;
    if (coloring !== 'body') this.legend.querySelector('.largest')!.textContent = format(this.view!.range() / COLORINGS[coloring].factor);
    this.arrows?.kinds.forEach(({ largest, unit }, i) => {
      const note = this.arrowKinds.children[i]?.querySelector('small');
      if (note) note.textContent = `up to ${format(largest)} ${unit}`;
    });
  }

  // What the colours mean, and the choice of another meaning.
  private showLegend(): void {
    const { coloring } = this.view!;
    this.legend.hidden = coloring === 'body';
    if (coloring === 'body') return;
    const name = (of: Coloring) => (of === 'body' ? 'colours of bodies' : `${COLORINGS[of].label} [${COLORINGS[of].unit}]`);
    const choice = h('select', { id: 'coloring', 'aria-label': 'Colour by' }, ...this.view!.colorings.map((of) => h('option', { value: of, selected: of === coloring }, name(of))));
    choice.addEventListener('change', () => this.setColoring(choice.value as Coloring));
    const bar = h('i', {});
    bar.style.background = gradient;
    this.legend.replaceChildren(choice, bar, h('div', {}, h('small', {}, '0'), h('small', { class: 'largest' }, format(this.view!.range() / COLORINGS[coloring].factor))));
  }

  private enableTools(): void {
    const set = (id: string, enabled: boolean, on: boolean) => {
      const element = this.tools.get(id)!;
      element.disabled = !enabled;
      element.classList.toggle('on', on);
    };
    const frame = this.selectedFrame();
    const moving = this.view !== undefined && this.view.scene.kind !== 'modes' && this.view.scene.times.length > 1;
    set('fit', this.view !== undefined, false);
    set('follow', frame !== undefined || this.followed !== undefined, this.followed !== undefined);
    set('trail', frame !== undefined && moving, frame !== undefined && this.trails.has(frame));
    set('arrows', this.arrows !== undefined && this.arrows.list.length > 0, Boolean(this.arrows?.group.parent));
    set('joints', this.view !== undefined, this.view?.symbols.group.visible ?? false);
    set('color', this.view !== undefined, this.view !== undefined && this.view.coloring !== 'body');
    this.values.refreshTools();
  }

  // ---- panels

  setTheme(theme: 'light' | 'dark'): void {
    this.theme = theme;
    document.documentElement.dataset.theme = theme;
    store.set('theme', theme);
    this.stage.setTheme(theme);
    for (const [trail] of this.trails.values()) trail.line.material.color.set(THEMES[theme].trail);
    this.plots.restyle();
    this.plots.update(this.timeline.time);
  }

  openTab(name: Tab): void {
    for (const [key, tab] of Object.entries(this.tabs)) {
      tab.body.hidden = key !== name;
      tab.button.classList.toggle('on', key === name);
    }
  }

  togglePanel(side: 'left' | 'right'): void {
    this.setPanel(side, document.body.dataset[side] !== 'open');
  }

  private setPanel(side: 'left' | 'right', open: boolean): void {
    const phone = matchMedia(PHONE).matches;
    if (phone && open) document.body.dataset[side === 'left' ? 'right' : 'left'] = 'closed';
    document.body.dataset[side] = open ? 'open' : 'closed';
    for (const [id, key] of [['show-tree', 'left'], ['show-right', 'right']] as const) this.tools.get(id)!.classList.toggle('on', document.body.dataset[key] === 'open');
    this.placeStage();
    if (phone && this.view && !this.touched && this.followed === undefined) this.fit();
  }

  private placeStage(): void {
    const phone = matchMedia(PHONE).matches;
    const open = (side: 'left' | 'right') => document.body.dataset[side] === 'open';
    const sheet = phone && (open('left') || open('right'));
    this.stage.setInsets({
      left: !phone && open('left') ? 268 : 0,
      right: !phone && open('right') ? 416 : 56,
      top: 48,
      bottom: (sheet ? 0.46 * window.innerHeight - 12 : 0) + (phone ? 114 : 76),
    });
  }

  private showDropArea(): void {
    const input = h('input', { type: 'file', accept: '.json,.html', id: 'file', hidden: true });
    input.addEventListener('change', () => this.openFiles(input.files));
    this.message.replaceChildren(
      h('div', { class: 'panel dialog' }, h('h2', {}, 'Drop a scene here'), h('p', { class: 'muted' }, 'A page or a scene file written by liedyn run MODEL --html. Drop two files to compare them.'), input,
        h('button', { type: 'button', class: 'primary', click: () => input.click() }, 'Choose a file')),
    );
    this.message.hidden = false;
  }

  showMessage(what: string, hint: string): void {
    const dismiss = () => (this.view ? (this.message.hidden = true) : this.showDropArea());
    this.message.replaceChildren(h('div', { class: 'panel dialog error', role: 'alert' }, h('h2', {}, what), h('p', { class: 'muted' }, hint), h('button', { type: 'button', class: 'primary', click: dismiss }, this.view ? 'Close' : 'Open another file')));
    this.message.hidden = false;
  }

  // One file is shown, or compared if a scene is open; of two, the second is compared with the first.
  openFiles(files: FileList | null): Promise<void> {
    return this.attempt(async () => {
      const scenes = await Promise.all(Array.from(files ?? []).slice(0, 2).map(sceneOfFile));
      if (scenes.length === 2) this.open(scenes[0]);
      if (scenes.length > 0) this.compare(scenes[scenes.length - 1]);
      if (scenes.length > 0) this.timeline.play();
    });
  }

  // ---- input

  private listen(root: HTMLElement): void {
    const canvas = this.stage.renderer.domElement;
    let down = { x: 0, y: 0 };
    canvas.addEventListener('pointerdown', (event) => (down = { x: event.clientX, y: event.clientY }));
    for (const event of ['pointerdown', 'wheel']) canvas.addEventListener(event, () => (this.touched = true), { passive: true });
    canvas.addEventListener('pointerup', (event) => {
      if (Math.hypot(event.clientX - down.x, event.clientY - down.y) < 5 && this.view) {
        const hit = this.stage.pick(event.clientX, event.clientY, this.view.root).map((h) => this.view!.ownerOf(h)).find((owner) => owner && this.view!.isVisible(owner));
        this.select(hit);
      }
    });
    canvas.addEventListener('dblclick', () => this.fit());
    root.addEventListener('dragover', (event) => event.preventDefault());
    root.addEventListener('drop', (event) => {
      event.preventDefault();
      void this.openFiles(event.dataTransfer?.files ?? null);
    });
    window.addEventListener('resize', () => this.placeStage());
    window.addEventListener('keydown', (event) => this.key(event));
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || /^(SELECT|TEXTAREA)$/.test(target.tagName) || (target.tagName === 'INPUT' && (target as HTMLInputElement).type !== 'range')) return;
    // Sliders other than that of time move by themselves.
    if (target instanceof HTMLInputElement && target.id !== 'scrub' && /^(Arrow|Home|End)/.test(event.key)) return;
    const { timeline } = this;
    const jump = (timeline.end - timeline.start) / 50;
    const actions: Record<string, () => void> = {
      ' ': () => timeline.toggle(),
      ',': () => timeline.step(-1),
      '.': () => timeline.step(1),
      ArrowLeft: () => timeline.seek(timeline.time - jump),
      ArrowRight: () => timeline.seek(timeline.time + jump),
      Home: () => timeline.seek(timeline.start),
      End: () => timeline.seek(timeline.end),
      '<': () => timeline.faster(-1),
      '>': () => timeline.faster(1),
      l: () => timeline.toggleLoop(),
      f: () => this.fit(),
      o: () => this.toggleFollow(),
      t: () => this.toggleTrail(),
      a: () => this.toggleArrows(),
      j: () => this.toggleSymbols(),
      c: () => this.nextColoring(),
      m: () => this.togglePanel('left'),
      p: () => this.togglePanel('right'),
      d: () => this.setTheme(this.theme === 'light' ? 'dark' : 'light'),
      Escape: () => (this.help.hidden ? this.select(undefined) : (this.help.hidden = true)),
      '?': () => (this.help.hidden = !this.help.hidden),
    };
    const action = actions[event.key] ?? actions[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action();
  }
}

// The page of a study: connects parallel coordinates, scatter plot, histogram, table and the panel of a case.
import './style.css';
import './study.css';
import { SceneError } from './error';
import { helpOverlay } from './help';
import { CasePanel } from './study_case';
import { shown } from './study_canvas';
import { labelOf, readStudy, STATUSES, type Column, type Study } from './study_data';
import { Histogram } from './study_histogram';
import { Parallel } from './study_parallel';
import { Scatter } from './study_scatter';
import { NO_CASE, State } from './study_state';
import { Table } from './study_table';
import { button, h, store } from './ui';

const MOST_AXES = 10; // at the start

const GESTURES =
  'Drag along an axis, in the scatter plot or in the histogram to select ranges; a case must be in all of them. Click an axis or an empty spot to clear. Click the name of an axis to colour by it. Cases marked 3D open with their motion.';
const KEYS: [string, string][] = [
  ['↑ ↓', 'previous or next case of the table'],
  ['Esc', 'close the case, then clear the selection'],
  ['Tab', 'to the axes: ↑ ↓ move a range, with shift its upper end, Delete clears it'],
  ['D', 'light or dark'],
  ['?', 'this help'],
];

class StudyApp {
  readonly state: State;
  readonly parallel: Parallel;
  readonly scatter: Scatter;
  readonly histogram: Histogram;
  readonly table: Table;
  readonly panel: CasePanel;
  private theme: 'light' | 'dark' = 'light';
  private waiting = new Set<string>();
  private readonly chips = h('div', { class: 'chips', id: 'chips' });
  private readonly count = h('span', { class: 'count', id: 'count' });
  private readonly statuses = h('span', { class: 'statuses', id: 'statuses' });
  private readonly help: HTMLElement;

  constructor(root: HTMLElement, readonly study: Study) {
    const state = (this.state = new State(study));
    const of = (kind: Column['kind']) => study.columns.filter((c) => c.kind === kind);
    const varying = (columns: Column[]) => columns.filter((c) => c.high > c.low);
    const outputs = varying(of('output')), parameters = varying(of('parameter'));
    const first = outputs[0] ?? study.columns[0];
    state.color = first;
    state.colorBy(first);
    this.parallel = new Parallel(state);
    this.scatter = new Scatter(state, parameters[0] ?? first, first);
    this.histogram = new Histogram(state, first);
    this.table = new Table(state);
    this.panel = new CasePanel(state, () => this.theme, (step) => this.table.neighbour(step));
    this.help = helpOverlay(GESTURES, KEYS);
    const axes = [...of('variant'), ...of('parameter'), ...of('output')];
    const chosen = new Set(axes.slice(0, MOST_AXES));
    const menu = h('details', { class: 'axes-menu', id: 'axes-menu' }, h('summary', {}, 'Axes'));
    const list = h('div', { class: 'panel axes-list' });
    for (const column of study.columns) {
      const box = h('input', { type: 'checkbox', checked: chosen.has(column), 'data-column': column.name });
      box.addEventListener('change', () => {
        if (box.checked) chosen.add(column);
        else chosen.delete(column);
        this.parallel.setAxes(study.columns.filter((c) => chosen.has(c)));
      });
      list.append(h('label', {}, box, labelOf(column)));
    }
    menu.append(list);
    document.addEventListener('click', (event) => {
      if (!menu.contains(event.target as Node)) menu.open = false;
    });
    const models = [...new Set(study.variants.map((v) => v.model.replace(/\/model\.json$/, '').replace(/^.*\//, '')))].join(', ');
    const header = h(
      'header', { class: 'study-top' }, h('span', { class: 'brand' }, 'Liedyn'), h('span', { class: 'title', id: 'title' }, study.name), h('span', { class: 'muted model' }, models), this.statuses, h('span', { class: 'space' }),
      button('theme', 'Light or dark (D)', () => this.setTheme(this.theme === 'light' ? 'dark' : 'light'), 'show-theme'), button('help', 'Help (?)', () => (this.help.hidden = !this.help.hidden), 'show-help'),
    );
    const top = h('section', { class: 'parallel-card panel', 'aria-label': 'Parallel coordinates' }, h('header', {}, this.count, this.chips, h('span', { class: 'space' }), menu), this.parallel.element);
    root.append(header, h('main', { class: 'study' }, h('div', { class: 'views' }, top, h('div', { class: 'pair' }, this.scatter.element, this.histogram.element), this.table.element), this.panel.element), this.help);
    document.title = `${study.name} – Liedyn`;
    this.setTheme((store.get('theme') as 'light' | 'dark' | null) ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));
    this.parallel.setAxes(study.columns.filter((c) => chosen.has(c)));
    this.tellSelection();
    state.listen((change) => this.later(change));
    const observer = new ResizeObserver(() => this.later('size'));
    for (const element of root.querySelectorAll('.parallel, .drawing, .scroller')) observer.observe(element);
    document.addEventListener('keydown', (event) => this.key(event));
  }

  setTheme(theme: 'light' | 'dark'): void {
    this.theme = theme;
    document.documentElement.dataset.theme = theme;
    store.set('theme', theme);
    this.panel.restyle();
    this.later('size');
  }

  // All changes of a frame are drawn together.
  private later(change: string): void {
    if (this.waiting.size === 0) requestAnimationFrame(() => this.draw());
    this.waiting.add(change);
  }

  private draw(): void {
    const changes = this.waiting;
    this.waiting = new Set();
    const all = changes.has('size');
    if (all) for (const view of [this.parallel, this.scatter, this.histogram]) view.resize();
    if (changes.has('selection')) this.tellSelection();
    if (changes.has('color')) this.histogram.show(this.state.color);
    if (!all && (changes.has('selection') || changes.has('color'))) {
      this.parallel.drawSelected();
      this.parallel.drawMarks();
      this.scatter.draw();
      this.histogram.draw();
    }
    if (!all && changes.has('focus')) {
      this.parallel.drawMarks();
      this.scatter.drawMarks();
      this.histogram.draw();
    }
    if (changes.has('selection')) this.table.draw();
    else this.table.fill();
    if (!changes.has('focus')) return;
    this.panel.draw();
    // Rows do not move under the pointer.
    if (this.state.hovered === NO_CASE) this.table.reveal();
  }

  private tellSelection(): void {
    const { state, study } = this;
    this.count.textContent = state.filtered ? `${state.count} of ${study.cases} cases` : `${study.cases} cases`;
    this.chips.replaceChildren();
    const chip = (text: string, clear: () => void) => this.chips.append(h('button', { type: 'button', class: 'chip', title: 'Clear this range', click: clear }, text, h('span', { 'aria-hidden': 'true' }, '×')));
    for (const [column, [low, high]] of state.ranges) {
      const range = column.labels ? column.labels.filter((_, i) => i >= low && i <= high).join(', ') : `${shown(column, low)} … ${shown(column, high)}`;
      chip(`${column.name} ${range}`, () => state.setRange(column, undefined));
    }
    if (state.filtered) this.chips.append(h('button', { type: 'button', class: 'clear', id: 'clear', title: 'Clear the selection (Esc)', click: () => state.clear() }, 'Clear'));
    const counts = STATUSES.map(() => 0);
    for (const status of study.status) counts[status]++;
    this.statuses.replaceChildren(
      ...STATUSES.flatMap((name, status) => {
        if (counts[status] === 0) return [];
        return [h('button', { type: 'button', class: `badge status-${status}${state.statuses.has(status) ? ' on' : ''}`, 'aria-pressed': String(state.statuses.has(status)), title: 'Show only these cases', 'data-status': name, click: () => state.toggleStatus(status) }, `${counts[status]} ${name}`)];
      }),
    );
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
    const { state } = this;
    const actions: Record<string, () => void> = {
      Escape: () => {
        if (!this.help.hidden) this.help.hidden = true;
        else if (state.chosen !== NO_CASE) state.choose(NO_CASE);
        else state.clear();
      },
      ArrowDown: () => state.choose(this.table.neighbour(1)),
      ArrowUp: () => state.choose(this.table.neighbour(-1)),
      d: () => this.setTheme(this.theme === 'light' ? 'dark' : 'light'),
      '?': () => (this.help.hidden = !this.help.hidden),
    };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}

// For tests: `await liedynStudy.ready`, then `liedynStudy.app`.
declare global {
  interface Window {
    liedynStudy?: { app?: StudyApp; ready: Promise<void> };
  }
}

async function start(root: HTMLElement): Promise<void> {
  try {
    const element = document.getElementById('liedyn-study');
    if (!element) throw new SceneError('This page contains no study', 'liedyn sweep STUDY.json --html PAGE.html writes a page with one.');
    const app = new StudyApp(root, await readStudy(element.textContent ?? ''));
    window.liedynStudy!.app = app;
    await app.parallel.painter.finished;
  } catch (error) {
    const known = error instanceof SceneError;
    root.replaceChildren(
      h('div', { class: 'overlay message', id: 'message' }, h('div', { class: 'panel dialog error', role: 'alert' }, h('h2', {}, known ? error.message : 'The study cannot be shown'), h('p', {}, known ? error.hint : String(error instanceof Error ? error.message : error)))),
    );
    if (!known) console.warn(error);
  }
}

const root = document.getElementById('app')!;
window.liedynStudy = { ready: Promise.resolve() };
window.liedynStudy.ready = start(root);

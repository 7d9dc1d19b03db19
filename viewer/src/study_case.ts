// The panel of one case: its parameters, outputs and command, and its motion in 3D. Without a case: what the study is.
import { shown } from './study_canvas';
import { commandOf, labelOf, MISSING, STATUSES, type Column } from './study_data';
import { NO_CASE, type State } from './study_state';
import { button, format, h } from './ui';

const MARK = '<!--liedyn-scene-->';

export class CasePanel {
  readonly element = h('aside', { class: 'case-panel panel', id: 'case', 'aria-label': 'Case' });
  private frame?: HTMLIFrameElement;
  private drawn?: number;

  constructor(private readonly state: State, private readonly theme: () => 'light' | 'dark', private readonly neighbour: (step: number) => number) {
    this.draw();
  }

  draw(): void {
    const { state } = this, i = state.chosen;
    if (i === this.drawn) return;
    this.drawn = i;
    this.frame = undefined;
    document.body.dataset.case = i === NO_CASE ? 'none' : 'chosen';
    if (i === NO_CASE) return this.element.replaceChildren(...this.overview());
    const { study } = state, status = study.status[i], message = study.messages[study.message[i] - 1];
    const scene = document.getElementById(`liedyn-case-${i}`)?.textContent ?? undefined;
    const group = (title: string, kind: Column['kind'][]) => {
      const columns = study.columns.filter((column) => kind.includes(column.kind));
      const list = h('dl', {});
      for (const column of columns) list.append(h('dt', {}, labelOf(column)), h('dd', { title: String(column.values[i]) }, column.labels ? shown(column, column.values[i]) : precise(column.values[i])));
      return columns.length > 0 ? [h('h3', {}, title), list] : [];
    };
    this.element.replaceChildren(
      h(
        'header', { class: 'case-head' }, h('h2', { id: 'case-title' }, `Case ${i}`), h('span', { class: `badge status-${status}`, id: 'case-status' }, STATUSES[status]), h('span', { class: 'space' }),
        button('back', 'Previous case (↑)', () => state.choose(this.neighbour(-1))), button('forward', 'Next case (↓)', () => state.choose(this.neighbour(1))), button('close', 'Close (Esc)', () => state.choose(NO_CASE), 'case-close'),
      ),
      ...(scene ? [this.stage(scene)] : []),
      ...(message ? [h('p', { class: 'warning', id: 'case-message' }, message)] : []),
      ...group('Parameters', ['variant', 'parameter']),
      ...group('Outputs', ['output']),
      ...group('Run', ['statistic']),
      ...(status === MISSING ? [h('p', { class: 'muted' }, 'This case has not been run. The command of the study runs what is missing.')] : this.repeat(i, scene !== undefined)),
    );
    this.element.scrollTop = 0;
    if (matchMedia('(max-width: 760px)').matches) this.element.scrollIntoView({ block: 'start' }); // it stands below the table there
  }

  // The theme of the page is that of the frame.
  restyle(): void {
    this.frame?.contentWindow?.liedyn?.app.setTheme(this.theme());
  }

  // The page of the 3D view with the scene of this case. The scene is text that contains no `<`.
  private stage(scene: string): HTMLElement {
    const viewer: unknown = JSON.parse(document.getElementById('liedyn-viewer')?.textContent || 'null');
    if (typeof viewer !== 'string' || !viewer.includes(MARK)) return h('p', { class: 'warning' }, 'The 3D view is missing in this page. The file is damaged: write it again.');
    const page = viewer.replace(MARK, () => `<script type="application/json" id="liedyn-scene">${scene}</script>`);
    // As `srcdoc` the frame belongs to this page, also where it was opened from disk: so it can follow the theme.
    const frame = h('iframe', { class: 'case-stage', id: 'case-stage', title: 'Motion of this case in 3D', srcdoc: page, allowfullscreen: true });
    this.frame = frame;
    frame.addEventListener('load', () => this.restyle());
    return h(
      'div', { class: 'case-view' }, frame,
      h(
        'div', { class: 'tools' }, h('button', { type: 'button', id: 'case-large', click: () => this.enlarge() }, 'Larger or smaller'),
        h('button', { type: 'button', click: () => window.open(URL.createObjectURL(new Blob([page], { type: 'text/html' }))) }, 'In a tab of its own'),
      ),
    );
  }

  private repeat(i: number, inPage: boolean): HTMLElement[] {
    const command = commandOf(this.state.study, i) + (inPage ? '' : ` --html case_${i}.html`);
    return [
      h('h3', {}, inPage ? 'Run it again' : 'See it in 3D'),
      ...(inPage ? [] : [h('p', { class: 'muted' }, 'The motion of this case is not in this page. This command runs it and writes a page of it:')]),
      h('pre', { class: 'command', id: 'case-command' }, command),
      h('div', { class: 'tools' }, h('button', { type: 'button', id: 'case-copy', click: (event: Event) => copy(command, event.currentTarget as HTMLButtonElement) }, 'Copy the command')),
    ];
  }

  private enlarge(): void {
    document.body.dataset.large = document.body.dataset.large === 'yes' ? 'no' : 'yes';
  }

  private overview(): (HTMLElement | string)[] {
    const { study } = this.state, first = study.columns.find((column) => column.kind === 'output');
    const list = h('dl', {});
    const row = (name: string, value: string) => list.append(h('dt', {}, name), h('dd', {}, value));
    const all = (key: 'model' | 'formulation' | 'integrator') => [...new Set(study.variants.map((v) => v[key]))].join('\n');
    row('model', all('model'));
    row('formulation', all('formulation'));
    row('integrator', all('integrator'));
    row('sampling', study.sampling);
    row('cases', String(study.cases));
    row('program', `Liedyn ${study.version}`);
    const scenes = study.scenes.map((i) =>
      h('button', { type: 'button', class: 'scene-button', 'data-case': i, click: () => this.state.choose(i) }, h('b', {}, `Case ${i}`), first && h('small', {}, `${first.name} ${format(first.values[i])} ${first.unit}`)),
    );
    return [
      h('h2', {}, 'Study'), ...(study.description ? [h('p', {}, study.description)] : []), list,
      ...(scenes.length > 0 ? [h('h3', {}, 'In 3D'), h('div', { class: 'scene-buttons' }, ...scenes)] : []),
      h('p', { class: 'muted hint' }, 'Drag along an axis to select a range. Click a line, a point or a row to see that case.'),
    ];
  }
}

const precise = (value: number) => (Number.isFinite(value) ? String(Number(value.toPrecision(7))) : '–');

async function copy(text: string, pressed: HTMLButtonElement): Promise<void> {
  const before = pressed.textContent;
  try {
    await navigator.clipboard.writeText(text);
    pressed.textContent = 'Copied';
  } catch {
    // Without permission the text is selected instead.
    const range = document.createRange();
    range.selectNodeContents(document.getElementById('case-command')!);
    getSelection()?.removeAllRanges();
    getSelection()?.addRange(range);
    pressed.textContent = 'Selected: press Ctrl+C';
  }
  setTimeout(() => (pressed.textContent = before), 1500);
}

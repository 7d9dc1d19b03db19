// The selected cases as a table that can be sorted. Only the rows in sight are elements of the page.
import { shown } from './study_canvas';
import { labelOf, STATUSES, type Column } from './study_data';
import { NO_CASE, type State } from './study_state';
import { h } from './ui';

const ROW = 26;
const SPARE = 8; // rows above and below what is in sight
const MOST_COLUMNS = 14;

type Key = Column | 'case' | 'status';

export class Table {
  readonly element = h('section', { class: 'table-card panel', id: 'table', 'aria-label': 'Cases' });
  private readonly scroller = h('div', { class: 'scroller', tabindex: 0, role: 'grid', 'aria-label': 'Selected cases; arrow keys choose one' });
  private readonly head = h('div', { class: 'table-head', role: 'row' });
  private readonly body = h('div', { class: 'table-body' });
  private readonly columns: Column[];
  private readonly scenes: Set<number>;
  private key: Key = 'case';
  private rising = true;
  private rows: number[] = [];

  constructor(private readonly state: State) {
    this.columns = state.study.columns.filter((c) => c.kind !== 'statistic').slice(0, MOST_COLUMNS);
    this.scenes = new Set(state.study.scenes);
    this.scroller.style.setProperty('--columns', String(this.columns.length));
    this.scroller.append(this.head, this.body);
    this.element.append(this.scroller);
    this.scroller.addEventListener('scroll', () => this.fill());
    this.scroller.addEventListener('keydown', (event) => this.pressed(event));
    this.body.addEventListener('pointerover', (event) => state.hover(caseOf(event.target)));
    this.body.addEventListener('pointerleave', () => state.hover(NO_CASE));
    this.body.addEventListener('click', (event) => caseOf(event.target) !== NO_CASE && state.choose(caseOf(event.target)));
    this.drawHead();
    this.draw();
  }

  sortBy(key: Key): void {
    this.rising = key === this.key ? !this.rising : true;
    this.key = key;
    this.drawHead();
    this.draw();
  }

  // Takes over which cases are selected.
  draw(): void {
    const { state, key } = this;
    this.rows = [];
    for (let i = 0; i < state.selected.length; i++) if (state.selected[i]) this.rows.push(i);
    const values = key === 'case' ? undefined : key === 'status' ? state.study.status : key.values, sign = this.rising ? 1 : -1;
    if (values)
      this.rows.sort((a, b) => {
        // Cases without a value stand last in both directions.
        const [x, y] = [values[a], values[b]];
        if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || a - b;
        return sign * (x - y) || a - b;
      });
    else if (!this.rising) this.rows.reverse();
    this.body.style.height = `${this.rows.length * ROW}px`;
    this.fill();
  }

  // The rows in sight.
  fill(): void {
    const { state } = this, top = Math.max(this.scroller.scrollTop - this.head.offsetHeight, 0);
    const first = Math.max(Math.floor(top / ROW) - SPARE, 0), last = Math.min(first + Math.ceil((this.scroller.clientHeight || 300) / ROW) + 2 * SPARE, this.rows.length);
    const elements = [];
    for (let r = first; r < last; r++) {
      const i = this.rows[r], status = state.study.status[i];
      elements.push(
        h(
          'div', { class: `table-row${i === state.chosen ? ' selected' : ''}${i === state.hovered ? ' hovered' : ''}`, role: 'row', 'data-case': i, style: `top: ${r * ROW}px` },
          h('span', { role: 'gridcell', class: 'case-number' }, h('i', { style: `background: ${state.colorOf(i)}` }), String(i), this.scenes.has(i) && h('b', { title: 'can be shown in 3D' }, '3D')),
          ...this.columns.map((column) => h('span', { role: 'gridcell', title: String(column.labels?.[column.values[i]] ?? column.values[i]) }, shown(column, column.values[i]))),
          h('span', { role: 'gridcell', class: `status-${status}` }, STATUSES[status]),
        ),
      );
    }
    this.body.replaceChildren(...elements);
  }

  // The case one row on or back, as the table shows them.
  neighbour(step: number): number {
    const at = this.rows.indexOf(this.state.chosen);
    return this.rows[Math.min(Math.max(at + step, 0), this.rows.length - 1)] ?? NO_CASE;
  }

  // Scrolls to the chosen case.
  reveal(): void {
    const at = this.rows.indexOf(this.state.chosen), { scroller } = this;
    if (at < 0) return;
    const top = at * ROW, sight = scroller.clientHeight - this.head.offsetHeight;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + ROW > scroller.scrollTop + sight) scroller.scrollTop = top + ROW - sight;
  }

  private drawHead(): void {
    const cell = (key: Key, name: string, title: string) =>
      h('button', { type: 'button', role: 'columnheader', title, 'data-key': name, 'aria-sort': key === this.key ? (this.rising ? 'ascending' : 'descending') : 'none', click: () => this.sortBy(key) }, name, key === this.key && h('em', {}, this.rising ? ' ↑' : ' ↓'));
    this.head.replaceChildren(cell('case', 'case', 'case'), ...this.columns.map((column) => cell(column, column.name, labelOf(column))), cell('status', 'status', 'status'));
  }

  private pressed(event: KeyboardEvent): void {
    const page = Math.max(Math.floor(this.scroller.clientHeight / ROW) - 2, 1);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.rows.length, End: this.rows.length }[event.key];
    if (step === undefined || this.rows.length === 0) return;
    event.preventDefault();
    event.stopPropagation();
    this.state.choose(this.neighbour(step));
  }
}

function caseOf(target: EventTarget | null): number {
  const row = (target as Element | null)?.closest?.('.table-row');
  return row ? Number((row as HTMLElement).dataset.case) : NO_CASE;
}

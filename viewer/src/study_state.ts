// What all views of a study share: which cases are selected, and which one is pointed at or chosen.
import { mapped, cssColor } from './colormap';
import { share, type Column, type Study } from './study_data';

export const NO_CASE = -1;
export const SHADES = 32;
const shades = Array.from({ length: SHADES }, (_, i) => cssColor(mapped(i / (SHADES - 1))));
const WITHOUT_VALUE = '#b04fb0'; // no colour of the map

export type Change = 'selection' | 'focus' | 'color';

export class State {
  readonly ranges = new Map<Column, [number, number]>();
  readonly statuses = new Set<number>(); // empty: all
  readonly selected: Uint8Array;
  count: number;
  hovered = NO_CASE;
  chosen = NO_CASE;
  color: Column;
  shade: Uint8Array; // of each case; SHADES: it has no value
  private readonly listeners: ((change: Change) => void)[] = [];

  constructor(readonly study: Study) {
    this.selected = new Uint8Array(study.cases).fill(1);
    this.count = study.cases;
    this.color = study.columns.find((c) => c.kind === 'output') ?? study.columns[0];
    this.shade = this.shades();
  }

  listen(listener: (change: Change) => void): void {
    this.listeners.push(listener);
  }

  get filtered(): boolean {
    return this.ranges.size > 0 || this.statuses.size > 0;
  }

  setRange(column: Column, range: [number, number] | undefined): void {
    this.setRanges([column, range]);
  }

  setRanges(...all: [Column, [number, number] | undefined][]): void {
    for (const [column, range] of all)
      if (range) this.ranges.set(column, [Math.min(...range), Math.max(...range)]);
      else this.ranges.delete(column);
    this.select();
  }

  toggleStatus(status: number): void {
    if (!this.statuses.delete(status)) this.statuses.add(status);
    this.select();
  }

  clear(): void {
    this.ranges.clear();
    this.statuses.clear();
    this.select();
  }

  hover(index: number): void {
    if (index === this.hovered) return;
    this.hovered = index;
    this.tell('focus');
  }

  choose(index: number): void {
    if (index === this.chosen) return;
    this.chosen = index;
    this.tell('focus');
  }

  colorBy(column: Column): void {
    this.color = column;
    this.shade = this.shades();
    this.tell('color');
  }

  colorOf(index: number): string {
    return shades[this.shade[index]] ?? WITHOUT_VALUE;
  }

  private shades(): Uint8Array {
    return Uint8Array.from(this.color.values, (value) => {
      const s = share(this.color, value);
      return Number.isFinite(s) ? Math.round(s * (SHADES - 1)) : SHADES;
    });
  }

  private select(): void {
    const { selected, study } = this;
    for (let i = 0; i < selected.length; i++) selected[i] = this.statuses.size === 0 || this.statuses.has(study.status[i]) ? 1 : 0;
    // A case without a value is in no range.
    for (const [column, [low, high]] of this.ranges) for (let i = 0; i < selected.length; i++) if (!(column.values[i] >= low && column.values[i] <= high)) selected[i] = 0;
    this.count = selected.reduce((sum, one) => sum + one, 0);
    this.tell('selection');
  }

  private tell(change: Change): void {
    for (const listener of this.listeners) listener(change);
  }
}
